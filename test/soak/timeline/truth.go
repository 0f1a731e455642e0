package timeline

import (
	"math"
	"slices"
	"time"
)

// Span is the time from an instant up to another.
type Span struct{ From, To time.Duration }

// Length is how long the span is.
func (s Span) Length() time.Duration { return s.To - s.From }

// Holds reports whether the other span lies within this one.
func (s Span) Holds(other Span) bool { return s.From <= other.From && other.To <= s.To }

// Look is one reading of the backend's record. It is of some instant between
// the question and the answer.
type Look struct {
	Asked, Answered time.Duration
	// Holder is who the backend names; empty: no live holder.
	Holder string
	// Term names this term of the holder; no two terms share one.
	Term string
	// Rest is how long the lease still runs, as the backend has it at the time
	// of the look; 0: unknown.
	Rest time.Duration
	// Spread is by how much less it may run, beyond what the duration of the
	// look leaves open.
	Spread time.Duration
	// Failed says that the backend did not answer: nothing else is known.
	Failed bool
}

// Truth is who held the lock when, as far as looks can tell.
type Truth struct {
	looks   []Look // that were answered
	certain []stretch
	terms   []Term
}

// stretch is time in which the holder is certain.
type stretch struct {
	Span
	holder string
}

// Term is a term by the backend's record. It began at some instant of Since and
// ended at some instant of Until, which is zero if it did not.
type Term struct {
	Holder, Name string
	Since, Until Span
}

func (t Term) ended() bool { return t.Until != Span{} }

// NewTruth derives the truth from looks in order of time. Between two looks
// that are further apart than limit nothing is certain, unless both show the
// same term.
func NewTruth(looks []Look, limit time.Duration) *Truth {
	t := &Truth{}
	for _, l := range looks {
		if !l.Failed {
			t.looks = append(t.looks, l)
		}
	}
	known := map[string]int{} // place of a term
	for i, l := range t.looks {
		if i == 0 {
			t.begin(known, l, l.Asked)
			continue
		}
		before := t.looks[i-1]
		same := before.Holder == l.Holder && before.Term == l.Term
		// A free lock may have been taken and freed again between two looks.
		if same && (l.Term != "" || l.Answered-before.Asked <= limit) {
			t.extend(stretch{Span{before.Answered, l.Asked}, l.Holder}, before.Asked)
		}
		if !same && before.Holder != "" {
			t.terms[known[before.Term]].Until = Span{before.Asked, l.Answered}
		}
		if !same {
			t.begin(known, l, before.Asked)
		}
	}
	return t
}

// begin notes the first look at a term, or that one is back which seemed to
// have ended, as a lease that its holder renewed late.
func (t *Truth) begin(known map[string]int, l Look, after time.Duration) {
	if l.Holder == "" {
		return
	}
	if i, back := known[l.Term]; back {
		t.terms[i].Until = Span{}
		return
	}
	known[l.Term] = len(t.terms)
	t.terms = append(t.terms, Term{Holder: l.Holder, Name: l.Term, Since: Span{after, l.Answered}})
}

// extend adds a stretch that begins with the look asked at that time. It joins
// the one before if that look, which showed the same holder, ended it.
func (t *Truth) extend(s stretch, asked time.Duration) {
	if n := len(t.certain); n > 0 {
		last := &t.certain[n-1]
		if last.holder == s.holder && last.To == asked {
			last.To = s.To
			return
		}
	}
	t.certain = append(t.certain, s)
}

// Holder returns who held the lock throughout a span; "": no candidate. It is
// not known where the holder changed, or looks are missing.
func (t *Truth) Holder(span Span) (holder string, known bool) {
	i, found := slices.BinarySearchFunc(t.certain, span.From, func(s stretch, at time.Duration) int { return int(s.From - at) })
	if !found {
		i--
	}
	if i < 0 || !t.certain[i].Holds(span) {
		return "", false
	}
	return t.certain[i].holder, true
}

// Held is the time in which some candidate held the lock for certain.
func (t *Truth) Held() (sum time.Duration) {
	for _, s := range t.certain {
		if s.holder != "" {
			sum += s.Length()
		}
	}
	return sum
}

// Known is the time in which it is certain whether and by whom the lock was
// held.
func (t *Truth) Known() (sum time.Duration) {
	for _, s := range t.certain {
		sum += s.Length()
	}
	return sum
}

// next is when a holder holds the lock again after a term; never, if it does
// not.
func (t *Truth) next(term int, holder string) Span {
	for _, later := range t.terms[term+1:] {
		if later.Holder == holder {
			return later.Since
		}
	}
	return Span{math.MaxInt64, math.MaxInt64}
}

// Terms are the terms, in the order in which they began.
func (t *Truth) Terms() []Term { return t.terms }
