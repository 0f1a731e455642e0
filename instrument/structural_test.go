package instrument_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// observed is the set of an election that holds without a lease, as one whose
// library renews where nobody can see it.
func observed(changes electtest.Series) electtest.Series {
	r := held(zero)
	for k := range r {
		if len(k) > 16 && k[:16] == "leader_renewals_" || len(k) > 23 && k[:23] == "leader_renewal_duration" {
			delete(r, k)
		}
	}
	return r.With(changes)
}

// extendable is a redsync.Mutex: Until stays in the future after an unlock.
type extendable struct {
	until          time.Time
	extend, unlock bool
	err            error
}

func (m *extendable) LockContext(context.Context) error {
	m.until = time.Now().Add(8 * s)
	return m.err
}
func (m *extendable) TryLockContext(ctx context.Context) error { return m.LockContext(ctx) }

func (m *extendable) UnlockContext(context.Context) (bool, error) { return m.unlock, nil }

func (m *extendable) ExtendContext(context.Context) (bool, error) {
	m.until = time.Now().Add(8 * s)
	return m.extend, nil
}
func (m *extendable) Until() time.Time { return m.until }

func TestRedsyncMutex(t *testing.T) {
	bubble(t, "the lease end is read at acquire and extend, and is gone after the unlock", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x")
		term := acquire(t, e, instrument.RedsyncMutex(&extendable{extend: true, unlock: true}))
		time.Sleep(5 * s)
		if err := term.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1 * s)
		if got := electtest.Read(m, "x")["leader_lease_headroom_seconds"]; got != 7 {
			t.Errorf("headroom %v", got)
		}
		release(t, term)
		if _, there := electtest.Read(m, "x")["leader_lease_headroom_seconds"]; there {
			t.Error("headroom after the unlock")
		}
	})
	bubble(t, "an answer that says no without an error is a loss", func(t *testing.T) {
		m := newMiddleware(t)
		term := acquire(t, m.Election("x"), instrument.RedsyncTryMutex(&extendable{}))
		if err := term.Renew(t.Context()); !errors.Is(err, instrument.ErrSessionLost) {
			t.Errorf("renew: %v", err)
		}
		if err := term.Release(t.Context()); !errors.Is(err, instrument.ErrSessionLost) {
			t.Errorf("release: %v", err)
		}
		r := electtest.Read(m, "x")
		if r[`leader_renewals_total{result="lost"}`] != 1 || r[`leader_terms_ended_total{cause="lost"}`] != 1 || r[`leader_releases_total{result="not_owner"}`] != 1 {
			t.Errorf("%v", r)
		}
	})
}

func TestContextLock(t *testing.T) {
	held := func(ctx context.Context, _ string) (context.Context, context.CancelFunc, error) {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel, nil
	}
	bubble(t, "the caller's context bounds the acquisition and not the lock", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		lease, err := instrument.ContextLock(held, "x").Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		synctest.Wait()
		select {
		case <-lease.(instrument.LossNotifier).Lost():
			t.Error("the lock went with the acquisition's context")
		default:
		}
		releaseLease(t, lease)
	})
	bubble(t, "a caller that gives up gets its own error and no lock", func(t *testing.T) {
		waits := func(ctx context.Context, _ string) (context.Context, context.CancelFunc, error) {
			<-ctx.Done()
			return nil, nil, ctx.Err() // nil context and nil cancel, as rueidislock
		}
		ctx, cancel := context.WithTimeout(t.Context(), s)
		defer cancel()
		if _, err := instrument.ContextLock(waits, "x").Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		var won context.Context
		late := func(ctx context.Context, name string) (context.Context, context.CancelFunc, error) {
			<-ctx.Done()
			ctx, cancel, err := held(context.WithoutCancel(ctx), name)
			won = ctx
			return ctx, cancel, err
		}
		if _, err := instrument.ContextLock(late, "x").Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) || won.Err() == nil {
			t.Errorf("got %v, lock given back: %v", err, won.Err() != nil)
		}
	})
	bubble(t, "a release is no loss and a loss is no release", func(t *testing.T) {
		var lose context.CancelFunc
		lock := func(ctx context.Context, name string) (context.Context, context.CancelFunc, error) {
			ctx, cancel, err := held(ctx, name)
			lose = cancel
			return ctx, cancel, err
		}
		m := newMiddleware(t)
		e := m.Election("x")
		release(t, acquire(t, e, instrument.ContextLock(lock, "x")))
		term := acquire(t, e, instrument.ContextLock(lock, "x"))
		lose()
		synctest.Wait()
		_ = term.Release(t.Context())
		r := electtest.Read(m, "x")
		if r[`leader_terms_ended_total{cause="released"}`] != 1 || r[`leader_terms_ended_total{cause="lost"}`] != 1 {
			t.Errorf("%v", r)
		}
	})
}

type leads struct{ err error }

func (l *leads) IsLeader(context.Context) error { return l.err }

func TestCheckerObservesAnswersAndPassesThemThrough(t *testing.T) {
	down := errors.New("connection refused")
	synctest.Test(t, func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold(), instrument.HiddenRenewals(), instrument.Classify(func(err error) (instrument.Reason, bool) {
			return instrument.BackendError, err == down
		}))
		next := &leads{errors.New("not leader")}
		checker := instrument.Checker(e, next)
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		for _, step := range []struct {
			ctx    context.Context
			err    error
			active float64
		}{
			{t.Context(), next.err, 0},
			{t.Context(), nil, 1},
			{t.Context(), down, 1},             // says nothing
			{canceled, context.Canceled, 1},    // nor does this
			{t.Context(), errors.New("no"), 0}, // gocron's contract: not the leader
		} {
			next.err = step.err
			if err := checker.IsLeader(step.ctx); err != step.err {
				t.Errorf("answer %v became %v", step.err, err)
			}
			if got := electtest.Read(m, "x")["leader_active"]; got != step.active {
				t.Errorf("after %v: active %v", step.err, got)
			}
		}
	})
}

// locker is gocron's Locker and Lock, as far as they matter.
type lock interface{ Unlock(context.Context) error }

type locker struct {
	l   lock
	err error
}

func (k locker) Lock(context.Context, string) (lock, error) {
	if k.l == nil && k.err == nil {
		panic("a locker's own")
	}
	return k.l, k.err
}

type fencedLock struct{ unlocked atomic.Int32 }

func (l *fencedLock) Unlock(context.Context) error { l.unlocked.Add(1); return nil }
func (*fencedLock) FencingToken() (uint64, bool)   { return 7, true }

func TestKeyedLocker(t *testing.T) {
	bubble(t, "each key is a lock of its own, with what its lease can", func(t *testing.T) {
		m := newMiddleware(t)
		calls := 0
		inner := &fencedLock{}
		k := instrument.WrapKeyed(func(key string) *instrument.Election { calls++; return m.Election(key) }, locker{l: inner})
		for range 2 {
			l, err := k.Lock(t.Context(), "x")
			if err != nil {
				t.Fatal(err)
			}
			if r := electtest.Read(m, "x"); r["leader_active"] != 1 || r["leader_fencing_token"] != 7 {
				t.Errorf("%v", r)
			}
			if err := l.Unlock(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if calls != 1 || inner.unlocked.Load() != 2 {
			t.Errorf("%d handles of one key, %d unlocks", calls, inner.unlocked.Load())
		}
	})
	bubble(t, "an error comes back untouched, with what came beside it", func(t *testing.T) {
		m := newMiddleware(t)
		beside := &fencedLock{}
		k := instrument.WrapKeyed(func(key string) *instrument.Election { return m.Election(key) }, locker{l: beside, err: instrument.ErrContended})
		if l, err := k.Lock(t.Context(), "x"); l != beside || err != instrument.ErrContended {
			t.Errorf("got %v, %v", l, err)
		}
		if r := electtest.Read(m, "x"); r[`leader_not_acquired_total{reason="contended"}`] != 1 || beside.unlocked.Load() != 0 {
			t.Errorf("%v", r)
		}
	})
	bubble(t, "a panic passes and is counted", func(t *testing.T) {
		m := newMiddleware(t)
		k := instrument.WrapKeyed(func(key string) *instrument.Election { return m.Election(key) }, locker{})
		func() {
			defer func() {
				if v := recover(); v != "a locker's own" {
					t.Errorf("recovered %v", v)
				}
			}()
			_, _ = k.Lock(t.Context(), "x")
		}()
		if r := electtest.Read(m, "x"); r[`leader_not_acquired_total{reason="panic"}`] != 1 {
			t.Errorf("%v", r)
		}
	})
	t.Run("a lock type that asks for more is refused at construction", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("it was taken")
			}
		}()
		instrument.WrapKeyed(nil, richLocker{})
	})
}

type richLocker struct{}

func (richLocker) Lock(context.Context, string) (*fencedLock, error) { return nil, nil }

func TestRunnable(t *testing.T) {
	bubble(t, "the term lasts as long as the manager leads, and the work is measured", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold(), instrument.HiddenRenewals())
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		r := instrument.Runnable(e, func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(3 * s) // the work does not stop at once
			return nil
		})
		go func() { done <- r.Start(ctx) }()
		time.Sleep(10 * s)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		check(t, m, "after the stop", observed(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
			`leader_terms_ended_total{cause="canceled"}`:     1,
			"leader_execution_duration_seconds_count":        1,
			"leader_execution_duration_seconds_sum":          13,
			"leader_work_after_loss_seconds_total":           3,
			`leader_execution_failures_total{cause="error"}`: 0,
		}))
	})
	bubble(t, "work that is done does not end the leadership", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold(), instrument.HiddenRenewals())
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		if err := instrument.Runnable(e, func(context.Context) error { return nil }).Start(ctx); err != nil {
			t.Error(err)
		}
		if r := electtest.Read(m, "x"); r["leader_active"] != 1 || r["leader_running"] != 0 {
			t.Errorf("%v", r)
		}
	})
	bubble(t, "an error of the work comes back, and the manager stops on it", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold(), instrument.HiddenRenewals())
		if err := instrument.Runnable(e, func(context.Context) error { return errBackend }).Start(t.Context()); err != errBackend {
			t.Error(err)
		}
		if r := electtest.Read(m, "x"); r["leader_active"] != 0 || r[`leader_execution_failures_total{cause="error"}`] != 1 {
			t.Errorf("%v", r)
		}
	})
}

// candidate is a bluetape-style elector.
type candidate struct {
	leads atomic.Bool
	err   error
}

func (c *candidate) Campaign(context.Context) error { c.leads.Store(c.err == nil); return c.err }
func (c *candidate) Resign(context.Context) error   { c.leads.Store(false); return nil }
func (c *candidate) IsLeader() bool                 { return c.leads.Load() }

func (c *candidate) Leader(context.Context) (string, error) { return "replica-1", nil }

func TestCampaigner(t *testing.T) {
	start := func(t *testing.T, poll time.Duration) (*instrument.Middleware, *candidate, *instrument.LeaderCampaigner) {
		m := newMiddleware(t)
		next := &candidate{}
		c := instrument.Campaigner(m.Election("x", instrument.Hold(), instrument.HiddenRenewals()), next, poll)
		if err := c.Campaign(t.Context()); err != nil {
			t.Fatal(err)
		}
		return m, next, c
	}
	bubble(t, "a resignation ends the term", func(t *testing.T) {
		m, _, c := start(t, s)
		if err := c.Resign(t.Context()); err != nil {
			t.Error(err)
		}
		if err := c.Resign(t.Context()); err != nil { // idempotent, as the elector's
			t.Error(err)
		}
		check(t, m, "after", observed(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
			`leader_terms_ended_total{cause="released"}`: 1, `leader_releases_total{result="ok"}`: 1,
			"leader_execution_duration_seconds_count": 1,
		}))
	})
	bubble(t, "a loss shows at the next poll", func(t *testing.T) {
		m, next, _ := start(t, s)
		next.leads.Store(false)
		time.Sleep(s)
		synctest.Wait()
		if r := electtest.Read(m, "x"); r[`leader_terms_ended_total{cause="lost"}`] != 1 {
			t.Errorf("%v", r)
		}
	})
	bubble(t, "without a poll a loss shows when the application asks", func(t *testing.T) {
		m, next, c := start(t, 0)
		next.leads.Store(false)
		if c.IsLeader() {
			t.Error("it leads")
		}
		if r := electtest.Read(m, "x"); r[`leader_terms_ended_total{cause="lost"}`] != 1 {
			t.Errorf("%v", r)
		}
	})
	bubble(t, "a campaign of a leader is no second term", func(t *testing.T) {
		m, _, c := start(t, s)
		if err := c.Campaign(t.Context()); err != nil {
			t.Error(err)
		}
		if r := electtest.Read(m, "x"); r["leader_active"] != 1 || r[`leader_not_acquired_total{reason="already_held"}`] != 1 {
			t.Errorf("%v", r)
		}
		_ = c.Resign(t.Context())
	})
	bubble(t, "a failed campaign comes back untouched", func(t *testing.T) {
		m := newMiddleware(t)
		c := instrument.Campaigner(m.Election("x"), &candidate{err: errBackend}, 0)
		if err := c.Campaign(t.Context()); err != errBackend {
			t.Error(err)
		}
		if r := electtest.Read(m, "x"); r[`leader_not_acquired_total{reason="backend_error"}`] != 1 {
			t.Errorf("%v", r)
		}
	})
}

func TestPollObservesUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMiddleware(t)
		ctx, stop := context.WithCancel(t.Context())
		looks := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			instrument.Poll(ctx, m.Election("x", instrument.Hold()), 5*s, func(ctx context.Context) instrument.Observation {
				looks++
				if looks == 2 {
					<-ctx.Done() // hangs
					return instrument.Observation{Err: ctx.Err()}
				}
				return instrument.Observation{Leading: true, Expiry: time.Now().Add(15 * s)}
			})
		}()
		time.Sleep(11 * s)
		r := electtest.Read(m, "x")
		if r["leader_active"] != 1 || r[`leader_renewals_total{result="timeout"}`] != 1 || r[`leader_renewals_total{result="ok"}`] != 1 {
			t.Errorf("after three looks: %v", r)
		}
		stop()
		<-done
		if looks != 3 {
			t.Errorf("%d looks", looks)
		}
	})
}

func TestFollowRiver(t *testing.T) {
	bubble(t, "the row is followed through renewal, failure, a new term and a loss", func(t *testing.T) {
		looks := []struct {
			leader, elected string
			left            float64
			err             error
		}{
			{"", "", 0, nil}, // nobody leads
			{"me", "10:00", 15, nil},
			{"me", "10:00", 15, nil},
			{err: errBackend},        // unknown is not lost
			{"me", "10:20", 15, nil}, // elected anew
			{"me", "10:20", -1, nil}, // ran out and nobody took over
			{"other", "10:30", 15, nil},
		}
		db := newSessions()
		db.row = func() ([]driver.Value, error) {
			look := looks[0]
			looks = looks[1:]
			if look.leader == "" {
				return nil, look.err
			}
			return []driver.Value{look.leader, look.elected, look.left}, look.err
		}
		pool := db.database(t)
		m := newMiddleware(t)
		ctx, stop := context.WithTimeout(t.Context(), 31*s)
		defer stop()
		var active []float64
		read := make(chan struct{})
		go func() {
			defer close(read)
			for range 7 {
				time.Sleep(2 * s)
				active = append(active, electtest.Read(m, "x")["leader_active"])
				time.Sleep(3 * s)
			}
		}()
		instrument.FollowRiver(ctx, m.Election("x", instrument.Hold()), pool, "me", 5*s)
		<-read
		if diff := cmp.Diff([]float64{0, 1, 1, 1, 1, 0, 0}, active); diff != "" {
			t.Errorf("active (-want +got):\n%s", diff)
		}
		r := electtest.Read(m, "x")
		if r["leader_acquired_total"] != 2 || r[`leader_terms_ended_total{cause="lost"}`] != 2 ||
			r[`leader_renewals_total{result="ok"}`] != 1 || r[`leader_renewals_total{result="error"}`] != 1 {
			t.Errorf("%v", r)
		}
		if _, there := r["leader_fencing_token"]; there {
			t.Error("river has no token")
		}
	})
}
