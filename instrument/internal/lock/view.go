package lock

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Standing is what a read of the backend shows of a lock, whichever process holds it.
type Standing uint8

// The standings.
const (
	// Unseen: the backend could not be asked.
	Unseen Standing = iota
	// Held: the backend names a holder.
	Held
	// Vacant: the backend names none.
	Vacant
	// Unwatched: no process looks any longer.
	Unwatched
)

// Look is one answer of the backend.
type Look struct {
	Now      Instant
	Standing Standing
	// Holder stands for the holder's identity, and Label is what it is shown
	// as; empty where the backend does not tell.
	Holder uint64
	Label  string
	// Token distinguishes terms if Counted.
	Token   uint64
	Counted bool
	// End and Length are those of the recorded lease; 0 unknown. A holder whose
	// lease has ended is none.
	End    Instant
	Length time.Duration
	// Valid is how long the answer is believed; 0: until the next.
	Valid time.Duration
	// Every is the time between readings; 0: the backend tells of each change.
	Every time.Duration
}

// view is what the backend says of the lock. The last standing that was seen
// stays while the view is blind, to be compared with what is seen next.
type view struct {
	last    Look // the latest that saw something; its Standing is Unseen before
	term    viewed
	watched bool // this process looks
	blind   bool // what was seen last is no longer believed

	began   Instant // when the vacancy began; 0 where that was not seen
	settled Instant // up to when the vacancy is counted

	terms    uint64
	vacant   time.Duration
	handover Distribution
}

// viewed is the term that was seen last, as far as any reading has told of it: one
// that does not tell a holder or a token does not make it another term.
type viewed struct {
	holder         uint64
	token          uint64
	named, counted bool
}

// Sight is what the backend says of one lock, or of several under one label.
// Unlike Facts it is no matter whether this process has to do with them.
type Sight struct {
	// Watched locks are looked at, of Known ones the answer is believed, and
	// of Held ones it names a live holder.
	Watched, Known, Held int
	// Holder is the label of the live holder; empty when unknown.
	Holder  string
	Token   uint64
	Counted bool
	// End is the earliest recorded end of a lease in seconds of Unix time; 0
	// unknown.
	End    float64
	Length time.Duration
	Every  time.Duration
	// Told is when the backend last said something, in seconds of Unix time.
	Told float64

	Terms    uint64
	Vacant   time.Duration
	Handover Distribution
}

// HolderLabel is the label of the holder that was seen last; it is empty when
// that was another.
func (s *State) HolderLabel(holder uint64) string {
	if !s.Viewed() || s.observation.view.last.Holder != holder {
		return ""
	}
	return s.observation.view.last.Label
}

// Look takes an answer of the backend. It changes nothing of this process's
// own terms.
func (s *State) Look(l Look) {
	if s.retired {
		return
	}
	seen := s.observing()
	if seen.view == nil {
		if l.Standing == Unwatched {
			return
		}
		seen.view = &view{blind: true}
	}
	v := seen.view
	v.settle(l.Now)
	if v.missed(&l) {
		v.terms++
		v.last.Standing, v.term = Held, termOf(&l)
	}
	switch l.Standing {
	case Unseen, Unwatched:
		v.blind, v.watched = true, l.Standing == Unseen
		return
	case Held:
		if l.isOver() {
			v.lapse(l)
		} else {
			s.holds(v, l)
		}
	case Vacant:
		v.vacates(l, l.Now, !v.blind)
	}
	v.watched, v.blind = true, false
}

// settle counts the vacancy up to now, or up to when the last answer is not
// believed any longer.
func (v *view) settle(now Instant) {
	if v.blind {
		return
	}
	until := now
	if v.last.Valid > 0 {
		if end := v.last.Now.Add(v.last.Valid); end < now {
			until, v.blind = end, true
		}
	}
	if v.last.Standing == Vacant {
		v.vacant += until.Sub(v.settled)
		v.settled = until
	}
}

// isOver reports a reading that names a holder whose lease has ended.
func (l *Look) isOver() bool { return l.Standing == Held && l.End != 0 && l.End <= l.Now }

// missed reports a reading that shows a term which began and ended since the last
// one, when the lock was vacant: its lease ended after that. From when on it was
// held is not known, and what was vacancy as far as anybody could know stays
// so. The same record again is no other term, though its end may be computed a
// little differently.
func (v *view) missed(l *Look) bool {
	if v.last.Standing != Vacant || !l.isOver() || l.End <= v.last.Now {
		return false
	}
	return v.last.End == 0 || !v.sameTerm(l) || l.Length > 0 && l.End.Sub(v.last.End) > l.Length/2
}

// holds takes an answer that names a live holder. A term that is found at the
// first reading did not begin with it. How long a gap was is known where its
// beginning was seen and the view was not blind since; between two readings a
// change of the holder hides a gap.
func (s *State) holds(v *view, l Look) {
	switch {
	case v.last.Standing == Unseen, v.last.Standing == Held && v.sameTerm(&l):
	case v.last.Standing == Vacant:
		v.terms++
		if !v.blind && v.began != 0 {
			s.observe(&v.handover, catalog.BackendHandover, l.Now.Seconds(v.began))
		}
	default:
		v.terms++
		if !v.blind && l.Every == 0 {
			s.observe(&v.handover, catalog.BackendHandover, 0)
		}
	}
	if v.last.Standing == Held {
		v.tells(&l)
	} else {
		v.term = termOf(&l)
	}
	v.last, v.began = l, 0
}

func termOf(l *Look) viewed {
	return viewed{holder: l.Holder, named: l.Label != "", token: l.Token, counted: l.Counted}
}

// sameTerm compares what was told of the term with what this reading tells.
func (v *view) sameTerm(l *Look) bool {
	a, b := v.term, termOf(l)
	return (a.holder == b.holder || !a.named || !b.named) && (a.token == b.token || !a.counted || !b.counted)
}

// tells keeps what a reading says about the term, beside what earlier ones said.
func (v *view) tells(l *Look) {
	now := termOf(l)
	if v.sameTerm(l) {
		if !now.named {
			now.holder, now.named = v.term.holder, v.term.named
		}
		if !now.counted {
			now.token, now.counted = v.term.token, v.term.counted
		}
	}
	v.term = now
}

// lapse takes an answer that names a holder whose lease has ended. The vacancy
// began with the end of the lease, also if the view was blind then: the record
// shows that it was not renewed. A lease that had ended before the first reading is
// a vacancy whose beginning was not seen.
func (v *view) lapse(l Look) {
	if v.last.Standing == Held && !v.sameTerm(&l) {
		v.terms++
	}
	v.tells(&l)
	v.vacates(l, l.End, l.End >= v.last.Now)
}

// vacates takes an answer that names no live holder; beginning says whether
// the vacancy began then, if it is new.
func (v *view) vacates(l Look, began Instant, beginning bool) {
	switch {
	case v.last.Standing == Held && beginning:
		v.began = began
		v.vacant += l.Now.Sub(max(began, v.settled))
	case v.last.Standing != Vacant, v.blind:
		v.began = 0
	}
	l.Standing = Vacant
	v.last, v.settled = l, l.Now
}

// close ends the view, and keeps what it counted.
func (v *view) close(now Instant) {
	if v != nil {
		v.settle(now)
		v.watched, v.blind = false, true
	}
}

// isWatched reports whether this process looks at the lock in the backend.
func (s *State) isWatched() bool { return s.Viewed() && s.observation.view.watched }

// Viewed reports whether this process ever looked at the lock in the backend.
func (s *State) Viewed() bool { return s.observation != nil && s.observation.view != nil }

// AddSight adds what the backend says of a lock that was ever looked at.
func (s *State) AddSight(to *Sight, m Moment) {
	v := s.observation.view
	v.settle(m.Now)
	to.Terms += v.terms
	to.Vacant += v.vacant
	to.Handover.add(&v.handover)
	if !v.watched {
		return
	}
	to.Watched++
	to.Every = max(to.Every, v.last.Every)
	if v.last.Now != 0 {
		to.Told = max(to.Told, m.Unix(v.last.Now))
	}
	if !v.blind {
		v.addKnown(to, m)
	}
}

func (v *view) addKnown(to *Sight, m Moment) {
	to.Known++
	if v.last.Standing == Held {
		to.Held++
		to.Holder = v.last.Label
	}
	to.Token, to.Counted = v.last.Token, v.last.Counted
	if v.last.End != 0 {
		if end := m.Unix(v.last.End); to.End == 0 || end < to.End {
			to.End = end
		}
	}
	to.Length = max(to.Length, v.last.Length)
}

// DrainSight leaves none of what was counted of the backend's view.
func (s *State) DrainSight() {
	v := s.observation.view
	v.terms, v.vacant, v.handover = 0, 0, Distribution{}
}

// Add adds the counts of locks that are no longer polled.
func (t *Sight) Add(o *Sight) {
	t.Terms += o.Terms
	t.Vacant += o.Vacant
	t.Handover.add(&o.Handover)
}
