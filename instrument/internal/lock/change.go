package lock

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Renewal is one renewal of a term's lease.
type Renewal struct {
	Result catalog.RenewalResult
	// Sent is just before the request; 0 unknown.
	Sent Instant
	// Now is when the answer was there.
	Now Instant
	// End is the new end as the lease tells it; 0: the length decides.
	End Instant
	// Length is that of the granted lease as the lease tells it; 0 unknown.
	Length time.Duration
	// Endless says that the renewed lease has no end that can be known.
	Endless bool
	// OnDemand says that the holder sent it: nothing else renews the lease.
	OnDemand bool
	// Asked says that End is what the lease answers by itself: one that has not
	// moved is that of before.
	Asked bool
}

// Sending says that the holder sends a renewal, to be followed by Answered.
// The term is not over with its lease while the answer may come.
func (s *State) Sending(t *Term, now Instant) {
	s.settle(t, now)
	t.extra().renewing++
}

// Answered says that the answer of a renewal is there; Renewed says before what
// it was.
func (s *State) Answered(t *Term, now Instant) {
	s.settle(t, now)
	t.extra().renewing--
}

// Blind says that the renewals of the term are not observable after all. It
// changes nothing once a renewal was observed.
func (s *State) Blind(t *Term, now Instant) {
	s.settle(t, now)
	if !t.renewed {
		t.renewalsVisible, t.renewable = false, false
	}
}

// Renewed records a renewal, whose result may say that the lock is gone. It
// reports whether it was recorded and whether the term ended by it, which its
// owner has to be told; a term that had ended before records nothing.
func (s *State) Renewed(t *Term, r Renewal) (recorded, ended bool) {
	s.forgetsIfRetired(t)
	s.settle(t, r.Now)
	if (t.ended || t.Stopped() != 0) && !s.revive(t, r) {
		return false, r.Result == catalog.RenewalLost && s.lostLate(t, r.Now)
	}
	t.renewed, t.renewable = true, true
	switch {
	case r.OnDemand:
		t.renewalsVisible = true
	case r.Result == catalog.RenewalOK:
		s.renewalObserved(t)
	}
	s.settle(t, r.Now)
	if t.ended && !s.revive(t, r) { // the end that became known had passed
		return false, r.Result == catalog.RenewalLost && s.lostLate(t, r.Now)
	}
	if t.recorded {
		counts := s.rareCounters()
		counts.renewals[r.Result]++
		if r.Sent != 0 {
			s.observe(&counts.renewalDuration, catalog.RenewalDuration, r.Now.Seconds(r.Sent))
		}
	}
	switch r.Result {
	case catalog.RenewalOK:
		s.extend(t, r)
	case catalog.RenewalLost:
		s.close(t, r.Now, catalog.Lost, false)
		return true, true
	}
	return true, false
}

// forgetsIfRetired has a term of a forgotten lock record nothing.
func (s *State) forgetsIfRetired(t *Term) { t.recorded = t.recorded && !s.retired }

// renewalObserved notes the first renewal that was seen. The end until now was
// that of a lease which may have been renewed since, unseen.
func (s *State) renewalObserved(t *Term) {
	if s.End(t) == 0 {
		t.end = 0
	}
	t.renewalsVisible = true
}

// revive opens a term again that its lease had ended, when a late renewal
// shows that the lock was kept: another acquisition, since a term ends once.
func (s *State) revive(t *Term, r Renewal) bool {
	if !t.lapsed || t.Stopped() != 0 || r.Result != catalog.RenewalOK {
		return false
	}
	t.ended, t.lapsed, t.superseded, t.began = false, false, false, r.Now
	if t.recorded = !s.retired; t.recorded {
		s.observe(&s.Acquire, catalog.AcquireDuration, 0)
		s.Acquired++
		s.lastWon.set(r.Now)
		s.link(t)
	}
	t.end = 0 // of the lease before
	return true
}

// extend moves the end of the lease. The renewal that was sent last decides;
// of one whose sending is unknown, and of answers out of order, the latest end
// that is known.
func (s *State) extend(t *Term, r Renewal) {
	length := r.Length
	if length == 0 {
		length = s.length()
	}
	sent, end := r.Sent, r.End
	if sent == 0 {
		sent = r.Now
	}
	if r.Asked && end <= t.end {
		end = 0
	}
	if end == 0 && !r.Endless && !s.Params.Hidden && !t.hidden {
		end = EndOf(sent, length)
	}
	if end == 0 && r.Asked {
		end = r.End
	}
	start := sent // of the lease: its end tells, since a renewal may take several requests
	if end != 0 && length > 0 {
		start = min(end.Add(-length), r.Now)
	}
	if r.Sent == 0 {
		sent = start
	}
	decided := t.has().decided
	if decided == 0 {
		decided = t.sent
	}
	if r.Sent != 0 && r.Sent < decided { // overtaken by a later renewal
		if end > t.end && t.end != 0 {
			t.end = end
		}
		return
	}
	s.used(t, r.Now)
	if r.Sent != 0 || end == 0 || end > t.end {
		t.extra().decided, t.sent, t.end = sent, start, end
	}
	if t.recorded {
		s.learn(t, r.Length, end != 0 && r.Sent != 0)
	}
}

// Loss says what is known of how a term was lost.
type Loss uint8

const (
	// Gone: the backend has shown that the lock is no longer ours.
	Gone Loss = iota
	// Reported: the library says that the lock is lost, and not why.
	Reported
	// GaveUp: the elector stopped trying to renew.
	GaveUp
	// Stopped: the elector was stopped without releasing the lock.
	Stopped
	// StoppedAndGone: the elector was stopped, and the lock is gone with it.
	StoppedAndGone
)

// Lost ends the term on the library's word and reports whether it was open.
// Where the lease still runs and nothing shows that the lock is gone, another
// replica may lead only after the end of the lease.
func (s *State) Lost(t *Term, now Instant, how Loss) (ended bool) {
	s.forgetsIfRetired(t)
	s.settle(t, now)
	if s.lostLate(t, now) {
		return true
	}
	if t.ended || t.Stopped() != 0 {
		return false
	}
	end := s.End(t)
	runs := end != 0 && now < end
	cause := catalog.Lost
	switch {
	case how == Stopped, how == StoppedAndGone:
		cause = catalog.CanceledTerm
	case how == GaveUp && runs:
		cause = catalog.GaveUp
	}
	s.close(t, now, cause, runs && how != Gone && how != StoppedAndGone)
	return true
}

// lostLate takes the word that a term is lost which its lease had ended before:
// that is counted already, and its owner has to be told.
func (s *State) lostLate(t *Term, now Instant) bool {
	if !t.lapsed || !t.Stop(now) {
		return false
	}
	t.lapsed = false
	s.unlinkIdle(t)
	return true
}

// Released counts the release of a term at now and, if it was the first to
// stop the holding, ends the term. It reports whether the holding ended by it.
func (s *State) Released(t *Term, first bool, now Instant, result catalog.ReleaseResult) (ended bool) {
	s.forgetsIfRetired(t)
	switch {
	case t.began == 0:
		t.extra().early = result + 1
	case t.recorded && !t.returned:
		s.countRelease(result)
		t.returned = result != catalog.ReleaseError
	}
	t.freed = t.freed || result == catalog.ReleaseOK
	if !first {
		s.uncover(t, now, result)
		return false
	}
	s.settle(t, now)
	end := s.End(t)
	late := end != 0 && now > end
	if t.recorded && late && !t.overran && !s.Params.KeepUntilExpiry && (t.lapsed || !t.ended) {
		s.overrun(t) // what the lock was around ran until now
	}
	switch {
	case t.lapsed:
		s.used(t, now)
		if t.recorded && !t.guarded {
			s.observe(&s.Execution, catalog.ExecutionDuration, now.Seconds(t.began))
		}
		s.unlinkIdle(t)
		return true
	case t.ended:
		return false
	}
	s.used(t, now)
	cause := catalog.Released
	switch {
	case end != 0 && now >= end:
		cause = catalog.Expired
	case result == catalog.ReleaseNotOwner && !t.freed: // by another release of the term
		cause = catalog.Lost
	case result == catalog.ReleaseError:
		cause = catalog.ReleaseFailed
	}
	s.close(t, now, cause, false)
	return true
}

// uncover notes that a release which came after the end released the lock
// before its lease has ended: another replica may lead from now on.
func (s *State) uncover(t *Term, now Instant, result catalog.ReleaseResult) {
	if !t.covered || result == catalog.ReleaseError {
		return
	}
	s.settle(t, now)
	t.covered = false
	t.extra().accrued = max(t.has().accrued, now)
}

// BodyStarts counts a body in.
func (s *State) BodyStarts(t *Term, now Instant) {
	s.forgetsIfRetired(t)
	s.settle(t, now)
	t.extra().accrued = max(t.has().accrued, now)
	t.guarded = true
	t.extra().bodies++
	if t.recorded {
		s.running++
		s.link(t)
	}
}

// BodyEnds counts a body out that began at start.
func (s *State) BodyEnds(t *Term, start, now Instant, failure catalog.FailureCause, failed bool) {
	s.settle(t, now)
	t.extra().bodies--
	if !t.recorded {
		return
	}
	s.running--
	s.observe(&s.Execution, catalog.ExecutionDuration, now.Seconds(start))
	if failed {
		s.rareCounters().failures[failure]++
	}
	if t.ended && !t.waits() {
		s.unlinkIdle(t)
	}
}
