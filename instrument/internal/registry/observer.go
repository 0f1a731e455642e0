package registry

import (
	"context"
	"slices"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
)

// Observer takes the observations of one label's histograms as they are made.
type Observer interface {
	Observe(ctx context.Context, m *catalog.Metric, values []string, v float64)
}

type attachment struct{ make func(label string) Observer }

// owned is an observer that knows who attached it.
type owned struct {
	Observer
	by *attachment
}

// Attach has observations handed on to an Observer for each label, those that
// exist and those to come. Detach ends it and closes the observers.
func (r *Registry) Attach(make func(label string) Observer) (detach func()) {
	a := &attachment{make: make}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attached = append(r.attached, a)
	for _, b := range r.labels {
		b.observe(append(slices.Clone(b.observers), r.observer(a, b.shown)...))
	}
	return func() { r.detach(a) }
}

func (r *Registry) detach(a *attachment) {
	var gone []Observer
	r.mu.Lock()
	r.attached = slices.DeleteFunc(r.attached, func(x *attachment) bool { return x == a })
	for _, b := range r.labels {
		var rest []Observer
		for _, o := range b.observers {
			if o.(owned).by == a {
				gone = append(gone, o)
			} else {
				rest = append(rest, o)
			}
		}
		b.observe(rest)
	}
	r.mu.Unlock()
	r.closeAll(gone) // foreign code, which may look at the series
}

// observers makes those of a new label. The caller holds mu.
func (r *Registry) observers(label string) (all []Observer) {
	for _, a := range r.attached {
		all = append(all, r.observer(a, label)...)
	}
	return all
}

// observer makes an attachment's observer of a label; none if that fails.
func (r *Registry) observer(a *attachment, label string) (made []Observer) {
	defer r.contain()
	if o := a.make(label); o != nil {
		made = []Observer{owned{o, a}}
	}
	return made
}

// observe replaces the observers of a label.
func (b *Label) observe(observers []Observer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.observers = observers
	for l := b.locks; l != nil; l = l.next {
		l.mu.Lock()
		l.watch(observers)
		l.mu.Unlock()
	}
}

func (r *Registry) closeAll(observers []Observer) {
	for _, o := range observers {
		r.close(o.(owned).Observer)
	}
}

func (r *Registry) close(o Observer) {
	defer r.contain()
	if c, ok := o.(interface{ Close() }); ok {
		c.Close()
	}
}

// Deliver hands the observations of a lock on. A nil context is the background's.
func (r *Registry) Deliver(ctx context.Context, l *Lock, box lock.Outbox, observers []Observer) {
	if ctx == nil {
		ctx = context.Background()
	}
	for _, o := range observers {
		r.deliver(ctx, l, &box, o)
	}
}

// deliver hands them to one observer. It allocates nothing for metrics without
// labels.
func (r *Registry) deliver(ctx context.Context, l *Lock, box *lock.Outbox, o Observer) {
	defer r.contain()
	for i := range box.Len() {
		x := box.At(i)
		var values []string
		if x.Metric.NumLabels() > 0 {
			values = []string{l.declared.Backend} // the one label that histograms have
		}
		o.Observe(ctx, x.Metric, values, x.Value)
	}
}

// contain is deferred around foreign code: a panic is counted and ends there.
func (r *Registry) contain() {
	if recover() != nil {
		r.hooks.Fault()
	}
}
