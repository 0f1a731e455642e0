package consullock

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
)

// locker is a lock or a slot of one session.
type locker interface {
	// take is Lock of *api.Lock.
	take(stop <-chan struct{}) (<-chan struct{}, error)
	// release releases the lock, and returns when ctx ends.
	release(ctx context.Context) error
}

// keyLock is a lock that is released by its key.
type keyLock struct {
	lock   *api.Lock
	client *api.Client
	entry  *api.KVPair
}

func (l *keyLock) take(stop <-chan struct{}) (<-chan struct{}, error) { return l.lock.Lock(stop) }

// release asks as Unlock does, but with a context, and tells a lock that was
// lost.
func (l *keyLock) release(ctx context.Context) error { return releaseKey(ctx, l.client, l.entry) }

func releaseKey(ctx context.Context, c *api.Client, entry *api.KVPair) error {
	write := &api.WriteOptions{Namespace: entry.Namespace}
	released, _, err := c.KV().Release(entry, write.WithContext(ctx))
	switch {
	case err != nil:
		return requestError{err}
	case !released:
		return errNotOurs
	default:
		return nil
	}
}

var errNotOurs = fmt.Errorf("consullock: the session does not hold the lock: %w", instrument.ErrSessionLost)

type semaphore struct{ slot *api.Semaphore }

func (s semaphore) take(stop <-chan struct{}) (<-chan struct{}, error) { return s.slot.Acquire(stop) }
func (s semaphore) release(ctx context.Context) error                  { return unlock(ctx, s.slot.Release) }

// programLock is a lock that the program made.
type programLock struct{ lock *api.Lock }

func (l programLock) take(stop <-chan struct{}) (<-chan struct{}, error) { return l.lock.Lock(stop) }
func (l programLock) release(ctx context.Context) error                  { return unlock(ctx, l.lock.Unlock) }

func unlock(ctx context.Context, do func() error) error {
	_, err, returned := detached(ctx, call[struct{}]{do: func() (struct{}, error) { return struct{}{}, do() }})
	if err == nil || !returned || isNamed(err) {
		return err
	}
	return requestError{err}
}

// lateFor is for how long a lock that was won too late is released. That of a
// session which was made for it goes with the session before.
const lateFor = 10 * time.Minute

// win takes l. The client answers neither a channel nor an error when it was
// told to stop and when it tried once; that is no win. done is called when the
// client has let go of l.
func win(ctx context.Context, l locker, done func()) (<-chan struct{}, error) {
	lost, err, returned := detached(ctx, call[<-chan struct{}]{
		do: func() (<-chan struct{}, error) { return l.take(ctx.Done()) },
		late: func(lost <-chan struct{}, _ error) {
			if lost != nil {
				ctx, cancel := context.WithTimeout(context.Background(), lateFor)
				defer cancel()
				_ = repeat(ctx, l.release)
			}
		},
		done: done,
	})
	switch {
	case isNamed(err):
		return nil, err
	case err != nil && returned:
		return nil, requestError{err}
	case lost != nil:
		return lost, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("consullock: %w", context.Cause(ctx))
	default:
		return nil, fmt.Errorf("consullock: %w", instrument.ErrContended)
	}
}
