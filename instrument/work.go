package instrument

import (
	"context"
	"errors"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
)

// Work runs a body under the term and returns its error. The body counts as
// running until it returns, and as work after loss from the moment at which
// another replica may lead. Its context is done when the term ends, with cause
// ErrLost or ErrReleased, or ErrLeaseEnded with StopAtLeaseEnd. Panics and
// runtime.Goexit pass through.
//
// Election.Run calls it. A program that uses Acquire calls it around its work,
// and so does an adapter whose library starts the work with a callback.
func (t *Term) Work(ctx context.Context, body func(context.Context, *Term) error) (err error) {
	if t == nil {
		return body(orBackground(ctx), nil)
	}
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
	place  *bodyCancel // nil when the context had ended before
	start  lock.Instant
	span   span
}

// startBody counts a body in from start, a reading that the caller has; 0 is
// when the term was won.
func (t *Term) startBody(ctx context.Context, start lock.Instant) work {
	ctx, span := t.e.m.startSpan(orBackground(ctx), catalog.SpanRun, t.e)
	ctx, cancel := context.WithCancelCause(ctx)
	w := work{t: t, ctx: ctx, cancel: cancel, start: start, span: span}
	t.e.lock.Lock()
	if start == 0 {
		w.start = t.state.Began() // under the mutex: a renewal can have revived the term
	}
	t.e.lock.BodyStarts(&t.state, w.start)
	x := t.extra()
	why := t.toldWhy(x)
	if why == nil {
		w.place = x.enter(cancel)
	}
	t.e.lock.Unlock()
	if why != nil {
		cancel(why)
	}
	return w
}

// end counts the body out and returns the instant of its end. returned is
// false after a panic or runtime.Goexit.
func (w work) end(returned bool, err error) lock.Instant {
	failure, failed := w.t.e.bodyFailure(w.ctx, returned, err)
	now := w.t.e.m.now()
	w.t.e.lock.Lock()
	if w.place != nil {
		w.t.waiters.Load().leave(w.place)
	}
	w.t.e.lock.BodyEnds(&w.t.state, w.start, now, failure, failed)
	w.t.e.unlock(w.ctx)
	w.cancel(nil)
	w.span.endBody(failure, failed)
	return now
}

// bodyFailure tells a failed body from one that stopped because it was told
// to: its context had ended, and the error is that end, as a context, a cause
// or a remote call puts it.
func (e *Election) bodyFailure(ctx context.Context, returned bool, err error) (catalog.FailureCause, bool) {
	switch {
	case !returned:
		return catalog.FailedWithPanic, true
	case err == nil, ctx.Err() != nil && e.saysStopped(ctx, err):
		return 0, false
	default:
		return catalog.FailedWithError, true
	}
}

func (e *Election) saysStopped(ctx context.Context, err error) bool {
	if e.is(err, context.Canceled) || e.is(err, context.DeadlineExceeded) || e.is(err, context.Cause(ctx)) {
		return true
	}
	code, ok := e.grpcCode(err)
	return ok && (code == grpcCanceled || code == grpcDeadlineExceeded)
}

// is is errors.Is for errors that may panic when they are asked.
func (e *Election) is(err, target error) (is bool) {
	defer e.m.contain(func() {})
	return errors.Is(err, target)
}
