package etcdlock

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leaderscope/leaderscope/instrument"
)

// watchAgainAfter is the time between two watches of a key, of which the first
// ended: its revision was compacted, or the client was closed.
const watchAgainAfter = time.Second

// errDeleted: the key is gone although its session lives.
var errDeleted = fmt.Errorf("etcdlock: key was deleted: %w", instrument.ErrSessionLost)

// heldKey is the key by which a lock is held.
type heldKey struct {
	client   *clientv3.Client
	key      string
	owner    clientv3.Cmp
	revision int64 // at which it was there
}

func holding(c *clientv3.Client, by candidate) heldKey {
	return heldKey{client: c, key: by.key(), owner: by.owner(), revision: int64(by.token())}
}

// watch notifies s when the key is deleted. The session says nothing about it, and
// others may hold the lock from then on.
func (h heldKey) watch(ctx context.Context, s instrument.Sink) {
	for h.there(ctx, s) && sleepUntil(ctx, time.Now().Add(watchAgainAfter)) {
		resp, err := h.client.Txn(ctx).If(h.owner).Commit()
		switch {
		case err != nil:
		case !resp.Succeeded:
			s.Lost(errDeleted)
			return
		default:
			h.revision = resp.Header.Revision
		}
	}
}

// there watches until the key is deleted, and returns true when the watch has
// ended before. A member without a leader would be silent about what the
// others agree on; it ends the watch.
func (h heldKey) there(ctx context.Context, s instrument.Sink) bool {
	watching := clientv3.WithRequireLeader(ctx)
	for changes := range h.client.Watch(watching, h.key, clientv3.WithRev(h.revision+1), clientv3.WithFilterPut()) {
		if len(changes.Events) > 0 {
			s.Lost(errDeleted)
			return false
		}
	}
	return ctx.Err() == nil
}

// deleteOwn deletes the key that won, and no other.
func deleteOwn(ctx context.Context, c *clientv3.Client, owner clientv3.Cmp, key string) error {
	resp, err := c.Txn(ctx).If(owner).Then(clientv3.OpDelete(key)).Commit()
	if err == nil && !resp.Succeeded {
		return errDeleted
	}
	return err
}
