package registry

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/redact"
)

// Label is one value of lock_name and the locks that it stands for.
type Label struct {
	r       *Registry
	shown   string
	created int64 // Unix time in nanoseconds
	shared  bool

	mu        sync.Mutex
	sweepAt   int32 // sweep when so many have joined
	count     int32 // joined
	members   int32 // made and not forgotten
	locks     *Lock // joined, linked by next
	observers []Observer
	folded    *folded               // nil until a lock was folded
	gone      atomic.Pointer[Label] // where the locks are now, after a collision
	said      atomic.Uint32         // notices that were given, a bit each
}

// folded is what locks leave that are no longer joined.
type folded struct {
	facts lock.Facts
	base  Summary
	views []View
	ended []lock.EndedTerm // the oldest first
}

// View is what one backend says of the locks of a label.
type View struct {
	Backend string
	lock.Sight
}

// viewOf finds or makes the view of a backend. There are few in a label.
func viewOf(views *[]View, backend string) *lock.Sight {
	for i := range *views {
		if v := &(*views)[i]; v.Backend == backend {
			return &v.Sight
		}
	}
	*views = append(*views, View{Backend: backend})
	return &(*views)[len(*views)-1].Sight
}

// minSweep is how many locks join a shared label before it looks for those
// with nothing open.
const minSweep = 64

func (b *Label) text() string { return b.shown }

// join puts a lock among those of the label. It is called without the mutex of
// the lock.
func (b *Label) join(l *Lock) {
	b = b.lockCurrent()
	defer b.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.label.Load(); l.joined || l.Retired() || at != b && at.gone.Load() == nil {
		return // another goroutine was first, or the lock moved: its caller looks again
	}
	l.label.Store(b)
	if b.r.closed.Load() {
		l.Retire(b.r.moment().Now)
		return
	}
	b.enter(l)
	l.Resume()
	if b.shared && b.count >= b.sweepAt {
		b.sweep(l)
	}
}

// lockCurrent takes the mutex of the label or of the one that it became.
func (b *Label) lockCurrent() *Label {
	for {
		b.mu.Lock()
		next := b.gone.Load()
		if next == nil {
			return b
		}
		b.mu.Unlock()
		b = next
	}
}

// enter links a lock. The caller holds both mutexes.
func (b *Label) enter(l *Lock) {
	l.joined, l.prev, l.next = true, nil, b.locks
	if l.next != nil {
		l.next.prev = l
	}
	b.locks = l
	b.count++
	l.watch(b.observers)
	l.Keep(int(b.r.keep.Load()))
}

// leave unlinks a lock. The caller holds both mutexes.
func (b *Label) leave(l *Lock) {
	if l.prev != nil {
		l.prev.next = l.next
	} else {
		b.locks = l.next
	}
	if l.next != nil {
		l.next.prev = l.prev
	}
	l.joined, l.prev, l.next = false, nil, nil
	b.count--
}

// sweep folds the locks of which nothing is open, all but one, so that names
// under a shared label cost memory only while they work. The caller holds the
// label's mutex and that of the lock that is spared.
func (b *Label) sweep(spared *Lock) {
	now := b.r.moment().Now
	for l := b.locks; l != nil; {
		next := l.next
		if l != spared {
			l.mu.Lock()
			if l.Idle(now) {
				b.fold(l)
				b.leave(l)
			}
			l.mu.Unlock()
		}
		l = next
	}
	b.sweepAt = max(minSweep, 2*b.count)
}

// fold adds what a lock has counted to what the label keeps. The caller holds
// both mutexes.
func (b *Label) fold(l *Lock) {
	if b.folded == nil {
		b.folded = &folded{}
	}
	var kept lock.Facts
	if !l.declared.WatchOnly {
		l.AddTo(&kept, b.r.moment())
		b.folded.base.add(l.declared, l.HidesRenewals())
	}
	l.AddGuarding(&kept.Guarding)
	if l.Unlogged != 0 {
		b.r.hooks.Overran(l)
	}
	b.folded.keepEnded(l, int(b.r.keep.Load()))
	l.Drain()
	f := &b.folded.facts
	f.Totals.Add(&kept.Totals)
	f.LastWon, f.LastEnded = max(f.LastWon, kept.LastWon), max(f.LastEnded, kept.LastEnded)
	f.LeaseSeen, f.Lease = f.LeaseSeen || kept.LeaseSeen, max(f.Lease, kept.Lease)
	f.Guarding.Add(&kept.Guarding)
	if l.Viewed() {
		var lastSeen lock.Sight
		l.AddSight(&lastSeen, b.r.moment())
		l.DrainSight()
		viewOf(&b.folded.views, l.declared.Backend).Add(&lastSeen)
	}
}

// Summary is what the locks of a label declare; of several the longest
// interval and the most leaders count, which judges the label least harshly.
type Summary struct {
	Every        time.Duration
	MaxLeaders   int
	RenewalsSeen bool
	// Campaigns says that this process campaigns for one of the locks.
	Campaigns bool
	Uses      []Use
}

// add takes what a lock declares for which this process campaigns.
func (s *Summary) add(d *Declared, hidesRenewals bool) {
	s.merge(&Summary{Every: d.Every, MaxLeaders: d.MaxLeaders, RenewalsSeen: !hidesRenewals, Campaigns: true})
	s.use(d.Use)
}

func (s *Summary) use(u Use) {
	if !slices.Contains(s.Uses, u) {
		s.Uses = append(s.Uses, u)
	}
}

func (s *Summary) merge(o *Summary) {
	s.Every = max(s.Every, o.Every)
	s.MaxLeaders = max(s.MaxLeaders, o.MaxLeaders)
	s.RenewalsSeen = s.RenewalsSeen || o.RenewalsSeen
	s.Campaigns = s.Campaigns || o.Campaigns
	for _, u := range o.Uses {
		s.use(u)
	}
}

// Reading is what is known of all locks of a label at one instant.
type Reading struct {
	Label   string
	Shared  bool
	Created time.Time
	lock.Facts
	Summary
	// WatchOnly says that this process campaigns for none of the locks, so that
	// nothing but the views and the store's side is worth telling.
	WatchOnly bool
	// Views are what the backends say, one for each of the declared ones of
	// which a lock was ever looked at.
	Views []View
	// Identities are those with which this process campaigns, as labels; none
	// of a shared label.
	Identities []string
}

// read sums up the locks of the label, and their terms unless terms is nil. It
// reports false when there are none and never were.
func (b *Label) read(into *Reading, terms *Terms) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.locks == nil && b.folded == nil {
		return false
	}
	uses := into.Uses[:0]
	*into = Reading{
		Label: b.shown, Shared: b.shared, Created: time.Unix(0, b.created), Summary: Summary{Uses: uses},
		Views: into.Views[:0], Identities: into.Identities[:0],
	}
	if terms != nil {
		terms.begin(b)
		defer terms.finish(int(b.r.keep.Load()))
	}
	if b.folded != nil {
		into.Totals.Add(&b.folded.facts.Totals)
		into.LastWon, into.LastEnded = b.folded.facts.LastWon, b.folded.facts.LastEnded
		into.LeaseSeen, into.Lease = b.folded.facts.LeaseSeen, b.folded.facts.Lease
		into.Guarding.Add(&b.folded.facts.Guarding)
		into.Summary.merge(&b.folded.base)
		for i := range b.folded.views {
			viewOf(&into.Views, b.folded.views[i].Backend).Add(&b.folded.views[i].Sight)
		}
	}
	for l := b.locks; l != nil; l = l.next {
		l.mu.Lock()
		m := b.r.moment()
		l.Settle(m.Now)
		if l.Unlogged != 0 {
			b.r.hooks.Overran(l)
		}
		if !l.declared.WatchOnly { // what it declares is of the lock that others campaign for
			l.AddTo(&into.Facts, m)
			into.Summary.add(l.declared, l.HidesRenewals())
		}
		if terms != nil {
			terms.add(l, m)
		}
		l.AddGuarding(&into.Guarding)
		if l.Viewed() {
			l.AddSight(viewOf(&into.Views, l.declared.Backend), m)
		}
		into.Identities = l.AppendIdentities(into.Identities)
		l.mu.Unlock()
	}
	into.WatchOnly = !into.Campaigns
	if b.shared {
		into.Fenced, into.Guarding.Seen = false, false // the tokens are those of several locks
		into.Identities = into.Identities[:0]
		for i := range into.Views {
			into.Views[i].Holder, into.Views[i].Counted = "", false
		}
	}
	return true
}

// Wildcarded is the form in which a label is shown that stands for two names.
func Wildcarded(text string) string {
	if len(text) == redact.MaxLabelSize {
		text = strings.ToValidUTF8(text[:len(text)-len(redact.Wildcard)], "")
	}
	return text + redact.Wildcard
}
