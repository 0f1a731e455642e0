package registry

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/redact"
)

// Registry finds and makes the locks of a process. It is safe for concurrent
// use. Its mutex comes before that of a label, and a label's before that of a
// lock.
type Registry struct {
	hooks        Hooks
	max          int
	digests      digester
	names        *names
	hasRoomAgain atomic.Bool // a label would fit although names were folded
	closed       atomic.Bool
	keep         atomic.Int32 // terms that each lock keeps

	mu         sync.Mutex
	labels     map[string]*Label
	renamed    map[string]*Label // labels of the policy that turned out to stand for two names
	attached   []*attachment
	families   words
	backends   words
	latest     *Declared
	reached    map[string]bool // backends of which the program said whether they can be asked
	overflows  uint64
	collisions uint64
	closing    []Observer // to be closed without mu
}

// Hooks are what the registry asks of its middleware.
type Hooks struct {
	// Moment reads the clocks.
	Moment func() lock.Moment
	// Overflowed is notified of the first name beyond the cap and its family.
	Overflowed func(family string)
	// Collided is notified of a label that stands for two names, as it is shown.
	Collided func(shown string)
	// Fault counts a panic of foreign code that was contained.
	Fault func()
	// Overran is notified of a lock whose collection found overruns, with its mutex
	// held.
	Overran func(l *Lock)
}

// New makes a Registry of at most so many labels.
func New(maxLabels int, hooks Hooks) *Registry {
	r := &Registry{hooks: hooks, max: maxLabels, digests: newDigester(), labels: map[string]*Label{}, renamed: map[string]*Label{}, names: &names{}}
	r.names.kept.Store(newTable(0))
	return r
}

func (r *Registry) moment() lock.Moment { return r.hooks.Moment() }

// Find returns the lock of a name; nil when it is to be entered, by its digest.
// A name that was folded into the overflow is entered again when there is
// room.
func (r *Registry) Find(name string) (l *Lock, d Digest) {
	first := r.digests.firstOf(name)
	if l := r.names.kept.Load().find(first); l != nil {
		return l, Digest{}
	}
	return r.findLent(r.digests.of(name, first))
}

func (r *Registry) findLent(d Digest) (*Lock, Digest) {
	l := r.names.borrowed(d)
	if l != nil && r.hasRoomAgain.Load() && l.LabelText() == redact.Overflow {
		return nil, d
	}
	return l, d
}

// Enter enters a lock under its label and returns it, or the lock that the
// name has already. A closed registry returns the lock retired.
func (r *Registry) Enter(d Digest, label redact.Label, created time.Time, l *Lock) (entered *Lock, first bool) {
	r.mu.Lock()
	entered, first = r.enter(d, label, created, l)
	closing := r.closing
	r.closing = nil
	r.mu.Unlock()
	r.closeAll(closing)
	return entered, first
}

func (r *Registry) enter(d Digest, label redact.Label, created time.Time, l *Lock) (entered *Lock, first bool) {
	if known := r.names.find(d); known != nil && !r.outgrows(known, label, created) {
		return known, false
	}
	l.name = d
	b := r.place(label, d, created)
	l.label.Store(b)
	if r.closed.Load() {
		l.mu.Lock()
		l.Retire(r.moment().Now)
		l.mu.Unlock()
		return l, true
	}
	b.mu.Lock()
	b.members++
	b.mu.Unlock()
	b.join(l)
	r.remember(l, b)
	return l, true
}

// remember enters the name of a lock; the caller holds mu.
func (r *Registry) remember(l *Lock, b *Label) {
	if b.shared {
		r.names.lend(l)
	} else {
		r.names.keep(l)
	}
}

// outgrows moves a lock out of the overflow when there is room for its label
// and nothing of it is open. What it counted stays in the overflow. The caller
// holds mu.
func (r *Registry) outgrows(l *Lock, label redact.Label, created time.Time) bool {
	from := l.label.Load()
	if from.shown != redact.Overflow || r.closed.Load() || r.labels[label.Text] == nil && !r.hasRoom() {
		return false
	}
	from.mu.Lock()
	l.mu.Lock()
	idle := l.Idle(r.moment().Now)
	if idle && l.joined {
		from.fold(l)
		from.leave(l)
	}
	if idle {
		from.members--
	}
	l.mu.Unlock()
	from.mu.Unlock()
	if !idle {
		return false
	}
	to := r.place(label, l.name, created)
	l.label.Store(to)
	to.mu.Lock()
	to.members++
	to.mu.Unlock()
	to.join(l)
	r.remember(l, to)
	return false // the lock that is known is the one to use
}

// place finds or makes the label; beyond the cap it is the shared overflow.
// The caller holds mu.
func (r *Registry) place(label redact.Label, name Digest, created time.Time) *Label {
	b := r.renamed[label.Text]
	if b == nil {
		b = r.labels[label.Text]
	}
	if b == nil && !r.hasRoom() && label.Text != redact.Overflow {
		r.overflows++
		if r.overflows == 1 {
			r.hooks.Overflowed(label.Family)
		}
		label = redact.Label{Text: redact.Overflow, Shared: true}
		b = r.labels[label.Text]
	}
	if b == nil {
		b = &Label{r: r, shown: label.Text, shared: label.Shared, created: created.UnixNano(), sweepAt: minSweep}
		if !r.closed.Load() {
			r.labels[label.Text] = b
			b.observers = r.observers(b.shown)
		}
	}
	if !b.shared && b.locks != nil && (label.Shared || b.locks.name != name) {
		b = r.collide(label.Text, b)
	}
	r.hasRoomAgain.Store(r.labels[redact.Overflow] != nil && r.hasRoom())
	return b
}

// hasRoom reports whether another label fits; the overflow label does not
// count. The caller holds mu.
func (r *Registry) hasRoom() bool {
	n := len(r.labels)
	if r.labels[redact.Overflow] != nil {
		n--
	}
	return n < r.max
}

// collide gives a label that turned out to stand for two names the form of
// shared labels, so that two leaders under it are not taken for a split brain.
// Which name came first does not matter: every replica that has both shows the
// same. The caller holds mu.
func (r *Registry) collide(text string, from *Label) *Label {
	shown := Wildcarded(from.shown)
	to := r.labels[shown]
	if to == nil {
		to = &Label{r: r, shown: shown, shared: true, created: from.created, sweepAt: minSweep, observers: r.observers(shown)}
		r.labels[shown] = to
	}
	delete(r.labels, from.shown)
	r.renamed[text] = to
	from.mu.Lock()
	to.mu.Lock()
	from.gone.Store(to)
	for l := from.locks; l != nil; l = from.locks {
		l.mu.Lock()
		from.leave(l)
		l.label.Store(to)
		to.enter(l)
		l.mu.Unlock()
	}
	to.members += from.members
	r.closing = append(r.closing, from.observers...)
	from.observers = nil
	to.mu.Unlock()
	from.mu.Unlock()
	r.collisions++
	r.hooks.Collided(shown)
	return to
}

// Forget retires a lock: its share is taken away, and its label goes with the
// last lock. Forgetting again does nothing.
func (r *Registry) Forget(l *Lock) {
	r.mu.Lock()
	var closing []Observer
	b := l.label.Load().lockCurrent()
	l.mu.Lock()
	if !l.Retired() {
		l.Retire(r.moment().Now)
		if b.shared {
			b.fold(l)
		}
		if l.joined {
			b.leave(l)
		}
		b.members--
		if b.members == 0 {
			closing = r.drop(b)
		}
		r.names.forget(l)
	}
	box, observers := outboxOf(l)
	l.mu.Unlock()
	b.mu.Unlock()
	r.hasRoomAgain.Store(r.labels[redact.Overflow] != nil && r.hasRoom())
	r.mu.Unlock()
	r.Deliver(context.Background(), l, box, observers)
	r.closeAll(closing)
}

func outboxOf(l *Lock) (lock.Outbox, []Observer) {
	if l.Outbox == nil {
		return lock.Outbox{}, nil
	}
	return l.Outbox.Take(), l.observers
}

// drop removes a label. The caller holds both mutexes.
func (r *Registry) drop(b *Label) []Observer {
	delete(r.labels, b.shown)
	for text, to := range r.renamed {
		if to == b {
			delete(r.renamed, text)
		}
	}
	b.folded = nil
	closing := b.observers
	b.observers = nil
	return closing
}

// Close ends the registry: its locks are forgotten, and what is entered from
// now on is retired. Closing again does nothing.
func (r *Registry) Close(forget func(*Lock)) {
	r.mu.Lock()
	r.closed.Store(true)
	var locks []*Lock
	var labels []*Label
	for _, b := range r.labels {
		labels = append(labels, b)
		b.mu.Lock()
		for l := b.locks; l != nil; l = l.next {
			locks = append(locks, l)
		}
		b.mu.Unlock()
	}
	r.mu.Unlock()
	for _, l := range locks {
		forget(l)
	}
	for _, b := range labels { // those that had locks with nothing open
		b.mu.Lock()
		closing := b.observers
		b.observers = nil
		b.mu.Unlock()
		r.closeAll(closing)
	}
}

// Closed reports whether the registry is closed.
func (r *Registry) Closed() bool { return r.closed.Load() }

// Declare bounds the open labels of what is declared and returns one that says
// the same, if it was the last one: handles are mostly made in rows.
func (r *Registry) Declare(d *Declared) *Declared {
	r.mu.Lock()
	defer r.mu.Unlock()
	d.Family, d.Backend = r.families.bound(d.Family, r.max), r.backends.bound(d.Backend, r.max)
	if r.latest == nil || *r.latest != *d {
		r.latest = d
	}
	return r.latest
}

// Reach notes whether a backend as a whole can be asked.
func (r *Registry) Reach(backend string, up bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reached == nil {
		r.reached = map[string]bool{}
	}
	r.reached[r.backends.bound(backend, r.max)] = up
}

// Reached returns the backends of which it was said whether they can be asked.
func (r *Registry) Reached() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.reached)
}

// Counts are the numbers that belong to no lock.
type Counts struct{ Overflows, Collisions uint64 }

// Counts returns the numbers that belong to no lock.
func (r *Registry) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Counts{r.overflows, r.collisions}
}
