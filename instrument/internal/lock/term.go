package lock

import (
	"sync/atomic"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Term is one won leadership. It ends once, with one cause.
type Term struct {
	next  *Term
	began Instant
	sent  Instant // the beginning of the lease: just before the request that won or renewed
	end   Instant // of the lease; 0 unknown; see State.end

	// stopped is when the holding ended, 0 while it lasts. A release sets it
	// without the mutex, before the backend is told.
	stopped atomic.Int64

	more *More // nil until needed

	cause           catalog.EndCause
	recorded        bool
	linked          bool
	ended           bool
	lapsed          bool // ended by its lease alone
	overran         bool
	returned        bool // its release is counted
	freed           bool // a release succeeded
	guarded         bool // a body ran under it
	renewalsVisible bool // its renewals can be seen
	renewable       bool // its holder can renew it, or reports renewals
	hidden          bool // its renewals are not observable, and it has some
	renewed         bool // a renewal was answered or reported
	covered         bool // ended before its lease, which keeps others out until its end
	superseded      bool // lapsed, and a later win has shown that it is over
}

// More is what only terms have that guard bodies, are renewed, or have a watcher
// to be told; apart, it keeps the others small.
type More struct {
	// Owner is notified of the changes of the term; nil: no owner.
	Owner Owner

	bodies   int32   // that run
	renewing int32   // renewals whose answer is out
	accrued  Instant // up to here work after loss is counted
	decided  Instant // when the renewal was sent that decided the end; 0 none was

	early catalog.ReleaseResult // of a release before the win was recorded, plus 1; 0: none
}

// Use has the term take that room instead of room of its own.
func (t *Term) Use(m *More) {
	if t.more != nil {
		o := m.Owner
		*m = *t.more
		m.Owner = o
	}
	t.more = m
}

// Owner is notified of the changes of the term; nil: no owner.
func (t *Term) Owner() Owner { return t.has().Owner }

// extra returns what only some terms have, to be changed.
func (t *Term) extra() *More {
	if t.more == nil {
		t.more = &More{}
	}
	return t.more
}

// nothing stands for what a term does not have.
var nothing More

func (t *Term) has() *More {
	if t.more == nil {
		return &nothing
	}
	return t.more
}

// Owner is told, under the mutex of the lock, that the lease alone has ended
// its term.
type Owner interface{ Lapsed() }

// Recorded reports whether the term counts.
func (t *Term) Recorded() bool { return t.recorded }

// Began is when the term was won.
func (t *Term) Began() Instant { return t.began }

// Lapsed reports whether its lease alone has ended the term.
func (t *Term) Lapsed() bool { return t.lapsed }

// Superseded reports whether its lease alone has ended the term, and a later
// win has shown that it is over.
func (t *Term) Superseded() bool { return t.superseded }

// Freed reports whether a release has succeeded.
func (t *Term) Freed() bool { return t.freed }

// Ended reports whether the term has ended, and how.
func (t *Term) Ended() (catalog.EndCause, bool) { return t.cause, t.ended }

// Bodies is how many bodies run under the term.
func (t *Term) Bodies() int { return int(t.has().bodies) }

// Held is how long the term has held or held, at now.
func (t *Term) Held(now Instant) time.Duration {
	switch stopped := t.Stopped(); {
	case t.lapsed:
		now = t.end
	case stopped != 0:
		now = stopped
	}
	return max(now.Sub(t.began), 0)
}

// Stop ends the holding before the backend is notified of a release, so that no
// moment shows two holders. It is atomic and reports whether the term held
// until now.
func (t *Term) Stop(now Instant) bool { return t.stopped.CompareAndSwap(0, int64(now)) }

// Stopped is when the holding ended; 0 while it lasts. It is atomic.
func (t *Term) Stopped() Instant { return Instant(t.stopped.Load()) }

// End is the end of the term's lease; 0 when it cannot be known. A held
// leadership is renewed by something: its end is known only where the
// renewals can be seen. The same holds for a library that hides them.
func (s *State) End(t *Term) Instant {
	if s.Params.Hidden || t.hidden || s.Params.Hold && !t.renewalsVisible {
		return 0
	}
	return t.end
}

// Active reports whether the term holds an unexpired lease.
func (s *State) Active(t *Term, now Instant) bool {
	return !t.ended && t.Stopped() == 0 && !s.pastEnd(t, now)
}

// isKept reports whether a win is kept until it is lost or released: then a
// lease that has ended is an overrun, and not the end of the term.
func (s *State) isKept() bool { return s.Params.Hold && !s.Params.KeepUntilExpiry }

func (s *State) pastEnd(t *Term, now Instant) bool {
	end := s.End(t)
	return end != 0 && now >= end
}

// link puts a term among those that are open or have bodies.
func (s *State) link(t *Term) {
	if !t.linked {
		t.next, s.terms, t.linked = s.terms, t, true
	}
}

func (s *State) unlink(t *Term) {
	if !t.linked {
		return
	}
	at := &s.terms
	for *at != t {
		at = &(*at).next
	}
	*at, t.next, t.linked = t.next, nil, false
}

// unlinkIdle takes out a term under which no body runs.
func (s *State) unlinkIdle(t *Term) {
	if t.has().bodies == 0 {
		s.unlink(t)
	}
}

// settle counts what grew until now, and ends a term that its lease ends.
func (s *State) settle(t *Term, now Instant) {
	if !t.recorded || t.ended && t.has().bodies == 0 {
		return
	}
	if s.endsWithLease(t, now) {
		s.lapse(t)
		return
	}
	s.settleOverrun(t, now)
	if t.has().bodies > 0 {
		s.accrue(t, now)
	}
}

// settleOverrun counts a term that ran past its lease, once. A lock that was
// left to its lease ran nothing: there was no body, no renewal and no release.
func (s *State) settleOverrun(t *Term, now Instant) {
	end := s.End(t)
	if t.overran || end == 0 {
		return
	}
	ran := now
	if stopped := t.Stopped(); stopped != 0 && (t.has().bodies == 0 || !t.ended || t.cause == catalog.Released) {
		ran = min(ran, stopped)
	}
	if ran > end && (s.isKept() || t.has().bodies > 0 || t.renewed || t.has().renewing > 0) {
		s.overrun(t)
	}
}

func (s *State) overrun(t *Term) {
	t.overran = true
	s.rareCounters().overruns++
	s.Unlogged++
}

// endsWithLease reports whether the end of the lease ends the term: a lock
// around one run is over with its lease, unless something still works under it
// or a renewal is under way. A lock that can be renewed gets one more lease
// length, in which a late renewal finds it open.
func (s *State) endsWithLease(t *Term, now Instant) bool {
	end, stopped := s.End(t), t.Stopped()
	if t.ended || s.isKept() || t.has().bodies > 0 || end == 0 || now < end || stopped != 0 && stopped < end {
		return false
	}
	switch {
	case s.Params.KeepUntilExpiry:
		return true
	case t.has().renewing > 0:
		return false
	case t.renewable, t.renewed:
		return now >= end.Add(end.Sub(t.sent))
	}
	return true
}

// unprotected is the instant from which another replica may lead; 0 while the
// term protects its bodies.
func (s *State) unprotected(t *Term, now Instant) Instant {
	end, stopped := s.End(t), t.Stopped()
	if end != 0 && (t.covered || stopped > end || stopped == 0 && now >= end) {
		return end
	}
	return stopped
}

// accrue adds up the work after loss of the bodies that run.
func (s *State) accrue(t *Term, now Instant) {
	if from := s.unprotected(t, now); from != 0 {
		if from = max(from, t.has().accrued); now > from {
			s.rareCounters().workAfterLoss += time.Duration(t.has().bodies) * now.Sub(from)
		}
	}
	more := t.extra()
	more.accrued = max(more.accrued, now)
}

// lapse ends a term whose lease alone ended it. It is not stopped: a release
// that comes late is the first, and tells how long what it was around ran.
func (s *State) lapse(t *Term) {
	if t.renewed && !t.overran && !s.Params.KeepUntilExpiry {
		s.overrun(t) // its holder had stopped renewing
	}
	t.ended, t.lapsed, t.cause = true, true, catalog.Expired
	s.closes(t)
	s.endsBy(t, s.End(t), catalog.Expired)
	if o := t.Owner(); o != nil {
		o.Lapsed()
	}
	// It stays linked: a later win has something to tell it.
}

// close ends the term at that instant. A covered term keeps others out until
// the end of its lease. A term that guarded no body was itself the execution.
func (s *State) close(t *Term, at Instant, cause catalog.EndCause, covered bool) {
	if t.Stopped() == 0 {
		t.stopped.CompareAndSwap(0, int64(at)) // a release may come in between
	}
	t.ended, t.cause, t.covered = true, cause, covered
	s.closes(t)
	if !t.recorded {
		return
	}
	stopped := t.Stopped()
	s.endsBy(t, stopped, cause)
	if !t.guarded {
		s.observe(&s.Execution, catalog.ExecutionDuration, stopped.Seconds(t.began))
	}
	s.unlinkIdle(t)
}

// used records the share of the lease that was gone at a renewal or release.
func (s *State) used(t *Term, now Instant) {
	end := s.End(t)
	if length := end - t.sent; t.recorded && end != 0 && length > 0 {
		s.leaseSeen = true
		s.observe(&s.Usage, catalog.LeaseUsageRatio, float64(now-t.sent)/float64(length))
	}
}
