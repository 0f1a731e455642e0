package dynamolocklead

import (
	"context"
	"sync"
	"time"

	"cirello.io/dynamolock/v2"

	"github.com/leaderscope/leaderscope/instrument/internal/interruptible"
)

// take wins the lock.
func (l *locker) take(ctx context.Context) (*dynamolock.Lock, error) {
	if !l.tries {
		return l.client.AcquireLockWithContext(ctx, l.key, l.opts...)
	}
	lock, err := l.once(ctx)
	switch {
	case err == nil:
		l.refusals.forget()
		return lock, nil
	case !refused(err), !l.refusals.last(l.lease):
		return nil, err
	}
	return l.takeOver(ctx, err)
}

// once asks for the lock once. The request is not cut short: a record that it
// left would keep all others out for a lease, and those that only try for good.
// What it wins after its caller has gone is released.
func (l *locker) once(ctx context.Context) (*dynamolock.Lock, error) {
	return interruptible.Call(ctx, func() (*dynamolock.Lock, error) {
		detached, cancel := l.detached(ctx)
		defer cancel()
		return l.client.AcquireLockWithContext(detached, l.key, append(l.opts[:len(l.opts):len(l.opts)], dynamolock.FailIfLocked())...)
	}, func(late *dynamolock.Lock, err error) {
		if err == nil {
			l.withdraw(ctx, late)
		}
	})
}

// detached is for requests that are not cut short. The library sets them no
// limit, so they end with a lease from now.
func (l *locker) detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), l.lease)
}

// takeOver takes the lock of a holder that died. The library does so in a call
// that has watched the record for a lease. A call that wins earlier has seen a
// holder release it: too late for one that only tries, as another run of a
// job would be that has just been done.
func (l *locker) takeOver(ctx context.Context, refusal error) (*dynamolock.Lock, error) {
	asked := time.Now()
	watch, cancel := context.WithTimeout(ctx, 2*l.lease)
	defer cancel()
	lock, err := l.client.AcquireLockWithContext(watch, l.key, l.opts...)
	switch {
	case err == nil && time.Since(asked) >= l.lease:
		l.refusals.forget()
		return lock, nil
	case err == nil:
		go l.withdraw(ctx, lock)
		err = refusal
	case watch.Err() != nil && ctx.Err() == nil:
		err = refusal
	}
	l.refusals.watched()
	return nil, err
}

// withdraw gives back what no term holds. If that fails too, the record is taken
// over after its lease.
func (l *locker) withdraw(ctx context.Context, lock *dynamolock.Lock) {
	ctx, cancel := l.detached(ctx)
	defer cancel()
	_, _ = l.client.ReleaseLockWithContext(ctx, lock)
}

// refusals tell how long attempts have been refused without a win in between.
// It is safe for concurrent use.
type refusals struct {
	mu      sync.Mutex
	since   time.Time // zero: none was refused
	fails   int       // times that the lock was watched in vain
	watches bool      // an attempt does
}

// mostLeases is the longest time between two attempts that watch, in leases.
const mostLeases = 16

// last notes a refusal and reports whether the attempt is to watch the lock.
func (r *refusals) last(lease time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.IsZero() {
		r.since = time.Now()
	}
	patience := min(1<<min(r.fails, mostLeases), mostLeases)
	if r.watches || time.Since(r.since) <= time.Duration(patience)*lease {
		return false
	}
	r.watches = true
	return true
}

// watched notes that the lock was watched in vain.
func (r *refusals) watched() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since, r.watches = time.Now(), false
	r.fails++
}

// forget notes a win.
func (r *refusals) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since, r.fails, r.watches = time.Time{}, 0, false
}
