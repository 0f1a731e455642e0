//go:build integration

package observer

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/test/electors"
	"github.com/leaderscope/leaderscope/test/record"
	"github.com/leaderscope/leaderscope/test/server"
)

// elected is an elector of a library whose record an observer watches.
type elected struct {
	server, backend string
	connect         electors.Connect
	campaign        func(context.Context, electors.Replica, *instrument.Election, func(context.Context)) error
	open            record.Open
	remove          func(ctx context.Context, address, lock string) error
	// config is that of an observer.
	config func(*testing.T, server.Server) string
	// lock is what the observer calls the lock "job".
	lock string
	// holder is how the observer shows what the record has; nil: as the record does.
	holder func(record.Record) string
	// sessions keep the lock of a suspended process, since there is no lease.
	sessions bool
	// blind is how much of each vacancy the observer may miss.
	blind time.Duration
}

var elections = map[string]elected{
	"client-go": {
		server: "kube-apiserver", backend: "kubernetes", campaign: electors.KubernetesLease,
		open: record.Kubernetes, remove: electors.DeleteOnKubernetes, config: ofCluster, lock: "default/job",
	},
	"controller-runtime": {
		server: "kube-apiserver", backend: "kubernetes", campaign: electors.KubernetesManager,
		open: record.Kubernetes, remove: electors.DeleteOnKubernetes, config: ofCluster, lock: "default/job",
	},
	"etcd": {
		server: "etcd", backend: "etcd", connect: electors.EtcdElection,
		open: record.Etcd, remove: electors.DeleteOnEtcd, lock: "job",
		config: func(_ *testing.T, s server.Server) string {
			return fmt.Sprintf("etcd:\n  - {prefixes: [job], endpoints: [%q]}\n", "http://"+s.Addresses()[0])
		},
	},
	"nats": {
		server: "nats", backend: "nats", connect: electors.NATSKeyValue,
		open: record.NATS, remove: electors.DeleteOnNATS, lock: "job",
		config: func(t *testing.T, s server.Server) string {
			// A bucket that is not there is no backend: a candidate makes it.
			_, closing, err := electors.Connected(t.Context(), electors.NATSKeyValue, electors.Replica{Address: s.Addresses()[0], Lock: "job", ID: "maker"})
			if err != nil {
				t.Fatal(err)
			}
			closing()
			return fmt.Sprintf("nats:\n  - {url: %q, bucket: %s}\n", "nats://"+s.Addresses()[0], electors.NATSBucket)
		},
	},
	"zookeeper": {
		server: "zookeeper", backend: "zookeeper", connect: electors.ZooKeeper,
		open: record.ZooKeeper, remove: electors.DeleteOnZooKeeper, lock: electors.ZooKeeperPath("job"),
		config: func(_ *testing.T, s server.Server) string {
			return fmt.Sprintf("zookeeper:\n  - {servers: [%q], paths: [%s]}\n", s.Addresses()[0], electors.ZooKeeperPath("job"))
		},
		holder: func(r record.Record) string { return filepath.Base(r.Term) },
	},
	"redis": {
		server: "redis", backend: "redis", connect: electors.RedisLock,
		open: record.Redis, remove: electors.DeleteOnRedis, lock: "job", blind: polling,
		config: func(_ *testing.T, s server.Server) string {
			return fmt.Sprintf("redis:\n  - {address: %q, every: %v, keys: [job]}\n", s.Addresses()[0], polling)
		},
		holder: func(r record.Record) string {
			digest := sha256.Sum256([]byte(r.Term))
			return hex.EncodeToString(digest[:8])
		},
	},
	"postgres": {
		server: "postgres", backend: "postgres", connect: electors.Postgres,
		open: record.Postgres, remove: electors.TerminateOnPostgres, lock: "job", blind: polling, sessions: true,
		config: func(t *testing.T, s server.Server) string {
			file := filepath.Join(t.TempDir(), "url")
			if err := os.WriteFile(file, []byte("postgres://postgres@"+s.Addresses()[0]+"/postgres\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("postgres:\n  - {urlFile: %s, every: %v, locks: [{name: job, key: %d}]}\n", file, polling, electors.PostgresKey("job"))
		},
		holder: func(r record.Record) string { return r.Holder + "/" + r.Term + "/" }, // and the start of the session
	},
}

// polling is how often an observer reads a backend that sends no events.
const polling = 200 * time.Millisecond

func ofCluster(t *testing.T, s server.Server) string {
	c := &cluster{Server: s, config: electors.KubernetesConfig(s.Addresses()[0])}
	return fmt.Sprintf("kubernetes:\n  - {kubeconfig: %s, lockName: \"{namespace}/{name}\"}\n", c.kubeconfig(t, server.KubernetesToken))
}

// electedVariable has the test binary be a candidate of an elector.
const electedVariable = "LEADERSCOPE_OBSERVER_ELECTED"

type order struct{ Elector, Address, ID string }

// elect leads when it can, and prints a line when it begins and when it ends.
func elect(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	m, err := instrument.New()
	if err != nil {
		return err
	}
	e := elections[o.Elector]
	election := m.Election("job", instrument.Hold(), instrument.LeaseDuration(electors.Lease), instrument.Backend("observed"))
	ctx, stop := context.WithCancel(context.Background())
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	go func() { <-asked; stop() }()
	work := func(ctx context.Context) {
		fmt.Println("leads")
		<-ctx.Done()
		fmt.Println("stops")
	}
	r := electors.Replica{Address: o.Address, Lock: "job", ID: o.ID}
	if e.campaign != nil {
		return e.campaign(ctx, r, election, work)
	}
	return electors.Lead(ctx, e.connect, r, func(ctx context.Context, a instrument.Acquirer) error {
		return election.Run(ctx, a, func(ctx context.Context, _ *instrument.Term) error { work(ctx); return nil })
	})
}

// member is a process of an elector.
type member struct {
	*exec.Cmd
	ended chan struct{}
	mu    sync.Mutex
	leads bool
}

func (m *member) leading() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.leads
}

// end waits until the process has ended after that signal.
func (m *member) end(s syscall.Signal) {
	_ = m.Process.Signal(s)
	<-m.ended
}

func (w *watched) join() *member {
	w.t.Helper()
	w.members++
	text, err := json.Marshal(order{w.name, w.Addresses()[0], fmt.Sprintf("%s%d", record.Replica, w.members)})
	if err != nil {
		w.t.Fatal(err)
	}
	m := &member{Cmd: exec.Command(os.Args[0]), ended: make(chan struct{})}
	m.Env = append(os.Environ(), electedVariable+"="+string(text))
	m.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := m.StdoutPipe()
	if err == nil {
		err = m.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { m.end(syscall.SIGKILL) })
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			m.mu.Lock()
			m.leads = lines.Text() == "leads"
			m.mu.Unlock()
		}
		_ = m.Wait()
		close(m.ended)
	}()
	return m
}

// watched is an election with its observer and a referee, which reads the record of
// the backend by itself.
type watched struct {
	t    *testing.T
	name string
	elected
	server.Server
	*process
	members int

	mu    sync.Mutex
	story referee
	last  record.Record
	seen  []string
	// passed are the vacancies, of each of which a part may be missed; short are those
	// that may be missed as a whole.
	passed, short int
	// before is the vacancy before the first win, of a lock that the observer knows by
	// its configuration.
	before float64
}

const (
	// looksEvery is how often the referee looks.
	looksEvery = 20 * time.Millisecond
	// drift is by how much each vacancy may differ on a loaded machine.
	drift = 200 * time.Millisecond
)

func watch(t *testing.T, name string) *watched {
	e := elections[name]
	s := start(t, e.server)
	w := &watched{t: t, name: name, elected: e, Server: s, process: run(t, "redaction: {policy: raw}\n"+e.config(t, s)), story: referee{t: t}}
	eventually(t, "the server answers", func() bool { return w.up(t, w.backend) == 1 })
	look, closing, err := e.open(s.Addresses(), "job")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	t.Cleanup(func() { cancel(); <-ended; closing() })
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			asking, answered := context.WithTimeout(ctx, time.Second)
			got, err := look(asking)
			answered()
			if err == nil {
				w.sees(got)
			}
			time.Sleep(looksEvery)
		}
	}()
	return w
}

func (w *watched) sees(got record.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if got.Term == w.last.Term && got.Holder == w.last.Holder {
		return
	}
	w.seen = append(w.seen, fmt.Sprintf("%s %q (%s)", time.Now().Format("05.000"), got.Holder, got.Term))
	switch {
	case got.Holder == "":
		w.story.frees(time.Now())
		w.passed++
	default:
		if w.story.held && (w.story.free.IsZero() || time.Since(w.story.free) < 2*w.blind) {
			w.short++
		}
		w.story.holds(w.shown(got), time.Now())
	}
	w.last = got
}

func (w *watched) shown(r record.Record) string {
	if w.holder != nil {
		return w.holder(r)
	}
	return r.Holder
}

// leader waits until one of the members leads.
func (w *watched) leader(members ...*member) *member {
	w.t.Helper()
	i := -1
	eventually(w.t, "one of them leads", func() bool { i = slices.IndexFunc(members, (*member).leading); return i >= 0 })
	return members[i]
}

// agrees compares what the observer exports with what the referee saw.
func (w *watched) agrees(after string) {
	w.t.Helper()
	pause(1) // until both have seen it
	var difference string
	eventuallyOr(w.t, func() bool {
		got, holder := w.process.lock(w.t, w.backend, w.elected.lock)
		w.mu.Lock()
		defer w.mu.Unlock()
		difference = w.difference(got, holder)
		return difference == ""
	}, func() string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return fmt.Sprintf("after %s: %s; it has seen\n%s", after, difference, strings.Join(w.seen, "\n"))
	})
}

func (w *watched) difference(got map[string]float64, holder string) string {
	r := &w.story
	vacant := r.vacant
	if !r.free.IsZero() {
		vacant += time.Since(r.free)
	}
	held := 0.0
	if r.holder != "" {
		held = 1
	}
	if w.backend == "postgres" && strings.HasPrefix(holder, r.holder) && r.holder != "" {
		holder = r.holder
	}
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"held", got["held"], held}, {"holder", holder, r.holder}, {"terms", got["terms_total"], r.terms},
	} {
		if c.got != c.want {
			return fmt.Sprintf("%s: %v, the referee has %v", c.what, c.got, c.want)
		}
	}
	least := r.gaps // between two polls a change of the holder hides a gap
	if w.blind > 0 {
		least -= float64(w.short)
	}
	if n := got["handover_seconds_count"]; n < least || n > r.gaps {
		return fmt.Sprintf("handovers: %v, the referee has %v and %v", n, least, r.gaps)
	}
	missed, late := time.Duration(w.passed)*w.blind, tolerance+time.Duration(w.passed)*drift
	for what, want := range map[string]time.Duration{"vacant_seconds_total": vacant, "handover_seconds_sum": r.gap} {
		v := got[what]
		if what == "vacant_seconds_total" {
			v -= w.before
		}
		if v > (want+late).Seconds() || v < (want-missed-late).Seconds() {
			return fmt.Sprintf("%s: %v, the referee has %v, of which %v may be missed", what, v, want, missed)
		}
	}
	return ""
}

// Real electors under real faults: what the observer counts is what a referee read
// from the backend.
func TestElectionsOfLibrariesAreWhatTheBackendHas(t *testing.T) {
	for name := range elections {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := watch(t, name)
			first := w.join()
			w.leader(first)
			got, _ := w.process.lock(t, w.backend, w.elected.lock)
			w.before = got["vacant_seconds_total"]
			w.agrees("the first win")
			second := w.join()
			first.end(syscall.SIGKILL)
			w.leader(second)
			w.agrees("the leader was killed")

			third := w.join()
			_ = second.Process.Signal(syscall.SIGSTOP)
			if w.sessions {
				pause(2 * electors.Lease.Seconds())
			} else {
				w.leader(third)
			}
			w.agrees("the leader was suspended for longer than a lease")
			_ = second.Process.Signal(syscall.SIGCONT)

			leader, other := third, second
			if w.sessions {
				leader, other = second, third
			}
			eventually(t, "the one that was suspended knows", func() bool { return leader.leading() && !other.leading() })
			leader.end(syscall.SIGTERM)
			w.leader(other)
			w.agrees("the leader stopped gracefully")

			fourth := w.join()
			if err := w.remove(t.Context(), w.Addresses()[0], "job"); err != nil {
				t.Fatal(err)
			}
			pause(electors.Lease.Seconds())
			w.leader(other, fourth)
			w.agrees("the record was deleted")

			w.Down()
			eventually(t, "the server is away", func() bool { return w.up(t, w.backend) == 0 })
			pause(1)
			if err := w.Up(); err != nil {
				t.Fatal(err)
			}
			w.leader(other, fourth)
			eventually(t, "the observer names the leader again", func() bool {
				got, holder := w.process.lock(t, w.backend, w.elected.lock)
				w.mu.Lock()
				defer w.mu.Unlock()
				return got["held"] == 1 && w.story.holder != "" && strings.HasPrefix(holder, w.story.holder)
			})
		})
	}
}
