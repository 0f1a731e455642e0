package otelsetup

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Histograms is a Producer of the histograms of one Middleware, for a reader's
// WithProducer. It reads the core when it is collected, so that a forgotten lock
// has no series; a synchronous instrument of the SDK keeps every lock that it has
// recorded, up to a limit. Its values are cumulative, even if
// the reader asks for deltas, and Views do not apply.
//
// Setup uses it. Your own provider needs it in each of its readers, together with
// WithoutHistograms for otelmetric.New: otherwise each histogram is exported
// twice. It is safe for concurrent use. A nil Histograms produces nothing.
type Histograms struct {
	m      *instrument.Middleware
	config histogramConfig
	locks  locks
	detach func()
	close  sync.Once
}

// NewHistograms makes the Producer. Native histograms and exemplars count
// observations from this call on, so call it before the first election. A nil
// Middleware has no histograms.
func NewHistograms(m *instrument.Middleware, opts ...HistogramOption) *Histograms {
	var c histogramConfig
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return newHistograms(m, c, !c.native)
}

// newHistograms keeps what its forms need; classic buckets are the core's, but
// their exemplars are not.
func newHistograms(m *instrument.Middleware, c histogramConfig, classic bool) *Histograms {
	h := &Histograms{m: m, config: c, detach: func() {}}
	h.locks = locks{m: m, native: c.native, exemplared: c.exemplars, classic: classic && c.exemplars}
	if m != nil && (c.native || c.exemplars) {
		h.detach = m.Attach(h.locks.observer)
	}
	return h
}

// Close ends the Producer: it produces nothing afterwards. Closing again does
// nothing. It returns nil.
func (h *Histograms) Close() error {
	if h == nil {
		return nil
	}
	h.close.Do(func() {
		h.detach()
		h.locks.end()
	})
	return nil
}

// Produce implements metric.Producer.
func (h *Histograms) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	if h == nil {
		return nil, nil
	}
	return h.produce(h.config.native)
}

// as is the Producer of one form.
func (h *Histograms) as(native bool) metric.Producer { return form{h, native} }

type form struct {
	h      *Histograms
	native bool
}

// Produce implements metric.Producer.
func (f form) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	return f.h.produce(f.native)
}

func (h *Histograms) produce(native bool) ([]metricdata.ScopeMetrics, error) {
	if h.m == nil || h.locks.ended() {
		return nil, nil
	}
	p := production{locks: &h.locks, native: native, now: time.Now(), metrics: map[*catalog.Metric]*metricdata.Metrics{}}
	h.m.Collect(p.add)
	scope := metricdata.ScopeMetrics{Scope: instrumentation.Scope{Name: otelmetric.ScopeName}}
	for _, m := range catalog.All() {
		if made := p.metrics[m]; made != nil {
			scope.Metrics = append(scope.Metrics, *made)
		}
	}
	if len(scope.Metrics) == 0 {
		return nil, nil
	}
	return []metricdata.ScopeMetrics{scope}, nil
}

// production is one collection.
type production struct {
	locks   *locks
	native  bool
	now     time.Time
	metrics map[*catalog.Metric]*metricdata.Metrics

	label string
	set   attribute.Set
	kept  *observer
}

func (p *production) add(s *instrument.Sample) {
	if s.Histogram == nil {
		return
	}
	if p.label != s.Lock { // no lock has an empty label
		p.label, p.kept = s.Lock, p.locks.find(s.Lock)
		p.set = attribute.NewSet(attribute.String(catalog.LockName.Attribute(), s.Lock))
	}
	if p.native {
		p.addExponential(s)
	} else {
		p.addExplicit(s)
	}
}

func (p *production) addExplicit(s *instrument.Sample) {
	m := p.of(s.Metric)
	h, _ := m.Data.(metricdata.Histogram[float64])
	h.Temporality = metricdata.CumulativeTemporality
	h.DataPoints = append(h.DataPoints, metricdata.HistogramDataPoint[float64]{
		Attributes: p.attributes(s), StartTime: s.Created, Time: p.now,
		Count: s.Histogram.Count(), Sum: s.Histogram.Sum, Bounds: s.Metric.Bounds(), BucketCounts: slices.Clone(s.Histogram.Counts),
		Exemplars: p.kept.exemplars(s.Metric),
	})
	m.Data = h
}

func (p *production) addExponential(s *instrument.Sample) {
	point, ok := p.kept.exponential(s.Metric, s.Values[0])
	if !ok {
		return
	}
	point.Attributes, point.Time = p.attributes(s), p.now
	m := p.of(s.Metric)
	h, _ := m.Data.(metricdata.ExponentialHistogram[float64])
	h.Temporality = metricdata.CumulativeTemporality
	h.DataPoints = append(h.DataPoints, point)
	m.Data = h
}

// attributes are those of the lock, and of the metric's own label if it has one.
func (p *production) attributes(s *instrument.Sample) attribute.Set {
	if s.Metric.NumLabels() == 0 || s.Values[0] == "" {
		return p.set
	}
	own := attribute.String(s.Metric.LabelAt(0).Attribute(), s.Values[0])
	return attribute.NewSet(attribute.String(catalog.LockName.Attribute(), s.Lock), own)
}

func (p *production) of(m *catalog.Metric) *metricdata.Metrics {
	if p.metrics[m] == nil {
		p.metrics[m] = &metricdata.Metrics{Name: m.OTel(), Description: m.Help(), Unit: m.Unit()}
	}
	return p.metrics[m]
}
