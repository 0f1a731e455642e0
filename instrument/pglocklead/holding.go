package pglocklead

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"cirello.io/pglock"

	"github.com/leaderscope/leaderscope/instrument"
)

// errGaveUp is the cause of a term whose heartbeat failed.
var errGaveUp = fmt.Errorf("leaderscope: pglock: a heartbeat failed: %w", instrument.ErrGaveUp)

// errClosed is the cause of a term whose pool the program has closed.
var errClosed = fmt.Errorf("leaderscope: pglock: the *sql.DB was closed: %w", context.Canceled)

// holding is a lock while it is held; see keeper.Lock.
type holding struct {
	l      *locker
	lock   *pglock.Lock
	broken atomic.Pointer[error] // of the heartbeat that failed
}

// token is the version that the first heartbeat has written. The library draws
// that of an attempt from its sequence before it asks for the lock: an attempt
// that was slow wins with a lower one than a holder before it had. That of a
// heartbeat is drawn by the holder, while no other is one.
func (h *holding) token() instrument.LeaseOption {
	return instrument.Token(uint64(h.lock.RecordVersionNumber()))
}

// Beat sends a heartbeat, and does not cut it short: drivers may need longer to
// give up than its caller. The library gives a lock up when one fails, for any
// reason. So the record is read first, and that read may fail.
func (h *holding) Beat(ctx context.Context) (sent time.Time, err error) {
	if broken := h.broken.Load(); broken != nil {
		return sent, fmt.Errorf("%w: %w", errGaveUp, *broken)
	}
	if err := h.readRecord(ctx); err != nil {
		return sent, err
	}
	sent = time.Now()
	err = h.l.client.SendHeartbeat(context.WithoutCancel(ctx), h.lock) // within a lease, by the client's own limit
	if err != nil {
		h.broken.Store(&err)
	}
	return sent, err
}

// Ends has the term end once a heartbeat has failed, not when none was sent,
// and when the program has closed its pool: none can be sent then.
func (h *holding) Ends(error) error {
	broken := h.broken.Load()
	switch {
	case broken != nil && errors.Is(*broken, pglock.ErrLockAlreadyReleased):
		return *broken
	case h.l.closed():
		return errClosed
	case broken == nil:
		return nil
	}
	return errGaveUp
}

// readRecord reports whether a heartbeat is likely to be answered. A record that is
// gone is left to the heartbeat.
func (h *holding) readRecord(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, h.l.lease/3)
	defer cancel()
	_, err := h.l.client.GetContext(limited, h.l.name)
	if _, gone := errors.AsType[*pglock.NotExistError](err); gone {
		return nil
	}
	return err
}

// Withdraw gives back what no term holds.
func (h *holding) Withdraw(ctx context.Context) { withdraw(ctx, h.l.client, h.lock) }

// Release releases the lock, and asks once more when the server is there and
// has not answered.
func (h *holding) Release(ctx context.Context) error {
	err := h.l.client.ReleaseContext(ctx, h.lock)
	if err == nil || errors.Is(err, pglock.ErrLockAlreadyReleased) {
		return err
	}
	if !h.reachable(ctx) {
		return err
	}
	again := h.l.client.ReleaseContext(ctx, h.lock)
	if errors.Is(again, pglock.ErrLockAlreadyReleased) {
		return err // perhaps by the first request
	}
	return again
}

// reachable reports whether the server is there. That a connection of the pool
// broke since its last use shows with the next request, and a pool keeps two.
func (h *holding) reachable(ctx context.Context) bool {
	for range 2 {
		if h.readRecord(ctx) == nil {
			return true
		}
	}
	return false
}
