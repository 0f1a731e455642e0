package electtest

import (
	"context"
	"sync"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// Memory is an in-memory lock server with leases and fencing tokens. The
// conformance suites are tested with it, and it is a model for an adapter's own
// fake. It can run in a bubble of testing/synctest. It is safe for concurrent
// use.
type Memory struct {
	mu    sync.Mutex
	token uint64
	locks map[string]*memoryLock
}

type memoryLock struct {
	owner  *memoryLease
	freed  chan struct{} // closed when the lock may be free
	expiry time.Time     // zero: never
}

// NewMemory makes a server without locks.
func NewMemory() *Memory { return &Memory{locks: map[string]*memoryLock{}} }

// Acquirer acquires the lock with a lease of that length, which the holder renews
// three times per lease. If waits is set, it waits for the lock.
func (m *Memory) Acquirer(lock string, lease time.Duration, waits bool) instrument.Acquirer {
	return instrument.AcquirerFunc(func(ctx context.Context) (instrument.Lease, error) {
		for {
			l, freed, timeLeft := m.take(lock, lease)
			switch {
			case l != nil:
				return l, nil
			case !waits:
				return nil, instrument.ErrContended
			}
			if err := waitFor(ctx, freed, timeLeft); err != nil {
				return nil, err
			}
		}
	})
}

// waitFor returns when the lock may be free. A lock without a lease is free
// when it is freed.
func waitFor(ctx context.Context, freed <-chan struct{}, timeLeft time.Duration) error {
	var ends <-chan time.Time
	if timeLeft > 0 {
		ends = time.After(timeLeft)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-freed:
	case <-ends:
	}
	return nil
}

// Drop makes the server forget the holder of the lock, as a restart without
// storage does.
func (m *Memory) Drop(lock string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.locks[lock]; k != nil {
		k.free()
	}
}

// Remaining returns the remaining lease, and whether the lock is held.
func (m *Memory) Remaining(lock string) (timeLeft time.Duration, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.locks[lock]
	if k == nil || !k.held() {
		return 0, false
	}
	return k.timeLeft(), true
}

// take wins the lock, or returns what to wait for: that the lock is freed, or
// that the time passes that is left of its lease, if it has one.
func (m *Memory) take(lock string, lease time.Duration) (l *memoryLease, freed <-chan struct{}, timeLeft time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.locks[lock]
	if k == nil {
		k = &memoryLock{freed: make(chan struct{})}
		m.locks[lock] = k
	}
	if k.held() {
		return nil, k.freed, k.timeLeft()
	}
	m.token++
	l = &memoryLease{server: m, lock: k, length: lease, token: m.token}
	k.owner = l
	l.extend()
	return l, nil, 0
}

func (k *memoryLock) held() bool {
	return k.owner != nil && (k.expiry.IsZero() || time.Now().Before(k.expiry))
}

func (k *memoryLock) timeLeft() time.Duration {
	if k.expiry.IsZero() {
		return 0
	}
	return time.Until(k.expiry)
}

// free lets those that wait try again.
func (k *memoryLock) free() {
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

// extend makes the lease begin now. The caller holds the mutex.
func (l *memoryLease) extend() {
	if l.length > 0 {
		l.expiry = time.Now().Add(l.length)
	}
	l.lock.expiry = l.expiry
}

func (l *memoryLease) Release(context.Context) error {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	if l.lock.owner != l {
		return instrument.ErrSessionLost
	}
	l.lock.free()
	return nil
}

func (l *memoryLease) Expiry() time.Time {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	return l.expiry
}

func (l *memoryLease) FencingToken() (uint64, bool) { return l.token, true }

// Watch renews, since a lease that is not renewed expires.
func (l *memoryLease) Watch(ctx context.Context, s instrument.Sink) {
	if l.length <= 0 {
		<-ctx.Done()
		return
	}
	tick := time.Tick(l.length / 3)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		sent := time.Now()
		if !l.renew() {
			s.Lost(instrument.ErrSessionLost)
			return
		}
		s.Renewed(instrument.Renewal{Sent: sent, Expiry: sent.Add(l.length)})
	}
}

// renew makes the lease begin again, if it is still the holder's.
func (l *memoryLease) renew() bool {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	if l.lock.owner != l {
		return false
	}
	l.extend()
	return true
}
