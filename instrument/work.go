package instrument

import (
	"context"
	"errors"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Work runs a body under the term and returns its error. The body counts as
// running until it returns, and as work after loss from the moment the term
// or its lease has ended. Its context is done when the term ends, with cause
// ErrLost or ErrReleased. Panics and runtime.Goexit pass through.
//
// Election.Run calls it; adapters whose library starts the work by a callback
// call it there.
func (t *Term) Work(ctx context.Context, body func(context.Context, *Term) error) (err error) {
	w := t.startBody(ctx, t.e.m.now())
	returned := false
	defer func() { w.end(returned, err) }()
	err = body(w.ctx, t)
	returned = true
	return err
}

// work is one body while it runs.
type work struct {
	t      *Term
	ctx    context.Context
	cancel context.CancelCauseFunc
	start  instant
	span   span
}

// startBody counts a body in from start, a reading that the caller has.
func (t *Term) startBody(ctx context.Context, start instant) work {
	ctx, span := t.e.m.startSpan(ctx, catalog.SpanRun, t.e)
	ctx, cancel := context.WithCancelCause(ctx)
	t.bodyStarts(start, cancel)
	return work{t: t, ctx: ctx, cancel: cancel, start: start, span: span}
}

// end counts the body out and returns the instant of its end. returned is
// false after a panic or runtime.Goexit.
func (w work) end(returned bool, err error) instant {
	failure, failed := bodyFailure(w.ctx, returned, w.t.e.canceled(err), err)
	now := w.t.e.m.now()
	w.cancel(nil)
	w.t.bodyEnds(w.ctx, w.start, now, failure, failed)
	w.span.endBody(failure, failed)
	return now
}

// bodyFailure tells a failed body from one that stopped because it was told
// to.
func bodyFailure(ctx context.Context, returned, canceled bool, err error) (catalog.FailureCause, bool) {
	switch {
	case !returned:
		return catalog.FailedWithPanic, true
	case err == nil, canceled && ctx.Err() != nil:
		return 0, false
	default:
		return catalog.FailedWithError, true
	}
}

func (e *Election) canceled(err error) (is bool) {
	if err == nil {
		return false
	}
	defer e.m.contain(func() { is = false })
	return errors.Is(err, context.Canceled)
}

func (t *Term) bodyStarts(now instant, cancel context.CancelCauseFunc) {
	s := t.e.s
	s.mu.Lock()
	t.settle(now)
	x := t.extra()
	x.accrued = max(x.accrued, now)
	x.guarded = true
	x.bodies++
	if t.recorded {
		s.running++
		if !t.linked {
			t.link()
		}
	}
	ended := t.ended
	if !ended {
		x.onEnd(cancel)
	}
	s.mu.Unlock()
	if ended {
		cancel(t.endCause())
	}
}

func (t *Term) bodyEnds(ctx context.Context, start, now instant, failure catalog.FailureCause, failed bool) {
	s := t.e.s
	s.mu.Lock()
	defer s.unlock(ctx)
	t.settle(now)
	t.x.bodies--
	if !t.recorded {
		return
	}
	s.running--
	s.observe(&s.execution, catalog.ExecutionDuration, now.seconds(start))
	if failed {
		s.seldom().failures[failure]++
	}
	if t.ended && t.x.bodies == 0 {
		t.unlink()
	}
}
