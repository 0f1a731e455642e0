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

// lock is one label: its attribute set, made once, and its histograms. It
// observes them for the core.
type lock struct {
	of      *locks
	label   string
	observe []metric.ObserveOption
	sinks   []sink
}

// sink is one histogram of one label. The options are a slice, since passing
// them one by one would allocate at each observation.
type sink struct {
	metric     *catalog.Metric
	instrument metric.Float64Histogram
	options    []metric.RecordOption
	recorded   atomic.Bool // the SDK has a data point
}

func lockName(label string) attribute.KeyValue {
	return attribute.String(catalog.LockName.Attribute, label)
}

// observer makes a label's entry. A label that comes back has points in the
// SDK already, unless the SDK forgot them.
func (l *locks) observer(label string) instrument.Observer {
	name := lockName(label)
	set := metric.WithAttributeSet(attribute.NewSet(name))
	k := &lock{of: l, label: label, observe: []metric.ObserveOption{set}, sinks: make([]sink, len(l.histograms))}
	options := []metric.RecordOption{set}
	for i, h := range l.histograms {
		k.sinks[i].metric = h.metric
		k.sinks[i].instrument, k.sinks[i].options = h.bind(name, options)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if before := l.by[label]; before != nil {
		for i := range before.sinks {
			k.sinks[i].recorded.Store(before.sinks[i].recorded.Load())
		}
	}
	if l.by == nil {
		l.by = map[string]*lock{}
	}
	l.by[label] = k
	return k
}

// Observe implements instrument.Observer.
func (k *lock) Observe(ctx context.Context, m *catalog.Metric, v float64) {
	for i := range k.sinks {
		s := &k.sinks[i]
		if s.metric != m {
			continue
		}
		s.instrument.Record(ctx, v, s.options...)
		if !s.recorded.Load() {
			s.recorded.Store(true)
		}
		return
	}
}

// Close forgets the label, if the SDK can forget it too.
func (k *lock) Close() {
	name := lockName(k.label)
	remembered := false
	for i, h := range k.of.histograms {
		if !h.finish(name) && k.sinks[i].recorded.Load() {
			remembered = true
		}
	}
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	if !remembered && k.of.by[k.label] == k {
		delete(k.of.by, k.label)
	}
}

func (l *locks) find(label string) *lock {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.by[label]
}

// recorded reports whether the SDK has a data point of that histogram.
func (l *locks) recorded(m *catalog.Metric, label string) bool {
	k := l.find(label)
	if k == nil {
		return false
	}
	for i := range k.sinks {
		if s := &k.sinks[i]; s.metric == m {
			return s.recorded.Load()
		}
	}
	return false
}
