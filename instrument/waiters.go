package instrument

import (
	"context"
	"time"

	"github.com/leaderscope/leaderscope/instrument/internal/lock"
)

// waiters are those to be notified of a term's end, and what else only some terms
// need.
type waiters struct {
	more lock.More

	// set before the term is won
	classifier Classifier
	token      uint64
	fenced     bool

	// guarded by the lock
	context  context.Context // what Term.Context returns
	cancel   context.CancelCauseFunc
	told     error // why the contexts have ended; nil while they have not
	body     bodyCancel
	bodies   []*bodyCancel // those beside the first
	finished bool
	logged   bool          // its end is, or its win is not yet
	done     chan struct{} // closed when the term has ended
	unwatch  context.CancelFunc
	stop     *time.Timer // of StopAtLeaseEnd
}

// bodyCancel ends the context of one body while it runs.
type bodyCancel struct{ cancel context.CancelCauseFunc }

// enter gives a body its place, mostly the first.
func (x *waiters) enter(cancel context.CancelCauseFunc) *bodyCancel {
	if x.body.cancel == nil {
		x.body.cancel = cancel
		return &x.body
	}
	b := &bodyCancel{cancel}
	x.bodies = append(x.bodies, b)
	return b
}

// leave forgets a body that has returned.
func (x *waiters) leave(b *bodyCancel) {
	b.cancel = nil
	for i, other := range x.bodies {
		if other == b {
			last := len(x.bodies) - 1
			x.bodies[i], x.bodies[last] = x.bodies[last], nil
			x.bodies = x.bodies[:last]
			return
		}
	}
}

// Context is done when the term ends, with cause ErrLost or ErrReleased, or
// with ErrLeaseEnded under StopAtLeaseEnd. It carries the values of the
// acquisition's context and not its deadline.
//
// Use it for work that belongs to the term and does not run in a body. A body
// of Run or Work has its own context, which ends with the term and with the
// caller's context. Neither ends at a lease end that the library does not report:
// check Leading or Expiry before a write, or use StopAtLeaseEnd.
func (t *Term) Context() context.Context {
	if t == nil {
		return context.Background()
	}
	t.e.lock.Peek()
	defer t.e.lock.Unlock()
	x := t.extra()
	if x.context == nil {
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(orBackground(t.ctx)))
		x.context, x.cancel = ctx, cancel
		if why := t.toldWhy(x); why != nil {
			cancel(why)
		}
	}
	return x.context
}

// toldWhy is why contexts of the term have ended; nil while they have not. A
// release that is under way has ended them. The caller holds the mutex.
func (t *Term) toldWhy(x *waiters) error {
	if x.told == nil && t.state.Superseded() {
		return ErrLost
	}
	if x.told == nil && t.state.Stopped() != 0 {
		if cause, ended := t.state.Ended(); !ended || endedByRelease(cause) {
			return ErrReleased
		}
		return ErrLost
	}
	return x.told
}

// notify ends the contexts that depend on the term, once. Contexts may run
// foreign code, so that happens without the mutex.
func (t *Term) notify(why error) {
	if t.waiters.Load() == nil {
		return
	}
	t.e.lock.Peek()
	x := t.waiters.Load()
	if x.told != nil {
		t.e.lock.Unlock()
		return
	}
	x.told = why
	term, body := x.cancel, x.body.cancel
	var others []context.CancelCauseFunc
	for _, b := range x.bodies {
		others = append(others, b.cancel)
	}
	t.e.lock.Unlock()
	if term != nil {
		term(why)
	}
	if body != nil {
		body(why)
	}
	for _, cancel := range others {
		cancel(why)
	}
}

// watch starts what reports losses and renewals for as long as the term is
// open. A term whose lease reports nothing has no goroutine.
func (t *Term) watch(lost <-chan struct{}, can capability) {
	ctx, unwatch := context.WithCancel(context.WithoutCancel(orBackground(t.ctx)))
	done := make(chan struct{})
	t.e.lock.Peek()
	x := t.extra()
	x.done, x.unwatch = done, unwatch
	ended := x.finished || t.state.Stopped() != 0 // by who had the term first
	t.e.lock.Unlock()
	if ended {
		unwatch()
		return
	}
	if lost != nil {
		go func() {
			select {
			case <-lost:
				t.lost(nil)
			case <-done:
			}
		}()
	}
	if can&canWatch != 0 {
		go t.runWatcher(ctx, t.lease.(Watcher), can)
	}
}

// runWatcher notes that renewals are not observable when Watch returns although
// the term continues, unless the holder renews on demand.
func (t *Term) runWatcher(ctx context.Context, w Watcher, can capability) {
	defer func() {
		if ctx.Err() == nil && can&firmlyRenews == 0 {
			now := t.e.m.now()
			t.e.lock.Lock()
			t.e.lock.Blind(&t.state, now)
			t.e.lock.Unlock()
		}
	}()
	defer t.e.m.contain(func() {})
	w.Watch(ctx, Sink{t})
}

// stopWatching ends what watch and StopAtLeaseEnd started.
func (t *Term) stopWatching() {
	if t.waiters.Load() == nil {
		return
	}
	t.e.lock.Peek()
	unwatch := t.waiters.Load().finish()
	t.e.lock.Unlock()
	if unwatch != nil {
		unwatch()
	}
}

func (x *waiters) finish() (unwatch context.CancelFunc) {
	if x.stop != nil {
		x.stop.Stop()
	}
	if x.finished {
		return nil
	}
	x.finished = true
	if x.done != nil {
		close(x.done)
	}
	return x.unwatch
}

// owner is notified of a term that ended with its lease, under the mutex. Contexts
// and watchers do not end by that: when it is noticed depends on who looks, and
// a late renewal may show that the lock was kept.
type owner struct{ *Term }

// Lapsed implements lock.Owner.
func (t owner) Lapsed() {
	if x := t.waiters.Load(); !x.logged {
		x.logged = true
		t.e.m.logEnded(t.Term)
	}
}

// scheduleStop has the contexts of the term end with its lease. It is called
// again when the end has moved.
func (t *Term) scheduleStop() {
	now := t.e.m.now()
	t.e.lock.Peek()
	defer t.e.lock.Unlock()
	end := t.e.lock.End(&t.state)
	x := t.extra()
	if end == 0 || x.finished || x.told != nil {
		return
	}
	remaining := max(end.Sub(now), 0)
	if x.stop == nil {
		x.stop = time.AfterFunc(remaining, t.stopAtEnd)
	} else {
		x.stop.Reset(remaining)
	}
}

func (t *Term) stopAtEnd() {
	now := t.e.m.now()
	t.e.lock.Peek()
	end := t.e.lock.End(&t.state)
	t.e.lock.Unlock()
	if end == 0 || t.state.Stopped() != 0 {
		return
	}
	if now < end { // the lease was renewed, or a timer is early
		t.scheduleStop()
		return
	}
	t.notify(ErrLeaseEnded)
}
