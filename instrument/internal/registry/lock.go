package registry

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
)

// Declared is what the program says of a lock: labels of its info series and
// parameters of its state. It does not change; locks that say the same share
// one.
type Declared struct {
	lock.Params
	Use
	// Every is the declared time between acquisitions; 0 unknown.
	Every time.Duration
	// WatchOnly: this process does not campaign.
	WatchOnly bool
}

// Use is how a lock is used, the labels of leader_elector_info.
type Use struct {
	Mode            catalog.Mode
	Backend, Family string
}

// Lock is one lock: its state under its mutex, and its place in the registry.
type Lock struct {
	// Owner is the handle that callers have; set before the lock is entered.
	Owner any

	label atomic.Pointer[Label]
	name  Digest
	said  atomic.Uint32 // notices that were given, a bit each

	mu sync.Mutex
	lock.State
	declared   *Declared
	observers  []Observer // of the label; shared, not changed
	joined     bool       // among the locks of its label
	next, prev *Lock      // of the label, guarded by the label's mutex
}

// Prepare gives a lock that is not entered yet what it declares.
func (l *Lock) Prepare(owner any, d *Declared) {
	l.Owner, l.declared, l.Params = owner, d, &d.Params
}

// Say reports whether a notice is due, and that it was given: once for a lock,
// once for a label that locks share.
func (l *Lock) Say(what uint32) bool {
	if b := l.label.Load(); b.shared {
		return b.said.Or(what)&what == 0
	}
	return l.said.Or(what)&what == 0
}

// Declared is what the program said of the lock.
func (l *Lock) Declared() *Declared { return l.declared }

// LabelText is the label as it is exported.
func (l *Lock) LabelText() string { return l.label.Load().text() }

// Lock takes the mutex of the lock for a change of its state. A lock that was
// folded into its label because nothing of it was open joins the label again.
func (l *Lock) Lock() {
	l.mu.Lock()
	if !l.joined {
		l.rejoin()
	}
}

func (l *Lock) rejoin() {
	for !l.joined && !l.Retired() {
		l.mu.Unlock()
		l.label.Load().join(l)
		l.mu.Lock()
	}
}

// Peek takes the mutex for a reading that changes nothing which is exported.
func (l *Lock) Peek() { l.mu.Lock() }

// Unlock gives the mutex back.
func (l *Lock) Unlock() { l.mu.Unlock() }

// UnlockAndTake gives the mutex back and returns what was observed under it,
// for the observers, which are foreign code.
func (l *Lock) UnlockAndTake() (lock.Outbox, []Observer) {
	if l.Outbox == nil || l.Outbox.Empty() {
		l.mu.Unlock()
		return lock.Outbox{}, nil
	}
	box, observers := l.Outbox.Take(), l.observers
	l.mu.Unlock()
	return box, observers
}

// watch gives the lock the observers of its label. The caller holds its mutex.
func (l *Lock) watch(observers []Observer) {
	l.observers = observers
	switch {
	case len(observers) == 0:
		l.Outbox = nil
	case l.Outbox == nil:
		l.Outbox = &lock.Outbox{}
	}
}
