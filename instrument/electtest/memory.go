package electtest

import (
	"context"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// Memory is a lock server in memory, with leases and fencing tokens. It is
// what the conformance suite is tried on, and a model for an adapter's own
// fake. It is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	token uint64
	locks map[string]*memoryLock
}

type memoryLock struct {
	owner  *memoryLease
	freed  chan struct{} // closed when the lock may be free
	expiry time.Time
}

// NewMemory makes a server without locks.
func NewMemory() *Memory { return &Memory{locks: map[string]*memoryLock{}} }

// Acquirer takes the lock under a lease of that length, which the holder
// renews three times per lease. It waits for its turn if waits.
func (m *Memory) Acquirer(lock string, lease time.Duration, waits bool) instrument.Acquirer {
	return instrument.AcquirerFunc(func(ctx context.Context) (instrument.Lease, error) {
		for {
			start := time.Now()
			l, freed, until := m.try(lock, lease, start)
			if l != nil {
				return l, nil
			}
			if !waits {
				return nil, instrument.ErrContended
			}
			timer := time.NewTimer(time.Until(until))
			select {
			case <-ctx.Done():
				timer.Stop()
				return nil, ctx.Err()
			case <-freed:
			case <-timer.C:
			}
			timer.Stop()
		}
	})
}

// Drop makes the server forget who holds the lock, as a restart without
// storage does.
func (m *Memory) Drop(lock string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free(m.locks[lock])
}

func (m *Memory) try(lock string, lease time.Duration, now time.Time) (instrument.Lease, <-chan struct{}, time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.locks[lock]
	if k == nil {
		k = &memoryLock{freed: make(chan struct{})}
		m.locks[lock] = k
	}
	if k.owner != nil && now.Before(k.expiry) {
		return nil, k.freed, k.expiry
	}
	m.token++
	l := &memoryLease{server: m, lock: k, length: lease, token: m.token, expiry: now.Add(lease)}
	k.owner, k.expiry = l, l.expiry
	return l, nil, time.Time{}
}

// free lets the waiting try again. The caller holds mu.
func (m *Memory) free(k *memoryLock) {
	k.owner = nil
	close(k.freed)
	k.freed = make(chan struct{})
}

type memoryLease struct {
	server *Memory
	lock   *memoryLock
	length time.Duration
	token  uint64

	expiry time.Time // guarded by server.mu
}

func (l *memoryLease) Release(context.Context) error {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	if l.lock.owner != l {
		return instrument.ErrSessionLost
	}
	l.server.free(l.lock)
	return nil
}

func (l *memoryLease) Expiry() time.Time {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	return l.expiry
}

func (l *memoryLease) FencingToken() (uint64, bool) { return l.token, true }

// Watch renews, since a lease that nobody renews runs out.
func (l *memoryLease) Watch(ctx context.Context, s instrument.Sink) {
	tick := time.NewTicker(l.length / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		expiry, ok := l.renew(time.Now())
		if !ok {
			s.Lost(instrument.ErrSessionLost)
			return
		}
		s.Renewed(expiry)
	}
}

func (l *memoryLease) renew(now time.Time) (time.Time, bool) {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	if l.lock.owner != l {
		return time.Time{}, false
	}
	l.expiry = now.Add(l.length)
	l.lock.expiry = l.expiry
	return l.expiry, true
}
