package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
)

const (
	// revokeTimeout bounds one request of a clean-up.
	revokeTimeout = time.Second
	// cleanUpWait is how long a call waits for a clean-up, so that where the
	// backend answers nothing is left when the call returns.
	cleanUpWait = 250 * time.Millisecond
)

// session is a concurrency.Session whose lease a keeper renews.
type session struct {
	*concurrency.Session
	client *clientv3.Client
	keeper *keeper
	// abandon ends the session and every call of etcd's own clean-up. It may
	// be called more than once.
	abandon context.CancelFunc

	mu       sync.Mutex
	clearing <-chan struct{} // closed when clear has ended; nil before it began
	revoked  atomic.Bool     // by clear
}

// open asks for a lease of ttl. ctx bounds the asking, not the session, and so
// does the lease: it counts from the asking, and would be over. The client
// itself waits for a backend that is out of reach as long as it may.
func open(ctx context.Context, c *clientv3.Client, ttl time.Duration) (*session, error) {
	asking, cancel := context.WithTimeout(ctx, max(ttl, time.Second))
	defer cancel()
	asked := time.Now()
	grant, err := c.Grant(asking, seconds(ttl))
	if err != nil {
		return nil, err
	}
	life, abandon := context.WithCancel(c.Ctx())
	k := newKeeper(c, asked, time.Duration(grant.TTL)*time.Second)
	own := clientv3.NewCtxClient(life)
	own.KV, own.Watcher, own.Lease = c.KV, c.Watcher, k
	s, err := concurrency.NewSession(own, concurrency.WithLease(grant.ID), concurrency.WithContext(life))
	if err != nil {
		abandon()
		return nil, err
	}
	go func() {
		<-s.Done()
		abandon()
	}()
	return &session{Session: s, client: c, keeper: k, abandon: abandon}, nil
}

// release releases the lock and ends the lease. A key that is not the one
// that won was lost before, and so was a lease that the server does not know.
// The key of a session that has ended goes with its lease.
func (s *session) release(ctx context.Context, c candidate) error {
	ctx = orBackground(ctx)
	if s.gone(ctx) {
		return nil
	}
	err := s.giveBack(ctx, c)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		err = errors.Join(instrument.ErrSessionLost, err)
	case !errors.Is(err, instrument.ErrSessionLost):
		s.clear()
	}
	return fmt.Errorf("etcdlock: release: %w", err)
}

func (s *session) giveBack(ctx context.Context, c candidate) error {
	if ended(s.Session) {
		ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
		defer cancel()
		return s.revoke(ctx)
	}
	deleted := deleteOwn(ctx, s.client, c.owner(), c.key())
	if err := s.revoke(ctx); err != nil {
		return err
	}
	if errors.Is(deleted, errDeleted) {
		return deleted
	}
	return nil // the key went with the lease, if not before
}

// discard ends a session that holds nothing, so that its key does not stand
// in the others' way, and does not wait for a backend that is out of reach.
func (s *session) discard() {
	select {
	case <-s.clear():
	case <-time.After(cleanUpWait):
	}
}

// clear revokes the lease in the background, and its keys with it, until the
// server no longer has it, or refuses to revoke it.
func (s *session) clear() (cleared <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clearing == nil {
		done := make(chan struct{})
		s.clearing = done
		go func() {
			defer close(done)
			s.revoked.Store(repeat(s.client.Ctx(), s.revoke) == nil)
		}()
	}
	return s.clearing
}

// gone waits for clear, if that runs, and reports whether it revoked the lease.
func (s *session) gone(ctx context.Context) bool {
	s.mu.Lock()
	clearing := s.clearing
	s.mu.Unlock()
	if clearing == nil {
		return false
	}
	select {
	case <-clearing:
	case <-ctx.Done():
	}
	return s.revoked.Load()
}

func (s *session) revoke(ctx context.Context) error {
	s.Orphan()
	_, err := s.client.Revoke(ctx, s.Lease())
	return err
}

// repeat makes a request until it has an answer, or ctx ends.
func repeat(ctx context.Context, request func(context.Context) error) error {
	for wait := sweepAfter; ; wait = min(2*wait, sweepAtMost) {
		asking, cancel := context.WithTimeout(ctx, revokeTimeout)
		err := request(asking)
		cancel()
		if err == nil || !passing(err) {
			return err
		}
		if !sleepUntil(ctx, time.Now().Add(wait)) {
			return ctx.Err()
		}
	}
}

// seconds rounds up.
func seconds(d time.Duration) int64 {
	whole := int64(d / time.Second)
	if d%time.Second > 0 {
		whole++
	}
	return whole
}

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
