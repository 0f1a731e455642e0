package instrument

import (
	"context"
	"sync/atomic"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Attempt is one try to win. It ends once, with Won or NotAcquired; later
// calls change nothing.
type Attempt struct {
	e     *Election
	ctx   context.Context // of Begin; nil inside Acquire
	start instant

	// guarded by the series
	prev, next *Attempt
	recorded   bool
	done       bool
	term       *Term
}

// flight is a handle's place for one attempt of Acquire, which is mostly the
// only one: the instant at which it began, 0 while there is none. An attempt
// enters without the series' mutex and leaves with it.
type flight struct{ start atomic.Int64 }

func (f *flight) enter(now instant) bool { return f.start.CompareAndSwap(0, int64(now)) }

// leave reports whether the attempt was there until now.
func (f *flight) leave(start instant) bool { return f.start.CompareAndSwap(int64(start), 0) }

// since is when the attempt in flight began; 0 when there is none.
func (f *flight) since() instant { return instant(max(f.start.Load(), 0)) }

// close lets nobody enter any more; it returns when the attempt in flight
// began, 0 when there was none.
func (f *flight) close() instant { return instant(max(f.start.Swap(-1), 0)) }

// trial is an attempt, in the handle's flight when at is nil.
type trial struct {
	e     *Election
	start instant
	at    *Attempt
	body  bool // one will run under the term
}

// try starts an attempt of Acquire, which nobody else sees.
func (e *Election) try(body bool) trial {
	y := trial{e: e, start: e.m.now(), body: body}
	if y.start <= 0 || !e.flight.enter(y.start) { // a user's clock may go back
		y.at = e.begin(y.start, nil)
	}
	return y
}

// begin starts an attempt beside the flight.
func (e *Election) begin(now instant, ctx context.Context) *Attempt {
	at := &Attempt{e: e, ctx: ctx, start: now}
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if at.recorded = !e.closed; at.recorded {
		e.attempts.push(at)
	}
	return at
}

func (a *Attempt) trial() *trial { return &trial{e: a.e, start: a.start, at: a} }

// finish takes the attempt out of flight and reports whether it was recorded.
// The caller holds the series' mutex.
func (y *trial) finish(now instant) (recorded bool) {
	if y.at == nil {
		recorded = y.e.flight.leave(y.start)
	} else {
		recorded = y.at.finish()
	}
	if recorded {
		y.e.s.observe(&y.e.s.acquire, catalog.AcquireDuration, now.seconds(y.start))
	}
	return recorded
}

func (a *Attempt) finish() (recorded bool) {
	recorded = a.recorded
	if recorded {
		a.e.attempts.remove(a)
	}
	a.done, a.recorded = true, false
	return recorded
}

// Won says that the attempt won this lease and returns the term. Called again
// it returns the same term; after NotAcquired, or with a nil lease, a term
// that records nothing.
func (a *Attempt) Won(l Lease) *Term {
	s := a.e.s
	s.mu.Lock()
	term, done := a.term, a.done
	s.mu.Unlock()
	if term != nil {
		return term
	}
	if l == nil {
		a.NotAcquired(ErrNoLease)
		return &Term{e: a.e, lease: NewLease(nil), ctx: a.ctx}
	}
	if done {
		return &Term{e: a.e, lease: l, ctx: a.ctx}
	}
	return a.trial().win(a.ctx, nil, l)
}

// NotAcquired says that the attempt did not win. A nil error means that
// nobody knows why.
func (a *Attempt) NotAcquired(err error) {
	if err == nil {
		err = ErrUnknown
	}
	a.trial().fail(a.ctx, a.e.reasonFor(a.ctx, nil, err))
}

func (y *trial) fail(ctx context.Context, reason Reason) {
	now := y.e.m.now()
	s := y.e.s
	s.mu.Lock()
	if y.finish(now) {
		s.notAcquired[reason]++
	}
	s.unlock(ctx)
}

// win opens the term. A lease that was lost before it was won, as a campaign
// returns whose session had lapsed, is no acquisition.
func (y *trial) win(ctx context.Context, acquirer Acquirer, l Lease) *Term {
	e := y.e
	var t *Term
	if y.body {
		t = newRoomyTerm(e, l, ctx)
	} else {
		t = &Term{e: e, lease: l, ctx: ctx}
	}
	if _, plain := acquirer.(AcquirerFunc); !plain {
		t.classifyWith(acquirer)
	}
	can := e.look(l)
	var lost <-chan struct{}
	dead := false
	if can&canBeLost != 0 {
		lost = l.(LossNotifier).Lost()
		dead = isClosed(lost)
	}
	var token uint64
	fenced := false
	if can&canFence != 0 {
		token, fenced = e.m.tokenOf(l.(Fencer))
	}
	now := e.m.now()
	end := e.leaseEnd(l, can, y.start)
	asked := e.leaseStart(y.start, now, end)

	s := e.s
	s.mu.Lock()
	t.recorded = y.finish(now)
	var expired []ending
	if dead {
		t.bornLost(now)
	} else {
		expired = t.open(asked, now, end)
		if fenced {
			t.fence(token)
		}
	}
	if y.at != nil {
		y.at.term = t
	}
	s.unlock(ctx)

	for _, old := range expired {
		old.t.tell(old.x, ErrLost)
	}
	if !dead {
		if lost != nil || can&canWatch != 0 {
			t.watch(lost, can)
		}
		e.m.logGained(t)
	}
	return t
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (m *Middleware) tokenOf(f Fencer) (token uint64, ok bool) {
	defer m.contain(func() { token, ok = 0, false })
	return f.FencingToken()
}

// leaseEnd is the end of a lease that was asked for at start: what the lease
// says, else start plus the declared length where that can be true. Zero is
// unknown.
func (e *Election) leaseEnd(l Lease, can capability, start instant) instant {
	if can&canExpire != 0 {
		if end := e.m.expiryOf(l.(Expirer)); end != 0 {
			return end
		}
	}
	if _, seen := l.(observedLease); seen || e.set.lease == 0 || e.set.hidden {
		return 0
	}
	if e.set.mode == catalog.ModeHold && can&(canRenew|canWatch) == 0 {
		return 0 // somebody renews a held leadership, unseen
	}
	return start.add(e.set.lease)
}

// leaseStart is when the lease with this end was asked for. An attempt that
// waited for its turn began long before the request that won; what it began
// would make the first renewal look as if the lease were nearly gone. Where
// the length is declared the end tells the start; otherwise it is the answer.
func (e *Election) leaseStart(began, now, end instant) instant {
	if end == 0 || end == began.add(e.set.lease) {
		return began
	}
	if e.set.lease == 0 {
		return now
	}
	return min(max(began, end.add(-e.set.lease)), now)
}

func (m *Middleware) expiryOf(x Expirer) (end instant) {
	defer m.contain(func() { end = 0 })
	return m.instantOf(x.Expiry())
}
