package instrument

import (
	"context"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
)

// The observe calls are for electors that cannot be wrapped, such as a Raft
// library or a row that a job queue writes. What they report is a level, not
// an edge: reporting the same again changes nothing.

// Leadership describes a lock that this process holds. The zero Leadership
// reports only that it does.
type Leadership struct {
	// Token is the fencing token of the term if Fenced. A changed token is a new
	// term, which also ends the previous one; a lower token whose lease has ended
	// is an outdated reading, and changes nothing.
	Token  uint64
	Fenced bool
	// Expiry is the end of the lease; zero means unknown. An earlier end than
	// before is accepted; a later one counts as a renewal.
	Expiry time.Time
	// Asked is the instant just before the reading; zero means unknown, and so does
	// a time in the future. An Expiry that is computed from it is early by up to
	// the duration of the reading; a change within that time is not a renewal.
	// Without Asked the tolerance is a tenth of the lease, or a second if the
	// length is unknown.
	Asked time.Time
	// Granted is the length of the lease if the backend reports it; zero means
	// unknown. It has precedence over LeaseDuration.
	Granted time.Duration
}

// ObserveLeading records that this process leads. A change counts as one
// attempt that won.
func (e *Election) ObserveLeading(l Leadership) {
	e = e.orNone()
	seen := e.observation()
	seen.turn.Lock()
	defer seen.turn.Unlock()
	t := e.looked()
	o := e.m.seen(l)
	pastEnd := o.End != 0 && o.End <= o.Now // what was seen may be old
	if t != nil && l.Fenced && t.differs(l.Token) {
		if pastEnd && t.follows(l.Token) {
			return
		}
		t.lost(ErrSessionLost)
		t = nil
	}
	if t == nil {
		if !pastEnd {
			e.observedWin(l)
		}
		return
	}
	e.lock.Lock()
	if l.Fenced {
		t.learnToken(l.Token)
	}
	e.lock.Steady(o)
	e.unlock(t.ctx)
}

// ObserveNotLeading records that this process does not lead, and why an open
// term ended: nil means that the lock is lost, context.Canceled that the
// elector was stopped, ErrGaveUp that it stopped trying, ErrReleased that it
// released the lock. Without an open term it changes nothing.
func (e *Election) ObserveNotLeading(cause error) {
	e = e.orNone()
	seen := e.observation()
	seen.turn.Lock()
	defer seen.turn.Unlock()
	t := e.looked()
	switch {
	case t == nil:
	case cause == nil:
		t.lost(ErrSessionLost)
	case e.is(cause, ErrReleased):
		_ = t.Release(context.Background()) // an observed lease has no release of its own
	default:
		t.lost(cause)
	}
}

// ObserveUnknown records that a reading failed. The last state remains, since
// unknown is not zero. While leading it counts as a failed renewal, and otherwise
// as an attempt that failed for that reason. A nil error changes nothing.
func (e *Election) ObserveUnknown(err error) {
	if err == nil {
		return
	}
	e = e.orNone()
	seen := e.observation()
	seen.turn.Lock()
	defer seen.turn.Unlock()
	now := e.m.now()
	e.lock.Lock()
	e.lock.Settle(now)
	open := e.lock.Observed()
	e.lock.Unlock()
	if open != nil {
		Sink{open.Owner().(owner).Term}.RenewalFailed(err)
		return
	}
	reason := e.reasonFor(context.Background(), nil, err)
	e.lock.Lock()
	e.lock.Refused(reason)
	e.unlock(context.Background())
}

// observation is what only elections have that are observed: one observation
// at a time.
type observation struct{ turn sync.Mutex }

func (e *Election) observation() *observation {
	if o := e.observed.Load(); o != nil {
		return o
	}
	e.observed.CompareAndSwap(nil, &observation{})
	return e.observed.Load()
}

// looked settles what has ended by now and returns the term that is open.
func (e *Election) looked() *Term {
	now := e.m.now()
	e.lock.Lock()
	defer e.lock.Unlock()
	e.lock.Settle(now)
	if t := e.lock.Observed(); t != nil {
		return t.Owner().(owner).Term
	}
	return nil
}

func (m *Middleware) seen(l Leadership) lock.Seen {
	end, endless := m.endOf(l.Expiry)
	return lock.Seen{Asked: m.pastOf(l.Asked), Now: m.now(), End: end, Endless: endless, Length: max(l.Granted, 0)}
}

func (e *Election) observedWin(l Leadership) {
	e.Begin(context.Background()).Won(observedLease{l})
	o := e.m.seen(l)
	e.lock.Lock()
	e.lock.FirstSight(o)
	e.lock.Unlock()
}

// observedLease knows what was seen, and no lease end beyond it.
type observedLease struct{ seen Leadership }

func (l observedLease) Release(context.Context) error { return nil }
func (l observedLease) Expiry() time.Time             { return l.seen.Expiry }
func (l observedLease) LeaseDuration() time.Duration  { return l.seen.Granted }
func (l observedLease) FencingToken() (uint64, bool)  { return l.seen.Token, l.seen.Fenced }

// learnToken notes a token that was not seen with the win. The caller holds the
// mutex.
func (t *Term) learnToken(token uint64) {
	if x := t.extra(); !x.fenced {
		x.token, x.fenced = token, true
		t.e.lock.Fence(&t.state, token)
	}
}

func (t *Term) differs(token uint64) bool {
	known, ok := t.FencingToken()
	return ok && known != token
}

// follows reports whether the term's token is higher than that one.
func (t *Term) follows(token uint64) bool {
	known, ok := t.FencingToken()
	return ok && known > token
}

// endedByRelease reports causes of terms that their holder closed.
func endedByRelease(cause catalog.EndCause) bool {
	return cause == catalog.Released || cause == catalog.ReleaseFailed
}
