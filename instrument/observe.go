package instrument

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Observation is what somebody saw of an elector that cannot be wrapped, such
// as a Raft library or a row that a job queue writes.
type Observation struct {
	// Leading says that this process leads. It is a level, not an edge:
	// reporting it again changes nothing.
	Leading bool
	// Token is the fencing token of the term if Fenced.
	Token  uint64
	Fenced bool
	// Expiry is the end of the lease; zero means unknown. A later Expiry than
	// before counts as a renewal.
	Expiry time.Time
	// Err says that nothing could be seen. The last state stays, since
	// unknown is not zero; while leading it counts as a failed renewal.
	Err error
	// Cause says why leading ended; nil means that the lock is gone,
	// context.Canceled that the elector stopped, ErrReleased that it gave
	// the lock back.
	Cause error
}

// Observe records what was seen. A change to leading counts as one attempt
// that won, also when the token shows that another term began meanwhile.
func (e *Election) Observe(o Observation) {
	seen := e.observation()
	seen.turn.Lock()
	defer seen.turn.Unlock()
	t := e.observe(seen, o.Err == nil)
	switch {
	case o.Err != nil:
		if t != nil {
			sink{t}.RenewalFailed(o.Err)
		}
	case !o.Leading:
		e.observedEnd(t, o.Cause)
	case t == nil:
		e.observedWin(seen, o)
	case o.Fenced && t.differs(o.Token):
		e.observedEnd(t, nil)
		e.observedWin(seen, o)
	default:
		t.observedRenewal(o.Expiry)
	}
}

// ObservedAge is the time since the last Observe that saw something; ok is
// false when there was none. A level that is old may not be true any more.
func (e *Election) ObservedAge() (age time.Duration, ok bool) {
	now := e.m.now()
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.observed == nil || e.observed.last == 0 {
		return 0, false
	}
	return now.sub(e.observed.last), true
}

// observed is what only handles have that are observed.
type observed struct {
	turn sync.Mutex // one observation at a time

	// guarded by the series
	last instant // at which something was seen; 0 never
	term *Term   // open; nil while another leads
}

func (e *Election) observation() *observed {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if e.observed == nil {
		e.observed = &observed{}
	}
	return e.observed
}

// observe notes when something was seen and returns the open term.
func (e *Election) observe(seen *observed, something bool) *Term {
	now := e.m.now()
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if something {
		seen.last = now
	}
	return seen.term
}

func (e *Election) observedWin(seen *observed, o Observation) {
	t := e.Begin(context.Background()).Won(observedLease{o})
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	if !t.ended {
		seen.term = t
	}
}

// observedLease knows what was seen, and no lease end beyond it.
type observedLease struct{ seen Observation }

func (l observedLease) Release(context.Context) error { return nil }
func (l observedLease) Expiry() time.Time             { return l.seen.Expiry }
func (l observedLease) FencingToken() (uint64, bool)  { return l.seen.Token, l.seen.Fenced }

func (e *Election) observedEnd(t *Term, cause error) {
	switch {
	case t == nil:
	case errors.Is(cause, ErrReleased):
		_ = t.Release(context.Background()) // an observed lease has no release of its own
	default:
		t.lost(cause)
	}
}

func (t *Term) differs(token uint64) bool {
	known, ok := t.FencingToken()
	return ok && known != token
}

// observedRenewal counts a lease end that moved on.
func (t *Term) observedRenewal(expiry time.Time) {
	end := t.e.m.instantOf(expiry)
	t.e.s.mu.Lock()
	grew := end != 0 && end > t.leaseEnd
	t.e.s.mu.Unlock()
	if grew {
		t.renewed(t.ctx, catalog.RenewalOK, t.e.m.now(), end, false)
	}
}
