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

// revokeTimeout bounds the clean-up after an attempt that failed or a term
// that was lost. A lease that could not be revoked by then lapses by itself.
const revokeTimeout = time.Second

// session is a concurrency.Session whose lease a keeper renews.
type session struct {
	*concurrency.Session
	client *clientv3.Client
	keeper *keeper
	// abandon ends the session and every call of etcd's own clean-up. It may
	// be called more than once.
	abandon context.CancelFunc
}

// open asks for a lease of ttl. ctx bounds the asking, not the session, and so
// does ttl: a lease counts from the asking, and would be over. The client
// itself waits for a backend that is out of reach as long as it may.
func open(ctx context.Context, c *clientv3.Client, ttl time.Duration) (*session, error) {
	asking, cancel := context.WithTimeout(ctx, ttl)
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
	context.AfterFunc(s.Ctx(), abandon)
	return &session{Session: s, client: c, keeper: k, abandon: abandon}, nil
}

// release gives the lock back and ends the lease. That etcd deletes a key
// says nothing about whose it was; that the server knows no such lease does.
// The key of a session that has ended goes with its lease.
func (s *session) release(ctx context.Context, c candidate) error {
	var err error
	if ended(s.Session) {
		ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
		defer cancel()
		err = s.revoke(ctx)
	} else {
		err = errors.Join(c.release(ctx), s.revoke(ctx))
	}
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return fmt.Errorf("etcdlock: release: %w", errors.Join(instrument.ErrSessionLost, err))
	case err != nil:
		return fmt.Errorf("etcdlock: release: %w", err)
	}
	return nil
}

// discard ends a session that holds nothing, so that its key does not stand
// in the others' way, and does not wait for a backend that is out of reach.
func (s *session) discard(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
	defer cancel()
	err := s.revoke(ctx)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		return nil
	}
	return err
}

func (s *session) revoke(ctx context.Context) error {
	s.Orphan()
	_, err := s.client.Revoke(ctx, s.Lease())
	return err
}

func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
