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
	ctx, span := t.e.m.startSpan(ctx, catalog.SpanRun, t.e)
	ctx, cancel := context.WithCancelCause(ctx)
	start := t.bodyStarts(cancel)
	returned := false
	defer func() {
		failure, failed := bodyFailure(ctx, returned, t.e.canceled(err), err)
		cancel(nil)
		t.bodyEnds(start, failure, failed)
		span.endBody(failure, failed)
	}()
	err = body(ctx, t)
	returned = true
	return err
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
	defer e.m.contain(func() { is = false })
	return err != nil && errors.Is(err, context.Canceled)
}

func (t *Term) bodyStarts(cancel context.CancelCauseFunc) instant {
	now := t.e.m.now()
	s := t.e.s
	s.mu.Lock()
	t.settle(now)
	t.guarded = true
	t.bodies++
	if t.recorded {
		s.running++
		if !t.linked {
			s.terms.push(t)
		}
	}
	ended := t.ended
	if !ended {
		f := t.follow()
		f.cancels = append(f.cancels, cancel)
	}
	s.mu.Unlock()
	if ended {
		cancel(t.endCause())
	}
	return now
}

func (t *Term) bodyEnds(start instant, failure catalog.FailureCause, failed bool) {
	now := t.e.m.now()
	s := t.e.s
	s.mu.Lock()
	defer s.mu.Unlock()
	t.settle(now)
	t.bodies--
	if !t.recorded {
		return
	}
	s.running--
	s.execution.observe(catalog.ExecutionDuration, now.seconds(start))
	if failed {
		s.failures[failure]++
	}
	if t.ended && t.bodies == 0 {
		s.terms.remove(t)
	}
}
