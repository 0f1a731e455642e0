package otelsetup

import (
	"context"
	"encoding/hex"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// bucketFactor gives the resolution of maxScale.
const bucketFactor = 1.1

// locks are the observers of the labels that exist now. Its mutex is held for
// no call of anybody's: the core makes observers under its own.
type locks struct {
	m                           *instrument.Middleware
	native, exemplared, classic bool

	mu       sync.RWMutex
	by       map[string]*observer
	shutDown bool
}

func (l *locks) find(label string) *observer {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.by[label]
}

func (l *locks) ended() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.shutDown
}

func (l *locks) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.by, l.shutDown = nil, true
}

// observer keeps, for one label, what the core does not: exponential buckets
// and exemplars. They are client_golang's, so that they are the same as those
// of exporter/prom. The methods of a nil observer answer that there is
// nothing.
type observer struct {
	of    *locks
	label string
	kept  []*kept // of metrics without labels of their own

	mu       sync.Mutex
	labelled []*kept // made with their first observation
}

// kept is one histogram of one lock.
type kept struct {
	metric    *catalog.Metric
	value     string // of the metric's own label, if it has one
	histogram prometheus.Histogram
	observed  atomic.Bool
}

// observer makes the observer of a label.
func (l *locks) observer(label string) instrument.Observer {
	o := &observer{of: l, label: label}
	for _, m := range catalog.All() {
		if m.Kind() == catalog.Histogram && m.NumLabels() == 0 && l.m.Exports(m) {
			o.kept = append(o.kept, &kept{metric: m, histogram: l.histogram(m)})
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]*observer{}
	}
	l.by[label] = o
	return o
}

func (l *locks) histogram(m *catalog.Metric) prometheus.Histogram {
	opts := prometheus.HistogramOpts{Name: m.Name()}
	if l.classic {
		opts.Buckets = m.Bounds()
	}
	if l.native {
		opts.NativeHistogramBucketFactor, opts.NativeHistogramMaxBucketNumber = bucketFactor, maxSize
		opts.NativeHistogramZeroThreshold = prometheus.NativeHistogramZeroThresholdZero
	}
	return prometheus.NewHistogram(opts)
}

// Observe implements instrument.Observer.
func (o *observer) Observe(ctx context.Context, m *catalog.Metric, values []string, v float64) {
	k := o.find(m)
	if len(values) > 0 {
		k = o.madeFor(m, values[0])
	}
	if k == nil {
		return
	}
	span := trace.SpanContextFromContext(ctx)
	if o.of.exemplared && span.IsSampled() {
		k.histogram.(prometheus.ExemplarObserver).ObserveWithExemplar(v, prometheus.Labels{
			traceLabel: span.TraceID().String(), spanLabel: span.SpanID().String(),
		})
	} else {
		k.histogram.Observe(v)
	}
	k.observed.Store(true)
}

// Close forgets the label, unless it has come back already.
func (o *observer) Close() {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	if o.of.by[o.label] == o {
		delete(o.of.by, o.label)
	}
}

// madeFor finds or makes the histogram of a metric that has a label of its own.
func (o *observer) madeFor(m *catalog.Metric, value string) *kept {
	if !o.of.native || !o.of.m.Exports(m) {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	k := o.labelledAs(m, value)
	if k == nil {
		k = &kept{metric: m, value: value, histogram: o.of.histogram(m)}
		o.labelled = append(o.labelled, k)
	}
	return k
}

// labelledAs finds one of the labelled histograms. The caller holds mu.
func (o *observer) labelledAs(m *catalog.Metric, value string) *kept {
	for _, k := range o.labelled {
		if k.metric == m && k.value == value {
			return k
		}
	}
	return nil
}

func (o *observer) find(m *catalog.Metric) *kept {
	if o == nil {
		return nil
	}
	for _, k := range o.kept {
		if k.metric == m {
			return k
		}
	}
	return nil
}

// read is what a histogram has; nil before its first observation.
func (o *observer) read(m *catalog.Metric, value string) *dto.Histogram {
	k := o.find(m)
	if o != nil && m.NumLabels() > 0 {
		o.mu.Lock()
		k = o.labelledAs(m, value)
		o.mu.Unlock()
	}
	if k == nil || !k.observed.Load() {
		return nil
	}
	var out dto.Metric
	if err := k.histogram.Write(&out); err != nil {
		return nil
	}
	return out.GetHistogram()
}

// exemplars are those of the classic buckets.
func (o *observer) exemplars(m *catalog.Metric) []metricdata.Exemplar[float64] {
	var all []metricdata.Exemplar[float64]
	for _, b := range o.read(m, "").GetBucket() {
		if b.Exemplar != nil {
			all = append(all, exemplarOf(b.Exemplar))
		}
	}
	return all
}

// exponential is a native histogram as OpenTelemetry writes it: indexed by the
// lower bound of a bucket, not the upper, and without gaps.
func (o *observer) exponential(m *catalog.Metric, value string) (metricdata.ExponentialHistogramDataPoint[float64], bool) {
	h := o.read(m, value)
	if h == nil {
		return metricdata.ExponentialHistogramDataPoint[float64]{}, false
	}
	point := metricdata.ExponentialHistogramDataPoint[float64]{
		StartTime: h.GetCreatedTimestamp().AsTime(), Count: h.GetSampleCount(), Sum: h.GetSampleSum(),
		Scale: h.GetSchema(), ZeroCount: h.GetZeroCount(), ZeroThreshold: h.GetZeroThreshold(),
		PositiveBucket: buckets(h.GetPositiveSpan(), h.GetPositiveDelta()),
		NegativeBucket: buckets(h.GetNegativeSpan(), h.GetNegativeDelta()),
	}
	for _, x := range h.GetExemplars() {
		point.Exemplars = append(point.Exemplars, exemplarOf(x))
	}
	return point, true
}

// buckets writes spans and differences of counts as one run of counts.
func buckets(spans []*dto.BucketSpan, deltas []int64) metricdata.ExponentialBucket {
	var b metricdata.ExponentialBucket
	var count int64
	for i, span := range spans {
		if i == 0 {
			b.Offset = span.GetOffset() - 1
		} else {
			b.Counts = append(b.Counts, make([]uint64, span.GetOffset())...)
		}
		for range span.GetLength() {
			count += deltas[0]
			deltas = deltas[1:]
			b.Counts = append(b.Counts, uint64(count))
		}
	}
	return b
}

// The labels of an exemplar in exporter/prom.
const (
	traceLabel = "trace_id"
	spanLabel  = "span_id"
)

func exemplarOf(x *dto.Exemplar) metricdata.Exemplar[float64] {
	e := metricdata.Exemplar[float64]{Value: x.GetValue(), Time: x.GetTimestamp().AsTime()}
	for _, l := range x.GetLabel() {
		id, err := hex.DecodeString(l.GetValue())
		if err != nil {
			continue
		}
		if l.GetName() == traceLabel {
			e.TraceID = id
		} else {
			e.SpanID = id
		}
	}
	return e
}
