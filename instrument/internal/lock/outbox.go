package lock

import "github.com/leaderscope/leaderscope/instrument/catalog"

// Outbox holds what one critical section observed, for exporters that keep
// distributions of their own: mostly one or two values, more take memory of
// their own.
type Outbox struct {
	n    int
	few  [3]Observed
	more []Observed
}

// Observed is one observation of a histogram metric.
type Observed struct {
	Metric *catalog.Metric
	Value  float64
}

func (b *Outbox) add(metric *catalog.Metric, v float64) {
	if b.n < len(b.few) {
		b.few[b.n] = Observed{metric, v}
		b.n++
		return
	}
	b.more = append(b.more, Observed{metric, v})
}

// Empty reports whether there is nothing to hand on.
func (b *Outbox) Empty() bool { return b.n == 0 }

// Take returns what is there and leaves nothing.
func (b *Outbox) Take() Outbox {
	taken := *b
	*b = Outbox{}
	return taken
}

// Len is the number of observations.
func (b *Outbox) Len() int { return b.n + len(b.more) }

// At is one of the observations, in their order.
func (b *Outbox) At(i int) Observed {
	if i < b.n {
		return b.few[i]
	}
	return b.more[i-b.n]
}
