package otelmetric

import (
	"context"
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
	histograms []histogram

	mu sync.RWMutex
	by map[string]*lock
}

// lock is one label: its attribute set, made once, and what the SDK has of it.
// It observes histograms for the core. Options are passed as slices, since
// passing one by itself would allocate at each observation.
type lock struct {
	of       *locks
	label    string
	observe  [1]metric.ObserveOption
	record   [1]metric.RecordOption
	bound    []metric.Float64Histogram // in the order of histograms, or none
	recorded atomic.Uint32             // by histogram: the SDK has a data point
}

func lockName(label string) attribute.KeyValue {
	return attribute.String(catalog.LockName.Attribute, label)
}

// observer makes a label's entry. A label that comes back has points in the
// SDK already, unless the SDK forgot them.
func (l *locks) observer(label string) instrument.Observer {
	name := lockName(label)
	set := metric.WithAttributeSet(attribute.NewSet(name))
	k := &lock{of: l, label: label, observe: [1]metric.ObserveOption{set}, record: [1]metric.RecordOption{set}, bound: bind(l.histograms, name)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if before := l.by[label]; before != nil {
		k.recorded.Store(before.recorded.Load())
	}
	if l.by == nil {
		l.by = map[string]*lock{}
	}
	l.by[label] = k
	return k
}

// Observe implements instrument.Observer.
func (k *lock) Observe(ctx context.Context, m *catalog.Metric, v float64) {
	i := k.of.index(m)
	if i < 0 {
		return
	}
	if k.bound != nil {
		k.bound[i].Record(ctx, v)
	} else {
		k.of.histograms[i].instrument.Record(ctx, v, k.record[:]...)
	}
	if bit := uint32(1) << i; k.recorded.Load()&bit == 0 {
		k.recorded.Or(bit)
	}
}

// Close forgets the label, if the SDK can forget it too.
func (k *lock) Close() {
	name := lockName(k.label)
	for i, h := range k.of.histograms {
		if h.finish(name) {
			k.recorded.And(^(uint32(1) << i))
		}
	}
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	if k.recorded.Load() == 0 && k.of.by[k.label] == k {
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

// recorded reports whether the SDK has a data point of that histogram.
func (l *locks) recorded(m *catalog.Metric, label string) bool {
	k, i := l.find(label), l.index(m)
	return k != nil && i >= 0 && k.recorded.Load()&(1<<i) != 0
}
