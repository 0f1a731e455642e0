package instrument

import "sync/atomic"

// table maps digests to handles. Reading takes no lock and allocates nothing;
// a map of strings would keep the names. Writers hold the mutex of Elections.
type table struct {
	slots []slot // a power of two, at least half of them empty
	used  int    // slots that are not empty
	live  int    // of those, the ones with a handle
}

// slot is a name and its handle. Once a name is in a slot it stays there; the
// handle is nil after it was removed.
type slot struct {
	first, second atomic.Uint64 // of the digest; 0 in an empty slot
	e             atomic.Pointer[Election]
}

func newTable(live int) *table {
	n := 16
	for n < 4*live {
		n *= 2
	}
	return &table{slots: make([]slot, n)}
}

// slot is the place of a name, an empty one if the name is not there.
func (t *table) slot(name digest) *slot {
	for i := name.second; ; i++ {
		s := &t.slots[i&uint64(len(t.slots)-1)]
		if first := s.first.Load(); first == 0 || first == name.first && s.second.Load() == name.second {
			return s
		}
	}
}

// find returns the handle of a name; nil if the name is not there.
func (t *table) find(name digest) *Election {
	if s := t.slot(name); s.first.Load() != 0 {
		return s.e.Load()
	}
	return nil
}

func (t *table) put(name digest, e *Election) {
	s := t.slot(name)
	if s.first.Load() == 0 {
		t.used++
	}
	t.live++
	s.second.Store(name.second)
	s.e.Store(e)
	s.first.Store(name.first) // last: from here on it is found
}

func (t *table) remove(name digest) {
	if s := t.slot(name); s.e.Swap(nil) != nil {
		t.live--
	}
}

// removeAll removes the names of a handle and says how many they were.
func (t *table) removeAll(e *Election) (removed int) {
	for i := range t.slots {
		if t.slots[i].e.CompareAndSwap(e, nil) {
			removed++
		}
	}
	t.live -= removed
	return removed
}

// rebuilt is the table without what was removed, with room for more.
func (t *table) rebuilt() *table {
	to := newTable(t.live + 1)
	for i := range t.slots {
		if s := &t.slots[i]; s.e.Load() != nil {
			to.put(digest{s.first.Load(), s.second.Load()}, s.e.Load())
		}
	}
	return to
}
