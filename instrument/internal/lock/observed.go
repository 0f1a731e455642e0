package lock

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Seen is what an observation saw of a lock that this process holds.
type Seen struct {
	// Asked is just before the reading; 0 unknown.
	Asked Instant
	Now   Instant
	// End is the end of the lease; 0 unknown.
	End Instant
	// Endless says that the lease never ends.
	Endless bool
	// Length is that of the lease; 0 unknown.
	Length time.Duration
}

// Observed is the term that observations opened; nil while another leads.
func (s *State) Observed() *Term {
	if s.observation == nil {
		return nil
	}
	return s.observation.term
}

// Steady takes another look at the observed term that is still led, and
// counts an end that moved on as a renewal. The end that a reading computes is
// too early by up to the time that the reading took: an end within that is the
// same end.
func (s *State) Steady(o Seen) {
	seen := s.observing()
	t, before := seen.term, seen.slack
	seen.slack = s.slackOf(o)
	if t == nil {
		return
	}
	s.settle(t, o.Now)
	end := s.End(t)
	if o.End == 0 {
		if o.Endless || end != 0 && o.Now >= end {
			t.end = 0 // it is led past its end: that is no longer known
		}
		return
	}
	switch {
	case end == 0:
		t.end, t.renewalsVisible = o.End, true
		s.sightLength(t, o)
	case o.End.Sub(end) > before:
		s.rareCounters().renewals[catalog.RenewalOK]++
		if s.lengthOf(o) > 0 {
			s.used(t, o.Now)
		}
		t.renewed = true
		t.end = o.End
		s.sightLength(t, o)
	case o.End > end, end.Sub(o.End) > seen.slack, o.End <= o.Now:
		t.end = o.End
		s.sightLength(t, o)
	}
}

// FirstSight is what the first look at a term leaves for those that follow.
func (s *State) FirstSight(o Seen) {
	seen := s.observing()
	seen.slack = s.slackOf(o)
	if seen.term != nil {
		s.sightLength(seen.term, o)
	}
}

func (s *State) sightLength(t *Term, o Seen) {
	if t.end == 0 {
		t.sent = 0
		return
	}
	t.sent = t.end.Add(-s.lengthOf(o)) // without a length there is no share of it
	s.learn(t, o.Length, false)
}

func (s *State) lengthOf(o Seen) time.Duration {
	if o.Length > 0 {
		return o.Length
	}
	return s.Params.Lease
}

// slackOf is how much too early the end of a reading can be.
func (s *State) slackOf(o Seen) time.Duration {
	const resolution = time.Millisecond
	switch {
	case o.Asked != 0:
		return o.Now.Sub(o.Asked) + resolution
	case s.lengthOf(o) > 0:
		return s.lengthOf(o) / 10
	default:
		return time.Second
	}
}
