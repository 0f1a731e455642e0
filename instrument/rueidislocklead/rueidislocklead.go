package rueidislocklead

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/internal/interruptible"
)

// NewLock waits for the lock of that name until the context of Acquire ends.
// While Redis is unreachable the library retries indefinitely without reporting
// it: the attempt stays pending.
//
// The context limits the acquisition and not the lock, which lives until it is
// lost or released. Acquire and Term.Release return when their context ends;
// the library then continues to release the lock, for up to its KeyValidity.
//
// The acquirer is safe for concurrent use.
func NewLock(locker rueidislock.Locker, name string) instrument.Acquirer {
	return &elector{locker, name, rueidislock.Locker.WithContext}
}

// NewTryLock acquires the lock of that name or returns rueidislock.ErrNotLocked,
// wrapped, at once. See NewLock.
func NewTryLock(locker rueidislock.Locker, name string) instrument.Acquirer {
	return &elector{locker, name, rueidislock.Locker.TryWithContext}
}

type elector struct {
	locker rueidislock.Locker
	name   string
	lock   func(rueidislock.Locker, context.Context, string) (context.Context, context.CancelFunc, error)
}

// Format writes what it is for every verb, and keeps the name of the lock from
// code that prints it.
func (*elector) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "rueidislock lock") }

// Classify names the reason of an error of Acquire or Release. A deadline that
// is not the caller's is that of one request, LockerOption.TryNextAfter: Redis
// did not answer in time, which is no evidence about the holder of the lock.
func (*elector) Classify(err error) (instrument.Reason, bool) {
	switch {
	case errors.Is(err, rueidislock.ErrNotLocked):
		return instrument.ContendedUnlessDone, true
	case errors.Is(err, rueidislock.ErrLockerClosed):
		return instrument.SessionLost, true
	case isAnswer(err), errors.Is(err, rueidis.ErrClosing), errors.Is(err, io.EOF), errors.Is(err, context.DeadlineExceeded):
		return instrument.BackendError, true
	default:
		return 0, false
	}
}

// isAnswer reports errors that Redis answered.
func isAnswer(err error) bool {
	_, is := errors.AsType[*rueidis.RedisError](err)
	return is
}

// Acquire implements instrument.Acquirer.
func (e *elector) Acquire(ctx context.Context) (instrument.Lease, error) {
	if e.locker == nil {
		return nil, errors.New("leaderscope: rueidislocklead: the locker is nil: pass one of rueidislock.NewLocker")
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	unbind := context.AfterFunc(ctx, end)
	h, err := interruptible.Call(ctx, func() (*holding, error) { return e.take(life) }, nil)
	switch {
	case err != nil:
		unbind()
		end() // so that the library gives back what it wins from now on
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = ctx.Err() // the caller's own, a deadline perhaps
		}
		return nil, err
	case !unbind(): // the caller gave up while the lock was won; the library releases it
		return nil, ctx.Err()
	}
	return h.lease(), nil
}

// take takes the lock. The library releases it when life ends.
func (e *elector) take(life context.Context) (*holding, error) {
	held, unlock, err := e.lock(e.locker, life, e.name)
	if err != nil { // beside it may be a context, and nothing that is held
		return nil, err
	}
	return &holding{held: held, unlock: unlock}, nil
}
