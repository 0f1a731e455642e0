// Package rueidislock makes the locks of rueidislock observable, and any lock
// that answers with a context which ends with it. It imports no client.
//
// Its errors are told apart by classify.Rueidislock. The library renews where
// it cannot be seen: declare instrument.HiddenRenewals.
package rueidislock

import (
	"context"
	"errors"

	"github.com/leaderscope/leaderscope/instrument"
)

// Lock takes the lock of that name, as TryWithContext, WithContext and
// ForceWithContext of a rueidislock.Locker do. The context that it returns ends
// when the lock is lost; the function gives the lock back and ends it as well.
type Lock = func(ctx context.Context, name string) (context.Context, context.CancelFunc, error)

// New makes an instrument.Acquirer of a lock:
//
//	rueidislock.New(locker.TryWithContext, "report")
//
// The caller's context bounds the acquisition and not the lock. That the
// lock's context ends means a loss, except after a release. Release returns
// when its context ends; the library then still tries to give the lock back.
func New(lock Lock, name string) instrument.Acquirer {
	return instrument.AcquirerFunc(func(ctx context.Context) (instrument.Lease, error) {
		if lock == nil {
			return nil, errors.New("leaderscope: rueidislock: the lock function is nil")
		}
		return acquire(orBackground(ctx), lock, name)
	})
}

func acquire(ctx context.Context, lock Lock, name string) (instrument.Lease, error) {
	life, quit := context.WithCancel(context.WithoutCancel(ctx))
	unbind := context.AfterFunc(ctx, quit)
	held, unlock, err := lock(life, name)
	if err != nil {
		unbind()
		quit()
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = ctx.Err() // the caller's own, a deadline perhaps
		}
		return nil, err
	}
	giveBack := func() {
		unlock()
		quit()
	}
	if !unbind() { // the caller gave up while the lock was won
		giveBack()
		return nil, ctx.Err()
	}
	return instrument.NewLease(within(giveBack), instrument.LostOn(held.Done())), nil
}

// within bounds a call that waits for its server, whatever context it is
// given.
func within(f func()) func(context.Context) error {
	return func(ctx context.Context) error {
		done := make(chan struct{})
		go func() {
			defer close(done)
			f()
		}()
		select {
		case <-done:
			return nil
		case <-orBackground(ctx).Done():
			return ctx.Err()
		}
	}
}

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
