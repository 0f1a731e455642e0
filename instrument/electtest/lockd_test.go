package electtest_test

import (
	"context"
	"errors"
	"sync"
	"time"
)

// lockd is the client of a lock server that does not exist, shaped like those
// that do: it waits for the lock, renews it in the background, and tells of
// both by channels. The adapter in adaptertemplate_test.go is for it.
type lockd struct {
	mu    sync.Mutex
	locks map[string]*grant
	freed map[string]chan struct{} // closed when the lock may be free
	last  uint64
}

var (
	errLocked  = errors.New("lockd: locked")
	errNotHeld = errors.New("lockd: not held")
)

// grant is a lock that is held.
type grant struct {
	server   *lockd
	name     string
	Number   uint64 // grows with each grant
	Sent     time.Time
	ends     time.Time     // guarded by the server's mu
	Renewals chan renewal  // closed with Done
	Done     chan struct{} // closed when the lock is gone, also by Unlock
}

// renewal is one attempt to renew.
type renewal struct {
	Sent time.Time
	Err  error
}

func newLockd() *lockd { return &lockd{locks: map[string]*grant{}, freed: map[string]chan struct{}{}} }

// Lock waits for the lock if wait, else it returns errLocked.
func (s *lockd) Lock(ctx context.Context, name string, ttl time.Duration, wait bool) (*grant, error) {
	for {
		sent := time.Now()
		g, freed := s.try(name, sent, ttl)
		switch {
		case g != nil:
			go g.renew(ttl)
			return g, nil
		case !wait:
			return nil, errLocked
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-freed:
		}
	}
}

func (s *lockd) try(name string, sent time.Time, ttl time.Duration) (*grant, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locks[name] != nil {
		return nil, s.freed[name]
	}
	s.freed[name] = make(chan struct{})
	s.last++
	g := &grant{server: s, name: name, Number: s.last, Sent: sent, ends: sent.Add(ttl), Renewals: make(chan renewal, 1), Done: make(chan struct{})}
	s.locks[name] = g
	return g, nil
}

// Unlock releases the lock.
func (g *grant) Unlock(context.Context) error {
	if !g.server.drop(g.name, g) {
		return errNotHeld
	}
	return nil
}

// drop takes the lock from g, or from its holder if g is nil.
func (s *lockd) drop(name string, g *grant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	holder := s.locks[name]
	if holder == nil || g != nil && holder != g {
		return false
	}
	delete(s.locks, name)
	close(holder.Done)
	close(s.freed[name])
	return true
}

func (g *grant) renew(ttl time.Duration) {
	defer close(g.Renewals)
	tick := time.NewTicker(ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-g.Done:
			return
		case now := <-tick.C:
			g.server.extend(g, now.Add(ttl))
			select {
			case g.Renewals <- renewal{Sent: now}:
			default: // no reader
			}
		}
	}
}

func (s *lockd) extend(g *grant, end time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g.ends = end
}

// remaining is what is left of the lease of a lock that is held.
func (s *lockd) remaining(name string) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.locks[name]
	if g == nil {
		return 0, false
	}
	return time.Until(g.ends), true
}
