package lock

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Params are what the program declares of a lock. They do not change.
type Params struct {
	// Hold: a win is kept; otherwise a lock is taken for one run.
	Hold bool
	// Hidden: the library renews without reporting it.
	Hidden bool
	// KeepUntilExpiry: the lock is left to its lease on purpose.
	KeepUntilExpiry bool
	// Lease is the declared length of the lease; 0 unknown.
	Lease time.Duration
	// MaxLeaders is how many may hold the lock at once, at least 1.
	MaxLeaders int
}

// State is what is known of one lock in this process. The zero State with
// Params is ready to use.
type State struct {
	Totals
	Flight
	Params *Params
	// Outbox takes the observations of histograms; nil when no exporter wants them.
	Outbox *Outbox
	// Unlogged counts overruns that have not been logged yet.
	Unlogged uint32

	running   int32
	retired   bool // forgotten: what comes now is not recorded
	leaseSeen bool
	fenced    bool
	hides     bool // the lease that was won last hides its renewals

	attempts    *Attempt     // those beside the flight
	terms       *Term        // open, or with bodies that run
	observation *observation // of an observed lock; nil until something was
	history     *History     // the terms that ended last; nil unless they are kept

	token     uint64
	granted   time.Duration // length of the lease that was granted last; 0 unknown
	lastWon   stamp
	lastEnded stamp
}

// observation is what only locks have that are observed.
type observation struct {
	term  *Term         // open by observation; nil while another leads
	slack time.Duration // how much too early the end of the last reading can be
	view  *view         // what the backend says; nil until the first reading
	guard *guard        // what a store in this process checked; nil without one

	identities []identity // with which this process campaigns
}

func (s *State) observing() *observation {
	if s.observation == nil {
		s.observation = &observation{}
	}
	return s.observation
}

// closes forgets an observed term that has ended.
func (s *State) closes(t *Term) {
	if s.observation != nil && s.observation.term == t {
		s.observation.term = nil
	}
}

// stamp is an instant whose Unix time is fixed when it is first collected.
type stamp struct {
	at   Instant
	unix float64
}

func (s *stamp) set(at Instant) { s.at, s.unix = at, 0 }

// Retired reports whether the lock was forgotten.
func (s *State) Retired() bool { return s.retired }

// HidesRenewals reports whether the library renews the lease where it cannot be
// seen, as declared or as the lease says that was won last.
func (s *State) HidesRenewals() bool { return s.Params.Hidden || s.hides }

// Idle reports whether nothing of the lock is open now: no attempt, no term, no
// body, no view of the backend. No attempt can begin in the Flight of a lock
// that was found idle until Resume.
func (s *State) Idle(now Instant) bool {
	s.Settle(now)
	if s.attempts != nil || s.running != 0 || s.isWatched() {
		return false
	}
	for t := s.terms; t != nil; t = t.next {
		if !t.lapsed {
			return false
		}
	}
	return s.Flight.shut()
}

// Resume lets attempts enter the Flight again.
func (s *State) Resume() { s.Flight.open() }

// Drain returns the totals and leaves none, nor of what guards counted, nor kept
// terms, for a lock that is folded into what its label keeps.
func (s *State) Drain() Totals {
	t := s.Totals
	s.Totals = Totals{}
	s.history.drain()
	s.drainGuard()
	return t
}

// observe adds a value, which is never less than 0: a lease that was over when
// it was won held for no time.
func (s *State) observe(d *Distribution, metric *catalog.Metric, v float64) {
	v = max(v, 0)
	d.observe(metric, v)
	if s.Outbox != nil {
		s.Outbox.add(metric, v)
	}
}

// Settle brings what grows by itself up to now: work after loss, overruns,
// leases that ended.
func (s *State) Settle(now Instant) {
	for t := s.terms; t != nil; {
		next := t.next
		s.settle(t, now)
		t = next
	}
}

// Retire forgets the lock: what is open is abandoned, and nothing is recorded
// afterwards. The terms continue for their callers.
func (s *State) Retire(now Instant) {
	if start := Instant(s.Flight.start.Swap(closed)); start > 0 {
		s.observe(&s.Acquire, catalog.AcquireDuration, now.Seconds(start))
		s.countNotAcquired(catalog.UnknownReason)
	}
	for a := s.attempts; a != nil; a = s.attempts {
		s.finish(a, a.start, now)
		s.countNotAcquired(catalog.UnknownReason)
	}
	for t := s.terms; t != nil; t = s.terms {
		s.settle(t, now)
		if !t.ended {
			s.endsBy(t, now, catalog.Abandoned)
		}
		s.running -= t.has().bodies
		s.unlink(t)
		t.recorded = false
	}
	if seen := s.observation; seen != nil {
		seen.view.close(now)
		s.observation = &observation{view: seen.view, guard: seen.guard}
	}
	s.retired = true
}

// endsBy counts a term that ended at that instant, or with its lease if that
// was before.
func (s *State) endsBy(t *Term, at Instant, cause catalog.EndCause) {
	if end := s.End(t); end != 0 {
		at = min(at, end)
	}
	s.countEnd(cause)
	s.history.add(EndedTerm{Began: t.began, Ended: at, Cause: cause})
	if at > s.lastEnded.at {
		s.lastEnded.set(at)
	}
}
