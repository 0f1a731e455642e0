package instrument

import (
	"context"
	"time"
)

// ExtendableMutex is a lock that its holder extends, as *redsync.Mutex is.
type ExtendableMutex interface {
	LockContext(ctx context.Context) error
	TryLockContext(ctx context.Context) error
	UnlockContext(ctx context.Context) (bool, error)
	ExtendContext(ctx context.Context) (bool, error)
	Until() time.Time
}

// RedsyncMutex locks m, as often as m's options say. The lease end is m's own,
// read after each success and not later: it is neither safe to read while m is
// extended nor right once m is unlocked. Term.Renew extends the lock. Give the
// election Classify(Redsync[...](...)).
func RedsyncMutex(m ExtendableMutex) Acquirer { return redsyncMutex{m, m.LockContext} }

// RedsyncTryMutex locks m or answers at once. See RedsyncMutex.
func RedsyncTryMutex(m ExtendableMutex) Acquirer { return redsyncMutex{m, m.TryLockContext} }

type redsyncMutex struct {
	m    ExtendableMutex
	lock func(context.Context) error
}

func (r redsyncMutex) Acquire(ctx context.Context) (Lease, error) {
	if err := r.lock(ctx); err != nil {
		return nil, err
	}
	return NewLease(held(r.m.UnlockContext), ExpiryFrom(r.m.Until), RenewWith(held(r.m.ExtendContext))), nil
}

// held makes an error of an answer that says no without one.
func held(f func(context.Context) (bool, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		ok, err := f(ctx)
		if err == nil && !ok {
			return ErrSessionLost
		}
		return err
	}
}
