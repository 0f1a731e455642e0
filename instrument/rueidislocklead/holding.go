package rueidislocklead

import (
	"context"
	"fmt"
	"sync"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/internal/interruptible"
)

// errLost: the library told that the lock was lost before it was released.
var errLost = fmt.Errorf("leaderscope: rueidislocklead: the lock was lost before it was released: %w", instrument.ErrSessionLost)

// holding is a lock that was won.
type holding struct {
	held   context.Context // ends when the lock is lost, and when it is released
	unlock context.CancelFunc

	once sync.Once
	lost bool // before the first release
}

func (h *holding) lease() instrument.Lease {
	return instrument.NewLease(h.release, instrument.LostOn(h.held.Done()), instrument.RenewalsHidden())
}

// release releases the lock. The library waits until the key is deleted, or
// its validity over, and takes no context.
func (h *holding) release(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
	h.once.Do(func() { h.lost = h.held.Err() != nil })
	return interruptible.Do(ctx, func() error {
		h.unlock()
		if h.lost {
			return errLost
		}
		return nil
	})
}
