package fleet

import (
	"slices"
	"time"
)

// History is what a world leaves behind. All times are counted from Epoch.
type History struct {
	// Series are what the servers stored.
	Series []*Series
	// Restarts are when a server evaluated nothing and forgot which alerts
	// were pending.
	Restarts []Span
	// Terms are the leaderships that were, by the leases of their holders.
	Terms []Term
	// Incidents are what was done to the world.
	Incidents []Incident
	// Free is when no replica held the lock although one should, and nothing
	// explained it: the lease of the last holder had ended. Of locks taken for
	// runs it is when one and a half intervals had passed since the last
	// acquisition.
	Free []Span
	// Overlaps is when two replicas held it.
	Overlaps []Span
	// Alive is when replicas of the service ran.
	Alive []Span
}

// Span is a time from From to To.
type Span struct{ From, To time.Duration }

// Length of the span.
func (s Span) Length() time.Duration { return s.To - s.From }

// Meets reports whether two have a time in common.
func (s Span) Meets(o Span) bool { return s.From <= o.To && o.From <= s.To }

// Term is one leadership.
type Term struct {
	Process  string
	From, To time.Duration
	// Until is when the record lets others win at the latest.
	Until time.Duration
}

// Incident is one thing that was done to the world.
type Incident struct {
	Kind Kind
	Span
}

// closeTruth notes the end of the open term: now, or when its lease ended.
func (p *process) closeTruth(now time.Duration) {
	t := p.truth
	if t == nil {
		return
	}
	p.truth = nil
	t.To, t.Until = now, now
	if !p.sim.Hidden && p.leaseEnd < now {
		t.To = max(p.leaseEnd, t.From)
	}
	if b := p.backend(); b.holder == p && b.expires > now {
		t.Until = b.expires
	}
	p.sim.history.Terms = append(p.sim.history.Terms, *t)
}

// finish works out what follows from the terms.
func (h *History) finish(s *sim) {
	slices.SortFunc(h.Terms, func(a, b Term) int { return int(a.From - b.From) })
	slices.SortFunc(h.Series, func(a, b *Series) int { return compareLabels(a, b) })
	h.Free = h.free(s.Length)
	if s.Every > 0 {
		h.Free = h.overdue(s.Every*3/2, s.Length)
	}
	h.Overlaps = h.overlaps()
}

// free is when no term was open and the last lease had ended.
func (h *History) free(end time.Duration) (free []Span) {
	const shortest = 10 * time.Second
	var until time.Duration
	gap := func(to time.Duration) {
		if to-until >= shortest && until > 0 {
			free = append(free, Span{until, to})
		}
	}
	for _, t := range h.Terms {
		gap(t.From)
		until = max(until, t.To, t.Until)
	}
	gap(end)
	return free
}

// overdue is when more than d had passed since the last acquisition.
func (h *History) overdue(d, end time.Duration) (late []Span) {
	last := time.Duration(0)
	for _, t := range append(slices.Clone(h.Terms), Term{From: end}) {
		if t.From-last > d && last > 0 {
			late = append(late, Span{last + d, t.From})
		}
		last = t.From
	}
	return late
}

// overlaps is when at least two terms were open.
func (h *History) overlaps() (out []Span) {
	var latest Span
	for _, t := range h.Terms {
		if both := min(t.To, latest.To); both > t.From {
			if n := len(out); n > 0 && out[n-1].To >= t.From {
				out[n-1].To = max(out[n-1].To, both)
			} else {
				out = append(out, Span{t.From, both})
			}
		}
		if t.To > latest.To {
			latest = Span{t.From, t.To}
		}
	}
	return out
}
