package redsynclead

import (
	"context"
	"fmt"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/internal/interruptible"
	"github.com/leaderscope/leaderscope/instrument/internal/keeper"
)

// errOver: the lock was released, or the mutex has won another since.
var errOver = fmt.Errorf("leaderscope: redsynclead: the lock is no longer held: %w", instrument.ErrSessionLost)

func (h *holding) lease(autoRenew bool) instrument.Lease {
	opts := []instrument.LeaseOption{
		instrument.ExpiryFrom(h.expiry),
		instrument.GrantedFrom(func() time.Duration { return h.granted }),
		instrument.RenewWith(h.renew),
	}
	if autoRenew {
		k := keeper.Keeper{Length: h.length, Expiry: h.expiry, Renew: h.renew}
		opts = append(opts, instrument.WatchWith(k.Watch))
	}
	return instrument.NewLease(h.release, opts...)
}

// renew extends the lock. After a release it sends nothing: with
// redsync.WithSetNXOnExtend it would take the lock again.
func (h *holding) renew(ctx context.Context) error {
	return h.call(ctx, func() (bool, error) {
		if h.returned {
			return false, nil
		}
		ok, err := h.ExtendContext(ctx)
		if ok {
			h.read()
		}
		return ok, err
	})
}

// release unlocks the mutex, again if it is called again, but not what the
// mutex has won since.
func (h *holding) release(ctx context.Context) error {
	return h.call(ctx, func() (bool, error) {
		h.returned = true
		return h.UnlockContext(ctx)
	})
}

// call makes an error of an answer that says no without one.
func (h *holding) call(ctx context.Context, f func() (bool, error)) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := h.take(ctx); err != nil {
		return err
	}
	return interruptible.Do(ctx, func() error {
		defer h.leave()
		if h.holder != h {
			return errOver
		}
		ok, err := f()
		if err == nil && !ok {
			return errOver
		}
		if ok {
			return nil
		}
		return err
	})
}
