package lock

import "github.com/leaderscope/leaderscope/instrument/catalog"

// EndedTerm is a term that has ended: at its release, its loss or the end of
// its lease, whichever came first.
type EndedTerm struct {
	Began, Ended Instant
	Cause        catalog.EndCause
}

// History keeps the terms that ended last. A nil History keeps none.
type History struct {
	most int
	kept []EndedTerm // a ring once it is full
	next int         // the oldest of a full ring
}

// Keep has the lock keep that many of its last terms; fewer than before changes
// nothing. The memory is taken with the first term that ends.
func (s *State) Keep(most int) {
	if most <= 0 || s.history != nil && s.history.most >= most {
		return
	}
	s.history = s.history.grown(most)
}

func (h *History) grown(most int) *History {
	larger := &History{most: most}
	for _, e := range h.AppendTo(nil) {
		larger.add(e)
	}
	return larger
}

// AppendTo appends what is kept, the oldest first.
func (h *History) AppendTo(all []EndedTerm) []EndedTerm {
	if h == nil {
		return all
	}
	return append(append(all, h.kept[h.next:]...), h.kept[:h.next]...)
}

// add keeps a term instead of the oldest.
func (h *History) add(e EndedTerm) {
	switch {
	case h == nil:
	case len(h.kept) < h.most:
		if h.kept == nil {
			h.kept = make([]EndedTerm, 0, h.most)
		}
		h.kept = append(h.kept, e)
	default:
		h.kept[h.next] = e
		h.next = (h.next + 1) % h.most
	}
}

// drain leaves no term, and gives the memory back.
func (h *History) drain() {
	if h != nil {
		h.kept, h.next = nil, 0
	}
}

// AppendEnded appends the terms that the lock keeps, the oldest first.
func (s *State) AppendEnded(all []EndedTerm) []EndedTerm { return s.history.AppendTo(all) }

// OpenTerm is a term that holds the lock, or under which work still runs.
type OpenTerm struct {
	Began Instant
	// End is the end of the lease; 0 unknown.
	End    Instant
	Bodies int
	// Active says that the term holds an unexpired lease.
	Active bool
	// Overrun says that another replica may lead, and the holder has not
	// stopped: it keeps the term past its lease, or works under it.
	Overrun bool
}

// AppendOpen appends the terms that are open or under which work still runs.
// Settle comes first.
func (s *State) AppendOpen(all []OpenTerm, now Instant) []OpenTerm {
	for t := s.terms; t != nil; t = t.next {
		open, bodies := !t.ended && t.Stopped() == 0, t.Bodies()
		if !open && bodies == 0 {
			continue
		}
		from := s.unprotected(t, now)
		all = append(all, OpenTerm{
			Began: t.began, End: s.End(t), Bodies: bodies, Active: s.Active(t, now),
			Overrun: from != 0 && now > from && (bodies > 0 || t.overran),
		})
	}
	return all
}
