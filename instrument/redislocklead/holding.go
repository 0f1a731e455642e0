package redislocklead

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bsm/redislock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/internal/interruptible"
	"github.com/leaderscope/leaderscope/instrument/internal/keeper"
)

var errClosed = fmt.Errorf("client was closed: %w", context.Canceled)

// holding is a lock that was won.
type holding struct {
	*elector
	lock *redislock.Lock

	mu  sync.Mutex
	end time.Time
}

func newHolding(e *elector, lock *redislock.Lock, asked time.Time) *holding {
	return &holding{elector: e, lock: lock, end: asked.Add(e.ttl)}
}

func (h *holding) lease() instrument.Lease {
	opts := []instrument.LeaseOption{
		instrument.ExpiryFrom(h.expiry),
		instrument.GrantedFrom(func() time.Duration { return h.ttl }),
		instrument.RenewWith(h.renew),
	}
	if h.autoRenew {
		k := keeper.Keeper{Length: h.ttl, Expiry: h.expiry, Renew: h.renew, Ends: endsTerm}
		opts = append(opts, instrument.WatchWith(k.Watch))
	}
	return instrument.NewLease(h.release, opts...)
}

// endsTerm ends the term as canceled when the program has closed the client:
// nothing can be renewed then.
func endsTerm(err error) error {
	if isClosed(err) {
		return errClosed
	}
	return nil
}

func (h *holding) expiry() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.end
}

// renew counts the lease from before the request. Of two that overlap, Redis
// has carried out the last after both were sent.
func (h *holding) renew(ctx context.Context) error {
	ctx = orBackground(ctx)
	sent := time.Now()
	if err := interruptible.Do(ctx, func() error { return h.lock.Refresh(ctx, h.ttl, nil) }); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if end := sent.Add(h.ttl); end.After(h.end) {
		h.end = end
	}
	return nil
}

func (h *holding) release(ctx context.Context) error {
	ctx = orBackground(ctx)
	return interruptible.Do(ctx, func() error { return h.lock.Release(ctx) })
}
