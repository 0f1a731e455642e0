//go:build integration

package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// wholeDemo bounds all faults of the demo on a loaded machine.
const wholeDemo = 8 * time.Minute

// TestRealServersWatchTheDemo plays all faults of the demo and their end before
// real servers: its alerts reach Alertmanager and resolve, and every query of
// the dashboards has data.
func TestRealServersWatchTheDemo(t *testing.T) {
	dir, begin := t.TempDir(), time.Now()
	played := wholeDemoFrom(t, dir)
	rules := waitForFile(t, filepath.Join(dir, "*", "rules.yml"))
	var targets []string
	for _, name := range []string{"replica-1", "replica-2", "replica-3", "replica-4"} {
		targets = append(targets, fmt.Sprintf("{targets: [%q], labels: {instance: %q}}", relay(t, dir, name), name))
	}
	for _, job := range []string{"leader-observer", "store"} {
		targets = append(targets, fmt.Sprintf("{targets: [%q], labels: {instance: %q, job: %[2]q}}", relay(t, dir, job), job))
	}
	list := strings.Join(targets, ", ")
	alerting := pairs(t, soonResolved(t, rules), list)
	reading := readers(t, rules, list)
	for _, p := range alerting {
		p.watch(t)
	}
	var expected []string
	select {
	case l := <-played:
		expected = l.expected()
	case <-time.After(wholeDemo):
		t.Fatal("the demo does not come to its end")
	}
	for _, p := range alerting {
		t.Run("alerts reach Alertmanager and resolve/"+p.name, func(t *testing.T) { p.judge(t, expected) })
	}
	for name, r := range reading {
		t.Run("every query of the dashboards has data/"+name, func(t *testing.T) { r.ask(t, begin) })
	}
}

// wholeDemoFrom plays every phase, recovery included, and sends the locks when
// the replicas are left running.
func wholeDemoFrom(t *testing.T, dir string) <-chan locks {
	t.Helper()
	demo := exec.Command(buildDemo(t), "-keep", "-report", "")
	demo.Env = append(os.Environ(), "TMPDIR="+dir)
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	demo.Stderr = os.Stderr
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, demo) })
	played := make(chan locks, 1)
	go func() {
		// What the demo prints says which phase was not as expected.
		for lines := bufio.NewScanner(io.TeeReader(out, os.Stdout)); lines.Scan(); {
			if m := leftRunning.FindStringSubmatch(lines.Text()); m != nil {
				played <- locks{held: m[1], job: m[2]}
			}
		}
	}()
	return played
}

// relay passes on the /metrics of a replica below dir, wherever it is, and
// answers as a dead one while there is none. Prometheus scrapes a target that
// it has just learned of up to five seconds late, and some faults are shorter.
func relay(t *testing.T, dir, name string) string {
	t.Helper()
	quiet := log.New(io.Discard, "", 0)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var replica struct{ Metrics string }
		found, _ := filepath.Glob(filepath.Join(dir, "*", name+".json")) // the pattern is well formed
		if len(found) == 1 {
			if text, err := os.ReadFile(found[0]); err == nil {
				_ = json.Unmarshal(text, &replica) // it may be half written
			}
		}
		if replica.Metrics == "" {
			http.Error(w, name+" is not there", http.StatusServiceUnavailable)
			return
		}
		proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: replica.Metrics})
		proxy.ErrorLog = quiet
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

var minutes = regexp.MustCompile(`(keep_firing_for: )\d+m`)

// soonResolved is a copy of the demo's rules in which what the demo does not
// expect to fire, and leaves at its default, does not stay firing for minutes.
func soonResolved(t *testing.T, rules string) string {
	t.Helper()
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, minutes.ReplaceAll(text, []byte("${1}3s")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// locks are the labels of the demo's locks.
type locks struct{ held, job string }

var leftRunning = regexp.MustCompile(`^ *held lock (\S+), job lock (\S+)$`)

// expected are the alerts that the phases of the demo set off.
func (l locks) expected() []string {
	return []string{
		"BackendErrors/critical/" + l.held, "BackendErrors/critical/" + l.job, "BackendErrors/warning/" + l.held, "BackendErrors/warning/" + l.job,
		"JobOverdue/warning/" + l.job, "LeaseExceeded/critical/" + l.held, "LeaseExceeded/critical/" + l.job, "LowHeadroom/warning/" + l.job,
		"Impostor/critical/" + l.held, "NearLease/warning/" + l.job, "NoLeader/critical/" + l.held, "SplitBrain/critical/" + l.held,
		"StaleWrite/warning/" + l.held, "Vacant/critical/" + l.held,
		"WorkAfterLoss/critical/" + l.held, "WorkAfterLoss/critical/" + l.job,
	}
}

func waitForFile(t *testing.T, pattern string) string {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if found, err := filepath.Glob(pattern); err == nil && len(found) == 1 {
			return found[0]
		}
	}
	t.Fatalf("there is no %s", pattern)
	return ""
}
