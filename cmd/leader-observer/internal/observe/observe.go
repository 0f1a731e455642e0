// Package observe keeps the state of the locks of one backend, and reconnects when
// the backend is lost. How a particular backend is read does not belong here.
package observe

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
)

// The time between two attempts to reach a backend grows from the first to the
// second.
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// Options configure a Backend.
type Options struct {
	// ForgetAfter is how long a lock whose record is gone keeps its series; 0 keeps
	// them forever.
	ForgetAfter time.Duration
	Logger      *slog.Logger
}

// Health says whether a backend answers. A backend may have several watches, and is
// up while all of them are.
type Health struct {
	m    *instrument.Middleware
	name string

	mu    sync.Mutex
	parts map[*Backend]bool
}

// NewHealth returns the health of the named backend.
func NewHealth(m *instrument.Middleware, name string) *Health {
	return &Health{m: m, name: name, parts: map[*Backend]bool{}}
}

func (h *Health) set(b *Backend, up bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.parts[b] = up
	for _, other := range h.parts {
		up = up && other
	}
	if up {
		h.m.BackendReachable(h.name)
	} else {
		h.m.BackendUnreachable(h.name)
	}
}

// Backend is one watch of a backend, with its locks. Only the goroutine of Run may
// call its methods, except Reached and Name.
type Backend struct {
	health  *Health
	options Options
	locks   map[string]*Lock
	reached atomic.Bool
	again   bool // it was reached since the last attempt
}

// New returns a Backend, which is down until Up is called.
func New(h *Health, o Options) *Backend {
	b := &Backend{health: h, options: o, locks: map[string]*Lock{}}
	h.set(b, false)
	return b
}

// Lock is one lock of the backend.
type Lock struct {
	election *instrument.Election
	gone     time.Time // when its record went; zero while there is one
}

// Lock returns the lock of that name, and creates it if necessary.
func (b *Backend) Lock(name string) *Lock {
	l := b.locks[name]
	if l == nil {
		l = &Lock{election: b.health.m.Named(name, instrument.WatchOnly(), instrument.Backend(b.health.name))}
		b.locks[name] = l
	}
	return l
}

// Sees records what the backend reports of the lock.
func (l *Lock) Sees(v instrument.BackendView) {
	l.gone = time.Time{}
	l.election.ObserveBackend(v)
}

// Gone records that the backend has no record of the lock any longer.
func (l *Lock) Gone(v instrument.BackendView) {
	if l.gone.IsZero() {
		l.gone = time.Now()
	}
	v.State = instrument.BackendVacant
	l.election.ObserveBackend(v)
}

// Sweep removes the locks whose record has been gone for ForgetAfter, and returns
// their names.
func (b *Backend) Sweep() (forgotten []string) {
	for name, l := range b.locks {
		if b.options.ForgetAfter > 0 && !l.gone.IsZero() && time.Since(l.gone) >= b.options.ForgetAfter {
			l.election.Forget()
			delete(b.locks, name)
			forgotten = append(forgotten, name)
		}
	}
	return forgotten
}

// Up records that the backend answers.
func (b *Backend) Up() {
	b.again = true
	b.reached.Store(true)
	b.health.set(b, true)
}

// Reached reports whether the backend has ever answered. It is safe for
// concurrent use.
func (b *Backend) Reached() bool { return b.reached.Load() }

// Name is the backend label.
func (b *Backend) Name() string { return b.health.name }

// Run watches until ctx ends. watch returns when it has lost the backend; the state
// of each lock is then unknown until it is read again.
func (b *Backend) Run(ctx context.Context, watch func(context.Context) error) {
	for wait := firstRetry; ; {
		b.again = false
		err := watch(ctx)
		if ctx.Err() != nil {
			return
		}
		b.lost()
		if b.again {
			wait = firstRetry
		}
		b.options.Logger.Warn("backend lost", "backend", b.Name(), "error", err, "retry_in", wait)
		if !sleep(ctx, wait/2+rand.N(wait/2)) {
			return
		}
		wait = min(2*wait, lastRetry)
	}
}

// lost marks the state of all locks as unknown.
func (b *Backend) lost() {
	b.health.set(b, false)
	for _, l := range b.locks {
		l.election.ObserveBackend(instrument.BackendView{})
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Poll reads at once and then in each interval, until a read fails.
func Poll(ctx context.Context, every time.Duration, look func(context.Context) error) error {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		asking, cancel := context.WithTimeout(ctx, every+patience)
		err := look(asking)
		cancel()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
		}
	}
}

// patience is how long a read may take beyond its interval.
const patience = 5 * time.Second

// Believed is how long the result of a poll is valid: two polls may fail.
func Believed(every time.Duration) time.Duration { return 3*every + patience }
