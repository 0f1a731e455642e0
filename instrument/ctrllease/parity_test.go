package ctrllease

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

func d(d time.Duration) *time.Duration { return &d }

// What a manager asks of its API server is its election. It is the same
// instrumented or not: namespace, identity, user agent, timeout (in the query),
// labels, lease settings, events, and when. So is what it logs.
func TestTheElectionIsThatOfThePlainManager(t *testing.T) {
	for name, change := range map[string]func(*manager.Options){
		"with all defaults":     func(o *manager.Options) { o.LeaderElectionReleaseOnCancel = false },
		"with a release":        func(*manager.Options) {},
		"with lease settings":   func(o *manager.Options) { o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = d(30*s), d(20*s), d(s) },
		"with a short deadline": func(o *manager.Options) { o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = d(3*s), d(s), d(s/4) },
		"with labels":           func(o *manager.Options) { o.LeaderElectionLabels = map[string]string{"shard": "1"} },
		"with the kind named":   func(o *manager.Options) { o.LeaderElectionResourceLock = resourcelock.LeasesResourceLock },
		"without a logger":      func(o *manager.Options) { o.Logger = logr.Logger{} },
		"with a short patience": func(o *manager.Options) { o.GracefulShutdownTimeout = d(s) },
		"without an election":   func(o *manager.Options) { o.LeaderElection = false },
	} {
		t.Run(name, func(t *testing.T) {
			lives := map[string]string{}
			for how := range makers(t) {
				synctest.Test(t, func(t *testing.T) {
					server, o := newAPIServer(), options()
					var logged lines
					o.Logger = logged.logger()
					process.forget()
					change(&o)
					m, err := makers(t)[how](server.config(), o)
					if err != nil {
						t.Fatal(err)
					}
					lives[how] = life(t, server, m) + "\nits logger:\n" + logged.String() + "\nthe logger of the process:\n" + process.String()
				})
			}
			for how, got := range lives {
				if diff := cmp.Diff(lives["plain"], got); diff != "" {
					t.Errorf("%s (-plain +got):\n%s", how, diff)
				}
			}
			if elects := strings.Contains(lives["plain"], "leaderelection") || strings.Contains(lives["plain"], "holderIdentity"); elects == (name == "without an election") {
				t.Errorf("the plain manager asked:\n%s", lives["plain"])
			}
		})
	}
}

// life runs a manager for a few seconds and returns what its API server saw,
// and what Start returned.
func life(t *testing.T, server *apiServer, m manager.Manager) string {
	t.Helper()
	for _, after := range []time.Duration{2 * s, 3 * s} {
		if err := m.Add(manager.RunnableFunc(drains(after))); err != nil {
			t.Fatal(err)
		}
	}
	begun := time.Now()
	stop := run(t, m)
	time.Sleep(7*s + 300*time.Millisecond) // between two renewals
	err := stop()
	time.Sleep(10 * s) // events may come late
	var lines []string
	for _, r := range server.made("/") {
		lines = append(lines, fmt.Sprintf("%8v %s", r.at.Sub(begun), r))
	}
	slices.Sort(lines) // events are made beside the rest
	return strings.Join(append(lines, fmt.Sprint("stopped: ", err)), "\n")
}

func (r request) String() string {
	return strings.Join([]string{r.method, r.path, r.userAgent, r.accept, r.body}, " ")
}

// The plain manager never stops these recorders, so this is on the wall clock,
// and compares which requests there were.
func TestAConfigurationOfTheElectionsOwnIsUsed(t *testing.T) {
	kinds := map[string]string{}
	for how, make := range makers(t) {
		server, own := newAPIServer(), newAPIServer()
		o := quick()
		o.LeaderElectionConfig = own.config()
		o.LeaderElectionConfig.UserAgent, o.LeaderElectionConfig.Timeout = "mine", 20*s
		given := rest.CopyConfig(o.LeaderElectionConfig)
		electsOnce(t, make, server.config(), o, own)
		if got := o.LeaderElectionConfig; got.UserAgent != given.UserAgent || got.Timeout != given.Timeout {
			t.Errorf("%s: the configuration has become that of %q, %v", how, got.UserAgent, got.Timeout)
		}
		if n := len(server.made("/")); n > 0 {
			t.Errorf("%s: %d requests of the other configuration", how, n)
		}
		var lines []string
		for _, r := range own.made("/") {
			r.body = times.ReplaceAllString(r.body, `"TIME"`)
			lines = append(lines, r.String())
		}
		slices.Sort(lines)
		kinds[how] = strings.Join(slices.Compact(lines), "\n")
		if !strings.Contains(kinds[how], "timeout=1.5s") {
			t.Errorf("%s: no timeout of half the renew deadline:\n%s", how, kinds[how])
		}
	}
	for how, got := range kinds {
		if diff := cmp.Diff(kinds["plain"], got); diff != "" {
			t.Errorf("%s (-plain +got):\n%s", how, diff)
		}
	}
}

// The plain manager stops only the recorder that it shares with its election.
// That of an election with a configuration of its own is never stopped, so that
// no event of its end can be lost.
func TestTheRecorderIsStoppedOnlyWhereTheManagerStopsIt(t *testing.T) {
	for name, c := range map[string]struct {
		own   *rest.Config
		stops bool
	}{
		"the manager's configuration": {nil, true},
		"one of its own":              {newAPIServer().config(), false},
	} {
		o := options()
		o.LeaderElectionConfig = c.own
		lock, err := newResourceLock(newAPIServer().config(), o)
		if err != nil {
			t.Fatal(err)
		}
		if _, stops := lock.(recorded); stops != c.stops {
			t.Errorf("%s: it is stopped: %v, want %v", name, stops, c.stops)
		}
	}
}

func TestABroadcasterOfTheProgramsOwnIsUsedAndLeftAlone(t *testing.T) {
	for how, make := range makers(t) {
		server, o := newAPIServer(), quick()
		broadcaster := record.NewBroadcaster()
		var seen atomic.Int32
		broadcaster.StartEventWatcher(func(*corev1.Event) { seen.Add(1) })
		//lint:ignore SA1019 programs do so
		o.EventBroadcaster = broadcaster
		electsOnce(t, make, server.config(), o, server)
		until(t, how+": both events", func() bool { return seen.Load() == 2 })
		broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{}).Event(&corev1.Pod{}, "Normal", "Test", "it still works")
		until(t, how+": an event of the program", func() bool { return seen.Load() == 3 })
		broadcaster.Shutdown()
	}
}

// quick are options with short intervals, for the wall clock.
func quick() manager.Options {
	o := options()
	o.Scheme = runtime.NewScheme() // the manager changes it
	o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = d(4*s), d(3*s), d(s/10)
	return o
}

// electsOnce runs a manager until it has won, renewed and released, and its
// events have arrived.
func electsOnce(t *testing.T, make maker, config *rest.Config, o manager.Options, server *apiServer) {
	t.Helper()
	m, err := make(config, o)
	if err != nil {
		t.Fatal(err)
	}
	stop := run(t, m)
	<-m.Elected()
	until(t, "events of the win", func() bool { return len(server.made("/events")) > 0 })
	until(t, "a renewal", func() bool { return len(server.made("/leases/"+name)) > 1 })
	if err := stop(); err != nil {
		t.Error(err)
	}
	until(t, "events of the stop", func() bool { return len(server.made("/events")) > 1 })
}

func TestAnElectionThatTheManagerRefusesIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		config func(*rest.Config) *rest.Config
		change func(*manager.Options)
		same   bool // the words of Instrument, too
	}{
		"no name":             {change: func(o *manager.Options) { o.LeaderElectionID = "" }, same: true},
		"no namespace":        {change: func(o *manager.Options) { o.LeaderElectionNamespace = "" }, same: true},
		"an unknown kind":     {change: func(o *manager.Options) { o.LeaderElectionResourceLock = "configmaps" }, same: true},
		"a broken address":    {config: func(c *rest.Config) *rest.Config { c.Host = "http://a b"; return c }},
		"two ways of TLS":     {config: func(c *rest.Config) *rest.Config { c.TLSClientConfig.Insecure = true; return c }},
		"a port that is none": {change: func(o *manager.Options) { o.HealthProbeBindAddress = "no port" }, same: true},
		"no configuration":    {config: func(*rest.Config) *rest.Config { return nil }, same: true},
		"a short RenewDeadline is refused by Start alone": {change: func(o *manager.Options) { o.RenewDeadline = d(time.Millisecond) }, same: true},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat("/var/run/secrets/kubernetes.io/serviceaccount/namespace"); err == nil && name == "no namespace" {
				t.Fatal("these tests run in a cluster, whose namespace is the default")
			}
			errs := map[string]string{}
			for how, make := range makers(t) {
				config, o := newAPIServer().config(), options()
				if c.config != nil {
					config = c.config(config)
				}
				if c.change != nil {
					c.change(&o)
				}
				m, err := make(config, o)
				if err == nil {
					err = m.Start(t.Context())
				}
				errs[how] = fmt.Sprint(err)
				if err == nil {
					t.Errorf("%s: no error", how)
				}
			}
			if errs["NewManager"] != errs["plain"] || c.same && errs["Instrument"] != errs["plain"] {
				t.Errorf("errors: %v", errs)
			}
		})
	}
}
