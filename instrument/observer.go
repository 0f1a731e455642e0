package instrument

import (
	"context"
	"slices"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Observer takes the observations of one label's histograms as they are made,
// for exporters that keep distributions of their own: native histograms,
// exemplars, synchronous OpenTelemetry instruments. Observe runs in the
// elector's goroutine and must return at once; a panic is contained and
// counted. ctx is that of the operation and may carry a span.
type Observer interface {
	Observe(ctx context.Context, m *catalog.Metric, v float64)
}

// Attach has observations handed on to an Observer for each label, those that
// exist and those to come; make runs once for a label and must not call back.
// An observer that also has a Close method is closed when its label goes.
// Detach ends it; what was in flight may still arrive.
func (m *Middleware) Attach(make func(label string) Observer) (detach func()) {
	a := &attachment{make: make}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attached = append(m.attached, a)
	for _, s := range m.series {
		s.mu.Lock()
		s.watch(append(s.watchers(), m.newObserver(a, s.lockName())...))
		s.mu.Unlock()
	}
	return func() { m.detach(a) }
}

type attachment struct{ make func(label string) Observer }

// owned is an observer that knows who attached it.
type owned struct {
	Observer
	by *attachment
}

// newObserver makes an attachment's observer of a label; none if that fails.
func (m *Middleware) newObserver(a *attachment, label string) (made []Observer) {
	defer m.contain(func() { made = nil })
	if o := a.make(label); o != nil {
		return []Observer{owned{o, a}}
	}
	return nil
}

func (m *Middleware) detach(a *attachment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attached = slices.DeleteFunc(m.attached, func(x *attachment) bool { return x == a })
	for _, s := range m.series {
		s.mu.Lock()
		var rest []Observer
		for _, o := range s.watchers() {
			if o.(owned).by == a {
				m.closeObserver(o)
				continue
			}
			rest = append(rest, o)
		}
		s.watch(rest)
		s.mu.Unlock()
	}
}

func (m *Middleware) closeObserver(o Observer) {
	defer m.contain(func() {})
	if c, ok := o.(owned).Observer.(interface{ Close() }); ok {
		c.Close()
	}
}

// watched is what a series has for its observers.
type watched struct {
	observers []Observer
	outbox
}

// watch replaces the observers. The caller holds the series' mutex.
func (s *series) watch(observers []Observer) {
	s.watched = nil
	if len(observers) > 0 {
		s.watched = &watched{observers: observers}
	}
}

// watchers is a copy of the observers.
func (s *series) watchers() []Observer {
	if s.watched == nil {
		return nil
	}
	return slices.Clone(s.watched.observers)
}

// take returns what is there and leaves nothing.
func (w *watched) take() watched {
	taken := *w
	w.outbox = outbox{}
	return taken
}

// outbox holds what one critical section measured, seldom more than two
// values; more than a few take memory of their own.
type outbox struct {
	n    int
	obs  [3]observation
	more []observation
}

type observation struct {
	metric *catalog.Metric
	v      float64
}

func (b *outbox) add(metric *catalog.Metric, v float64) {
	if b.n < len(b.obs) {
		b.obs[b.n] = observation{metric, v}
		b.n++
		return
	}
	b.more = append(b.more, observation{metric, v})
}

func (w *watched) deliver(ctx context.Context, m *Middleware) {
	defer m.contain(func() {})
	if ctx == nil {
		ctx = context.Background()
	}
	for _, o := range w.observers {
		for _, x := range w.obs[:w.n] {
			o.Observe(ctx, x.metric, x.v)
		}
		for _, x := range w.more {
			o.Observe(ctx, x.metric, x.v)
		}
	}
}
