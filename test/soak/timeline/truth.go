package timeline

import (
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
	// Failed says that the backend did not answer: nothing else is known.
	Failed bool
}

// Truth is who held the lock when, as far as looks can tell.
type Truth struct {
	looks   []Look // that were answered
	certain []stretch
	ends    []End
}

// stretch is time in which the holder is certain.
type stretch struct {
	Span
	holder string
}

// End is the end of a term by the backend's record: it was there at After, and
// was not any more at By.
type End struct {
	Holder, Term string
	After, By    time.Duration
}

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
	for i, l := range t.looks {
		if i == 0 {
			continue
		}
		before := t.looks[i-1]
		same := before.Holder == l.Holder && before.Term == l.Term
		// A free lock may have been taken and freed again between two looks.
		if same && (l.Term != "" || l.Answered-before.Asked <= limit) {
			t.extend(stretch{Span{before.Answered, l.Asked}, l.Holder}, before.Asked)
		}
		if !same && before.Holder != "" {
			t.ends = append(t.ends, End{before.Holder, before.Term, before.Asked, l.Answered})
		}
	}
	return t
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

// Ends are the ends of terms, in order of time.
func (t *Truth) Ends() []End { return t.ends }
