package prom

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// The resolution of native histograms: schema 3, at most 160 buckets, as
// package otelsetup has them.
const (
	bucketFactor = 1.1
	maxBuckets   = 160
)

// locks are the observers of the labels that exist now. The mutex is held for
// no call of anybody's: the core makes observers under its own.
type locks struct {
	mu sync.RWMutex
	by map[string]*observer
}

func (l *locks) find(label string) *observer {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.by[label]
}

// observer keeps what the core does not: native histograms, exemplars. The
// methods of a nil observer answer that there is nothing.
type observer struct {
	of    *collector
	label string
	kept  []kept // of metrics without labels of their own

	mu       sync.Mutex
	labelled []*kept // made with their first observation
}

// kept is one histogram of one lock; native is nil unless asked for.
type kept struct {
	metric    *catalog.Metric
	value     string // of the metric's own label, if it has one
	native    prometheus.Histogram
	observed  *atomic.Bool // native has an observation
	exemplars exemplars
}

// observer makes the observer of a label.
func (c *collector) observer(label string) instrument.Observer {
	o := &observer{of: c, label: label}
	for _, m := range catalog.All() {
		if m.Kind() != catalog.Histogram || m.NumLabels() > 0 || !c.m.Exports(m) {
			continue
		}
		k := kept{metric: m}
		if c.config.native() {
			k.native, k.observed = c.newNative(m, label), new(atomic.Bool)
		} else {
			k.exemplars = make(exemplars, m.NumBuckets())
		}
		o.kept = append(o.kept, k)
	}
	c.locks.mu.Lock()
	defer c.locks.mu.Unlock()
	if c.locks.by == nil {
		c.locks.by = map[string]*observer{}
	}
	c.locks.by[label] = o
	return o
}

// newVectors makes the vectors that native histograms come from.
func newVectors(c config) map[*catalog.Metric]*prometheus.HistogramVec {
	vectors := map[*catalog.Metric]*prometheus.HistogramVec{}
	for _, m := range catalog.All() {
		if m.Kind() != catalog.Histogram || !c.native() {
			continue
		}
		opts := prometheus.HistogramOpts{
			Name: m.Name(), Help: m.Help(), ConstLabels: c.constant,
			NativeHistogramBucketFactor: bucketFactor, NativeHistogramMaxBucketNumber: maxBuckets,
			NativeHistogramZeroThreshold: prometheus.NativeHistogramZeroThresholdZero,
		}
		if c.histograms == ClassicAndNative {
			opts.Buckets = m.Bounds()
		}
		vectors[m] = prometheus.NewHistogramVec(opts, labelNames(m))
	}
	return vectors
}

// newNative takes a histogram out of its vector: the observer alone keeps it,
// so that a label which goes and comes back at once begins again at zero.
func (c *collector) newNative(m *catalog.Metric, labels ...string) prometheus.Histogram {
	v := c.vectors[m]
	h := v.WithLabelValues(labels...).(prometheus.Histogram)
	v.DeleteLabelValues(labels...)
	return h
}

// Observe implements instrument.Observer.
func (o *observer) Observe(ctx context.Context, m *catalog.Metric, values []string, v float64) {
	if len(values) > 0 {
		o.observeLabelled(m, values[0], v)
		return
	}
	k := o.find(m)
	if k == nil {
		return
	}
	span := trace.SpanContextFromContext(ctx)
	sampled := o.of.config.exemplars && span.IsSampled()
	if k.native == nil {
		if sampled {
			k.exemplars.keep(m, span, v)
		}
		return
	}
	if sampled {
		k.native.(prometheus.ExemplarObserver).ObserveWithExemplar(v, prometheus.Labels{
			traceLabel: span.TraceID().String(), spanLabel: span.SpanID().String(),
		})
	} else {
		k.native.Observe(v)
	}
	k.observed.Store(true)
}

// observeLabelled keeps a native histogram of a metric that has a label of its
// own. Its observations are no operations of an elector and have no trace.
func (o *observer) observeLabelled(m *catalog.Metric, value string, v float64) {
	if !o.of.config.native() || !o.of.m.Exports(m) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	k := o.labelledAs(m, value)
	if k == nil {
		k = &kept{metric: m, value: value, native: o.of.newNative(m, o.label, value)}
		o.labelled = append(o.labelled, k)
	}
	k.native.Observe(v)
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

// Close forgets the label, unless it has come back already.
func (o *observer) Close() {
	o.of.locks.mu.Lock()
	defer o.of.locks.mu.Unlock()
	if o.of.locks.by[o.label] == o {
		delete(o.of.locks.by, o.label)
	}
}

func (o *observer) find(m *catalog.Metric) *kept {
	if o == nil {
		return nil
	}
	for i := range o.kept {
		if o.kept[i].metric == m {
			return &o.kept[i]
		}
	}
	return nil
}

// native is the native histogram, once it has been observed. It is asked for
// only where there are native histograms.
func (o *observer) native(m *catalog.Metric, value string) prometheus.Metric {
	if o != nil && m.NumLabels() > 0 {
		o.mu.Lock()
		defer o.mu.Unlock()
		if k := o.labelledAs(m, value); k != nil {
			return k.native
		}
	}
	if k := o.find(m); k != nil && k.observed.Load() {
		return k.native
	}
	return nil
}

func (o *observer) exemplars(m *catalog.Metric) exemplars {
	if k := o.find(m); k != nil {
		return k.exemplars
	}
	return nil
}

// The labels of an exemplar, as Grafana looks for them.
const (
	traceLabel = "trace_id"
	spanLabel  = "span_id"
)

// exemplars are the last sampled observations of a classic histogram, one for
// each bucket.
type exemplars []atomic.Pointer[exemplar]

type exemplar struct {
	span  trace.SpanContext
	value float64
	at    time.Time
}

func (e exemplars) keep(m *catalog.Metric, span trace.SpanContext, v float64) {
	e[m.BucketOf(v)].Store(&exemplar{span, v, time.Now()})
}

func (e exemplars) of(i int) *dto.Exemplar {
	if e == nil {
		return nil
	}
	x := e[i].Load()
	if x == nil {
		return nil
	}
	return &dto.Exemplar{
		Label: []*dto.LabelPair{pair(spanLabel, x.span.SpanID().String()), pair(traceLabel, x.span.TraceID().String())},
		Value: &x.value, Timestamp: timestamppb.New(x.at),
	}
}
