package instrument

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/instrument/internal/registry"
)

// Election is the handle of one lock in this process. It is safe for
// concurrent use and takes no lock around calls of the elector. A nil Election
// passes everything through and records nothing.
type Election struct {
	lock     registry.Lock // first: what keeps it alive keeps the handle
	m        *Middleware
	set      *settings
	kind     atomic.Pointer[leaseKind]
	observed atomic.Pointer[observation] // nil until there was one
}

// none stands in for nil elections.
var none = func() *Election {
	m, _ := New(WithLogger(slog.New(slog.DiscardHandler))) // the defaults are valid
	_ = m.Close()
	return m.Election("none")
}()

func (e *Election) orNone() *Election {
	if e == nil {
		return none
	}
	return e
}

// Label is the lock_name of this election's series; empty for nil.
func (e *Election) Label() string {
	if e == nil {
		return ""
	}
	return e.lock.LabelText()
}

// Acquire acquires the lock through a and returns the term. Errors and panics of
// a are passed through unchanged, and so is ctx. A term must be released,
// unless its lease ends by itself. Do work outside of a Run body in Term.Work,
// so that it is counted.
func (e *Election) Acquire(ctx context.Context, a Acquirer) (*Term, error) {
	return e.orNone().acquire(ctx, a, false)
}

// acquire knows whether a body will run under the term.
func (e *Election) acquire(ctx context.Context, a Acquirer, body bool) (*Term, error) {
	var span span
	if e.m.spans != nil {
		ctx, span = e.m.startSpan(ctx, catalog.SpanAcquire, e)
	}
	at := e.try(body)
	returned := false
	defer func() {
		if !returned {
			at.fail(ctx, catalog.Panicked)
			span.end(catalog.Panicked.String())
		}
	}()
	lease, err := e.acquireFrom(ctx, a)
	returned = true
	if err == nil && lease == nil {
		err = ErrNoLease
	}
	if err != nil {
		reason := e.reasonFor(ctx, a, err)
		at.fail(ctx, reason)
		span.end(reason.String())
		return nil, err
	}
	t, acquired := at.win(ctx, a, lease)
	if acquired {
		span.end(outcomeAcquired)
	} else {
		span.end(catalog.SessionLost.String())
	}
	return t, nil
}

// acquireFrom calls the elector, which may be a witness.
func (e *Election) acquireFrom(ctx context.Context, a Acquirer) (Lease, error) {
	if w, ok := a.(Witness); ok {
		return w.AcquireAsWitness(ctx, e)
	}
	return a.Acquire(ctx)
}

// Run acquires the lock, runs the body and releases the lock, also if the
// body fails or panics. The body's context ends with cause ErrLost when the
// term is lost; the body must stop then. With KeepUntilExpiry the lock is not
// released.
//
// Run returns the error of a, or else of the body, or else of the release. The
// end of ctx does not cancel the release; WithReleaseTimeout bounds it.
func (e *Election) Run(ctx context.Context, a Acquirer, body func(context.Context, *Term) error) (err error) {
	e = e.orNone()
	t, err := e.acquire(ctx, a, true)
	if err != nil {
		return err
	}
	w := t.startBody(ctx, 0)
	returned := false
	defer func() {
		now := w.end(returned, err)
		if e.set.KeepUntilExpiry || t.givenBack() {
			return
		}
		released := e.releaseDetached(ctx, t, now)
		if returned && err == nil {
			err = released
		}
	}()
	err = body(w.ctx, t)
	returned = true
	return err
}

// givenBack reports whether the body has released the lock itself.
func (t *Term) givenBack() bool {
	t.e.lock.Peek()
	defer t.e.lock.Unlock()
	return t.state.Freed()
}

func (e *Election) releaseDetached(ctx context.Context, t *Term, now lock.Instant) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(orBackground(ctx)), e.m.releaseTimeout)
	defer cancel()
	return t.release(ctx, now)
}

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// Begin starts an attempt of an elector that answers through callbacks. The
// attempt is pending until Won or NotAcquired.
func (e *Election) Begin(ctx context.Context) *Attempt {
	e = e.orNone()
	return e.begin(e.m.now(), orBackground(ctx))
}

// Leading returns the current value of leader_active: whether a term of
// this process holds an unexpired lease, as far as the lease end is known.
// It is computed from the lease end: it is false from then on, even if no
// callback was called. It sends no request to the backend: if the lock was taken
// away, another replica may already lead. It is false for nil.
func (e *Election) Leading() bool {
	leading, _ := e.leads()
	return leading
}

// Expiry is the lease end of the term that leads now, the earliest of several;
// ok is false if this process does not lead or the end is unknown. Before a
// write that must not be late, check time.Until(end), and allow for the duration
// of the write itself.
func (e *Election) Expiry() (end time.Time, ok bool) {
	_, at := e.leads()
	if at == 0 {
		return time.Time{}, false
	}
	return e.m.timeOf(at), true
}

func (e *Election) leads() (leading bool, end lock.Instant) {
	if e == nil {
		return false, 0
	}
	now := e.m.now()
	e.lock.Peek()
	defer e.lock.Unlock()
	return e.lock.ActiveEnd(now)
}

// timeOf is an instant as a time with a monotonic reading.
func (m *Middleware) timeOf(at lock.Instant) time.Time {
	now := m.moment()
	return now.Wall.Add(at.Sub(now.Now))
}

// Forget retires the lock: its open terms and attempts are abandoned, its
// series end, and its label no longer counts toward WithMaxLabels. Later calls
// on this handle pass through and record nothing; the next Election or Named
// call for the name makes a new handle. Counts of the lock under a shared label
// remain, and a shared label remains if one of its handles was dropped without
// Forget. Calling Forget again does nothing.
func (e *Election) Forget() {
	if e == nil {
		return
	}
	e.m.locks.Forget(&e.lock)
	e.lock.Peek()
	defer e.lock.Unlock()
	e.logOverruns() // of what was open
}

// unlock ends a change and hands what it observed to the exporters that
// listen, with the context of the operation.
func (e *Election) unlock(ctx context.Context) {
	if e.lock.Unlogged != 0 {
		e.logOverruns()
	}
	if e.lock.Outbox == nil {
		e.lock.Unlock()
		return
	}
	if box, observers := e.lock.UnlockAndTake(); observers != nil {
		e.m.locks.Deliver(ctx, &e.lock, box, observers)
	}
}
