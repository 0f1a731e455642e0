package instrument

import (
	"context"
	"fmt"
	"sync"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// LeaderChecker passes a question for leadership through and observes the
// answer. It is a gocron.Elector.
type LeaderChecker struct {
	e    *Election
	next interface{ IsLeader(context.Context) error }
}

// Checker observes the answers of next, whose error means that this process
// does not lead. An error that a classifier of e calls a failed backend, and
// one of a caller that gave up, say nothing: the last state stays.
//
// Nobody asks between jobs, so the state may be old; see ObservedAge. There is
// no lease and no renewal: declare Hold and HiddenRenewals.
func Checker(e *Election, next interface{ IsLeader(context.Context) error }) *LeaderChecker {
	return &LeaderChecker{e, next}
}

// IsLeader asks the wrapped elector.
func (c *LeaderChecker) IsLeader(ctx context.Context) error {
	err := c.next.IsLeader(ctx)
	o := Observation{Leading: err == nil}
	if err != nil && c.saysNothing(ctx, err) {
		o.Err = err
	}
	c.e.Observe(o)
	return err
}

func (c *LeaderChecker) saysNothing(ctx context.Context, err error) bool {
	reason, ok := c.e.opinion(nil, err)
	return ctx.Err() != nil || ok && (reason == BackendError || reason == Unknown)
}

// KeyedLocker passes locks of many names through and observes each. With the
// L of gocron it is a gocron.Locker.
type KeyedLocker[L interface{ Unlock(context.Context) error }] struct {
	election func(key string) *Election
	next     interface {
		Lock(context.Context, string) (L, error)
	}

	mu    sync.Mutex
	known map[string]*Election
}

// WrapKeyed observes the locks of next; election makes the handle of a key, on
// the key's first use. What next returns may have the optional capabilities of
// a Lease. WrapKeyed panics when L asks for more than an Unlock, since what
// Lock returns has no more.
func WrapKeyed[L interface{ Unlock(context.Context) error }](election func(key string) *Election, next interface {
	Lock(context.Context, string) (L, error)
}) *KeyedLocker[L] {
	if _, ok := any(&KeyedLock{}).(L); !ok {
		panic(fmt.Sprintf("leaderscope: WrapKeyed: %T asks for more than Unlock", *new(L)))
	}
	return &KeyedLocker[L]{election: election, next: next, known: map[string]*Election{}}
}

// Lock takes the lock of key from the wrapped locker, whose error comes back
// untouched.
func (k *KeyedLocker[L]) Lock(ctx context.Context, key string) (L, error) {
	at := k.of(key).Begin(ctx)
	returned := false
	defer func() {
		if !returned {
			at.trial().fail(ctx, catalog.Panicked)
		}
	}()
	l, err := k.next.Lock(ctx, key)
	returned = true
	switch {
	case err != nil:
		at.NotAcquired(err)
		return l, err
	case any(l) == nil:
		at.NotAcquired(ErrNoLease)
		return l, nil
	}
	return any(&KeyedLock{term: at.Won(capable(l, l.Unlock)), lock: l}).(L), nil
}

func (k *KeyedLocker[L]) of(key string) *Election {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.known[key]
	if e == nil {
		e = k.election(key)
		k.known[key] = e
	}
	return e
}

// KeyedLock is a lock that a KeyedLocker took.
type KeyedLock struct {
	term *Term
	lock any
}

// Unlock gives the lock back.
func (l *KeyedLock) Unlock(ctx context.Context) error { return l.term.Release(ctx) }

// Term is the term of this lock.
func (l *KeyedLock) Term() *Term { return l.term }

// Unwrap is the lock of the wrapped locker.
func (l *KeyedLock) Unwrap() any { return l.lock }

// capable is a lease with the optional capabilities that v has.
func capable(v any, release func(context.Context) error) Lease {
	var options []LeaseOption
	if x, ok := v.(Expirer); ok {
		options = append(options, ExpiryFrom(x.Expiry))
	}
	if n, ok := v.(LossNotifier); ok {
		options = append(options, LostOn(n.Lost()))
	}
	if f, ok := v.(Fencer); ok {
		if token, fenced := f.FencingToken(); fenced {
			options = append(options, Token(token))
		}
	}
	if r, ok := v.(Renewer); ok {
		options = append(options, RenewWith(r.Renew))
	}
	if w, ok := v.(Watcher); ok {
		options = append(options, WatchWith(w.Watch))
	}
	return NewLease(release, options...)
}
