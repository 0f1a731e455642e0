package instrument

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/redact"
)

// BackendState is what a look at the backend shows of a lock, whichever
// process holds it.
type BackendState uint8

// The states.
const (
	// BackendUnknown: the backend could not be asked. The series that say who
	// holds the lock are absent until the next look that sees something, and
	// the time until then is no vacancy.
	BackendUnknown BackendState = iota
	// BackendHeld: the backend names a holder, who is live unless Expiry has
	// passed.
	BackendHeld
	// BackendVacant: the backend names no holder.
	BackendVacant
	// BackendUnwatched: this process does not look any more. What it counted
	// stays.
	BackendUnwatched
)

var standings = [...]lock.Standing{BackendUnknown: lock.Unseen, BackendHeld: lock.Held, BackendVacant: lock.Vacant, BackendUnwatched: lock.Unwatched}

// BackendView is one look at what the backend has recorded of a lock: what a
// standby is told anyway, or what an observer asks for. The zero BackendView
// says that nothing could be seen.
type BackendView struct {
	State BackendState
	// Holder is the identity that the backend names, or anything that is
	// another for another holder; the redactor makes its label as that of a
	// lock name made at run time. Empty where the backend does not tell, which
	// makes it no other holder than before.
	Holder string
	// Token is what the backend counts terms by, if Counted. Another token
	// than before is another term, also of the same holder; a look that is not
	// Counted is of the same term.
	Token   uint64
	Counted bool
	// Expiry is the end of the recorded lease on this process's clock, zero
	// where it is not known or there is none. A look after it that still shows
	// the same end tells of a vacancy that began then; one that shows another
	// end in the past, of a term that came and went between the looks. Without such a look
	// nothing is concluded from an end that has passed, since a renewal may not
	// have been seen yet.
	Expiry time.Time
	// Granted is the length of the recorded lease; zero where it is not known.
	Granted time.Duration
	// ValidFor is how long this look is believed without another one; zero:
	// until the next. Afterwards the state is unknown, so that a reporter that
	// stopped or was suspended leaves no false view behind.
	ValidFor time.Duration
	// Every is the time between looks where the backend is polled; zero says
	// that each change is seen as an event. A change of the holder between two
	// polls tells nothing about the gap.
	Every time.Duration
}

// ObserveBackend records what the backend says of the lock, as a level: saying
// the same again changes nothing but the time of the last event. The instant
// of the call is that of the event. It touches none of the series about this
// process's own attempts and terms. One reporter for each handle is enough; of
// several the last counts.
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
// leader_identity_info, until the campaign has ended. It is redacted like a
// holder of ObserveBackend, so that the two can be joined: a process that
// leads while the backend names another is an impostor. An empty identity, and
// one of a nil election, records nothing. Calling ended again does nothing.
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

// BackendReachable records that a backend can be asked, as leader_backend_up,
// for a reporter that knows it of the backend as a whole and before it has
// seen any lock. The name is that of Backend. A lock that is watched and whose
// view cannot be believed keeps leader_backend_up at 0.
func (m *Middleware) BackendReachable(backend string) { m.reach(backend, true) }

// BackendUnreachable records that a backend cannot be asked. What was seen of
// its locks is believed no less for it: give them BackendUnknown too.
func (m *Middleware) BackendUnreachable(backend string) { m.reach(backend, false) }

func (m *Middleware) reach(backend string, up bool) {
	if m != nil {
		m.locks.Reach(redact.Valid(backend), up)
	}
}
