package pglocklead

import (
	"context"
	"errors"
	"sync"
	"time"

	"cirello.io/pglock"

	"github.com/leaderscope/leaderscope/instrument/internal/interruptible"
)

// take wins the lock. Beside ErrNotAcquired the library returns a lock that is
// not ours.
func (l *locker) take(ctx context.Context) (*pglock.Lock, error) {
	if !l.tries {
		return l.acquire(ctx, l.opts...)
	}
	lock, err := l.once(ctx)
	switch {
	case err == nil:
		return lock, nil
	case lock == nil, !errors.Is(err, pglock.ErrNotAcquired):
		return nil, err
	case !l.last.unchanged(lock.RecordVersionNumber(), l.lease):
		return nil, err
	}
	return l.takeOver(ctx)
}

// acquire calls the library. Without a context of its own, the heartbeats of a
// client that sends them would end with ctx, and the lock with them.
func (l *locker) acquire(ctx context.Context, opts ...pglock.LockOption) (*pglock.Lock, error) {
	life := pglock.WithCustomHeartbeatContext(context.WithoutCancel(ctx))
	ctx, cancel := context.WithCancel(ctx) // the library leaves one behind
	defer cancel()
	return l.client.AcquireContext(ctx, l.name, append([]pglock.LockOption{life}, opts...)...)
}

// once asks for the lock once. The request is not cut short: a record that it
// left would keep all others out for a lease, and those that only try for good.
// What it wins after its caller has gone is released.
func (l *locker) once(ctx context.Context) (*pglock.Lock, error) {
	detached := context.WithoutCancel(ctx) // the client's own limit is a lease
	return interruptible.Call(ctx, func() (*pglock.Lock, error) {
		return l.acquire(detached, append(l.opts[:len(l.opts):len(l.opts)], pglock.FailIfLocked())...)
	}, func(late *pglock.Lock, err error) {
		if err == nil {
			withdraw(detached, l.client, late)
		}
	})
}

// takeOver takes the lock of a holder that died. The library does so in a call
// that has seen the same record twice, a lease apart.
func (l *locker) takeOver(ctx context.Context) (*pglock.Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, l.lease+l.lease/2)
	defer cancel()
	lock, err := l.acquire(ctx, l.opts...)
	l.last.forget()
	return lock, err
}

// withdraw gives back what no term holds. If that fails too, the record is taken
// over after its lease.
func withdraw(ctx context.Context, client *pglock.Client, lock *pglock.Lock) {
	_ = client.ReleaseContext(context.WithoutCancel(ctx), lock) // within a lease, by the client's own limit
}

// closed reports a pool that the program has closed, which says so ahead of a
// context that has ended. Nothing is sent.
func (l *locker) closed() bool {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := l.client.GetContext(ended, l.name)
	return err != nil && !errors.Is(err, context.Canceled)
}

// lastSeen is the record that attempts have found, and since when. It is safe for
// concurrent use.
type lastSeen struct {
	mu      sync.Mutex
	version int64
	since   time.Time // zero: none was seen
}

// unchanged notes the record and reports whether it has been the same for
// longer than a lease.
func (s *lastSeen) unchanged(version int64, lease time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() || s.version != version {
		s.version, s.since = version, time.Now()
	}
	return time.Since(s.since) > lease
}

func (s *lastSeen) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = time.Time{}
}
