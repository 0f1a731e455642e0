package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

// NewElection campaigns below prefix; value is what other candidates and
// observers read from the leader's key. Acquire waits until it wins.
//
// ttl is the length of the lease, rounded up to whole seconds; the server may
// grant more. A leader whose renewals fail loses its term a tenth of the lease
// before the lease runs out, so that its work can stop in time, and never
// later, whatever the server says afterwards.
func NewElection(c *clientv3.Client, prefix, value string, ttl time.Duration) instrument.Acquirer {
	return &fresh{client: c, ttl: ttl, candidate: func(s *concurrency.Session) candidate {
		return election{concurrency.NewElection(s, prefix), value}
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

// Election campaigns with e, which was made from s. The session stays the
// caller's: Release resigns and leaves it open.
//
// The lease end is asked for once after winning, and late by at most a second.
// After the first renewal it is late by at most one round trip: the client
// shows when a renewal was answered, not when it was sent.
func Election(s *concurrency.Session, e *concurrency.Election, value string) instrument.Acquirer {
	return &borrowed{session: s, candidate: election{e, value}}
}

// Mutex locks m, which was made from s, and waits until it is free. See
// [Election] for the session. Two mutexes of one session do not exclude each
// other: etcd takes them for one owner.
func Mutex(s *concurrency.Session, m *concurrency.Mutex) instrument.Acquirer {
	return &borrowed{session: s, candidate: mutex{m}}
}

// TryMutex locks m, which was made from s, or returns
// [concurrency.ErrLocked], wrapped, at once. See [Mutex].
func TryMutex(s *concurrency.Session, m *concurrency.Mutex) instrument.Acquirer {
	return &borrowed{session: s, candidate: tryMutex{mutex{m}}}
}

// reasons tells etcd's errors apart.
type reasons struct{}

// Classify names the reason of an error of Acquire, Renew or Release.
func (reasons) Classify(err error) (instrument.Reason, bool) {
	switch {
	case errors.Is(err, concurrency.ErrLocked):
		return instrument.Contended, true
	case errors.Is(err, instrument.ErrSessionLost),
		errors.Is(err, concurrency.ErrSessionExpired),
		errors.Is(err, rpctypes.ErrLeaseNotFound):
		return instrument.SessionLost, true
	default:
		return 0, false
	}
}

// fresh opens a session for each attempt and closes it with the term.
type fresh struct {
	reasons
	client    *clientv3.Client
	ttl       time.Duration
	candidate func(*concurrency.Session) candidate
}

func (f *fresh) Acquire(ctx context.Context) (instrument.Lease, error) {
	s, err := open(ctx, f.client, f.ttl)
	if err != nil {
		return nil, fmt.Errorf("etcdlock: open a session: %w", err)
	}
	// etcd cleans up after a cancelled attempt with the session's client, for
	// as long as the backend takes. Revoking the lease does that and has a limit.
	patient := context.AfterFunc(ctx, s.abandon)
	c := f.candidate(s.Session)
	err = win(ctx, s.Session, c)
	if !patient() && err == nil {
		err = fmt.Errorf("etcdlock: %w", context.Cause(ctx))
	}
	if err != nil {
		_ = s.discard(f.client.Ctx()) // the attempt's own error is the one to report
		return nil, err
	}
	return instrument.NewLease(
		func(ctx context.Context) error { return s.release(ctx, c) },
		instrument.Token(c.token()),
		instrument.LostOn(s.Done()),
		instrument.ExpiryFrom(s.keeper.Expiry),
		instrument.WatchWith(s.keeper.Watch),
	), nil
}

// borrowed campaigns on the caller's session.
type borrowed struct {
	reasons
	session   *concurrency.Session
	candidate candidate
}

func (b *borrowed) Acquire(ctx context.Context) (instrument.Lease, error) {
	if err := win(ctx, b.session, b.candidate); err != nil {
		return nil, err
	}
	l := &listener{session: b.session, end: leaseEnd(ctx, b.session)}
	return instrument.NewLease(
		b.candidate.release,
		instrument.Token(b.candidate.token()),
		instrument.LostOn(b.session.Done()),
		instrument.ExpiryFrom(l.Expiry),
		instrument.WatchWith(l.Watch),
	), nil
}

// win waits for c and for as long as the session lives. A campaign outlives
// its session: it stays in the queue without a key, and returns success when
// the leader's key goes (etcd-io/etcd#22387). That is not a win.
func win(ctx context.Context, s *concurrency.Session, c candidate) error {
	if ended(s) {
		return fmt.Errorf("etcdlock: %w", instrument.ErrSessionLost)
	}
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.Ctx(), cancel)()

	err := c.acquire(waiting)
	switch {
	case err == nil && !ended(s):
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("etcdlock: %w", context.Cause(ctx))
	case ended(s):
		return fmt.Errorf("etcdlock: %w", instrument.ErrSessionLost)
	default:
		return fmt.Errorf("etcdlock: %w", err)
	}
}

func ended(s *concurrency.Session) bool { return s.Ctx().Err() != nil }
