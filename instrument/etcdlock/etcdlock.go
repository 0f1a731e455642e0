package etcdlock

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

// NewElection campaigns below prefix; other candidates and observers read value
// from the leader's key. Acquire waits until it wins.
//
// ttl is the length of the lease, rounded up to whole seconds; the server may
// grant more. A leader whose renewals fail gives up a tenth of the lease before
// the lease end, so that its work can stop in time, and never later,
// even if the server answers afterwards.
func NewElection(c *clientv3.Client, prefix, value string, ttl time.Duration) instrument.Acquirer {
	return &fresh{client: c, ttl: ttl, candidate: func(s *concurrency.Session) candidate {
		return election{concurrency.NewElection(s, prefix), s, value}
	}}
}

// NewMutex locks prefix; Acquire waits until the lock is free. See
// [NewElection] for ttl.
func NewMutex(c *clientv3.Client, prefix string, ttl time.Duration) instrument.Acquirer {
	return &fresh{client: c, ttl: ttl, candidate: func(s *concurrency.Session) candidate {
		return mutex{concurrency.NewMutex(s, prefix)}
	}}
}

// NewTryMutex locks prefix or returns [concurrency.ErrLocked], wrapped, at
// once. See [NewElection] for ttl.
func NewTryMutex(c *clientv3.Client, prefix string, ttl time.Duration) instrument.Acquirer {
	return &fresh{client: c, ttl: ttl, candidate: func(s *concurrency.Session) candidate {
		return tryMutex{mutex{concurrency.NewMutex(s, prefix)}}
	}}
}

// Election campaigns with e, which was made from s. The session remains the
// caller's: Release deletes the term's key and leaves the session open. If it
// fails, the key is deleted in the background, and Release may be called again.
//
// In etcd a session has one key below a prefix, even if several elections or
// mutexes are made from it. Make one Acquirer for all attempts, and one session
// for each candidate: while the term of one Acquirer is open, Acquire of another
// on the same session returns instrument.ErrAlreadyHeld. Attempts of one Acquirer
// wait for each other.
//
// The lease end is requested once after the win, and early by at most a second,
// because the server returns whole seconds. After the first renewal it is late by
// at most one round trip: the client reports when a renewal was answered, and not
// when it was sent.
func Election(s *concurrency.Session, e *concurrency.Election, value string) instrument.Acquirer {
	return onSession(s, election{e, s, value}, e == nil)
}

// Mutex locks m, which was made from s, and waits until it is free. See
// [Election] for the session. Two mutexes of one session do not exclude each
// other: etcd treats them as one owner, and Acquire refuses the second.
func Mutex(s *concurrency.Session, m *concurrency.Mutex) instrument.Acquirer {
	return onSession(s, mutex{m}, m == nil)
}

// TryMutex locks m, which was made from s, or returns
// [concurrency.ErrLocked], wrapped, at once. See [Mutex].
func TryMutex(s *concurrency.Session, m *concurrency.Mutex) instrument.Acquirer {
	return onSession(s, tryMutex{mutex{m}}, m == nil)
}

// reasons tells etcd's errors apart.
type reasons struct{}

// Classify names the reason of an error of Acquire, Renew or Release. A
// deadline is the caller's, which the caller's context tells, or that of a
// backend that is out of reach.
func (reasons) Classify(err error) (instrument.Reason, bool) {
	switch {
	case errors.Is(err, concurrency.ErrLocked):
		return instrument.Contended, true
	case errors.Is(err, instrument.ErrSessionLost),
		errors.Is(err, concurrency.ErrSessionExpired),
		errors.Is(err, rpctypes.ErrLeaseNotFound):
		return instrument.SessionLost, true
	case errors.Is(err, instrument.ErrAlreadyHeld):
		return instrument.AlreadyHeld, true
	case errors.Is(err, context.DeadlineExceeded):
		return instrument.BackendError, true
	}
	if _, fromServer := codeOf(err); fromServer {
		return instrument.BackendError, true
	}
	return 0, false
}
