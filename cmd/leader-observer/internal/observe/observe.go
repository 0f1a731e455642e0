// Package observe keeps what is seen of the locks of one backend, and connects
// to the backend again when it is lost. What a backend is, and how it is looked
// at, does not belong here.
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
	// ForgetAfter is how long a lock whose record is gone keeps its series; 0:
	// for ever.
	ForgetAfter time.Duration
	Logger      *slog.Logger
}

// Health is whether a backend answers, of which there may be several watches:
// it is up while all of them are.
type Health struct {
	m    *instrument.Middleware
	name string

	mu    sync.Mutex
	parts map[*Backend]bool
}

// NewHealth is that of the backend of that name.
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

// Backend is one watch of a backend, and the locks that it sees. All but Reached
// and Name is for one goroutine, that of Run.
type Backend struct {
	health  *Health
	options Options
	locks   map[string]*Lock
	reached atomic.Bool
	again   bool // it was reached since the last attempt
}

// New makes a Backend, which is out of reach until Up is called.
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

// Lock finds or makes the lock of that name.
func (b *Backend) Lock(name string) *Lock {
	l := b.locks[name]
	if l == nil {
		l = &Lock{election: b.health.m.Named(name, instrument.WatchOnly(), instrument.Backend(b.health.name))}
		b.locks[name] = l
	}
	return l
}

// Sees records a look.
func (l *Lock) Sees(v instrument.BackendView) {
	l.gone = time.Time{}
	l.election.ObserveBackend(v)
}

// Gone records that the record is no more.
func (l *Lock) Gone(v instrument.BackendView) {
	if l.gone.IsZero() {
		l.gone = time.Now()
	}
	v.State = instrument.BackendVacant
	l.election.ObserveBackend(v)
}

// Sweep forgets the locks whose record has been gone for long enough, and
// returns their names.
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

// Run watches until ctx ends. watch returns when it has lost the backend: then
// nothing is known of its locks until the next look at each.
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

// lost has nothing known of any lock.
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

// Poll looks at once and then in each interval, until a look fails.
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

// patience is how long a look may take beyond its interval.
const patience = 5 * time.Second

// Believed is how long a look of a poll is believed: two may be missed.
func Believed(every time.Duration) time.Duration { return 3*every + patience }
