package natskv

import (
	"context"
	"errors"
	"fmt"

	"github.com/leaderscope/leaderscope/instrument"
)

// release deletes the key. A key that is no longer ours stays. After giving
// up it does not wait long for a server that is out of reach. A deletion that
// has no answer is made again in the background.
func (k *keeper) release(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
	k.stop()
	<-k.stopped
	if k.deleted.Load() {
		return nil // by the clean-up
	}
	switch cause := k.lossCause(); {
	case errors.Is(cause, errGaveUp):
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, discardTimeout)
		defer cancel()
	case errors.Is(cause, errClosed):
	case cause != nil:
		return fmt.Errorf("natskv: release: %w", errors.Join(instrument.ErrSessionLost, cause))
	}
	err := k.byRevision(ctx, func(revision uint64) error {
		return k.store.delete(ctx, k.key, revision)
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errDeleted) && k.asked.Load():
		return nil // by the request before
	case unanswered(err):
		k.asked.Store(true)
		k.withdrawals.add(k.value, func() { k.deleted.Store(true) })
	}
	return fmt.Errorf("natskv: release: %w", err)
}
