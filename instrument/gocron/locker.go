// Package gocron makes the distributed schedulers of go-co-op/gocron
// observable: NewLocker wraps a gocron.Locker, NewElector a gocron.Elector. It
// imports no gocron: both fit by their methods.
//
// When jobs run, and on which instance, does not belong here.
package gocron

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/leaderscope/leaderscope/instrument"
)

// Unlocker is what a locker returns, as gocron.Lock.
type Unlocker interface {
	Unlock(ctx context.Context) error
}

// Locker passes the locks of jobs through and observes each. With the L of
// gocron it is a gocron.Locker. It keeps no names.
type Locker[L Unlocker] struct {
	election func(key string) *instrument.Election
	next     func(ctx context.Context, key string) (L, error)

	mu   sync.Mutex
	open map[*instrument.Election][]*Lock // jobs that run
}

// NewLocker observes the locks of next. election is asked for the handle of a
// key at each use, and should leave it to the middleware to find it again:
//
//	func(key string) *instrument.Election { return m.Named(key, instrument.LeaseDuration(ttl)) }
//
// gocron holds a lock while its job runs, so the time from Lock to Unlock
// counts as guarded work. gocron does not tell a locker whether the job failed;
// see Failed. What next returns may have the optional capabilities of an
// instrument.Lease. Give the election a classifier of next's errors: an error
// that is not declared has an unknown reason.
//
// A nil election function observes nothing. NewLocker panics when L asks for more than Unlock, as gocron.Lock does not.
func NewLocker[L Unlocker](election func(key string) *instrument.Election, next interface {
	Lock(context.Context, string) (L, error)
}) *Locker[L] {
	if _, ok := any(&Lock{}).(L); !ok {
		panic(fmt.Sprintf("leaderscope: gocron: %T asks for more than Unlock", *new(L)))
	}
	if election == nil {
		election = func(string) *instrument.Election { return nil }
	}
	return &Locker[L]{election: election, next: next.Lock, open: map[*instrument.Election][]*Lock{}}
}

// Lock takes the lock of key from the wrapped locker, whose error comes back
// untouched.
func (k *Locker[L]) Lock(ctx context.Context, key string) (L, error) {
	e := k.election(key)
	attempt := e.Begin(ctx)
	returned := false
	defer func() {
		if !returned {
			attempt.Panicked()
		}
	}()
	l, err := k.next(ctx, key)
	returned = true
	switch {
	case err != nil:
		attempt.NotAcquired(err)
		return l, err
	case any(l) == nil:
		attempt.NotAcquired(instrument.ErrNoLease)
		return l, nil
	}
	lock := newLock(ctx, attempt.Won(leaseOf(l)), l)
	k.enter(e, lock)
	lock.left = func() { k.leave(e, lock) }
	return any(lock).(L), nil
}

// Failed says that the job of that name returned an error, before its lock is
// given back. It is for a listener of gocron:
//
//	gocron.AfterJobRunsWithError(func(_ uuid.UUID, name string, err error) { locker.Failed(name, err) })
//
// A name whose job does not run changes nothing.
func (k *Locker[L]) Failed(key string, err error) {
	if lock := k.runs(key); lock != nil && err != nil {
		lock.fail(err)
	}
}

// Panicked says that the job of that name panicked, before its lock is given
// back; see Failed:
//
//	gocron.AfterJobRunsWithPanic(func(_ uuid.UUID, name string, _ any) { locker.Panicked(name) })
func (k *Locker[L]) Panicked(key string) {
	if lock := k.runs(key); lock != nil {
		lock.fail(errPanicked)
	}
}

func (k *Locker[L]) enter(e *instrument.Election, lock *Lock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open[e] = append(k.open[e], lock)
}

func (k *Locker[L]) leave(e *instrument.Election, lock *Lock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, other := range k.open[e] {
		if other == lock {
			k.open[e] = append(k.open[e][:i:i], k.open[e][i+1:]...)
			break
		}
	}
	if len(k.open[e]) == 0 {
		delete(k.open, e)
	}
}

// runs is the lock of the job that runs, the first of several that has not
// failed.
func (k *Locker[L]) runs(key string) *Lock {
	e := k.election(key)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, lock := range k.open[e] {
		if !lock.hasFailed() {
			return lock
		}
	}
	return nil
}

// Format writes what it is for every verb.
func (k *Locker[L]) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "gocron locker") }
