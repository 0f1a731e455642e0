package main

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// children are what a careful author would keep for one lock: all that one
// cycle records, by hand.
type children struct {
	attempts, acquired, ended, releases, overruns prometheus.Counter
	pending, active, last, expiry                 prometheus.Gauge
	acquire, execution, usage                     prometheus.Observer
}

type vectors struct {
	attempts, acquired, ended, releases, overruns *prometheus.CounterVec
	pending, active, last, expiry                 *prometheus.GaugeVec
	acquire, execution, usage                     *prometheus.HistogramVec
}

func newVectors() *vectors {
	counter := func(m *catalog.Metric) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, names(m))
	}
	gauge := func(m *catalog.Metric) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.Name, Help: m.Help}, names(m))
	}
	histogram := func(m *catalog.Metric) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: m.Bounds}, names(m))
	}
	return &vectors{
		attempts: counter(catalog.Attempts), acquired: counter(catalog.Acquired), ended: counter(catalog.TermsEnded),
		releases: counter(catalog.Releases), overruns: counter(catalog.LeaseOverruns),
		pending: gauge(catalog.Pending), active: gauge(catalog.Active), last: gauge(catalog.LastAcquired), expiry: gauge(catalog.LeaseExpiry),
		acquire: histogram(catalog.AcquireDuration), execution: histogram(catalog.ExecutionDuration), usage: histogram(catalog.LeaseUsageRatio),
	}
}

func names(m *catalog.Metric) []string {
	names := []string{catalog.LockName.Name}
	for _, l := range m.Labels {
		names = append(names, l.Name)
	}
	return names
}

func (v *vectors) of(lock string) children {
	return children{
		attempts: v.attempts.WithLabelValues(lock), acquired: v.acquired.WithLabelValues(lock),
		ended:    v.ended.WithLabelValues(lock, catalog.Released.String()),
		releases: v.releases.WithLabelValues(lock, catalog.ReleaseOK.String()), overruns: v.overruns.WithLabelValues(lock),
		pending: v.pending.WithLabelValues(lock), active: v.active.WithLabelValues(lock),
		last: v.last.WithLabelValues(lock), expiry: v.expiry.WithLabelValues(lock),
		acquire: v.acquire.WithLabelValues(lock), execution: v.execution.WithLabelValues(lock), usage: v.usage.WithLabelValues(lock),
	}
}

const leaseLength = time.Minute

// cycle records what leaderscope records of one acquisition and release.
func (c children) cycle(ctx context.Context) {
	asked := time.Now()
	c.attempts.Inc()
	c.pending.Inc()
	_ = lease{}
	won := time.Now()
	c.pending.Dec()
	c.acquired.Inc()
	c.acquire.Observe(won.Sub(asked).Seconds())
	c.active.Inc()
	c.last.Set(float64(won.UnixNano()) / 1e9)
	c.expiry.Set(float64(asked.Add(leaseLength).UnixNano()) / 1e9)

	ended := time.Now()
	c.active.Dec()
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

func cachedCycle(b *testing.B) {
	c := newVectors().of("k1:0123456789abcdef")
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		c.cycle(ctx)
	}
}

func lookupCycle(b *testing.B) {
	v := newVectors()
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		v.of("k1:0123456789abcdef").cycle(ctx)
	}
}
