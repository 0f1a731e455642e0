package gocron

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// Lock is a lock that a Locker took. It is a gocron.Lock.
type Lock struct {
	term *instrument.Term
	next Unlocker
	left func() // says that the job does not run any more

	once   sync.Once
	done   chan struct{} // closed when the job has returned
	worked chan struct{} // closed when that is recorded

	mu     sync.Mutex
	failed error
}

// newLock starts to count the job as work of the term. gocron runs it
// elsewhere, and says that it has returned by giving the lock back.
func newLock(ctx context.Context, term *instrument.Term, next Unlocker) *Lock {
	l := &Lock{term: term, next: next, done: make(chan struct{}), worked: make(chan struct{})}
	started := make(chan struct{})
	go func() {
		defer close(l.worked)
		_ = term.Work(context.WithoutCancel(orBackground(ctx)), func(context.Context, *instrument.Term) error {
			close(started)
			<-l.done
			return l.outcome()
		})
	}()
	<-started
	return l
}

// Unlock gives the lock back.
func (l *Lock) Unlock(ctx context.Context) error {
	l.once.Do(func() {
		l.left()
		close(l.done)
	})
	<-l.worked
	return l.term.Release(ctx)
}

// Term is the term of this lock.
func (l *Lock) Term() *instrument.Term { return l.term }

// Unwrap is the lock of the wrapped locker.
func (l *Lock) Unwrap() any { return l.next }

// Format writes the label of the lock for every verb.
func (l *Lock) Format(f fmt.State, verb rune) { l.term.Format(f, verb) }

var errPanicked = errors.New("job panicked")

func (l *Lock) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
}

func (l *Lock) hasFailed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed != nil
}

// outcome is the job's error. That it panicked is shown by not returning.
func (l *Lock) outcome() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == errPanicked {
		runtime.Goexit()
	}
	return l.failed
}

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// leaseOf is a lease with the optional capabilities of a lock, which are asked
// where package instrument contains their panics.
func leaseOf(l Unlocker) instrument.Lease {
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
type lease struct{ lock Unlocker }

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

type renewer struct{ lock Unlocker }

func (r renewer) Renew(ctx context.Context) error { return r.lock.(instrument.Renewer).Renew(ctx) }

type watcher struct{ lock Unlocker }

func (w watcher) Watch(ctx context.Context, s instrument.Sink) {
	w.lock.(instrument.Watcher).Watch(ctx, s)
}
