package instrument

import (
	"context"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
)

// Attempt is one attempt to win, of an elector that reports through callbacks. It
// ends once, with Won or NotAcquired; later calls change nothing. It is safe
// for concurrent use. A nil Attempt records nothing.
type Attempt struct {
	state lock.Attempt
	e     *Election
	ctx   context.Context // of Begin; nil inside Acquire

	// guarded by the lock
	done bool
	term *Term
}

// pendingAttempt is an attempt in flight: in the lock's Flight when beside is
// nil.
type pendingAttempt struct {
	e      *Election
	start  lock.Instant
	beside *Attempt
	body   bool // one will run under the term
}

// try starts an attempt of Acquire.
func (e *Election) try(body bool) pendingAttempt {
	y := pendingAttempt{e: e, start: e.m.now(), body: body}
	if !e.lock.Enter(y.start) {
		y.beside = e.begin(y.start, nil)
	}
	return y
}

// begin starts an attempt beside the flight.
func (e *Election) begin(now lock.Instant, ctx context.Context) *Attempt {
	at := &Attempt{e: e, ctx: ctx}
	e.lock.Lock()
	e.lock.Begin(&at.state, now)
	e.lock.Unlock()
	return at
}

func (a *Attempt) pending() *pendingAttempt {
	return &pendingAttempt{e: a.e, start: a.state.Start(), beside: a}
}

// claim reports whether the attempt is still open and closes it.
func (a *Attempt) claim() (open bool) {
	a.e.lock.Peek()
	defer a.e.lock.Unlock()
	open, a.done = !a.done, true
	return open
}

// Won reports that the attempt won this lease and returns the term. Further calls
// return the same term; after NotAcquired, or with a nil lease, a term that
// records nothing. If the elector waited since Begin, only the lease knows the
// start of the winning request, and should report its end with ExpiryFrom.
func (a *Attempt) Won(l Lease) *Term {
	if a == nil {
		return none.Begin(context.Background()).Won(l)
	}
	if l == nil {
		a.NotAcquired(ErrNoLease)
		t, _ := a.claimTerm(NewLease(nil))
		return t
	}
	t, first := a.claimTerm(l)
	if first {
		a.pending().open(a.ctx, nil, t)
	}
	return t
}

// claimTerm makes the term of the attempt, once.
func (a *Attempt) claimTerm(l Lease) (t *Term, first bool) {
	made := newTerm(a.e, l, a.ctx, false)
	a.e.lock.Peek()
	defer a.e.lock.Unlock()
	a.done = true
	if a.term == nil {
		a.term, first = made, true
	}
	return a.term, first
}

// NotAcquired reports that the attempt did not win. A nil error means that the
// reason is unknown.
func (a *Attempt) NotAcquired(err error) {
	if a == nil {
		return
	}
	if !a.claim() {
		return
	}
	if err == nil {
		err = ErrUnknown
	}
	a.pending().fail(a.ctx, a.e.reasonFor(a.ctx, nil, err))
}

// Panicked reports that the elector panicked or ended its goroutine during the
// attempt. It is for adapters that call the elector themselves:
//
//	returned := false
//	defer func() {
//		if !returned {
//			attempt.Panicked()
//		}
//	}()
func (a *Attempt) Panicked() {
	if a == nil {
		return
	}
	if a.claim() {
		a.pending().fail(a.ctx, catalog.Panicked)
	}
}

func (y *pendingAttempt) state() *lock.Attempt {
	if y.beside == nil {
		return nil
	}
	return &y.beside.state
}

func (y *pendingAttempt) fail(ctx context.Context, reason Reason) {
	now := y.e.m.now()
	y.e.lock.Lock()
	y.e.lock.Fail(y.state(), y.start, now, reason)
	y.e.unlock(ctx)
}

// win opens the term. A lease that was lost before it was won, as a campaign
// returns whose session had lapsed, is no acquisition.
func (y *pendingAttempt) win(ctx context.Context, acquirer Acquirer, l Lease) (t *Term, acquired bool) {
	t = newTerm(y.e, l, ctx, y.body)
	return t, y.open(ctx, acquirer, t)
}

// open opens a term that no other goroutine has yet, or that the attempt keeps.
func (y *pendingAttempt) open(ctx context.Context, acquirer Acquirer, t *Term) (acquired bool) {
	e, l := y.e, t.lease
	if acquirer != nil {
		if _, plain := acquirer.(AcquirerFunc); !plain {
			t.classifyWith(acquirer)
		}
	}
	can := e.capabilitiesOf(l)
	lost, dead := e.lossOf(l, can)
	var won lock.Won
	e.askLease(&won, l, can)
	if won.Observed {
		t.extra() // later observations find the term by it
	}
	if won.Fenced {
		t.fence(won.Token)
	}
	won.Now = e.m.now()

	e.lock.Lock()
	var superseded []*lock.Term
	if dead {
		e.lock.WinDead(&t.state, y.state(), y.start, won.Now)
	} else {
		superseded = e.lock.Win(&t.state, y.state(), y.start, &won)
		t.logGained()
	}
	if y.beside != nil {
		y.beside.done, y.beside.term = true, t
	}
	e.unlock(ctx)

	for _, old := range superseded {
		if o, ok := old.Owner().(owner); ok {
			o.finish(ErrLost)
		}
	}
	if !dead {
		if lost != nil || can&canWatch != 0 {
			t.watch(lost, can)
		}
		if e.set.stopAtLeaseEnd {
			t.scheduleStop()
		}
	}
	return !dead
}

// askLease asks the lease what it knows of itself.
func (e *Election) askLease(w *lock.Won, l Lease, can capability) {
	if can&canExpire != 0 {
		w.End, w.Endless = e.m.expiryOf(l.(Expirer))
	}
	if can&canGrant != 0 {
		w.Length = e.m.grantedBy(l.(Granter))
	}
	if can&canFence != 0 {
		w.Token, w.Fenced = e.m.tokenOf(l.(Fencer))
	}
	switch {
	case can&hidesRenewals != 0:
		w.Renewals = lock.HidesRenewals
	case can&(firmlyRenews|canWatch) != 0:
		w.Renewals = lock.ShownRenewals
	case can&canRenew != 0:
		w.Renewals = lock.MayRenew
	}
	_, w.Observed = l.(observedLease)
}

// lossOf asks the lease for its signal of a loss; dead says that it was given
// already.
func (e *Election) lossOf(l Lease, can capability) (lost <-chan struct{}, dead bool) {
	if can&canBeLost == 0 {
		return nil, false
	}
	lost = e.m.lostOf(l.(LossNotifier))
	select {
	case <-lost:
		return lost, true
	default:
		return lost, false
	}
}

// The optional methods of a lease are foreign code: one that panics answers
// "unknown".

func (m *Middleware) lostOf(n LossNotifier) (lost <-chan struct{}) {
	defer m.contain(func() {})
	return n.Lost()
}

func (m *Middleware) tokenOf(f Fencer) (token uint64, ok bool) {
	defer m.contain(func() {})
	return f.FencingToken()
}

func (m *Middleware) expiryOf(x Expirer) (end lock.Instant, endless bool) {
	defer m.contain(func() {})
	return m.endOf(x.Expiry())
}

func (m *Middleware) grantedBy(g Granter) (length time.Duration) {
	defer m.contain(func() {})
	return max(g.LeaseDuration(), 0)
}
