package libraries

import (
	"context"
	"fmt"

	"cirello.io/dynamolock/v2"
	"cirello.io/pglock"
	"github.com/go-co-op/gocron/v2"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
	instrgocron "github.com/leaderscope/leaderscope/instrument/gocron"
	"github.com/leaderscope/leaderscope/instrument/runnable"
)

// What fits by its shape alone.
var (
	_ gocron.Elector = (*instrgocron.Elector)(nil)
	_ gocron.Locker  = (*instrgocron.Locker[gocron.Lock])(nil)
	_ gocron.Lock    = (*instrgocron.Lock)(nil)

	// controller-runtime's manager.Runnable and manager.LeaderElectionRunnable,
	// written out: their module would bring five hundred packages.
	_ interface {
		Start(context.Context) error
		NeedLeaderElection() bool
	} = (*runnable.Runnable)(nil)
)

// pglockTry has the client's own heartbeat off, WithHeartbeatFrequency(0), and
// sends it on the caller's demand. The record version that won is the token.
// The attempt is not given up halfway, which could leave a record that blocks
// the lock for good: with FailIfLocked no replica takes it over.
func pglockTry(c *pglock.Client, name string) instrument.Acquirer {
	return instrument.AcquirerFunc(func(ctx context.Context) (instrument.Lease, error) {
		lock, err := c.AcquireContext(context.WithoutCancel(ctx), name, pglock.FailIfLocked())
		if err != nil { // beside ErrNotAcquired stands a lock that is not ours
			return nil, err
		}
		return instrument.NewLease(
			func(ctx context.Context) error { return c.ReleaseContext(ctx, lock) },
			instrument.Token(uint64(lock.RecordVersionNumber())),
			instrument.RenewWith(func(ctx context.Context) error { return c.SendHeartbeat(ctx, lock) }),
		), nil
	})
}

var pglockErrors = classify.Pglock(pglock.ErrNotAcquired, pglock.ErrLockAlreadyReleased)

// dynamolockTry has the client's own heartbeat off, DisableHeartbeat(), whose
// failures would only be logged. The record version is no token: it is random.
// The attempt is not given up halfway, for the same reason as with pglock.
func dynamolockTry(c *dynamolock.Client, key string) instrument.Acquirer {
	return instrument.AcquirerFunc(func(ctx context.Context) (instrument.Lease, error) {
		lock, err := c.AcquireLockWithContext(context.WithoutCancel(ctx), key, dynamolock.FailIfLocked())
		if err != nil {
			return nil, err
		}
		return instrument.NewLease(
			func(ctx context.Context) error {
				if ok, err := c.ReleaseLockWithContext(ctx, lock); err != nil || ok {
					return err
				}
				return fmt.Errorf("not ours any more: %w", instrument.ErrSessionLost)
			},
			instrument.RenewWith(func(ctx context.Context) error { return c.SendHeartbeatWithContext(ctx, lock) }),
		), nil
	})
}

var dynamolockErrors = classify.Dynamolock[*dynamolock.LockNotGrantedError](dynamolock.ErrLockAlreadyReleased)
