package zklock

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
)

// borrowed locks a lock of the program.
type borrowed struct {
	reasons
	conn    client
	session *Session
	lock    interface {
		Lock() error
		Unlock() error
	}
	path string

	unlocking sync.Mutex
	mu        sync.Mutex
	held      bool         // Lock has succeeded, and Unlock has not
	locking   bool         // run runs
	waiting   []chan error // for a result of Lock; the first gets it
}

// Format writes what it is for every verb, and keeps the name of the lock from
// code that prints it.
func (*borrowed) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "ZooKeeper lock") }

func (b *borrowed) Acquire(ctx context.Context) (instrument.Lease, error) {
	if b.session == nil {
		return nil, errMissing
	}
	ctx = orBackground(ctx)
	ended := b.session.end()
	if err := b.locked(ctx); err != nil {
		return nil, err
	}
	g := &givingBack{lock: b, ended: ended}
	l, err, returned := detached(ctx, func() (*lease, error) { return b.readRecord(ended) }, func(*lease) { _ = g.unlock() })
	if !returned || err != nil {
		if returned {
			go func() { _ = g.unlock() }() // and not hold what cannot be watched
		}
		return nil, fmt.Errorf("zklock: %w", err)
	}
	return l.lease(g.release), nil
}

func (b *borrowed) readRecord(ended <-chan struct{}) (*lease, error) {
	node, err := lowest(b.conn, b.path)
	if err != nil {
		return nil, err
	}
	return watched(b.conn, b.session, ended, node)
}

// locked returns when the lock is ours. A call of Lock that runs already, since
// its caller gave up, is waited for like one's own.
func (b *borrowed) locked(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("zklock: %w", context.Cause(ctx))
	}
	result := make(chan error, 1)
	b.mu.Lock()
	b.waiting = append(b.waiting, result)
	if !b.locking {
		b.locking = true
		go b.run()
	}
	b.mu.Unlock()
	select {
	case err := <-result:
		return answered(err)
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case err := <-result: // in the same instant
		return answered(err)
	default:
	}
	b.waiting = slices.DeleteFunc(b.waiting, func(w chan error) bool { return w == result })
	return fmt.Errorf("zklock: %w", context.Cause(ctx))
}

// run locks for each that waits, and gives back what no caller waits for.
func (b *borrowed) run() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.waiting) > 0 {
		err := zk.ErrDeadlock // of the library, whose lock is used by one goroutine
		if !b.held {
			b.mu.Unlock()
			err = b.lockOnce()
			b.mu.Lock()
			b.held = err == nil
		}
		switch {
		case len(b.waiting) > 0:
			b.waiting[0] <- err
			b.waiting = b.waiting[1:]
		case err == nil:
			g := &givingBack{lock: b, ended: b.session.end()}
			b.mu.Unlock()
			_ = g.unlock()
			b.mu.Lock()
		}
	}
	b.locking = false
}

// panicked is a panic of the library, on its way to the caller.
type panicked struct{ value any }

func (panicked) Error() string { return "zklock: the lock has panicked" }

func (b *borrowed) lockOnce() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked{p}
		}
	}()
	return b.lock.Lock()
}

func answered(err error) error {
	if p, ok := err.(panicked); ok {
		panic(p.value)
	}
	return err
}

func (b *borrowed) unlock() error {
	b.unlocking.Lock()
	defer b.unlocking.Unlock()
	err := b.lock.Unlock()
	if err == nil {
		b.mu.Lock()
		b.held = false
		b.mu.Unlock()
	}
	return err
}

// givingBack is the end of one term.
type givingBack struct {
	lock  *borrowed
	ended <-chan struct{} // the session
	given atomic.Bool
	again sync.Once
}

func (g *givingBack) release(ctx context.Context) error { return released(ctx, g.unlock, func() {}) }

// unlock unlocks, and again in the background until the server has answered.
func (g *givingBack) unlock() error {
	if g.given.Load() {
		return nil
	}
	err := g.once()
	if unreachable(err) {
		g.again.Do(func() { go untilAnswered(g.ended, g.once) })
	}
	return err
}

func (g *givingBack) once() error {
	err := g.lock.unlock()
	if err == nil {
		g.given.Store(true)
	}
	return err
}
