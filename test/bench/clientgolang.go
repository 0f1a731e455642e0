package main

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// children are what a careful author would keep for one lock: all that one
// cycle records, by hand.
type children struct {
	attempts, acquired, ended, releases, overruns prometheus.Counter
	pending, pendingAge, active, running          prometheus.Gauge
	last, expiry, headroom                        prometheus.Gauge
	acquire, execution, usage                     prometheus.Observer
}

type vectors struct {
	attempts, acquired, ended, releases, overruns *prometheus.CounterVec
	pending, pendingAge, active, running          *prometheus.GaugeVec
	last, expiry, headroom                        *prometheus.GaugeVec
	acquire, execution, usage                     *prometheus.HistogramVec
}

func newVectors() *vectors {
	counter := func(m *catalog.Metric) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name(), Help: m.Help()}, names(m))
	}
	gauge := func(m *catalog.Metric) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.Name(), Help: m.Help()}, names(m))
	}
	histogram := func(m *catalog.Metric) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.Name(), Help: m.Help(), Buckets: m.Bounds()}, names(m))
	}
	return &vectors{
		attempts: counter(catalog.Attempts), acquired: counter(catalog.Acquired), ended: counter(catalog.TermsEnded),
		releases: counter(catalog.Releases), overruns: counter(catalog.LeaseOverruns),
		pending: gauge(catalog.Pending), pendingAge: gauge(catalog.PendingAge), active: gauge(catalog.Active), running: gauge(catalog.Running),
		last: gauge(catalog.LastAcquired), expiry: gauge(catalog.LeaseExpiry), headroom: gauge(catalog.LeaseHeadroom),
		acquire: histogram(catalog.AcquireDuration), execution: histogram(catalog.ExecutionDuration), usage: histogram(catalog.LeaseUsageRatio),
	}
}

func names(m *catalog.Metric) []string {
	var names []string
	if m.PerLock() {
		names = append(names, catalog.LockName.Name())
	}
	for _, l := range m.Labels() {
		names = append(names, l.Name())
	}
	return names
}

func (v *vectors) of(lock string) children {
	return children{
		attempts: v.attempts.WithLabelValues(lock), acquired: v.acquired.WithLabelValues(lock),
		ended:    v.ended.WithLabelValues(lock, catalog.Released.String()),
		releases: v.releases.WithLabelValues(lock, catalog.ReleaseOK.String()), overruns: v.overruns.WithLabelValues(lock),
		pending: v.pending.WithLabelValues(lock), pendingAge: v.pendingAge.WithLabelValues(lock), active: v.active.WithLabelValues(lock), running: v.running.WithLabelValues(lock),
		last: v.last.WithLabelValues(lock), expiry: v.expiry.WithLabelValues(lock), headroom: v.headroom.WithLabelValues(lock),
		acquire: v.acquire.WithLabelValues(lock), execution: v.execution.WithLabelValues(lock), usage: v.usage.WithLabelValues(lock),
	}
}

const leaseLength = time.Minute

// cycle records what leaderscope records of one acquisition and release. What
// only a holder has is zero for others, as a gauge by hand cannot go away.
func (c children) cycle(ctx context.Context) {
	asked := time.Now()
	c.attempts.Inc()
	c.pending.Inc()
	_ = lease{}
	won := time.Now()
	c.pending.Dec()
	c.pendingAge.Set(0)
	c.acquired.Inc()
	c.acquire.Observe(won.Sub(asked).Seconds())
	c.active.Inc()
	c.last.Set(unix(won))
	c.expiry.Set(unix(asked.Add(leaseLength)))
	c.headroom.Set((leaseLength - won.Sub(asked)).Seconds())

	ended := time.Now()
	c.active.Dec()
	c.expiry.Set(0)
	c.headroom.Set(0)
	c.usage.Observe(ended.Sub(asked).Seconds() / leaseLength.Seconds())
	if ended.Sub(asked) > leaseLength {
		c.overruns.Inc()
	}
	if (lease{}).Release(ctx) == nil {
		c.releases.Inc()
	}
	c.ended.Inc()
	c.execution.Observe(ended.Sub(won).Seconds())
}

// run records the same and the body, which gets a context that ends with the
// term; the release has one that does not end with the caller's.
func (c children) run(ctx context.Context, body func(context.Context) error) {
	asked := time.Now()
	c.attempts.Inc()
	c.pending.Inc()
	_ = lease{}
	won := time.Now()
	c.pending.Dec()
	c.pendingAge.Set(0)
	c.acquired.Inc()
	c.acquire.Observe(won.Sub(asked).Seconds())
	c.active.Inc()
	c.last.Set(unix(won))
	c.expiry.Set(unix(asked.Add(leaseLength)))
	c.headroom.Set((leaseLength - won.Sub(asked)).Seconds())

	c.running.Inc()
	guarded, stop := context.WithCancelCause(ctx)
	failed := body(guarded)
	stop(nil)
	c.running.Dec()
	if failed != nil {
		panic(failed)
	}

	ended := time.Now()
	c.execution.Observe(ended.Sub(won).Seconds())
	c.active.Dec()
	c.expiry.Set(0)
	c.headroom.Set(0)
	c.usage.Observe(ended.Sub(asked).Seconds() / leaseLength.Seconds())
	if ended.Sub(asked) > leaseLength {
		c.overruns.Inc()
	}
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), instrument.DefaultReleaseTimeout)
	defer cancel()
	if (lease{}).Release(detached) == nil {
		c.releases.Inc()
	}
	c.ended.Inc()
}

// lookupCycle records the same, with a lookup at each call.
func (v *vectors) lookupCycle(ctx context.Context, lock string) {
	asked := time.Now()
	v.attempts.WithLabelValues(lock).Inc()
	v.pending.WithLabelValues(lock).Inc()
	_ = lease{}
	won := time.Now()
	v.pending.WithLabelValues(lock).Dec()
	v.pendingAge.WithLabelValues(lock).Set(0)
	v.acquired.WithLabelValues(lock).Inc()
	v.acquire.WithLabelValues(lock).Observe(won.Sub(asked).Seconds())
	v.active.WithLabelValues(lock).Inc()
	v.last.WithLabelValues(lock).Set(unix(won))
	v.expiry.WithLabelValues(lock).Set(unix(asked.Add(leaseLength)))
	v.headroom.WithLabelValues(lock).Set((leaseLength - won.Sub(asked)).Seconds())

	ended := time.Now()
	v.active.WithLabelValues(lock).Dec()
	v.expiry.WithLabelValues(lock).Set(0)
	v.headroom.WithLabelValues(lock).Set(0)
	v.usage.WithLabelValues(lock).Observe(ended.Sub(asked).Seconds() / leaseLength.Seconds())
	if ended.Sub(asked) > leaseLength {
		v.overruns.WithLabelValues(lock).Inc()
	}
	if (lease{}).Release(ctx) == nil {
		v.releases.WithLabelValues(lock, catalog.ReleaseOK.String()).Inc()
	}
	v.ended.WithLabelValues(lock, catalog.Released.String()).Inc()
	v.execution.WithLabelValues(lock).Observe(ended.Sub(won).Seconds())
}

func unix(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

func clientCached(b *testing.B) {
	c := newVectors().of(label)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		c.cycle(ctx)
	}
}

func clientRun(b *testing.B) {
	c := newVectors().of(label)
	ctx := context.Background()
	body := func(context.Context) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		c.run(ctx, body)
	}
}

func clientLookup(b *testing.B) {
	v := newVectors()
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		v.lookupCycle(ctx, label)
	}
}
