package timeline

import (
	"slices"
	"time"
)

// Loss is a term that the backend ended while its holder led.
type Loss struct {
	// At is when the record went, at some instant of it.
	At Span
	// ToZero is how long leader_active still said 1 after the record was seen
	// to be gone; 0 when it did not.
	ToZero time.Duration
	// Seen says that a later sample said 0, or that the process held the lock
	// again. It had ended before, or the run had, when it is false.
	Seen bool
}

// Losses are the terms of a life that the backend ended, for good, within a
// tenure.
func Losses(t *Truth, life Life) (all []Loss) {
	for _, end := range t.Terms() {
		if end.Holder != life.Holder || !end.ended() || !inTenure(life, end.Until) {
			continue
		}
		l := Loss{At: end.Until}
		last := -1 // sample that said 1 without a 0 since the end
		for i, s := range life.Samples {
			if s.From < end.Until.To {
				continue
			}
			holder, known := t.Holder(s.Span)
			again := known && holder == life.Holder
			if !s.Active || again {
				l.Seen = true
				if last >= 0 && !again {
					l.ToZero = s.From - end.Until.To
				}
				break
			}
			last = i
		}
		if last >= 0 && l.ToZero == 0 {
			l.ToZero = life.Samples[last].To - end.Until.To
		}
		all = append(all, l)
	}
	return all
}

func inTenure(life Life, end Span) bool {
	return slices.ContainsFunc(life.Tenures, func(t Span) bool { return t.From <= end.To && end.To < t.To })
}

// Woke is the first reading of a process that was suspended as the leader, and
// woke up when the lock was not its own any more.
type Woke struct {
	// Deposed counts such readings; Active, Naive and AfterLock those of them in
	// which the gauge said 1.
	Deposed, Active, Naive, AfterLock int
}

// Add sums up.
func (w *Woke) Add(other Woke) {
	w.Deposed += other.Deposed
	w.Active += other.Active
	w.Naive += other.Naive
	w.AfterLock += other.AfterLock
}

// FirstAwake looks at the first sample of a life after it was suspended for
// that time.
func FirstAwake(t *Truth, life Life, suspended Span) (w Woke) {
	before := false
	for _, s := range life.Samples {
		if s.From < suspended.From {
			before = s.Active
			continue
		}
		if s.From < suspended.To {
			continue
		}
		if holder, known := t.Holder(s.Span); !before || !known || holder == life.Holder {
			return Woke{}
		}
		w.Deposed = 1
		for _, g := range []struct {
			says bool
			n    *int
		}{{s.Active, &w.Active}, {s.Naive, &w.Naive}, {s.AfterLock, &w.AfterLock}} {
			if g.says {
				*g.n = 1
			}
		}
		return w
	}
	return Woke{}
}

// AfterLoss is how long the work of a life continued after the backend had
// ended its term, until it held the lock again: the shortest and the longest
// that looks allow.
func AfterLoss(t *Truth, life Life, work []Span) (least, most time.Duration) {
	for i, term := range t.Terms() {
		if term.Holder != life.Holder || !term.ended() {
			continue
		}
		end, again := term.Until, t.next(i, life.Holder)
		for _, w := range work {
			if w.From <= end.To && w.To > end.From {
				least += max(min(w.To, again.From)-end.To, 0)
				most += max(min(w.To, again.To)-max(end.From, w.From), 0)
			}
		}
	}
	return least, most
}

// Overlap is the time in which the work of two lives ran at once, and the
// longest at a stretch. The spans are those of all lives.
func Overlap(work []Span) (sum, longest time.Duration) {
	type edge struct {
		at    time.Duration
		delta int
	}
	var edges []edge
	for _, w := range work {
		edges = append(edges, edge{w.From, 1}, edge{w.To, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return b.delta - a.delta // where one begins as another ends, the overlap with a third continues
	})
	depth, since := 0, time.Duration(0)
	for _, e := range edges {
		if depth == 2 && e.delta < 0 {
			sum += e.at - since
			longest = max(longest, e.at-since)
		}
		depth += e.delta
		if depth == 2 && e.delta > 0 {
			since = e.at
		}
	}
	return sum, longest
}
