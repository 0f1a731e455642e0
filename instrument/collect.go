package instrument

import (
	"context"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/instrument/internal/reading"
	"github.com/leaderscope/leaderscope/instrument/internal/registry"
)

// Sample is one series at one instant.
type Sample struct {
	Metric *catalog.Metric
	// Lock is the lock_name; empty for the metrics of the process.
	Lock string
	// Values are the values of Metric.Labels, in their order; the remaining
	// elements are empty.
	Values [3]string
	// Value is the value of every kind but a histogram.
	Value float64
	// Histogram is the value of a histogram, valid during the visit; nil for
	// other kinds.
	Histogram *Histogram
	// Created is when the series began, for counters and histograms.
	Created time.Time
}

// Histogram is the state of a histogram metric at one instant.
type Histogram struct {
	// Counts holds the number of observations in each bucket, not cumulative: one
	// for each bound of the metric and one above the last bound.
	Counts []uint64
	// Sum is the sum of the observations, in the metric's unit.
	Sum float64
}

// Count is the number of observations.
func (h *Histogram) Count() uint64 {
	var n uint64
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Collect visits every series with its current value. Values that depend on time
// (active, headroom, age, work after loss) are computed here, from the lease end;
// the elector is not called. The series of one lock belong to one instant. A
// series with an unknown value is not visited, nor is a histogram before its
// first observation.
//
// The sample is reused after the visit. Collect is safe for concurrent
// use; visit runs without any lock. A nil or closed Middleware has no series.
func (m *Middleware) Collect(visit func(*Sample)) {
	if m == nil {
		return
	}
	c := &collection{m: m, visit: visit}
	write := c.write
	backends := reading.NewBackends(m.locks.Reached())
	open := m.locks.Read(func(r *registry.Reading) {
		c.sample = Sample{Lock: r.Label, Created: r.Created}
		reading.Lock(r, write)
		backends.Add(r.Views)
	})
	if !open {
		return
	}
	c.sample = Sample{Created: m.epoch}
	process := reading.Process{Redaction: m.info(), Overflows: m.locks.Counts().Overflows, Faults: m.faults.Load(), Backends: backends}
	process.Write(write)
}

// collection hands out samples.
type collection struct {
	m         *Middleware
	visit     func(*Sample)
	sample    Sample
	histogram Histogram
	buckets   [lock.MaxBounds + 1]uint64
}

func (c *collection) write(m *catalog.Metric, values *reading.Values, v float64, d *lock.Distribution) {
	if c.m.excluded[m.Group()] {
		return
	}
	c.sample.Metric, c.sample.Values, c.sample.Value, c.sample.Histogram = m, *values, v, nil
	if d != nil {
		c.histogram = Histogram{Counts: c.buckets[:m.NumBuckets()], Sum: d.Sum}
		for i := range c.histogram.Counts {
			c.histogram.Counts[i] = d.Bucket(i)
		}
		c.sample.Histogram = &c.histogram
	}
	c.visit(&c.sample)
}

// Exports reports whether the metric's series are exported, that is, whether
// WithoutSeries does not exclude its group. Exporters with their own
// distributions check this before they create one, because observers receive
// every observation.
func (m *Middleware) Exports(metric *catalog.Metric) bool {
	return m != nil && !m.excluded[metric.Group()]
}

// Observer receives the observations of one label's histograms as they are made,
// for exporters that keep distributions of their own: native histograms,
// exemplars, synchronous OpenTelemetry instruments. Observe runs in the
// elector's goroutine, must return at once and must not call the election; a
// panic is recovered and counted. ctx is that of the operation and may carry a
// span; values are those of the metric's labels, in their order, and do not
// change afterwards.
type Observer interface {
	Observe(ctx context.Context, m *catalog.Metric, values []string, v float64)
}

// Attach passes observations to an Observer for each existing and future label;
// observerOf runs once for each label and must not call the Middleware. An
// observer with a Close method is closed when its label is forgotten. Detach ends
// the attachment and closes the observers; observations in flight may still
// arrive. A nil Middleware attaches nothing.
func (m *Middleware) Attach(observerOf func(label string) Observer) (detach func()) {
	if m == nil {
		return func() {}
	}
	return m.locks.Attach(func(label string) registry.Observer {
		if o := observerOf(label); o != nil {
			return o
		}
		return nil
	})
}
