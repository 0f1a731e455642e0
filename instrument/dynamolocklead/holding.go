package dynamolocklead

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"cirello.io/dynamolock/v2"

	"github.com/leaderscope/leaderscope/instrument"
)

// errDeleted is the answer to a heartbeat for a record that was deleted.
var errDeleted = fmt.Errorf("leaderscope: dynamolock: the record is gone: %w", instrument.ErrSessionLost)

// errClosed is the answer to a heartbeat of a client that the program has
// closed. errGiven is the cause of its term: a stop, and the client has given
// back what it held.
var (
	errClosed = fmt.Errorf("leaderscope: dynamolock: %w: %w", dynamolock.ErrClientClosed, context.Canceled)
	errGiven  = fmt.Errorf("%w: %w", errClosed, instrument.ErrSessionLost)
)

// holding is a lock while it is held; see keeper.Lock.
type holding struct {
	l    *locker
	lock *dynamolock.Lock
}

// Beat sends one heartbeat, and another when the first one's answer was lost:
// then it looks which of its two versions the record has. It is never cut
// short: if it was written all the same, the library would not recognise the
// record any longer.
func (h *holding) Beat(ctx context.Context) (sent time.Time, err error) {
	ctx, cancel := h.l.detached(ctx)
	defer cancel()
	defer func() {
		// The library dereferences a record that no longer exists.
		if r := recover(); r != nil {
			if _, its := r.(runtime.Error); !its {
				panic(r)
			}
			err = errDeleted
		}
	}()
	sent = time.Now()
	err = h.l.client.SendHeartbeatWithContext(ctx, h.lock, dynamolock.HeartbeatRetries(1, 0))
	if errors.Is(err, dynamolock.ErrClientClosed) {
		err = errClosed
	}
	return sent, err
}

// Ends has the term end when the lock is gone. Other errors may pass.
func (*holding) Ends(err error) error {
	switch {
	case err == errClosed:
		return errGiven
	case refused(err) || gone(err) || err == errDeleted:
		return err
	}
	return nil
}

// Withdraw gives back what no term holds.
func (h *holding) Withdraw(ctx context.Context) { h.l.withdraw(ctx, h.lock) }

// Release releases the lock.
func (h *holding) Release(ctx context.Context) error {
	_, err := h.l.client.ReleaseLockWithContext(ctx, h.lock)
	return err
}
