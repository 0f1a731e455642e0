package instrument

import (
	"context"
	"errors"
)

// ContextLock makes an Acquirer of a lock that answers with a context which
// ends with it, as rueidislock does:
//
//	instrument.ContextLock(locker.TryWithContext, "report")
//
// The caller's context bounds the acquisition and not the lock. That the
// lock's context ends means a loss, except after a release. The library renews
// where nobody can see it: declare HiddenRenewals.
func ContextLock(lock func(ctx context.Context, name string) (context.Context, context.CancelFunc, error), name string) Acquirer {
	return AcquirerFunc(func(ctx context.Context) (Lease, error) {
		life, quit := context.WithCancel(context.WithoutCancel(ctx))
		bound := context.AfterFunc(ctx, quit)
		held, unlock, err := lock(life, name)
		if err != nil {
			bound()
			quit()
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				err = ctx.Err() // the caller's own, a deadline perhaps
			}
			return nil, err
		}
		release := func(context.Context) error {
			unlock()
			quit()
			return nil
		}
		if !bound() { // the caller gave up while the lock was won
			_ = release(ctx)
			return nil, ctx.Err()
		}
		return NewLease(release, LostOn(held.Done())), nil
	})
}
