package instrument

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
)

// Term is one won leadership. It ends once, with one cause; its methods are
// safe for concurrent use and pass through to the lease before and after. The
// methods of a nil Term do nothing and know nothing.
type Term struct {
	state lock.Term
	e     *Election
	lease Lease
	ctx   context.Context // of the acquisition, for its values

	// What only some terms need; apart, it keeps the others small. It is
	// loaded without the mutex, and made under it.
	waiters atomic.Pointer[waiters]
}

// newTerm makes a term that is not won yet; with a body, in one piece with
// what a body needs.
func newTerm(e *Election, l Lease, ctx context.Context, body bool) *Term {
	if !body {
		t := &Term{e: e, lease: l, ctx: ctx}
		if e.m.logger != nil {
			t.extra().logged = true
		}
		return t
	}
	both := &struct {
		Term
		waiters
	}{Term: Term{e: e, lease: l, ctx: ctx}}
	both.logged = true
	both.Term.wait(&both.waiters)
	return &both.Term
}

// wait gives the term those who wait for its end.
func (t *Term) wait(x *waiters) {
	x.more.Owner = owner{t}
	t.state.Use(&x.more)
	t.waiters.Store(x)
}

// extra returns what waits, to be added to. The caller holds the mutex, or
// no other goroutine has the term.
func (t *Term) extra() *waiters {
	x := t.waiters.Load()
	if x == nil {
		x = &waiters{}
		t.wait(x)
	}
	return x
}

// classifyWith keeps what tells the acquirer's own errors apart.
func (t *Term) classifyWith(a Acquirer) {
	if c, ok := a.(Classifier); ok {
		t.extra().classifier = c
	}
}

// classifier is the acquirer's own; nil when there is none.
func (t *Term) classifier() Classifier {
	if x := t.waiters.Load(); x != nil {
		return x.classifier
	}
	return nil
}

func (t *Term) fence(token uint64) {
	x := t.extra()
	x.token, x.fenced = token, true
}

// Unwrap returns the lease that the elector gave; nil for nil.
func (t *Term) Unwrap() Lease {
	if t == nil {
		return nil
	}
	return t.lease
}

// FencingToken is the token of the lease; ok is false if there is none. It
// is exact, while the gauge is a float.
func (t *Term) FencingToken() (token uint64, ok bool) {
	if t == nil {
		return 0, false
	}
	t.e.lock.Peek()
	defer t.e.lock.Unlock()
	x := t.waiters.Load()
	if x == nil {
		return 0, false
	}
	return x.token, x.fenced
}

// Leading reports whether the term holds an unexpired lease, as far as the
// lease end is known; see Election.Leading.
func (t *Term) Leading() bool {
	leading, _ := t.leads()
	return leading
}

// Expiry is the lease end of the term; ok is false if the term no longer leads
// or its end is unknown; see Election.Expiry.
func (t *Term) Expiry() (end time.Time, ok bool) {
	leading, at := t.leads()
	if !leading || at == 0 {
		return time.Time{}, false
	}
	return t.e.m.timeOf(at), true
}

func (t *Term) leads() (leading bool, end lock.Instant) {
	if t == nil {
		return false, 0
	}
	now := t.e.m.now()
	t.e.lock.Peek()
	defer t.e.lock.Unlock()
	return t.e.lock.Active(&t.state, now), t.e.lock.End(&t.state)
}

// Release releases the lock. The call and its error pass through; a second call
// also passes through, but the term ends only once. The contexts of the term and
// of its bodies end before the request to the backend, so that work can stop
// first; Release does not wait for it.
func (t *Term) Release(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.release(ctx, t.e.m.now())
}

func (t *Term) release(ctx context.Context, now lock.Instant) error {
	first := t.state.Stop(now)
	if first {
		t.notify(ErrReleased)
	}
	result := catalog.ReleaseError // unless it returns
	defer func() { t.endRelease(ctx, first, now, result) }()
	err := t.lease.Release(ctx)
	if err != nil {
		result = t.failedRelease(ctx, err)
	} else {
		result = catalog.ReleaseOK
	}
	return err
}

func (t *Term) failedRelease(ctx context.Context, err error) catalog.ReleaseResult {
	if t.e.gone(t.classifier(), err, contextErr(ctx)) {
		return catalog.ReleaseNotOwner
	}
	return catalog.ReleaseError
}

// endRelease counts the release and, if it was the first to stop the holding,
// ends the term.
func (t *Term) endRelease(ctx context.Context, first bool, now lock.Instant, result catalog.ReleaseResult) {
	t.e.lock.Lock()
	ended := t.e.lock.Released(&t.state, first, now, result)
	t.e.unlock(ctx)
	if ended {
		t.finish(ErrReleased)
	}
}

// Renew extends the lease through its Renewer and records the renewal. It
// returns the lease's error, or errors.ErrUnsupported if the lease cannot be
// renewed on demand.
func (t *Term) Renew(ctx context.Context) error {
	if t == nil {
		return fmt.Errorf("leaderscope: renew: %w: there is no term", errors.ErrUnsupported)
	}
	can := t.e.capabilitiesOf(t.lease)
	if can&canRenew == 0 {
		return fmt.Errorf("leaderscope: renew: %w: the lease has no Renewer", errors.ErrUnsupported)
	}
	ctx, span := t.e.m.startSpan(ctx, catalog.SpanRenew, t.e)
	sent := t.e.m.now()
	result := catalog.RenewalError // unless it returns
	returned, supported := false, true
	t.sending(sent)
	defer func() {
		if !returned {
			t.renewed(ctx, lock.Renewal{Result: result, Sent: sent, OnDemand: true}, ErrUnknown)
		}
		t.answered()
		if supported {
			span.end(result.String())
		} else {
			span.end(outcomeUnsupported)
		}
	}()
	err := t.lease.(Renewer).Renew(ctx)
	returned = true
	if t.e.is(err, errors.ErrUnsupported) {
		supported = false
		t.unsupported(can)
		return err
	}
	result = t.e.renewalResult(t.classifier(), err, contextErr(ctx))
	r := lock.Renewal{Result: result, Sent: sent, OnDemand: true}
	if result == catalog.RenewalOK {
		var w lock.Won
		t.e.askLease(&w, t.lease, can&(canExpire|canGrant))
		r.End, r.Endless, r.Length = w.End, w.Endless, w.Length
	}
	t.renewed(ctx, r, err)
	return err
}

// sending and answered say that a renewal is under way: meanwhile the term is
// not over with its lease.
func (t *Term) sending(now lock.Instant) {
	t.e.lock.Lock()
	defer t.e.lock.Unlock()
	t.e.lock.Sending(&t.state, now)
}

func (t *Term) answered() {
	now := t.e.m.now()
	t.e.lock.Lock()
	defer t.e.lock.Unlock()
	t.e.lock.Answered(&t.state, now)
}

// unsupported notes an answer after which renewals are not observable, unless a
// watcher reports them.
func (t *Term) unsupported(can capability) {
	if can&canWatch != 0 {
		return
	}
	now := t.e.m.now()
	t.e.lock.Lock()
	defer t.e.lock.Unlock()
	t.e.lock.Blind(&t.state, now)
}

// renewed records a renewal and reports the end if its error says that the
// lock is gone.
func (t *Term) renewed(ctx context.Context, r lock.Renewal, err error) {
	r.Now = t.e.m.now()
	t.e.lock.Lock()
	lapsed := t.state.Lapsed()
	recorded, ended := t.e.lock.Renewed(&t.state, r)
	if revived := lapsed && !t.state.Lapsed(); revived {
		t.logGained()
	}
	t.e.unlock(ctx)
	if recorded && r.Result != catalog.RenewalOK {
		t.e.m.logRenewalFailed(t, r.Result)
	}
	switch {
	case ended:
		t.finish(&lossError{err})
	case recorded && t.e.set.stopAtLeaseEnd: // a renewal that failed may have made the end known, too
		t.scheduleStop()
	}
}

// lost ends the term on the library's word.
func (t *Term) lost(cause error) {
	how, why := t.e.lossBy(t.classifier(), cause), error(ErrLost)
	if cause != nil {
		why = &lossError{cause}
	}
	now := t.e.m.now()
	t.e.lock.Lock()
	ended := t.e.lock.Lost(&t.state, now, how)
	t.e.unlock(t.ctx)
	if ended {
		t.finish(why)
	}
}

// Sink is where an adapter reports the events of the term; see the type Sink. It
// is for electors with callbacks; a Watcher receives its sink as an argument.
func (t *Term) Sink() Sink {
	if t == nil {
		return Sink{}
	}
	return Sink{t}
}

// finish notifies those who wait that the term has ended, and logs it.
func (t *Term) finish(why error) {
	t.notify(why)
	t.stopWatching()
	if t.e.m.logger == nil {
		return
	}
	t.e.lock.Peek()
	defer t.e.lock.Unlock()
	if x := t.extra(); !x.logged {
		x.logged = true
		t.e.m.logEnded(t)
	}
}

// recorded reports whether the term counts.
func (t *Term) recorded() bool {
	t.e.lock.Peek()
	defer t.e.lock.Unlock()
	return t.state.Recorded()
}
