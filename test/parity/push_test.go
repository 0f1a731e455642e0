//go:build integration

package parity

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/leaderscope/leaderscope/alerts"
	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// replica is one process of a service that pushes.
type replica struct {
	election *instrument.Election
	crashed  atomic.Bool
}

// mortal is an exporter that sends nothing once its replica has crashed, as
// after a SIGKILL: no last values, no staleness.
type mortal struct {
	metric.Exporter
	replica *replica
}

func (m mortal) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	if m.replica.crashed.Load() {
		return nil
	}
	return m.Exporter.Export(ctx, data)
}

func service(name string) *resource.Resource {
	return resource.NewSchemaless(attribute.String("service.name", name))
}

// newReplica pushes every second, under an identity of its own.
func newReplica(t *testing.T, s prometheusServer, job, instance string) *replica {
	t.Helper()
	m := newMiddleware(t)
	r := &replica{election: elect(m)}
	setup(t, m, otelsetup.WithPush(mortal{s.push(t), r}, time.Second), otelsetup.WithResource(service(job)), otelsetup.WithInstance(instance))
	return r
}

// newAnonymous pushes every second through a pipeline made elsewhere, without
// an identity.
func newAnonymous(t *testing.T, s prometheusServer, job string) *replica {
	t.Helper()
	p := metric.NewMeterProvider(metric.WithResource(service(job)), metric.WithReader(metric.NewPeriodicReader(s.push(t), metric.WithInterval(time.Second))))
	m := newMiddleware(t)
	e, err := otelmetric.New(m, otelmetric.WithMeterProvider(p))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Shutdown(context.Background()) // two of these write one series, and the server may refuse the last word
		_ = e.Close()
	})
	return &replica{election: elect(m)}
}

const lease = 4 * time.Second

func elect(m *instrument.Middleware) *instrument.Election {
	return m.Election("primary", instrument.Hold(), instrument.LeaseDuration(lease))
}

// win takes the lock and leaves it to its lease.
func (r *replica) win(t *testing.T) *instrument.Term {
	t.Helper()
	term, err := r.election.Acquire(context.Background(), electtest.Wins(instrument.NewLease(nil,
		instrument.RenewWith(func(context.Context) error { return nil }))))
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// lead holds the lock until the returned function is called.
func (r *replica) lead(t *testing.T) (stop func()) {
	t.Helper()
	term := r.win(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := term.Renew(ctx); err != nil {
				t.Error(err)
			}
			select {
			case <-time.After(lease / 4):
			case <-ctx.Done():
			}
		}
	}()
	return func() { cancel(); <-done }
}

// rules are the shipped ones with windows that fit a push a second, and a
// configuration that loads them.
func rules(t *testing.T) string {
	t.Helper()
	c := alerts.Default()
	c.ScrapeInterval = model.Duration(time.Second)
	c.Alerts.SplitBrain.Window = model.Duration(3 * time.Second)
	c.Alerts.SplitBrain.For = model.Duration(time.Second)
	text, err := alerts.YAML(c)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("rule_files: [%q]\n", file)
}

const splitBrain = `count(max_over_time(ALERTS{alertname="LeaderElectionSplitBrain",alertstate="firing"}[1h])) or vector(0)`

// becomes waits until a query has that value.
func (s prometheusServer) becomes(t *testing.T, expr, want string) {
	t.Helper()
	wait(t, expr+" = "+want, func() string {
		if got := s.value(t, expr); got != want {
			return "it is " + strconv.Quote(got)
		}
		return ""
	})
}

func TestC35ACrashedPushingLeaderIsDiscardedByItsExpiry(t *testing.T) {
	s := startPrometheus(t, rules(t))
	a, b := newReplica(t, s, "crash", "pod-a"), newReplica(t, s, "crash", "pod-b")
	claims := fmt.Sprintf(`sum(%s{job="crash"})`, catalog.Active.Name())
	leaders := fmt.Sprintf(`count(%s{job="crash"} > time())`, catalog.LeaseExpiry.Name())
	holder := fmt.Sprintf(`count((%s{job="crash",instance="pod-b"} > 0) and on (job, instance, lock_name) (%s > time()))`, catalog.Active.Name(), catalog.LeaseExpiry.Name())

	stop := a.lead(t)
	s.becomes(t, claims, "1")
	s.becomes(t, leaders, "1")
	a.crashed.Store(true)
	stop()
	time.Sleep(lease) // the backend gives the lock to no other before
	defer b.lead(t)()

	// What it looks like without care: two leaders, for five minutes.
	s.becomes(t, claims, "2")
	// The documented answer.
	s.becomes(t, leaders, "1")
	s.becomes(t, holder, "1")
	time.Sleep(15 * time.Second) // several windows of the rule
	if got := s.value(t, claims); got != "2" {
		t.Errorf("the trap is gone: %s claims", got)
	}
	if got := s.value(t, splitBrain); got != "0" {
		t.Errorf("SplitBrain fired for a leader that is dead")
	}
}

func TestTwoPushingLeadersAtOnceFireSplitBrain(t *testing.T) {
	s := startPrometheus(t, rules(t))
	for _, instance := range []string{"pod-a", "pod-b"} {
		defer newReplica(t, s, "split", instance).lead(t)()
	}
	s.becomes(t, splitBrain, "1")
}

func TestC56ReplicasWithoutIdentityAreOneSeriesAndWithItTwo(t *testing.T) {
	// What the server says to two writers of one series is not the point.
	before := otel.GetErrorHandler()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {}))
	t.Cleanup(func() { otel.SetErrorHandler(before) })

	s := startPrometheus(t, "")
	both := map[string][]*replica{"identified": {newReplica(t, s, "identified", "pod-a"), newReplica(t, s, "identified", "pod-b")}}
	for range 2 {
		both["anonymous"] = append(both["anonymous"], newAnonymous(t, s, "anonymous"))
		time.Sleep(500 * time.Millisecond) // they take turns
	}
	for _, replicas := range both {
		for range 100 {
			replicas[0].win(t)
		}
		for range 40 {
			replicas[1].win(t)
		}
	}
	count := func(job string) string { return fmt.Sprintf(`count(%s{job=%q})`, catalog.Acquired.Name(), job) }
	resets := func(job string) string {
		return fmt.Sprintf(`sum(resets(%s{job=%q}[1m])) >= bool 3`, catalog.Acquired.Name(), job)
	}
	s.becomes(t, count("anonymous"), "1")
	s.becomes(t, count("identified"), "2")
	// Nothing happens any longer, and the counter seems to start again and again.
	s.becomes(t, resets("anonymous"), "1")
	if got := s.value(t, resets("identified")); got != "0" {
		t.Errorf("replicas with an identity: %s", got)
	}
}
