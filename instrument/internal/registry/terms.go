package registry

import (
	"cmp"
	"slices"

	"github.com/leaderscope/leaderscope/instrument/internal/lock"
)

// Terms are those of the locks of a label, at the instant of its reading.
type Terms struct {
	At lock.Moment
	// Open are the terms that are open or under which work still runs, the
	// earliest lease end first and those without a known end last.
	Open []lock.OpenTerm
	// Ended are the last terms that ended, the latest first: at most as many as
	// are kept, of all locks together.
	Ended []lock.EndedTerm
}

// KeepTerms has each lock, those that exist and those to come, keep that many
// of its last terms. The largest number that was asked for counts.
func (r *Registry) KeepTerms(most int) {
	for {
		before := r.keep.Load()
		if int32(most) <= before {
			return
		}
		if r.keep.CompareAndSwap(before, int32(most)) {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.labels {
		b.mu.Lock()
		for l := b.locks; l != nil; l = l.next {
			l.mu.Lock()
			l.Keep(most)
			l.mu.Unlock()
		}
		b.mu.Unlock()
	}
}

// ReadTerms is Read with the terms of each label.
func (r *Registry) ReadTerms(visit func(*Reading, *Terms)) bool {
	var terms Terms
	return r.visit(&terms, func(reading *Reading) { visit(reading, &terms) })
}

// begin forgets the terms of another label.
func (t *Terms) begin(b *Label) {
	*t = Terms{At: b.r.moment(), Open: t.Open[:0], Ended: t.Ended[:0]}
	if b.folded != nil {
		t.Ended = append(t.Ended, b.folded.ended...)
	}
}

// add takes the terms of a lock. The caller holds its mutex.
func (t *Terms) add(l *Lock, at lock.Moment) {
	t.At = at
	t.Open = l.AppendOpen(t.Open, at.Now)
	t.Ended = l.AppendEnded(t.Ended)
}

// finish sorts, and drops ended terms beyond the number that a lock may keep.
func (t *Terms) finish(most int) {
	slices.SortStableFunc(t.Open, func(a, b lock.OpenTerm) int {
		if a.End == 0 || b.End == 0 {
			return cmp.Or(cmp.Compare(b.End, a.End), cmp.Compare(a.Began, b.Began))
		}
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Began, b.Began))
	})
	t.Ended = latest(t.Ended, most)
}

// latest are the terms that ended last, the latest first.
func latest(ended []lock.EndedTerm, most int) []lock.EndedTerm {
	slices.Reverse(ended) // those of one lock are in the order of their ends
	slices.SortStableFunc(ended, func(a, b lock.EndedTerm) int { return cmp.Compare(b.Ended, a.Ended) })
	return ended[:min(len(ended), most)]
}

// keepEnded takes the terms of a lock that is folded. The caller holds both
// mutexes.
func (f *folded) keepEnded(l *Lock, most int) {
	if most == 0 {
		return
	}
	all := l.AppendEnded(slices.Clone(f.ended))
	f.ended = slices.Clone(latest(all, most))
	slices.Reverse(f.ended)
}
