package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc/status"

	"github.com/leaderscope/leaderscope/instrument"
)

// NewElection campaigns below prefix; value is what other candidates and
// observers read from the leader's key. Acquire waits until it wins.
//
// ttl is the length of the lease, rounded up to whole seconds; the server may
// grant more. A leader whose renewals fail gives up a tenth of the lease before
// the lease runs out, so that its work can stop in time, and never later,
// whatever the server says afterwards.
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

// Election campaigns with e, which was made from s. The session stays the
// caller's: Release deletes the term's key and leaves the session open, and may
// be called again when it failed. Make one Acquirer for all attempts: an attempt
// that fails deletes the key that it left, if need be after Acquire has returned,
// and must not delete that of the next attempt.
//
// The lease end is asked for once after winning, and early by at most a second:
// the server tells whole seconds. After the first renewal it is late by at most
// one round trip: the client shows when a renewal was answered, not when it was
// sent.
func Election(s *concurrency.Session, e *concurrency.Election, value string) instrument.Acquirer {
	return &borrowed{session: s, candidate: election{e, s, value}}
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
	case fromServer(err), errors.Is(err, context.DeadlineExceeded):
		return instrument.BackendError, true
	default:
		return 0, false
	}
}

// fromServer reports errors that the server answered, or gRPC for it.
func fromServer(err error) bool {
	if _, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		return true
	}
	var answer interface{ GRPCStatus() *status.Status }
	return errors.As(err, &answer)
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
		instrument.ExpiryFrom(s.keeper.Expiry),
		instrument.GrantedFrom(s.keeper.length),
		instrument.WatchWith(both(s.keeper.Watch, holding(f.client, c).watch)),
	), nil
}

// both watches the lease and the key.
func both(lease, key func(context.Context, instrument.Sink)) func(context.Context, instrument.Sink) {
	return func(ctx context.Context, s instrument.Sink) {
		var wg sync.WaitGroup
		wg.Go(func() { key(ctx, s) })
		lease(ctx, s)
		wg.Wait()
	}
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
