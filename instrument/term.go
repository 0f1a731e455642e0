package instrument

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Term is one won leadership. It ends once, with one cause; its methods are
// safe for concurrent use and pass through to the lease before and after.
type Term struct {
	e     *Election
	lease Lease
	ctx   context.Context // of the acquisition, for its values

	// stopped is the instant at which the holding ended, 0 while it goes on.
	// A release sets it before the backend is told, without the mutex.
	stopped atomic.Int64

	// guarded by the series
	next       *Term
	began      instant
	leaseStart instant // just before the request that won or renewed
	leaseEnd   instant // 0 unknown
	x          *extras // nil until needed

	cause    catalog.EndCause
	linked   bool
	recorded bool
	released bool // the release is counted
	overran  bool
	ended    bool
}

// extras are what only some terms need; apart, they keep the others small.
type extras struct {
	classifier errorClassifier // nil when unknown
	token      uint64
	fenced     bool
	bodies     int     // that run
	guarded    bool    // a body ran under this term
	accrued    instant // up to where work after loss is counted

	// told when the term ends; nothing is added after that
	cancel  context.CancelCauseFunc // the first
	cancels []context.CancelCauseFunc
	done    chan struct{}
	context context.Context
}

// onEnd has a context ended with the term.
func (x *extras) onEnd(cancel context.CancelCauseFunc) {
	if x.cancel == nil {
		x.cancel = cancel
		return
	}
	x.cancels = append(x.cancels, cancel)
}

// extra returns the extras, to be added to. The caller holds the mutex.
func (t *Term) extra() *extras {
	if t.x == nil {
		t.x = &extras{}
	}
	return t.x
}

// newRoomyTerm is a term in one piece with its extras, which a body needs.
func newRoomyTerm(e *Election, l Lease, ctx context.Context) *Term {
	t := &struct {
		Term
		extras
	}{Term: Term{e: e, lease: l, ctx: ctx}}
	t.x = &t.extras
	return &t.Term
}

// classifyWith keeps what tells the acquirer's own errors apart.
func (t *Term) classifyWith(a Acquirer) {
	if c, ok := a.(errorClassifier); ok {
		t.extra().classifier = c
	}
}

// classifier is the acquirer's own; nil when there is none.
func (t *Term) classifier() errorClassifier {
	t.e.s.mu.Lock()
	defer t.e.s.mu.Unlock()
	if t.x == nil {
		return nil
	}
	return t.x.classifier
}

// bodies is how many run. The caller holds the mutex.
func (t *Term) bodies() int {
	if t.x == nil {
		return 0
	}
	return t.x.bodies
}

func (t *Term) stoppedAt() instant { return instant(t.stopped.Load()) }

// Unwrap returns the lease that the elector gave.
func (t *Term) Unwrap() Lease { return t.lease }

// FencingToken is the token of the lease; ok is false when there is none. It
// is exact, unlike the gauge, which is a float.
func (t *Term) FencingToken() (token uint64, ok bool) {
	t.e.s.mu.Lock()
	defer t.e.s.mu.Unlock()
	if t.x == nil {
		return 0, false
	}
	return t.x.token, t.x.fenced
}

// Release gives the lock back. The call and its error pass through; calling
// again passes through too, and the term has still ended once.
func (t *Term) Release(ctx context.Context) error { return t.release(ctx, t.e.m.now()) }

// release ends the holding before the backend is told, so that no moment
// shows two holders.
func (t *Term) release(ctx context.Context, now instant) error {
	first := t.stopped.CompareAndSwap(0, int64(now))
	result := catalog.ReleaseError // unless it returns
	defer func() { t.endRelease(ctx, first, result) }()
	err := t.lease.Release(ctx)
	if err != nil {
		result = t.failedRelease(err)
	} else {
		result = catalog.ReleaseOK
	}
	return err
}

func (t *Term) failedRelease(err error) catalog.ReleaseResult {
	if t.e.gone(t.classifier(), err) {
		return catalog.ReleaseNotOwner
	}
	return catalog.ReleaseError
}

// endRelease counts the release and, if it was the first to stop the holding,
// ends the term.
func (t *Term) endRelease(ctx context.Context, first bool, result catalog.ReleaseResult) {
	s := t.e.s
	s.mu.Lock()
	if t.recorded && !t.released {
		s.releases[result]++
		t.released = result != catalog.ReleaseError
	}
	if !first || t.ended {
		s.unlock(ctx)
		return
	}
	stopped := t.stoppedAt()
	t.settle(stopped)
	t.used(stopped)
	cause := catalog.Released
	switch {
	case t.leaseEnd != 0 && stopped > t.leaseEnd:
		cause = catalog.Expired
	case result == catalog.ReleaseNotOwner:
		cause = catalog.Lost
	}
	x, _ := t.end(stopped, cause)
	s.unlock(ctx)
	t.tell(x, ErrReleased)
}

// Renew extends the lease through its Renewer and records the renewal. It
// returns the lease's error, errors.ErrUnsupported when it cannot be renewed
// on demand.
func (t *Term) Renew(ctx context.Context) error {
	can := t.e.look(t.lease)
	if can&canRenew == 0 {
		return fmt.Errorf("leaderscope: renew: %w: the lease has no Renewer", errors.ErrUnsupported)
	}
	ctx, span := t.e.m.startSpan(ctx, catalog.SpanRenew, t.e)
	start := t.e.m.now()
	result := catalog.RenewalError
	defer func() { span.end(result.String()) }()
	err := t.lease.(Renewer).Renew(ctx)
	if errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	result = t.e.renewalResult(t.classifier(), err, ctx.Err())
	var end instant
	if result == catalog.RenewalOK {
		end = t.e.leaseEnd(t.lease, can, start)
	}
	t.renewed(ctx, result, start, end, true)
	return err
}

// renewed records a renewal and ends the term when it says that the lock is
// gone. measured says that start is when the renewal was sent.
func (t *Term) renewed(ctx context.Context, result catalog.RenewalResult, start, end instant, measured bool) {
	now := t.e.m.now()
	s := t.e.s
	s.mu.Lock()
	if t.stoppedAt() != 0 {
		s.mu.Unlock()
		return
	}
	t.settle(now)
	if t.recorded {
		r := s.seldom()
		r.renewals[result]++
		if measured {
			s.observe(&r.renewalDuration, catalog.RenewalDuration, now.seconds(start))
		}
	}
	var x *extras
	ended := false
	switch result {
	case catalog.RenewalOK:
		t.used(now)
		t.extend(start, end)
	case catalog.RenewalLost:
		x, ended = t.end(now, catalog.Lost)
	}
	s.unlock(ctx)
	if result != catalog.RenewalOK {
		t.e.m.logRenewalFailed(t, result)
	}
	if ended {
		t.tell(x, ErrLost)
	}
}

// lost ends the term on the library's word.
func (t *Term) lost(cause error) {
	end, why := catalog.Lost, error(ErrLost)
	if t.e.contextError(cause) == context.Canceled {
		end = catalog.CanceledTerm
	}
	if cause != nil {
		why = &lossError{cause}
	}
	now := t.e.m.now()
	s := t.e.s
	s.mu.Lock()
	if t.stoppedAt() != 0 {
		s.mu.Unlock()
		return
	}
	t.settle(now)
	x, ended := t.end(now, end)
	s.unlock(t.ctx)
	if ended {
		t.tell(x, why)
	}
}

// Context is done when the term ends, with cause ErrLost or ErrReleased. It
// carries the values of the acquisition's context and not its deadline. A
// lease that runs out unnoticed does not end it.
func (t *Term) Context() context.Context {
	s := t.e.s
	s.mu.Lock()
	defer s.mu.Unlock()
	x := t.extra()
	if x.context == nil {
		parent := t.ctx
		if parent == nil {
			parent = context.Background()
		}
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
		x.context = ctx
		if t.ended {
			cancel(t.endCause())
		} else {
			x.onEnd(cancel)
		}
	}
	return x.context
}

func (t *Term) endCause() error {
	if t.cause == catalog.Released {
		return ErrReleased
	}
	return ErrLost
}

// watch starts what reports losses and renewals for as long as the term is
// open. A term whose lease reports nothing has no goroutine.
func (t *Term) watch(lost <-chan struct{}, can capability) {
	done := t.doneChannel()
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
		go t.runWatcher(t.lease.(Watcher))
	}
}

func (t *Term) runWatcher(w Watcher) {
	defer t.e.m.contain(func() {})
	w.Watch(t.Context(), sink{t})
}

func (t *Term) doneChannel() <-chan struct{} {
	s := t.e.s
	s.mu.Lock()
	defer s.mu.Unlock()
	x := t.extra()
	if x.done == nil {
		x.done = make(chan struct{})
		if t.ended {
			close(x.done)
		}
	}
	return x.done
}

// sink is what a Watcher sees of a term.
type sink struct{ t *Term }

func (k sink) Renewed(expiry time.Time) {
	m := k.t.e.m
	now := m.now()
	end := m.instantOf(expiry)
	if end == 0 && k.t.e.set.lease > 0 && !k.t.e.set.hidden {
		end = now.add(k.t.e.set.lease)
	}
	k.t.renewed(k.t.ctx, catalog.RenewalOK, k.t.e.leaseStart(0, now, end), end, false)
}

func (k sink) RenewalFailed(err error) {
	if err == nil {
		err = ErrUnknown
	}
	k.t.renewed(k.t.ctx, k.t.e.renewalResult(k.t.classifier(), err, k.t.e.contextError(err)), 0, 0, false)
}

func (k sink) Lost(cause error) { k.t.lost(cause) }
