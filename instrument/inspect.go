package instrument

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/instrument/internal/registry"
)

// MaxKeptTerms is the largest number of ended terms that KeepTerms keeps of a
// label.
const MaxKeptTerms = 64

// Snapshot is what this process knows of the locks of one label at one
// instant, for status pages and readiness checks: what metrics cannot say,
// since it belongs to single terms. Names of locks are not in it.
type Snapshot struct {
	// Label is the lock_name of the series.
	Label string
	// Shared says that the label stands for several locks, whose numbers are
	// added up.
	Shared bool
	// WatchOnly says that this process campaigns for none of the locks.
	WatchOnly bool
	// At is the instant of the snapshot, on the middleware's clock.
	At time.Time
	// Electors are the different ways in which the locks are used, as
	// leader_elector_info has them; none with WatchOnly.
	Electors []Elector
	// Active, Running and Pending are what leader_active, leader_running and
	// leader_pending say.
	Active, Running, Pending int
	// PendingAge is the age of the oldest attempt in flight; 0 without one.
	PendingAge time.Duration
	// LeaseDuration is the length of the lease; 0 unknown.
	LeaseDuration time.Duration
	// MaxLeaders is the number of leaders that the elector allows at once; 0
	// with WatchOnly.
	MaxLeaders int
	// Open are the terms that hold a lock, or under which work still runs: the
	// earliest lease end first, those without a known end last.
	Open []OpenTerm
	// Ended are the last terms that have ended, the latest first; none without
	// KeepTerms.
	Ended []EndedTerm
	// Views are what the backends say of the lock, one for each backend whose
	// answer can be believed now.
	Views []HolderView
}

// Elector is how a lock is used: the labels of leader_elector_info.
type Elector struct {
	Mode            catalog.Mode
	Backend, Family string
}

// OpenTerm is a term that holds the lock, or under which work still runs.
type OpenTerm struct {
	// Began is when the term was won.
	Began time.Time
	// Expiry is the end of its lease; zero means unknown.
	Expiry time.Time
	// Active says that the term holds an unexpired lease, as leader_active
	// counts it.
	Active bool
	// Overrun says that another replica may lead although the holder has not
	// stopped: it keeps the term past its lease end, or a body still runs.
	Overrun bool
	// Running is the number of bodies that run under the term.
	Running int
}

// EndedTerm is a term that has ended, as leader_terms_ended_total counts it.
type EndedTerm struct {
	Began time.Time
	// Ended is the release, the loss or the lease end, whichever came first. It
	// is before Began where a lease was over when it was won.
	Ended time.Time
	Cause catalog.EndCause
}

// HolderView is what a backend says of who holds the lock.
type HolderView struct {
	Backend string
	// Held is the number of locks under the label that have a live holder.
	Held int
	// Holder is the label of the live holder; empty when it is unknown, there
	// is none, or the label is shared.
	Holder string
}

// KeepTerms has the middleware keep the last n terms that ended of each label,
// those that exist and those to come, for Snapshot.Ended. More than
// MaxKeptTerms means MaxKeptTerms; of several calls the largest n counts, and
// less than 1 changes nothing. It takes 48 bytes of memory for each lock, and 24
// for each of the n terms from its first ended term on, until the lock is
// forgotten.
func (m *Middleware) KeepTerms(n int) {
	if m != nil && n > 0 {
		m.locks.KeepTerms(min(n, MaxKeptTerms))
	}
}

// Inspect visits every label in order with its Snapshot. It is computed like
// the series of Collect, whichever of them WithoutSeries leaves out, and asks
// no elector.
//
// The snapshot and its slices are used again after the visit. Inspect is safe
// for concurrent use; visit runs without any lock. A nil or closed Middleware
// has no labels.
func (m *Middleware) Inspect(visit func(*Snapshot)) {
	if m == nil {
		return
	}
	var s Snapshot
	m.locks.ReadTerms(func(r *registry.Reading, t *registry.Terms) {
		s.fill(r, t)
		visit(&s)
	})
}

func (s *Snapshot) fill(r *registry.Reading, t *registry.Terms) {
	*s = Snapshot{
		Label: r.Label, Shared: r.Shared, WatchOnly: r.WatchOnly, At: t.At.Wall,
		Active: r.Active, Running: r.Running, Pending: r.Pending, PendingAge: r.PendingAge,
		LeaseDuration: r.Lease, MaxLeaders: r.MaxLeaders,
		Electors: s.Electors[:0], Open: s.Open[:0], Ended: s.Ended[:0], Views: s.Views[:0],
	}
	for _, u := range r.Uses {
		s.Electors = append(s.Electors, Elector(u))
	}
	for _, o := range t.Open {
		s.Open = append(s.Open, OpenTerm{
			Began: dateOf(t.At, o.Began), Expiry: dateOf(t.At, o.End), Active: o.Active, Overrun: o.Overrun, Running: o.Bodies,
		})
	}
	for _, e := range t.Ended {
		s.Ended = append(s.Ended, EndedTerm{Began: dateOf(t.At, e.Began), Ended: dateOf(t.At, e.Ended), Cause: e.Cause})
	}
	for i := range r.Views {
		if v := &r.Views[i]; v.Known > 0 {
			s.Views = append(s.Views, HolderView{Backend: v.Backend, Held: v.Held, Holder: v.Holder})
		}
	}
}

// dateOf is an instant as a time; zero where it is unknown.
func dateOf(now lock.Moment, at lock.Instant) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return now.Wall.Add(at.Sub(now.Now))
}
