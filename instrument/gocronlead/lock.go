package gocronlead

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/leaderscope/leaderscope/instrument"
)

// lock is a lock that a JobLocker took, while its job runs.
type lock struct {
	term  *instrument.Term
	run   *run
	leave func() // says that the job no longer runs
	once  sync.Once
}

// Unlock releases the lock. gocron calls it when the job has returned.
func (l *lock) Unlock(ctx context.Context) error {
	l.once.Do(func() {
		l.leave()
		l.run.end()
	})
	return l.term.Release(ctx)
}

// Format writes the label of the lock for every verb.
func (l *lock) Format(f fmt.State, verb rune) { l.term.Format(f, verb) }

// leaseOf is a lease with the optional capabilities of a lock, which are asked
// where package instrument contains their panics.
func leaseOf(l gocron.Lock) instrument.Lease {
	plain := lease{l}
	_, renews := l.(instrument.Renewer)
	_, watches := l.(instrument.Watcher)
	switch {
	case renews && watches:
		return struct {
			lease
			renewer
			watcher
		}{plain, renewer{l}, watcher{l}}
	case renews:
		return struct {
			lease
			renewer
		}{plain, renewer{l}}
	case watches:
		return struct {
			lease
			watcher
		}{plain, watcher{l}}
	default:
		return plain
	}
}

// lease has the capabilities whose absence costs nothing.
type lease struct{ lock gocron.Lock }

func (l lease) Release(ctx context.Context) error { return l.lock.Unlock(ctx) }

func (l lease) Expiry() (end time.Time) {
	if x, ok := l.lock.(instrument.Expirer); ok {
		end = x.Expiry()
	}
	return end
}

func (l lease) LeaseDuration() (length time.Duration) {
	if g, ok := l.lock.(instrument.Granter); ok {
		length = g.LeaseDuration()
	}
	return length
}

func (l lease) Lost() (lost <-chan struct{}) {
	if n, ok := l.lock.(instrument.LossNotifier); ok {
		lost = n.Lost()
	}
	return lost
}

func (l lease) FencingToken() (token uint64, ok bool) {
	if f, fences := l.lock.(instrument.Fencer); fences {
		token, ok = f.FencingToken()
	}
	return token, ok
}

type renewer struct{ lock gocron.Lock }

func (r renewer) Renew(ctx context.Context) error { return r.lock.(instrument.Renewer).Renew(ctx) }

type watcher struct{ lock gocron.Lock }

func (w watcher) Watch(ctx context.Context, s instrument.Sink) {
	w.lock.(instrument.Watcher).Watch(ctx, s)
}
