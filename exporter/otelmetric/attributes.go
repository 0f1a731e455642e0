package otelmetric

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/leaderscope/leaderscope/instrument"
)

// attributes turns samples into options during one collection. The set of a
// bare lock name is kept from one collection to the next; sets with one more
// attribute are made each time, since all of them together weigh several times what
// the rest of a lock does.
type attributes struct {
	locks   *locks
	current *lock
	pairs   []attribute.KeyValue
	made    [1]metric.ObserveOption
}

// of returns the options of a sample, valid until the next call.
func (a *attributes) of(s *instrument.Sample) []metric.ObserveOption {
	if s.Metric.PerLock() && s.Metric.NumLabels() == 0 {
		if a.current == nil || a.current.label != s.Lock {
			a.current = a.locks.find(s.Lock)
		}
		if a.current != nil {
			return a.current.observe[:]
		}
	}
	a.pairs = a.pairs[:0]
	if s.Metric.PerLock() {
		a.pairs = append(a.pairs, lockName(s.Lock))
	}
	for i := range s.Metric.NumLabels() {
		l := s.Metric.LabelAt(i)
		if s.Values[i] != "" { // an empty label is no label
			a.pairs = append(a.pairs, attribute.String(l.Attribute(), s.Values[i]))
		}
	}
	a.made[0] = metric.WithAttributeSet(attribute.NewSet(a.pairs...))
	return a.made[:]
}
