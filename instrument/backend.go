package instrument

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/redact"
)

// BackendState is the state of a lock in the backend, held by any process.
type BackendState uint8

// The states.
const (
	// BackendUnknown: the backend did not answer. The series about the holder are
	// absent until the next successful read, and the time until then does not
	// count as vacant.
	BackendUnknown BackendState = iota
	// BackendHeld: the backend names a holder, which is live until Expiry.
	BackendHeld
	// BackendVacant: the backend names no holder.
	BackendVacant
	// BackendUnwatched: this process no longer watches the backend. Its counters
	// remain.
	BackendUnwatched
)

var standings = [...]lock.Standing{BackendUnknown: lock.Unseen, BackendHeld: lock.Held, BackendVacant: lock.Vacant, BackendUnwatched: lock.Unwatched}

// BackendView is one reading of the backend's record of a lock, by a standby that
// receives it anyway or by an observer that requests it. The zero BackendView
// reports that the backend could not be read.
type BackendView struct {
	State BackendState
	// Holder is the identity that the backend names, or any value that differs
	// between holders; the redactor makes its label like that of a lock name made
	// at run time. It is empty if the backend does not name the holder; that does
	// not count as a change of the holder.
	Holder string
	// Token is the number by which the backend counts terms, if Counted. A changed
	// token is a new term, also of the same holder; a reading without Counted
	// belongs to the same term.
	Token   uint64
	Counted bool
	// Expiry is the end of the recorded lease on this process's clock; zero if it
	// is unknown or there is none. A later reading with the same end shows that the
	// lock has been vacant since then. A reading with another end in the past shows
	// a term that began and ended between two readings. Without such a reading an
	// end that has passed proves nothing, since a renewal may not have been read
	// yet.
	Expiry time.Time
	// Granted is the length of the recorded lease; zero if it is unknown.
	Granted time.Duration
	// ValidFor is how long this reading is valid without another one; zero: until
	// the next. After that the state is unknown, so that a reporter that stopped or
	// was suspended leaves no false state.
	ValidFor time.Duration
	// Every is the poll interval if the backend is polled; zero means that each
	// change arrives as an event. A change of the holder between two polls is no
	// evidence about the time between the two terms.
	Every time.Duration
}

// ObserveBackend records the backend's state of the lock, as a level: reporting
// the same state again changes only the time of the last event. The instant
// of the call is that of the event. It changes none of the series about this
// process's own attempts and terms. One reporter for each handle is enough; of
// several the last report counts.
//
// The series are labelled with the Backend that the handle was made with.
func (e *Election) ObserveBackend(v BackendView) {
	if e == nil || int(v.State) >= len(standings) {
		return
	}
	l := lock.Look{
		Standing: standings[v.State], Holder: maphash.String(e.m.holders, v.Holder), Token: v.Token, Counted: v.Counted,
		Length: max(v.Granted, 0), Valid: max(v.ValidFor, 0), Every: max(v.Every, 0),
	}
	l.End, _ = e.m.endOf(v.Expiry)
	if v.State == BackendHeld && v.Holder != "" {
		l.Label = e.holderLabel(l.Holder, v.Holder)
	}
	e.lock.Lock()
	l.Now = e.m.now()
	e.lock.Look(l)
	e.unlock(context.Background())
}

// holderLabel asks the redactor, which is foreign code and may compute a hash,
// only for a holder that was not seen last.
func (e *Election) holderLabel(key uint64, holder string) string {
	e.lock.Peek()
	label := e.lock.HolderLabel(key)
	e.lock.Unlock()
	if label == "" {
		label = e.m.label(holder).Text
	}
	return label
}

// Identify records the identity with which this process campaigns, as
// leader_identity_info, until the returned function is called at the end of the
// campaign. It is redacted like a holder of ObserveBackend, so that the two can
// be joined: a process that leads while the backend names another holder is an
// impostor. An empty identity records nothing, nor does a nil election. Calling
// ended again does nothing.
func (e *Election) Identify(identity string) (ended func()) {
	if e == nil || identity == "" {
		return func() {}
	}
	label := e.m.label(identity).Text
	e.lock.Lock()
	e.lock.Identify(label)
	e.lock.Unlock()
	var once sync.Once
	return func() {
		once.Do(func() {
			e.lock.Lock()
			defer e.lock.Unlock()
			e.lock.Unidentify(label)
		})
	}
}

// BackendReachable records that a backend answers, as leader_backend_up, for a
// reporter that knows this of the backend as a whole, before it has read any
// lock. The name is that of Backend. A watched lock without a valid reading keeps
// leader_backend_up at 0.
func (m *Middleware) BackendReachable(backend string) { m.reach(backend, true) }

// BackendUnreachable records that a backend does not answer. It does not
// invalidate the readings of its locks: report BackendUnknown for them as well.
func (m *Middleware) BackendUnreachable(backend string) { m.reach(backend, false) }

func (m *Middleware) reach(backend string, up bool) {
	if m != nil {
		m.locks.Reach(redact.Valid(backend), up)
	}
}
