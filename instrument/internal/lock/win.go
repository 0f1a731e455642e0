package lock

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Renewals says what is known of how a lease is renewed.
type Renewals uint8

const (
	// NoRenewals: nothing renews the lease where it can be seen.
	NoRenewals Renewals = iota
	// MayRenew: the lease has a method for it, whose answer is not known yet.
	MayRenew
	// ShownRenewals: the holder renews on demand, or renewals are reported.
	ShownRenewals
	// HidesRenewals: the library renews the lease without reporting it.
	HidesRenewals
)

// Won is what is known of a win.
type Won struct {
	// Now is when the answer was there.
	Now Instant
	// End is the end of the lease as the lease tells it; 0 unknown.
	End Instant
	// Length is that of the granted lease as the lease tells it; 0 unknown.
	Length time.Duration
	// Renewals says how the lease is renewed.
	Renewals Renewals
	// Endless says that the lease tells that it never ends.
	Endless bool
	// Observed says that nothing is known of the lease but what was seen.
	Observed bool
	// Token is the fencing token if Fenced.
	Token  uint64
	Fenced bool
}

// Win ends an attempt that began at start with a term, which may be lapsed
// already. A nil attempt is the one in the Flight. Terms that the win proves
// to be over are ended and returned, for their waiters to be told.
func (s *State) Win(t *Term, a *Attempt, start Instant, w *Won) (superseded []*Term) {
	t.recorded = s.finish(a, start, w.Now)
	t.began = w.Now
	t.renewalsVisible = w.Renewals == ShownRenewals || w.Observed
	t.renewable = w.Renewals == MayRenew || w.Renewals == ShownRenewals
	t.hidden = w.Renewals == HidesRenewals
	length := w.Length
	if length == 0 {
		length = s.Params.Lease
	}
	end := w.End
	if end == 0 && !w.Observed && !w.Endless && w.Now.Sub(start) < length {
		// A wait longer than the lease proves that the request which won was
		// sent later: then the end is unknown.
		end = EndOf(start, length)
	}
	t.end, t.sent = end, wonAt(start, w.Now, end, length)
	if !t.recorded {
		return nil
	}
	s.hides = t.hidden
	s.learn(t, w.Length, end != 0 && !w.Observed)
	superseded = s.supersede(w.Now)
	s.Acquired++
	s.lastWon.set(w.Now)
	s.link(t)
	s.adopt(t)
	if w.Observed && !t.ended {
		s.observing().term = t
	}
	if w.Fenced {
		s.fence(w.Token)
	}
	if s.pastEnd(t, w.Now) {
		s.settle(t, w.Now)
	}
	return superseded
}

// adopt counts what became of a term before its win was recorded: while its
// lease is asked, the program can have it from the attempt.
func (s *State) adopt(t *Term) {
	s.running += t.has().bodies
	if early := t.has().early; early != 0 {
		s.countRelease(early - 1)
		t.returned = early-1 != catalog.ReleaseError
	}
	if !t.ended {
		return
	}
	s.endsBy(t, t.began, t.cause)
	if !t.guarded {
		s.observe(&s.Execution, catalog.ExecutionDuration, 0)
	}
	s.unlinkIdle(t)
}

// WinDead ends an attempt whose lease was lost before it was won, as a
// campaign returns whose session had lapsed. It is no acquisition, and a body
// that runs under it works after loss.
func (s *State) WinDead(t *Term, a *Attempt, start, now Instant) {
	t.recorded = s.finish(a, start, now)
	t.began, t.ended, t.cause = now, true, catalog.Lost
	t.stopped.Store(int64(now))
	if t.recorded {
		s.countNotAcquired(catalog.SessionLost)
		if t.has().bodies > 0 {
			s.running += t.has().bodies
			s.link(t)
		}
	}
}

// wonAt is when the lease with this end was asked for. An attempt that waited
// for its turn began long before the request that won. Where the length is
// known the end tells; otherwise the attempt's beginning does if it was short
// beside the lease, and the answer if not.
func wonAt(start, now, end Instant, length time.Duration) Instant {
	switch {
	case end == 0:
		return start
	case length > 0:
		return min(max(start, end.Add(-length)), now)
	case now.Sub(start) <= end.Sub(now)/100:
		return start
	default:
		return now
	}
}

// supersede ends terms that a new win proves to be over: beside the new one
// there is room for MaxLeaders less one. Those that their lease has ended go
// first, then those that are past their end, the earliest first.
func (s *State) supersede(now Instant) (expired []*Term) {
	s.Settle(now)
	excess := 1 - max(s.Params.MaxLeaders, 1)
	for t := s.terms; t != nil; t = t.next {
		if t.waits() || !t.ended && t.Stopped() == 0 {
			excess++
		}
	}
	for ; excess > 0; excess-- {
		t := s.firstSuperseded(now)
		if t == nil {
			break
		}
		s.endSuperseded(t, now)
		expired = append(expired, t)
	}
	return expired
}

// firstSuperseded is the term that a win is the first to prove over; nil when none
// can be proven.
func (s *State) firstSuperseded(now Instant) (first *Term) {
	for t := s.terms; t != nil; t = t.next {
		open := !t.ended && t.Stopped() == 0
		if !t.waits() && !(open && (s.pastEnd(t, now) || s.keeps(t))) {
			continue
		}
		if first == nil || t.lapsed && !first.lapsed || t.lapsed == first.lapsed && s.goesBefore(t, first) {
			first = t
		}
	}
	return first
}

// waits reports a term that its lease has ended and whose owner learns that by
// the next win. A body that still runs keeps it among the terms after that.
func (t *Term) waits() bool { return t.lapsed && !t.superseded && t.Stopped() == 0 }

// goesBefore reports which of two terms is over first; one whose end is
// unknown after one whose end has passed, and of two of these the older. Of two
// that were won at the same instant a is the older: terms are linked in front.
func (s *State) goesBefore(a, b *Term) bool {
	x, y := s.End(a), s.End(b)
	if x == 0 || y == 0 {
		return x != 0 || y == 0 && a.began <= b.began
	}
	return x < y || x == y && a.began <= b.began
}

// keeps reports a lock that was left to a lease whose end is unknown.
func (s *State) keeps(t *Term) bool {
	return s.Params.KeepUntilExpiry && s.End(t) == 0 && t.has().bodies == 0
}

func (s *State) endSuperseded(t *Term, now Instant) {
	if t.lapsed { // counted already
		t.superseded = true
		s.unlinkIdle(t)
		return
	}
	at := s.End(t)
	if at == 0 {
		at = now
	}
	s.close(t, at, catalog.Expired, false)
}

// fence keeps the last token and counts a token that went back. Slots of a
// group elector have tokens of their own, which are not compared.
// Fence notes a token that was seen after the win.
func (s *State) Fence(t *Term, token uint64) {
	if t.recorded {
		s.fence(token)
	}
}

func (s *State) fence(token uint64) {
	if s.fenced && token < s.token && s.Params.MaxLeaders <= 1 {
		s.rareCounters().regressions++
	}
	s.token, s.fenced = token, true
}

// learn keeps the length of the lease: as granted, else as measured. A
// measured length contains the way to the backend and back, so a small
// difference is no other length.
func (s *State) learn(t *Term, granted time.Duration, measured bool) {
	if s.End(t) != 0 {
		s.leaseSeen = true
	}
	switch {
	case granted > 0 && granted <= Horizon:
		s.granted = granted
	case measured && s.Params.Lease == 0:
		length := t.end.Sub(t.sent)
		if difference := (length - s.granted).Abs(); difference > s.granted/100 {
			s.granted = length.Round(time.Millisecond)
		}
	}
}
