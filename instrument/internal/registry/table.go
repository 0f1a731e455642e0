package registry

import "sync/atomic"

// table maps digests to locks with a label of their own. Reading takes no lock
// and allocates nothing; a map of strings would keep the names. Writers hold
// the mutex of the Registry.
type table struct {
	slots []slot // a power of two, at least half of them empty
	used  int    // slots that are not empty
	live  int    // of those, the ones with a lock
}

// slot is a name and its lock. Once a name is in a slot it stays there; the
// lock is nil after it was removed.
//
// Half of the digest distinguishes names here: of a hundred thousand locks, any
// other name is taken for one of them with a probability of 1e-14.
type slot struct {
	first atomic.Uint64 // of the digest; 0 in an empty slot
	lock  atomic.Pointer[Lock]
}

func newTable(live int) *table {
	n := 16
	for n < 3*live {
		n *= 2
	}
	return &table{slots: make([]slot, n)}
}

// find returns the lock of a name; nil if the name is not there.
func (t *table) find(name uint64) *Lock {
	slots := t.slots
	for i := name >> 1; ; i++ {
		s := &slots[i&uint64(len(slots)-1)]
		switch s.first.Load() {
		case name:
			if l := s.lock.Load(); l != nil {
				return l
			}
		case 0:
			return nil
		}
	}
}

// put enters a lock in the first slot that is empty.
func (t *table) put(l *Lock) {
	for i := l.name.first >> 1; ; i++ {
		s := &t.slots[i&uint64(len(t.slots)-1)]
		if s.first.Load() == 0 {
			t.used++
			t.live++
			s.lock.Store(l)
			s.first.Store(l.name.first) // last: from here on it is found
			return
		}
	}
}

func (t *table) remove(l *Lock) {
	for i := l.name.first >> 1; ; i++ {
		s := &t.slots[i&uint64(len(t.slots)-1)]
		if s.first.Load() == 0 {
			return
		}
		if s.lock.Load() == l {
			s.lock.Store(nil)
			t.live--
			return
		}
	}
}

// rebuilt is the table without what was removed, with room for more.
func (t *table) rebuilt() *table {
	to := newTable(t.live)
	for i := range t.slots {
		if l := t.slots[i].lock.Load(); l != nil {
			to.put(l)
		}
	}
	return to
}
