package main

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
)

// backendPatience is how long one attempt may take before the backend, not
// the caller, is at fault.
const backendPatience = 2 * time.Second

// jobErrors names the reasons of what fixedLease returns. What no classifier
// knows counts as unknown, and no alert takes that for an outage: the limit of
// an attempt and etcd's own answers are declared here.
var jobErrors = classify.First(
	classify.BackendErrorIs(context.DeadlineExceeded),
	classify.As[rpctypes.EtcdError](instrument.BackendError),
)

// fixedLease is a lock of one's own: a key on a lease that is not renewed, as
// a Redis lock with a TTL. It is an Acquirer without an adapter.
func fixedLease(c *clientv3.Client, key string, ttl time.Duration) instrument.Acquirer {
	return instrument.AcquirerFunc(func(ctx context.Context) (instrument.Lease, error) {
		ctx, cancel := context.WithTimeout(ctx, backendPatience)
		defer cancel()
		asked := time.Now()
		grant, err := c.Grant(ctx, int64(ttl/time.Second))
		if err != nil {
			return nil, fmt.Errorf("ask for a lease: %w", err)
		}
		won, err := c.Txn(ctx).
			If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
			Then(clientv3.OpPut(key, "", clientv3.WithLease(grant.ID))).
			Commit()
		if err == nil && won.Succeeded {
			return held(c, key, grant.ID, won.Header.Revision, asked.Add(ttl)), nil
		}
		_, _ = c.Revoke(ctx, grant.ID) // else it lapses by itself
		if err != nil {
			return nil, fmt.Errorf("take the lock: %w", err)
		}
		return nil, instrument.ErrContended
	})
}

func held(c *clientv3.Client, key string, lease clientv3.LeaseID, revision int64, end time.Time) instrument.Lease {
	release := func(ctx context.Context) error {
		resp, err := c.Txn(ctx).
			If(clientv3.Compare(clientv3.CreateRevision(key), "=", revision)).
			Then(clientv3.OpDelete(key)).
			Commit()
		switch {
		case err != nil:
			return fmt.Errorf("give the lock back: %w", err)
		case !resp.Succeeded:
			return instrument.ErrContended // it is another's by now
		}
		_, err = c.Revoke(ctx, lease)
		return err
	}
	return instrument.NewLease(release,
		instrument.Token(uint64(revision)),
		instrument.ExpiryFrom(func() time.Time { return end }))
}
