package otelmetric

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// locks keeps what each label needs again and again. Its mutex is held for no
// call of anybody's: the core makes observers under its own.
type locks struct {
	of         *export
	wanted     bool // histograms are
	histograms []histogram

	mu sync.RWMutex
	by map[string]*lock
}

// lock is one label: its attribute set, made once, and its histograms, which
// it observes for the core. Options are passed as slices, since passing one by
// itself would allocate at each observation.
type lock struct {
	of      *locks
	label   string
	observe [1]metric.ObserveOption
	record  [1]metric.RecordOption
	bound   []metric.Float64Histogram // in the order of histograms, or none
	known   atomic.Bool               // the SDK has histograms of this label

	mu       sync.Mutex
	labelled []labelled // what the SDK has of metrics with a label of their own
}

// labelled is a histogram with a label of its own.
type labelled struct {
	histogram int
	own       attribute.KeyValue
}

func lockName(label string) attribute.KeyValue {
	return attribute.String(catalog.LockName.Attribute(), label)
}

// add makes the instrument of a histogram.
func (l *locks) add(meter metric.Meter, m *catalog.Metric) {
	if !l.wanted {
		return
	}
	if h, ok := newHistogram(meter, m); ok {
		l.histograms = append(l.histograms, h)
	}
}

// observer makes a label's entry.
func (l *locks) observer(label string) instrument.Observer {
	name := lockName(label)
	set := metric.WithAttributeSet(attribute.NewSet(name))
	k := &lock{of: l, label: label, observe: [1]metric.ObserveOption{set}, record: [1]metric.RecordOption{set}, bound: bind(l.histograms, name)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]*lock{}
	}
	l.by[label] = k
	return k
}

// Observe implements instrument.Observer.
func (k *lock) Observe(ctx context.Context, m *catalog.Metric, values []string, v float64) {
	i := k.of.index(m)
	if i < 0 || !k.of.of.reports() {
		return
	}
	switch {
	case len(values) > 0 && values[0] != "": // an empty label is no label
		own := attribute.String(m.LabelAt(0).Attribute(), values[0])
		k.keep(labelled{i, own})
		k.of.histograms[i].instrument.Record(ctx, v, metric.WithAttributeSet(attribute.NewSet(lockName(k.label), own)))
	case k.bound != nil:
		k.bound[i].Record(ctx, v)
	default:
		k.of.histograms[i].instrument.Record(ctx, v, k.record[:]...)
	}
	if !k.known.Load() && k.known.CompareAndSwap(false, true) && !k.of.histograms[i].finishes() {
		k.of.of.limit.add(k.label)
	}
}

// keep remembers what the SDK has to forget with the label.
func (k *lock) keep(l labelled) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.labelled, l) {
		k.labelled = append(k.labelled, l)
	}
}

// Close forgets the label, and has the SDK forget it if it can and no other
// export has it there.
func (k *lock) Close() {
	if k.of.of.reports() {
		for _, h := range k.of.histograms {
			h.finish(lockName(k.label))
		}
		k.mu.Lock()
		for _, l := range k.labelled {
			k.of.histograms[l.histogram].finish(lockName(k.label), l.own)
		}
		k.mu.Unlock()
	}
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	if k.of.by[k.label] == k {
		delete(k.of.by, k.label)
	}
}

// index finds a metric among the histograms, of which there are few.
func (l *locks) index(m *catalog.Metric) int {
	for i := range l.histograms {
		if l.histograms[i].metric == m {
			return i
		}
	}
	return -1
}

func (l *locks) find(label string) *lock {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.by[label]
}
