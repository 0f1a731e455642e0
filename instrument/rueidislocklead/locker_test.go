package rueidislocklead

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis/rueidislock"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	s   = time.Second
	way = 20 * time.Millisecond // of a request to the server, and of its answer
	// validity is for how long the library tries to release a lock.
	validity = 5 * s
)

// fault is what becomes of requests.
type fault uint8

const (
	none    fault = iota
	silent        // they are carried out, and the answer is lost
	deaf          // they do not arrive
	givesUp       // the library cancels them itself
)

// locker is one of rueidislock in memory. It looks at its context while it
// waits for its turn, and not while it waits for an answer.
type locker struct {
	rueidislock.Locker

	mu     sync.Mutex
	held   map[string]*lock
	fault  fault
	closed bool
	lives  []context.Context // of the locks that were asked for
}

type lock struct {
	context.Context
	cancel context.CancelFunc
}

func newLocker() *locker { return &locker{held: map[string]*lock{}} }

func (l *locker) breaks(f fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = f
}

// lose drops the lock behind its holder's back.
func (l *locker) lose(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held := l.held[name]; held != nil {
		held.cancel()
		delete(l.held, name)
	}
}

func (l *locker) holds(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[name] != nil
}

// close is Close, whose name the interface has.
func (l *locker) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for name, held := range l.held {
		held.cancel()
		delete(l.held, name)
	}
}

func (l *locker) TryWithContext(ctx context.Context, name string) (context.Context, context.CancelFunc, error) {
	held, err := l.try(ctx, name)
	if err != nil {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		return ended, cancel, err // as the library does
	}
	return held, func() { l.unlock(name, held) }, nil
}

func (l *locker) WithContext(ctx context.Context, name string) (context.Context, context.CancelFunc, error) {
	for {
		held, err := l.try(ctx, name)
		switch {
		case err == nil:
			return held, func() { l.unlock(name, held) }, nil
		case err == rueidislock.ErrLockerClosed:
			return nil, nil, err
		}
		timer := time.NewTimer(100 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, nil, ctx.Err()
		}
	}
}

func (l *locker) try(ctx context.Context, name string) (*lock, error) {
	l.mu.Lock()
	f, closed := l.fault, l.closed
	l.lives = append(l.lives, ctx)
	l.mu.Unlock()
	if closed {
		return nil, rueidislock.ErrLockerClosed
	}
	if f == givesUp {
		return nil, context.Canceled
	}
	time.Sleep(way)
	if f == deaf {
		time.Sleep(validity)
		return nil, context.DeadlineExceeded
	}
	held, err := l.take(ctx, name)
	if f == silent && err == nil {
		l.unlock(name, held)
		time.Sleep(validity)
		return nil, context.DeadlineExceeded
	}
	time.Sleep(way)
	return held, err
}

func (l *locker) take(ctx context.Context, name string) (*lock, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.held[name] != nil {
		return nil, fmt.Errorf("%w: key %s is held by others", rueidislock.ErrNotLocked, name)
	}
	held := &lock{}
	held.Context, held.cancel = context.WithCancel(ctx)
	l.held[name] = held
	context.AfterFunc(held, func() { l.drop(name, held) }) // its key is deleted
	return held, nil
}

func (l *locker) drop(name string, held *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[name] == held {
		delete(l.held, name)
	}
}

// unlock returns when the key is deleted, or its validity over.
func (l *locker) unlock(name string, held *lock) {
	held.cancel()
	l.mu.Lock()
	f := l.fault
	l.mu.Unlock()
	if f != none {
		time.Sleep(validity)
	} else {
		time.Sleep(way)
	}
	l.drop(name, held)
}
