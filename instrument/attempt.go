package instrument

import (
	"context"

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

// begin starts an attempt. Attempts of Acquire, which nobody else sees, are
// used again.
func (s *series) begin(e *Election, ctx context.Context) *Attempt {
	now := e.m.now()
	s.mu.Lock()
	at := s.spare
	if ctx != nil || at == nil {
		at = &Attempt{ctx: ctx}
	} else {
		s.spare = at.next
	}
	at.e, at.start, at.done, at.recorded = e, now, false, !e.closed
	if at.recorded {
		s.attempts++
		s.pending.push(at)
	}
	s.mu.Unlock()
	return at
}

// finish takes an attempt out of flight. The caller holds mu.
func (s *series) finish(at *Attempt, now instant) {
	s.pending.remove(at)
	s.observe(&s.acquire, catalog.AcquireDuration, now.seconds(at.start))
	at.done, at.recorded = true, false
}

// recycle keeps an attempt of Acquire for the next. The caller holds mu.
func (s *series) recycle(at *Attempt) {
	if at.ctx == nil {
		at.next = s.spare
		s.spare = at
	}
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
		return newTerm(a.e, nil, NewLease(nil), a.ctx)
	}
	if done {
		return newTerm(a.e, nil, l, a.ctx)
	}
	return a.win(a.ctx, nil, l)
}

// NotAcquired says that the attempt did not win. A nil error means that
// nobody knows why.
func (a *Attempt) NotAcquired(err error) {
	if err == nil {
		err = ErrUnknown
	}
	a.fail(a.ctx, a.e.reasonFor(a.ctx, nil, err))
}

func (a *Attempt) fail(ctx context.Context, reason Reason) {
	now := a.e.m.now()
	s := a.e.s
	s.mu.Lock()
	if a.recorded {
		s.finish(a, now)
		s.notAcquired[reason]++
	}
	a.done = true
	s.recycle(a)
	s.unlock(ctx)
}

// win opens the term. A lease that was lost before it was won, as a campaign
// returns whose session had lapsed, is no acquisition.
func (a *Attempt) win(ctx context.Context, acquirer Acquirer, l Lease) *Term {
	e := a.e
	t := newTerm(e, acquirer, l, ctx)
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
	end := e.leaseEnd(l, can, a.start)
	asked := e.leaseStart(a.start, now, end)

	s := e.s
	s.mu.Lock()
	if a.recorded {
		s.finish(a, now)
		t.recorded = true
	}
	var expired []ending
	if dead {
		t.bornLost(now)
	} else {
		expired = t.open(asked, now, end)
		if fenced {
			t.fence(token)
		}
	}
	a.done = true
	if a.ctx != nil {
		a.term = t
	}
	s.recycle(a)
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
	if _, seen := l.(observedLease); seen || e.lease == 0 || e.hidden {
		return 0
	}
	if e.mode == catalog.ModeHold && can&(canRenew|canWatch) == 0 {
		return 0 // somebody renews a held leadership, unseen
	}
	return start.add(e.lease)
}

// leaseStart is when the lease with this end was asked for. An attempt that
// waited for its turn began long before the request that won; what it began
// would make the first renewal look as if the lease were nearly gone. Where
// the length is declared the end tells the start; otherwise it is the answer.
func (e *Election) leaseStart(began, now, end instant) instant {
	if end == 0 || end == began.add(e.lease) {
		return began
	}
	if e.lease == 0 {
		return now
	}
	return min(max(began, end.add(-e.lease)), now)
}

func (m *Middleware) expiryOf(x Expirer) (end instant) {
	defer m.contain(func() { end = 0 })
	return m.instantOf(x.Expiry())
}
