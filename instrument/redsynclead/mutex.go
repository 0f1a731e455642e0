package redsynclead

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/leaderscope/leaderscope/instrument"
)

// mutex is a mutex of redsync whose calls take turns: redsync writes without
// synchronization what its next call reads. A call that was given up keeps its
// turn until it has returned.
type mutex struct {
	*redsync.Mutex
	turn chan struct{} // whose sender may call

	// guarded by the turn
	holder *holding // of the lock that was won last; nil before
}

func newMutex(m *redsync.Mutex) *mutex { return &mutex{Mutex: m, turn: make(chan struct{}, 1)} }

func (m *mutex) take(ctx context.Context) error {
	select {
	case m.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case m.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *mutex) leave() { <-m.turn }

// errInUse: the mutex of the program holds a lock.
var errInUse = fmt.Errorf("leaderscope: redsynclead: the mutex holds a lock: make one for each attempt, as NewMutex does: %w", instrument.ErrAlreadyHeld)

// holding is a lock that was won.
type holding struct {
	*mutex
	granted  time.Duration             // the expiry that the mutex was made with; 0: unknown
	length   time.Duration             // of the lease, less the way of the request that won
	end      atomic.Pointer[time.Time] // read while an extension is under way
	returned bool                      // a release was tried; guarded by the turn
}

// hold notes a lock that was won, of a mutex with that expiry; 0: unknown. The
// caller has the turn.
func (m *mutex) hold(granted time.Duration) *holding {
	h := &holding{mutex: m, granted: granted}
	h.read()
	h.length = time.Until(h.expiry())
	m.holder = h
	return h
}

// read keeps the end that redsync has computed, which is right after a success
// only: it stays when the lock is released.
func (h *holding) read() {
	end := h.Until()
	h.end.Store(&end)
}

func (h *holding) expiry() time.Time { return *h.end.Load() }

// open reports whether the lock is held as far as anybody here knows. The
// caller has the turn.
func (h *holding) open() bool { return h != nil && !h.returned && time.Now().Before(h.expiry()) }
