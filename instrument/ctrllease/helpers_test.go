package ctrllease

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// process is what the logger of the process was told.
var process lines

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	log.SetLogger(process.logger())
	os.Exit(m.Run())
}

const (
	s    = time.Second
	name = "reconciler" // of the Lease
)

var (
	of      = electtest.Of
	running = of(catalog.Running)
	active  = of(catalog.Active)
)

func ended(cause catalog.EndCause) string          { return of(catalog.TermsEnded, cause.String()) }
func renewals(result catalog.RenewalResult) string { return of(catalog.Renewals, result.String()) }
func releases(result catalog.ReleaseResult) string { return of(catalog.Releases, result.String()) }

// elections are those of a user.
var elections = []instrument.ElectionOption{instrument.Hold(), instrument.Backend("kubernetes")}

// options are those of a user, with the lease settings left to the manager: 15,
// 10 and 2 s.
func options() manager.Options {
	return manager.Options{
		LeaderElection: true, LeaderElectionID: name, LeaderElectionNamespace: "ns", LeaderElectionReleaseOnCancel: true,
		Metrics: metricsserver.Options{BindAddress: "0"},
	}
}

// replica is one process: a middleware and a manager.
type replica struct {
	t *testing.T
	m *instrument.Middleware
	e *instrument.Election
	manager.Manager
}

func newReplica(t *testing.T, server *apiServer, change func(*manager.Options)) *replica {
	t.Helper()
	m := expect.Middleware(t)
	r := &replica{t: t, m: m, e: m.Election(expect.Lock, elections...)}
	r.Manager = r.another(server, change)
	return r
}

// another is another manager of the same process, seen by the same election.
func (r *replica) another(server *apiServer, change func(*manager.Options)) manager.Manager {
	r.t.Helper()
	o := options()
	if change != nil {
		change(&o)
	}
	m, err := NewManager(server.config(), o, r.e)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// add adds work of the leader.
func (r *replica) add(start func(context.Context) error) {
	r.t.Helper()
	if err := r.Add(manager.RunnableFunc(start)); err != nil {
		r.t.Fatal(err)
	}
}

// run starts a manager; stop cancels it, waits and returns its error.
func run(t *testing.T, m manager.Manager) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// drains works until its context ends, and for a while more.
func drains(more time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		time.Sleep(more)
		return nil
	}
}

// whole compares all series with those of an election to which nothing but
// this has happened.
func (r *replica) whole(at string, happened ...electtest.Series) {
	r.t.Helper()
	want := expect.Fresh(r.t, elections...)
	for _, h := range happened {
		want = want.With(h)
	}
	expect.Whole(r.t, r.m, at, want)
}

// want compares the series that it names.
func (r *replica) want(at string, want electtest.Series) {
	r.t.Helper()
	got := electtest.Read(r.m, expect.Lock)
	if why := electtest.Broken(got); why != "" {
		r.t.Errorf("%s: invariant broken: %s in %v", at, why, got)
	}
	for k, v := range want {
		if got[k] != v {
			r.t.Errorf("%s: %s is %v, want %v", at, k, got[k], v)
		}
	}
}

func (r *replica) value(series string) float64 {
	return electtest.Read(r.m, expect.Lock)[series]
}

// maker makes a manager.
type maker func(*rest.Config, manager.Options) (manager.Manager, error)

// makers are the ways to make one: the plain one, and those of this package.
func makers(t *testing.T) map[string]maker {
	e := expect.Middleware(t).Election(expect.Lock, elections...)
	return map[string]maker{
		"plain": manager.New,
		"NewManager": func(config *rest.Config, o manager.Options) (manager.Manager, error) {
			return NewManager(config, o, e)
		},
		"Instrument": func(config *rest.Config, o manager.Options) (manager.Manager, error) {
			o, err := Instrument(config, o, e)
			if err != nil {
				return nil, err
			}
			return manager.New(config, o)
		},
	}
}

// times are those of Leases and events, also in an event's name, and versions,
// which count renewals.
var times = regexp.MustCompile(`"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"|"` + name + `\.[0-9a-f]+"|"[0-9]+"`)

// until waits, on the wall clock.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("%s: not within a minute", what)
}

// given is a resource lock of the program's own.
type given struct {
	resourcelock.Interface
	id string
}

func (g given) Identity() string { return g.id }

// lines are what a logger was told.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, uuid.ReplaceAllString(prefix+" "+args, "UUID"))
	}, funcr.Options{Verbosity: 1})
}

func (l *lines) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(slices.Sorted(slices.Values(l.all)), "\n")
}
