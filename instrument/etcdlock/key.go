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

// held is the key by which a lock is held.
type held struct {
	client   *clientv3.Client
	key      string
	revision int64 // at which it was there
}

func holding(c *clientv3.Client, by candidate) held {
	return held{client: c, key: by.key(), revision: int64(by.token())}
}

// watch tells s when the key is deleted. The session says nothing of it, and
// others may hold the lock from then on.
func (h held) watch(ctx context.Context, s instrument.Sink) {
	for h.there(ctx, s) && sleepUntil(ctx, time.Now().Add(watchAgainAfter)) {
		resp, err := h.client.Get(ctx, h.key)
		switch {
		case err != nil:
		case len(resp.Kvs) == 0:
			s.Lost(errDeleted)
			return
		default:
			h.revision = resp.Header.Revision
		}
	}
}

// there watches until the key is deleted, and returns true when the watch has
// ended before.
func (h held) there(ctx context.Context, s instrument.Sink) bool {
	for changes := range h.client.Watch(ctx, h.key, clientv3.WithRev(h.revision+1), clientv3.WithFilterPut()) {
		if len(changes.Events) > 0 {
			s.Lost(errDeleted)
			return false
		}
	}
	return ctx.Err() == nil
}
