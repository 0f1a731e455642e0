package instrument

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// The methods here change a term's state; the caller holds the series' mutex.

// open makes the term the holder of a lease asked for at start. It returns
// terms that ended by it and are to be told without the mutex.
func (t *Term) open(start, now, end instant) []ending {
	expired := t.expirePredecessors(now)
	t.began = now
	t.extend(start, end)
	if t.recorded {
		s := t.e.s
		s.acquired++
		s.lastTerm, s.lastTermSec = now, 0
		t.link()
		if t.lapsed(now) {
			t.settle(now)
		}
	}
	return expired
}

// link puts the term among those of its handle.
func (t *Term) link() { t.next, t.e.terms, t.linked = t.e.terms, t, true }

func (t *Term) unlink() {
	if !t.linked {
		return
	}
	at := &t.e.terms
	for *at != t {
		at = &(*at).next
	}
	*at, t.next, t.linked = t.next, nil, false
}

// bornLost marks a term whose lease was gone before it was won, as a campaign
// returns whose session had lapsed. It is no acquisition, and a body that runs
// under it works after loss.
func (t *Term) bornLost(now instant) {
	t.began = now
	t.ended, t.cause = true, catalog.Lost
	t.stopped.Store(int64(now))
	if t.recorded {
		t.e.s.notAcquired[catalog.SessionLost]++
	}
}

// ending is a term that has ended, and those who wait for it.
type ending struct {
	t *Term
	x *extras
}

// expirePredecessors closes terms of this handle whose lease ran out without
// a release, as a lock that is left to its TTL. A new win proves that they
// are over, and without this they would pile up.
func (t *Term) expirePredecessors(now instant) (expired []ending) {
	for old := t.e.terms; old != nil; {
		next := old.next
		if old.lapsed(now) && old.stoppedAt() == 0 && old.bodies() == 0 {
			old.settle(now)
			x, _ := old.end(old.leaseEnd, catalog.Expired)
			expired = append(expired, ending{old, x})
		}
		old = next
	}
	return expired
}

// fence keeps the last token and counts a token that went back.
func (t *Term) fence(token uint64) {
	x := t.extra()
	x.token, x.fenced = token, true
	if !t.recorded {
		return
	}
	e := t.e
	if e.tokenKnown && token < e.token {
		e.s.seldom().regressions++
	}
	e.token, e.tokenKnown = token, true
	e.s.token, e.s.tokenKnown = token, true
}

// extend sets the lease that was asked for at start.
func (t *Term) extend(start, end instant) {
	t.leaseStart, t.leaseEnd = start, end
	if end == 0 || !t.recorded {
		return
	}
	s := t.e.s
	s.leaseSeen = true
	s.granted = end.sub(start)
}

// lapsed reports whether the lease has run out.
func (t *Term) lapsed(now instant) bool { return t.leaseEnd != 0 && now >= t.leaseEnd }

// active reports whether the term holds an unexpired lease.
func (t *Term) active(now instant) bool { return t.stoppedAt() == 0 && !t.lapsed(now) }

// over is the instant from which work is work after loss; 0 while the term
// holds.
func (t *Term) over(now instant) instant {
	stopped := t.stoppedAt()
	if t.leaseEnd != 0 && (stopped > t.leaseEnd || stopped == 0 && now >= t.leaseEnd) {
		return t.leaseEnd
	}
	return stopped
}

// settle counts the overrun, and the work after loss up to now.
func (t *Term) settle(now instant) {
	if !t.recorded {
		return
	}
	held := now
	if stopped := t.stoppedAt(); stopped != 0 {
		held = min(held, stopped)
	}
	if !t.overran && t.leaseEnd != 0 && held > t.leaseEnd {
		t.overran = true
		t.e.s.overruns++
		t.e.m.logOverrun(t)
	}
	if t.bodies() > 0 {
		t.accrue(now)
	}
}

// accrue adds up the work after loss of the bodies that run.
func (t *Term) accrue(now instant) {
	if from := t.over(now); from != 0 {
		if from = max(from, t.x.accrued); now > from {
			t.e.s.workAfterLoss += time.Duration(t.x.bodies) * now.sub(from)
		}
	}
	t.x.accrued = max(t.x.accrued, now)
}

// used records the share of the lease gone at a renewal or release.
func (t *Term) used(now instant) {
	if length := t.leaseEnd - t.leaseStart; t.recorded && t.leaseEnd != 0 && length > 0 {
		t.e.s.observe(&t.e.s.usage, catalog.LeaseUsageRatio, float64(now-t.leaseStart)/float64(length))
	}
}

// end closes the term and reports whether it was open until now; then the
// caller tells those who wait for it, without the mutex. A term that guarded
// no body was itself the execution.
func (t *Term) end(now instant, cause catalog.EndCause) (*extras, bool) {
	if t.ended {
		return nil, false
	}
	if t.stoppedAt() == 0 {
		t.stopped.CompareAndSwap(0, int64(now)) // a release may come in between
	}
	t.ended, t.cause = true, cause
	if o := t.e.observed; o != nil && o.term == t {
		o.term = nil
	}
	if t.x != nil && t.x.done != nil {
		close(t.x.done)
	}
	if t.recorded {
		t.countEnd(cause)
	}
	return t.x, true
}

// tell ends the contexts of those who wait for the term's end and logs it.
// Contexts may run foreign code, so the caller holds no mutex.
func (t *Term) tell(x *extras, why error) {
	if x != nil && x.cancel != nil {
		x.cancel(why)
		for _, cancel := range x.cancels {
			cancel(why)
		}
	}
	t.e.m.logEnded(t, t.cause)
}

func (t *Term) countEnd(cause catalog.EndCause) {
	s := t.e.s
	s.ended[cause]++
	if t.x == nil || !t.x.guarded {
		s.observe(&s.execution, catalog.ExecutionDuration, t.stoppedAt().seconds(t.began))
	}
	if t.bodies() == 0 {
		t.unlink()
	}
}
