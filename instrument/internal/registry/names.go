package registry

import (
	"runtime"
	"sync"
	"sync/atomic"
	"weak"
)

// names finds locks by the digests of their names. Locks with a label of their
// own are kept, and found without a lock. Those that share a label are lent:
// they live as long as their user or their work does, so that names without
// end cost no memory without end.
type names struct {
	kept atomic.Pointer[table]

	mu   sync.RWMutex
	lent map[Digest]weak.Pointer[Lock]
}

// find returns the lock of a name; nil if the name is not there.
func (n *names) find(d Digest) *Lock {
	if l := n.kept.Load().find(d.first); l != nil {
		return l
	}
	return n.borrowed(d)
}

func (n *names) borrowed(d Digest) *Lock {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.lent[d].Value()
}

// keep enters a lock with a label of its own. Writers hold the mutex of the
// Registry.
func (n *names) keep(l *Lock) {
	n.forgetLent(l.name, l)
	t := n.kept.Load()
	if 2*(t.used+1) > len(t.slots) {
		t = t.rebuilt()
		n.kept.Store(t)
	}
	t.put(l)
}

// lend enters a lock that the names do not keep alive.
func (n *names) lend(l *Lock) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lent == nil {
		n.lent = map[Digest]weak.Pointer[Lock]{}
	}
	n.lent[l.name] = weak.Make(l)
	runtime.AddCleanup(l, collected, loan{weak.Make(n), l.name})
}

// loan is a name whose lock is not kept alive. It must not keep alive the
// names either, through which the lock may be reached.
type loan struct {
	from weak.Pointer[names]
	name Digest
}

// collected takes out the name of a lock that the garbage collector found.
func collected(x loan) {
	if n := x.from.Value(); n != nil {
		n.forgetLent(x.name, nil)
	}
}

// forgetLent takes out a lent name if its lock is that one or is gone.
func (n *names) forgetLent(d Digest, l *Lock) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if w, ok := n.lent[d]; ok {
		if now := w.Value(); now == nil || now == l {
			delete(n.lent, d)
		}
	}
}

// forget takes out the name of a lock.
func (n *names) forget(l *Lock) {
	n.kept.Load().remove(l)
	n.forgetLent(l.name, l)
}
