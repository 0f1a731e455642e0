package instrument

import (
	"context"
	"sync/atomic"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Election is the handle of one lock in this process. It is safe for
// concurrent use and takes no lock around calls of the elector.
type Election struct {
	m   *Middleware
	s   *series
	of  *Elections // nil without
	set *settings

	kind   atomic.Pointer[leaseKind]
	flight flight

	// guarded by s.mu
	next       *Election   // of the same series
	attempts   attemptList // those that are not in flight
	terms      *Term       // open, or with bodies that run; linked by next
	observed   *observed   // nil until there was an observation
	token      uint64
	tokenKnown bool
	closed     bool
}

// Label is the lock_name of this election's series.
func (e *Election) Label() string { return e.s.lockName() }

// String is the label; the raw name is not kept.
func (e *Election) String() string { return e.s.lockName() }

// Acquire takes the lock through a and returns the term. Errors and panics of
// a come back untouched. A term must be released, unless its lease runs out
// by itself.
func (e *Election) Acquire(ctx context.Context, a Acquirer) (*Term, error) {
	return e.acquire(ctx, a, false)
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
	lease, err := a.Acquire(ctx)
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
	t := at.win(ctx, a, lease)
	if span.span != nil {
		span.end(outcomeAcquired)
	}
	return t, nil
}

// Run takes the lock, runs the body and gives the lock back, whatever becomes
// of the body. The body's context ends with cause ErrLost when the term is
// lost; it is the body's business to stop then.
//
// Run returns the error of a, else the body's, else that of the release. The
// release is not cut short by ctx; WithReleaseTimeout bounds it.
func (e *Election) Run(ctx context.Context, a Acquirer, body func(context.Context, *Term) error) (err error) {
	t, err := e.acquire(ctx, a, true)
	if err != nil {
		return err
	}
	w := t.startBody(ctx, t.began)
	returned := false
	defer func() {
		now := w.end(returned, err)
		released := e.releaseDetached(ctx, t, now)
		if returned && err == nil {
			err = released
		}
	}()
	err = body(w.ctx, t)
	returned = true
	return err
}

func (e *Election) releaseDetached(ctx context.Context, t *Term, now instant) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.m.releaseTimeout)
	defer cancel()
	return t.release(ctx, now)
}

// Begin starts an attempt of an elector that answers through callbacks. The
// attempt is pending until Won or NotAcquired.
func (e *Election) Begin(ctx context.Context) *Attempt {
	if ctx == nil {
		ctx = context.Background()
	}
	return e.begin(e.m.now(), ctx)
}

// Forget ends this handle: its open terms and attempts are abandoned, and the
// series of the lock go with its last handle. Later calls pass through and
// record nothing. Forgetting again does nothing.
func (e *Election) Forget() { e.m.forget(e) }

// abandon ends what is open under this handle. The caller holds s.mu.
func (e *Election) abandon(now instant) {
	if start := e.flight.close(); start != 0 {
		e.abandonAttempt(start, now)
	}
	for at := e.attempts.first; at != nil; at = e.attempts.first {
		at.finish()
		e.abandonAttempt(at.start, now)
	}
	for t := e.terms; t != nil; t = e.terms {
		t.settle(now)
		if !t.ended {
			e.s.ended[catalog.Abandoned]++
		}
		e.s.running -= int32(t.bodies())
		t.unlink()
		t.recorded = false // the term itself goes on
	}
}

func (e *Election) abandonAttempt(start, now instant) {
	e.s.observe(&e.s.acquire, catalog.AcquireDuration, now.seconds(start))
	e.s.notAcquired[catalog.UnknownReason]++
}
