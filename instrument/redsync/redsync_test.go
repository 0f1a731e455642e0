package redsync_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/classify"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
	"github.com/leaderscope/leaderscope/instrument/redsync"
)

const s = time.Second

var (
	errExpired = errors.New("lock was already expired")
	errSilent  = &redisError{context.DeadlineExceeded}
)

// redisError and taken are redsync.RedisError and redsync.ErrTaken.
type redisError struct{ err error }

func (e *redisError) Error() string { return "node #0: " + e.err.Error() }
func (e *redisError) Unwrap() error { return e.err }

type taken struct{}

func (*taken) Error() string { return "lock already taken" }

// mutex is a redsync.Mutex with a lease of 8 s: Until stays in the future after
// an unlock.
type mutex struct {
	until   time.Time
	tries   int
	extends answer
	unlocks answer
	locks   error
}

type answer struct {
	ok  bool
	err error
}

func (m *mutex) LockContext(context.Context) error    { return m.lock(100) }
func (m *mutex) TryLockContext(context.Context) error { return m.lock(1) }

func (m *mutex) lock(tries int) error {
	m.tries = tries
	if m.locks == nil {
		m.until = time.Now().Add(8 * s)
	}
	return m.locks
}

func (m *mutex) UnlockContext(context.Context) (bool, error) { return m.unlocks.ok, m.unlocks.err }

func (m *mutex) ExtendContext(context.Context) (bool, error) {
	if m.extends.ok {
		m.until = time.Now().Add(8 * s)
	}
	return m.extends.ok, m.extends.err
}

func (m *mutex) Until() time.Time { return m.until }

var options = []instrument.ElectionOption{instrument.Classify(classify.Redsync[*taken, *redisError](errExpired))}

// expiry is when a lease ends, in seconds of the virtual clock's Unix time.
func expiry(in time.Duration) float64 { return float64(time.Now().Add(in).UnixNano()) / 1e9 }

func TestMutexes(t *testing.T) {
	yes, no := answer{ok: true}, answer{}
	won := func(t *testing.T) electtest.Series {
		return expect.Fresh(t, options...).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1,
			"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
			"leader_lease_duration_seconds": 8, "leader_lease_overruns_total": 0,
			"leader_renewal_duration_seconds_count": 1, "leader_renewal_duration_seconds_sum": 0,
		})
	}
	ended := func(cause, released string) electtest.Series {
		return electtest.Series{
			`leader_terms_ended_total{cause="` + cause + `"}`: 1, `leader_releases_total{result="` + released + `"}`: 1,
			"leader_execution_duration_seconds_count": 1,
		}
	}
	for _, c := range []struct {
		name    string
		m       mutex
		renewed error // after 5 s
		release error // after 6 s
		want    electtest.Series
	}{
		{
			"the lease end is read at each success, and is gone after the unlock", mutex{extends: yes, unlocks: yes}, nil, nil,
			ended("released", "ok").With(electtest.Series{
				`leader_renewals_total{result="ok"}`: 1, "leader_execution_duration_seconds_sum": 6,
				"leader_lease_usage_ratio_count": 2, "leader_lease_usage_ratio_sum": 5.0/8 + 1.0/8,
			}),
		},
		{
			"an answer that says no without an error is a loss", mutex{extends: no, unlocks: no}, instrument.ErrSessionLost, instrument.ErrSessionLost,
			ended("lost", "not_owner").With(electtest.Series{`leader_renewals_total{result="lost"}`: 1, "leader_execution_duration_seconds_sum": 5}),
		},
		{
			"a lock that another took is a loss", mutex{extends: answer{err: &taken{}}, unlocks: answer{err: errExpired}}, &taken{}, errExpired,
			ended("lost", "not_owner").With(electtest.Series{`leader_renewals_total{result="lost"}`: 1, "leader_execution_duration_seconds_sum": 5}),
		},
		{
			"a server that does not answer is no loss", mutex{extends: answer{err: errSilent}, unlocks: answer{err: errSilent}}, errSilent, errSilent,
			ended("release_failed", "error").With(electtest.Series{
				`leader_renewals_total{result="timeout"}`: 1, "leader_execution_duration_seconds_sum": 6,
				"leader_lease_usage_ratio_count": 1, "leader_lease_usage_ratio_sum": 6.0 / 8,
			}),
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			term, err := m.Election(expect.Lock, options...).Acquire(t.Context(), redsync.New(&c.m))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * s)
			if err := term.Renew(t.Context()); !same(err, c.renewed) {
				t.Errorf("renew: %v", err)
			}
			time.Sleep(s)
			if err := term.Release(t.Context()); !same(err, c.release) {
				t.Errorf("release: %v", err)
			}
			expect.Whole(t, m, "after the release", won(t).With(c.want))
		})
	}
}

func same(got, want error) bool {
	if _, ok := want.(*taken); ok {
		_, ok = got.(*taken)
		return ok
	}
	return errors.Is(got, want)
}

func TestTheLeaseEndWhileTheLockIsHeld(t *testing.T) {
	expect.Bubble(t, "an extension moves it", func(t *testing.T) {
		m := expect.Middleware(t)
		term, err := m.Election(expect.Lock, options...).Acquire(t.Context(), redsync.New(&mutex{extends: answer{ok: true}, unlocks: answer{ok: true}}))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * s)
		if err := term.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(s)
		expect.Whole(t, m, "a second after the extension", expect.Fresh(t, options...).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
			"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
			"leader_lease_duration_seconds": 8, "leader_lease_overruns_total": 0, "leader_lease_headroom_seconds": 7,
			"leader_lease_expiry_timestamp_seconds": expiry(7 * s),
			"leader_lease_usage_ratio_count":        1, "leader_lease_usage_ratio_sum": 5.0 / 8,
			`leader_renewals_total{result="ok"}`:    1,
			"leader_renewal_duration_seconds_count": 1, "leader_renewal_duration_seconds_sum": 0,
		}))
	})
}

// The mutex of this package's tests writes its end without synchronization, as
// redsync's does. The race detector judges it.
func TestConcurrentRenewalsReadTheLeaseEndSafely(t *testing.T) {
	lease, err := redsync.New(&mutex{extends: answer{ok: true}}).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				if err := lease.(instrument.Renewer).Renew(t.Context()); err != nil {
					t.Error(err)
				}
				if end := lease.(instrument.Expirer).Expiry(); !end.After(time.Now()) {
					t.Errorf("the lease ended at %v", end)
				}
			}
		})
	}
	all.Wait()
}

// hanging is a mutex whose extension takes until its context ends.
type hanging struct {
	mutex
	asked chan struct{}
}

func (h *hanging) ExtendContext(ctx context.Context) (bool, error) {
	h.asked <- struct{}{}
	<-ctx.Done()
	return false, ctx.Err()
}

func TestAnExtensionThatHangsHoldsUpNeitherTheLeaseEndNorAnotherCaller(t *testing.T) {
	expect.Bubble(t, "an extension that hangs", func(t *testing.T) {
		m := &hanging{asked: make(chan struct{}, 1)}
		lease, err := redsync.New(m).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		hung := make(chan error)
		go func() { hung <- lease.(instrument.Renewer).Renew(ctx) }()
		<-m.asked
		if end := lease.(instrument.Expirer).Expiry(); time.Until(end) != 8*s {
			t.Errorf("the lease ends in %v, want 8 s", time.Until(end))
		}
		soon, stop := context.WithTimeout(t.Context(), s)
		defer stop()
		if err := lease.(instrument.Renewer).Renew(soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the other caller got %v, want its deadline", err)
		}
		cancel()
		if err := <-hung; !errors.Is(err, context.Canceled) {
			t.Errorf("the extension returned %v", err)
		}
	})
}

func TestAttempts(t *testing.T) {
	for _, c := range []struct {
		name   string
		make   func(redsync.ExtendableMutex) instrument.Acquirer
		locks  error
		tries  int
		reason string
	}{
		{"one try", redsync.NewTry, &taken{}, 1, "contended"},
		{"as many tries as the mutex has", redsync.New, &taken{}, 100, "contended"},
		{"one node is taken and another does not answer", redsync.NewTry, errors.Join(&taken{}, errSilent), 1, "backend_error"},
		{"an error that is not declared", redsync.NewTry, errors.New("failed to acquire lock"), 1, "unknown"},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			inner := &mutex{locks: c.locks}
			if _, err := m.Election(expect.Lock, options...).Acquire(t.Context(), c.make(inner)); err != c.locks {
				t.Errorf("the error became %v", err)
			}
			if inner.tries != c.tries {
				t.Errorf("%d tries, want %d", inner.tries, c.tries)
			}
			expect.Whole(t, m, "after the attempt", expect.Fresh(t, options...).With(electtest.Series{
				"leader_attempts_total": 1, `leader_not_acquired_total{reason="` + c.reason + `"}`: 1,
				"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
			}))
		})
	}
	t.Run("no mutex", func(t *testing.T) {
		for _, a := range []instrument.Acquirer{redsync.New(nil), redsync.NewTry(nil)} {
			if _, err := a.Acquire(t.Context()); err == nil {
				t.Error("won")
			}
		}
	})
}
