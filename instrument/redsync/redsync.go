// Package redsync makes the mutexes of go-redsync observable: each is an
// instrument.Acquirer. It imports no client: *redsync.Mutex fits by its methods.
//
// Its errors are told apart by classify.Redsync. When to lock again, and how
// often the holder extends the lock, does not belong here.
package redsync

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// ExtendableMutex is a lock that its holder extends, as *redsync.Mutex is.
type ExtendableMutex interface {
	LockContext(ctx context.Context) error
	TryLockContext(ctx context.Context) error
	UnlockContext(ctx context.Context) (bool, error)
	ExtendContext(ctx context.Context) (bool, error)
	Until() time.Time
}

// New locks m, as often as m's options say. The lease end is m's own, read
// after each success and not later: it is neither safe to read while m is
// extended nor right once m is unlocked. Term.Renew extends the lock, one
// extension at a time.
//
// A mutex holds one lock at a time, so each attempt that may run beside
// another needs a mutex of its own.
func New(m ExtendableMutex) instrument.Acquirer {
	return acquirer{m, func(ctx context.Context) error { return m.LockContext(ctx) }}
}

// NewTry locks m or answers at once; see New.
func NewTry(m ExtendableMutex) instrument.Acquirer {
	return acquirer{m, func(ctx context.Context) error { return m.TryLockContext(ctx) }}
}

type acquirer struct {
	m    ExtendableMutex
	lock func(context.Context) error
}

// Acquire implements instrument.Acquirer.
func (a acquirer) Acquire(ctx context.Context) (instrument.Lease, error) {
	if a.m == nil {
		return nil, errors.New("leaderscope: redsync: the mutex is nil")
	}
	if err := a.lock(ctx); err != nil {
		return nil, err
	}
	h := &held{m: a.m, turn: make(chan struct{}, 1)}
	h.read()
	return instrument.NewLease(still(a.m.UnlockContext),
		instrument.ExpiryFrom(h.expiry),
		instrument.RenewWith(still(h.extend)),
	), nil
}

// held is a lock and its end. A redsync.Mutex writes its end without
// synchronization when it is extended.
type held struct {
	m    ExtendableMutex
	turn chan struct{} // whose sender may extend m
	end  atomic.Pointer[time.Time]
}

// read stores the lock's end, so that a scrape does not wait for an extension.
func (h *held) read() {
	end := h.m.Until()
	h.end.Store(&end)
}

func (h *held) expiry() time.Time { return *h.end.Load() }

func (h *held) extend(ctx context.Context) (bool, error) {
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { <-h.turn }()
	ok, err := h.m.ExtendContext(ctx)
	if ok {
		h.read()
	}
	return ok, err
}

// still makes an error of an answer that says no without one.
func still(f func(context.Context) (bool, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		ok, err := f(ctx)
		if err == nil && !ok {
			return instrument.ErrSessionLost
		}
		return err
	}
}
