package instrument

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Sample is one series at one instant.
type Sample struct {
	Metric *catalog.Metric
	// Lock is the lock_name; empty for the metrics of the process.
	Lock string
	// Values are the values of Metric.Labels, in their order; the rest is
	// empty.
	Values [3]string
	// Value is the value of every kind but a histogram.
	Value float64
	// Histogram is the value of a histogram, valid during the visit; nil for
	// other kinds.
	Histogram *Histogram
	// Created is when the series began, for counters and histograms.
	Created time.Time
}

// Collect visits every series as it is now. What depends on time (active,
// headroom, age, work after loss) is computed here, from the lease end; the
// elector is not called. The series of one lock are of one instant. A series
// that cannot be known is not visited.
//
// The sample is used again after the visit. Collect is safe for concurrent
// use; visit runs without any lock.
func (m *Middleware) Collect(visit func(*Sample)) {
	m.mu.Lock()
	closed, overflows := m.closed, m.overflows
	all := make([]*series, 0, len(m.series))
	for _, s := range m.series {
		all = append(all, s)
	}
	m.mu.Unlock()
	if closed {
		return
	}
	slices.SortFunc(all, func(a, b *series) int { return cmp.Compare(a.label, b.label) })

	c := &collection{m: m, visit: visit}
	for _, s := range all {
		if s.read(m, &c.reading) {
			c.lock(&c.reading)
		}
	}
	c.process(overflows)
}

// collection hands out samples.
type collection struct {
	m         *Middleware
	visit     func(*Sample)
	reading   reading
	sample    Sample
	histogram Histogram
	buckets   [maxBounds + 1]uint64
}

func (c *collection) lock(r *reading) {
	c.sample = Sample{Lock: r.label, Created: r.created}
	c.value(catalog.Attempts, float64(r.attempts))
	c.value(catalog.Acquired, float64(r.acquired))
	c.values(catalog.NotAcquired, r.notAcquired[:])
	c.value(catalog.Active, float64(r.active))
	c.value(catalog.Running, float64(r.running))
	c.value(catalog.Pending, float64(r.pending))
	c.value(catalog.PendingAge, r.pendingAge.Seconds())
	c.distribution(catalog.AcquireDuration, &r.acquire)
	c.distribution(catalog.ExecutionDuration, &r.execution)
	c.values(catalog.ExecutionFailures, r.failures[:])
	c.value(catalog.WorkAfterLoss, r.workAfterLoss.Seconds())
	c.values(catalog.TermsEnded, r.ended[:])
	c.values(catalog.Releases, r.releases[:])
	if r.renewalsSeen {
		c.values(catalog.Renewals, r.renewals[:])
		c.distribution(catalog.RenewalDuration, &r.renewalDuration)
	}
	c.lease(r)
	if r.lastTermSec != 0 {
		c.value(catalog.LastAcquired, r.lastTermSec)
	}
	if r.every > 0 {
		c.value(catalog.ExpectedInterval, r.every.Seconds())
	}
	c.value(catalog.MaxLeaders, float64(r.maxLeaders))
	if r.tokenKnown {
		c.value(catalog.FencingToken, float64(r.token))
		c.value(catalog.FencingTokenRegressions, float64(r.regressions))
	}
	for _, use := range r.uses {
		c.sample.Values = [3]string{use.mode.String(), use.backend, use.family}
		c.emit(catalog.ElectorInfo, 1)
	}
	c.sample.Values = [3]string{}
}

func (c *collection) lease(r *reading) {
	if !math.IsNaN(r.headroom) {
		c.value(catalog.LeaseHeadroom, r.headroom)
		c.value(catalog.LeaseExpiry, r.expiry)
	}
	if r.lease > 0 {
		c.value(catalog.LeaseDuration, r.lease.Seconds())
	}
	if r.leaseSeen {
		c.distribution(catalog.LeaseUsageRatio, &r.usage)
		c.value(catalog.LeaseOverruns, float64(r.overruns))
	}
}

// process visits the metrics that belong to no lock.
func (c *collection) process(overflows uint64) {
	info := c.m.info()
	c.sample = Sample{Values: [3]string{info.Mode, info.KeyID, info.KeyCheck}, Created: c.m.epoch}
	c.emit(catalog.RedactionInfo, 1)
	c.sample.Values = [3]string{}
	c.emit(catalog.RedactionOverflows, float64(overflows))
}

func (c *collection) value(m *catalog.Metric, v float64) { c.emit(m, v) }

// values visits one series for each value of the metric's closed label.
func (c *collection) values(m *catalog.Metric, counts []uint64) {
	for i, n := range counts {
		c.sample.Values[0] = m.Labels[0].Values[i]
		c.emit(m, float64(n))
	}
	c.sample.Values[0] = ""
}

func (c *collection) distribution(m *catalog.Metric, d *distribution) {
	c.histogram = Histogram{Counts: c.buckets[:len(m.Bounds)+1], Sum: d.sum}
	for i := range c.histogram.Counts {
		c.histogram.Counts[i] = d.bucket(i)
	}
	c.sample.Histogram = &c.histogram
	c.emit(m, 0)
	c.sample.Histogram = nil
}

func (c *collection) emit(m *catalog.Metric, v float64) {
	if c.m.left[m.Group] {
		return
	}
	c.sample.Metric, c.sample.Value = m, v
	c.visit(&c.sample)
}
