package libraries

import (
	"context"
	"fmt"
	"time"

	"cirello.io/dynamolock/v2"
	"cirello.io/pglock"
	"github.com/bsm/redislock"
	"github.com/go-co-op/gocron/v2"
	"github.com/go-redsync/redsync/v4"
	"github.com/redis/rueidis/rueidislock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
	instrgocron "github.com/leaderscope/leaderscope/instrument/gocron"
	instrredsync "github.com/leaderscope/leaderscope/instrument/redsync"
	instrrueidis "github.com/leaderscope/leaderscope/instrument/rueidislock"
	"github.com/leaderscope/leaderscope/instrument/runnable"
)

// What fits by its shape alone.
var (
	_ instrument.Lease             = (*redislock.Lock)(nil)
	_ instrredsync.ExtendableMutex = (*redsync.Mutex)(nil)
	_ gocron.Elector               = (*instrgocron.Elector)(nil)
	_ gocron.Locker                = (*instrgocron.Locker[gocron.Lock])(nil)
	_ gocron.Lock                  = (*instrgocron.Lock)(nil)

	// controller-runtime's manager.Runnable and manager.LeaderElectionRunnable,
	// written out: their module would bring five hundred packages.
	_ interface {
		Start(context.Context) error
		NeedLeaderElection() bool
	} = (*runnable.Runnable)(nil)

	_ = func(l rueidislock.Locker) instrument.Acquirer {
		return instrrueidis.New(l.TryWithContext, "report")
	}
)

// redislockTry answers at once. The lease end follows from LeaseDuration(ttl)
// on the election: an attempt is one request.
func redislockTry(c *redislock.Client, key string, ttl time.Duration) instrument.Acquirer {
	return instrument.AcquirerFunc(func(ctx context.Context) (instrument.Lease, error) {
		lock, err := c.Obtain(ctx, key, ttl, nil)
		if err != nil { // the lock is a nil pointer then, and no lease
			return nil, err
		}
		return instrument.NewLease(lock.Release, instrument.RenewWith(func(ctx context.Context) error {
			return lock.Refresh(ctx, ttl, nil)
		})), nil
	})
}

// redislockWait tries again until ctx ends. Nobody but the library knows when
// the attempt that won began, so Redis is asked once how long the lock lives.
func redislockWait(c *redislock.Client, key string, ttl time.Duration) instrument.Acquirer {
	again := redislock.LinearBackoff(ttl / 20)
	return instrument.AcquirerFunc(func(ctx context.Context) (instrument.Lease, error) {
		lock, err := c.Obtain(ctx, key, ttl, &redislock.Options{RetryStrategy: again})
		if err != nil {
			return nil, err
		}
		asked := time.Now()
		left, err := lock.TTL(ctx)
		if err != nil || left <= 0 {
			left = 0 // as good as over
		}
		return instrument.NewLease(lock.Release, instrument.ExpiryFrom(func() time.Time { return asked.Add(left) })), nil
	})
}

var (
	redislockErrors      = classify.Redislock(redislock.ErrNotObtained, redislock.ErrLockNotHeld)
	redislockRetryErrors = classify.RedislockRetry(redislock.ErrNotObtained, redislock.ErrLockNotHeld)
)

var redsyncErrors = classify.Redsync[*redsync.ErrTaken, *redsync.RedisError](redsync.ErrLockAlreadyExpired)

var rueidislockErrors = classify.Rueidislock(rueidislock.ErrNotLocked, rueidislock.ErrLockerClosed)

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
