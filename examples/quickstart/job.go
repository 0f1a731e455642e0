package main

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/instrument"
)

// backendPatience is how long one attempt may take before the backend, not
// the caller, is at fault.
const backendPatience = 2 * time.Second

// fixedLease is a lock of one's own: a key on a lease that nobody renews, as
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
