//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// parentVariable makes a copy of the test binary start a demo and wait.
const parentVariable = "LEADERSCOPE_QUICKSTART_TEST_PARENT"

func TestMain(m *testing.M) {
	ctx := context.Background()
	isCopy, err := runCopy(ctx)
	switch {
	case isCopy && err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case isCopy:
		os.Exit(0)
	case os.Getenv(parentVariable) != "":
		os.Unsetenv(parentVariable)
		holdDemo()
	default:
		os.Exit(m.Run())
	}
}

// TestDemo is the demo in short, with real processes and an etcd of three
// members: two of its phases, and a kill that was not asked for.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes, for half a minute")
	}
	var reports reports
	d, err := newDemo(&screen{out: &reports})
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(d.dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", d.dir, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.allUp(t.Context()); err != nil {
		t.Fatal(err, d.cluster.lastWords(replicas[0]))
	}
	phases := script(d.leader, d.job)
	for _, n := range []int{2, 4} {
		t.Run(phases[n-1].title, func(t *testing.T) {
			begin := time.Now()
			v, err := d.perform(t.Context(), phases[n-1])
			d.played = append(d.played, played{n, phases[n-1].title, begin, time.Now(), v, err})
			if err != nil {
				t.Fatal(err)
			}
			if !v.ok() {
				t.Errorf("missing %v, surplus %v, wrong %v", v.missing(), v.surplus(), v.failed)
			}
			d.tell(v, 0)
			var seen []string
			for _, line := range shownInREADME(t) {
				if line.phase == n && line.item == "seen" {
					seen = append(seen, shape(line.text))
				}
			}
			var notes []string
			for _, note := range v.notes {
				notes = append(notes, shape(note))
			}
			if diff := cmp.Diff(seen, notes); diff != "" {
				t.Errorf("README.md (-) shows for phase %d what was not seen (+)\n%s", n, diff)
			}
			d.screen.say("%s", d.view(t.Context()).render())
			if n == 2 && len(v.fired) > 0 {
				t.Errorf("fired %v", v.fired)
			}
		})
	}
	t.Run("no lock name and no key on any page", func(t *testing.T) { nothingRaw(t, d) })
	t.Run("the targets are in a file for service discovery", func(t *testing.T) {
		got, err := os.ReadFile(d.targetsFile())
		want := string(targetsJSON(d.cluster.addresses(), map[string]string{storeName: d.store.address}))
		if err != nil || string(got) != want {
			t.Errorf("%v: %s", err, cmp.Diff(want, string(got)))
		}
	})
	t.Run("a replica that was killed from outside comes back", func(t *testing.T) {
		p, err := d.cluster.of(replicas[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-p.ended
		eventually(t, "another process", func() bool {
			next, err := d.cluster.of(replicas[0])
			return err == nil && next != p
		})
		if err := d.allUp(t.Context()); err != nil {
			t.Error(err)
		}
		if !strings.Contains(reports.String(), "replica-1 ended by itself (signal: killed)") {
			t.Errorf("it was not reported: %s", reports.String())
		}
	})
	t.Run("no lock name and no key in the report", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "report.html")
		if err := d.report(t.Context(), file); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{d.leader, d.job, "NearLease", isKilled, "takes 84 % of its lease", `"leads, `} {
			if !strings.Contains(string(page), want) {
				t.Errorf("the report does not show %q", want)
			}
		}
		for _, secret := range secrets(d) {
			if strings.Contains(string(page), secret) {
				t.Errorf("the report shows %q", secret)
			}
		}
	})
	t.Run("no lock name and no key in what the demo prints", func(t *testing.T) {
		text := reports.String()
		if !strings.Contains(text, "fired ") || !strings.Contains(text, "headroom") {
			t.Errorf("the demo printed neither verdict nor table: %s", text)
		}
		for _, secret := range secrets(d) {
			if strings.Contains(text, secret) {
				t.Errorf("the demo prints %q", secret)
			}
		}
	})
}

// secrets are the locks' names, parts of them, and the key.
func secrets(d *demo) []string {
	return []string{"tenant", "acme", "canary", leaderLock, jobLock, string(d.key), fmt.Sprintf("%x", d.key)}
}

// nothingRaw looks for them on every page.
func nothingRaw(t *testing.T, d *demo) {
	for name, address := range d.cluster.addresses() {
		for _, path := range []string{"/metrics", "/status?format=html", "/status?format=json"} {
			text, err := get(t.Context(), "http://"+address+path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, d.leader) || !strings.Contains(text, d.job) {
				t.Errorf("%s%s does not show the two locks", name, path)
			}
			for _, secret := range secrets(d) {
				if strings.Contains(text, secret) {
					t.Errorf("%s%s exposes %q", name, path, secret)
				}
			}
		}
	}
	info, err := os.Stat(filepath.Join(d.dir, replicas[0]+".json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file with the key: mode %v, error %v", info.Mode(), err)
	}
}

// TestNothingIsLeftOfADemoWhoseParentWasKilled covers what no deferred call
// can: kill -9.
func TestNothingIsLeftOfADemoWhoseParentWasKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts four processes")
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentVariable+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var left leftovers
	if err := json.Unmarshal([]byte(line), &left); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if len(left.PIDs) != 4 || len(left.Addresses) != 9 {
		t.Fatalf("the demo has %+v", left)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	parent.Wait()
	eventually(t, "no process, port or file", func() bool { return left.none() })
}

// leftovers is what a demo must not leave behind.
type leftovers struct {
	Dir       string
	PIDs      []int
	Addresses []string
}

func (l leftovers) none() bool {
	for _, pid := range l.PIDs {
		if syscall.Kill(pid, 0) == nil && !isZombie(pid) {
			return false
		}
	}
	for _, address := range l.Addresses {
		if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			conn.Close()
			return false
		}
	}
	_, err := os.Stat(l.Dir)
	return os.IsNotExist(err)
}

// isZombie reports a process that has ended and that no parent has asked about:
// where the tests run, no process may adopt orphans.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// holdDemo starts a demo, says what belongs to it once all of it is up, and
// waits to be killed.
func holdDemo() {
	d, err := newDemo(&screen{out: os.Stderr})
	if err == nil {
		err = d.allUp(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	left := leftovers{Dir: d.dir, PIDs: []int{d.janitor.cmd.Process.Pid}}
	for _, name := range d.cluster.names() {
		r := d.cluster.replicas[name]
		left.PIDs = append(left.PIDs, r.process.cmd.Process.Pid)
		left.Addresses = append(left.Addresses, r.config.Metrics, r.config.Member.Client, r.config.Member.Peer)
	}
	json.NewEncoder(os.Stdout).Encode(left)
	select {}
}

func TestJanitorRemovesOnlyWhatADemoMade(t *testing.T) {
	foreign := t.TempDir()
	if err := janitor(foreign, strings.NewReader("")); err == nil {
		t.Error("it took a foreign folder")
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error(err)
	}
	own, err := os.MkdirTemp(t.TempDir(), tempPrefix)
	if err != nil {
		t.Fatal(err)
	}
	if err := janitor(own, strings.NewReader("")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(own); !os.IsNotExist(err) {
		t.Errorf("it left %s: %v", own, err)
	}
}

func TestFreePortsDiffer(t *testing.T) {
	ports, err := freePorts(12)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for _, p := range ports {
		set[p] = true
	}
	if diff := cmp.Diff(12, len(set)); diff != "" {
		t.Error(diff)
	}
}

// reports collects what the screen is told.
type reports struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *reports) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

func (r *reports) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}
