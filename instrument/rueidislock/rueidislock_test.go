package rueidislock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
	"github.com/leaderscope/leaderscope/instrument/rueidislock"
)

const s = time.Second

var (
	errNotLocked = errors.New("not locked")
	options      = []instrument.ElectionOption{instrument.HiddenRenewals()}
)

// free is a lock that nobody holds.
func free(ctx context.Context, _ string) (context.Context, context.CancelFunc, error) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, cancel, nil
}

// held waits until its caller gives up, and answers as rueidislock does.
func held(ctx context.Context, _ string) (context.Context, context.CancelFunc, error) {
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

func TestAttempts(t *testing.T) {
	for _, c := range []struct {
		name   string
		lock   rueidislock.Lock
		caller func(context.Context) (context.Context, context.CancelFunc)
		reason string
		waited float64
		err    error
	}{
		{
			"the caller's deadline passes while the lock is held", held,
			func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, s) },
			"timeout", 1, context.DeadlineExceeded,
		},
		{
			"the caller cancels while the lock is held", held,
			func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(2*s, cancel)
				return ctx, cancel
			},
			"canceled", 2, context.Canceled,
		},
		{
			"an error of the library comes back untouched",
			func(context.Context, string) (context.Context, context.CancelFunc, error) {
				return nil, nil, errNotLocked
			},
			context.WithCancel, "unknown", 0, errNotLocked,
		},
		{"no lock function", nil, context.WithCancel, "unknown", 0, nil},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			ctx, cancel := c.caller(t.Context())
			defer cancel()
			_, err := m.Election(expect.Lock, options...).Acquire(ctx, rueidislock.New(c.lock, "n"))
			if err == nil || c.err != nil && err != c.err {
				t.Errorf("acquire: %v", err)
			}
			expect.Whole(t, m, "after the attempt", expect.Fresh(t, options...).With(electtest.Series{
				"leader_attempts_total": 1, `leader_not_acquired_total{reason="` + c.reason + `"}`: 1,
				"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": c.waited,
			}))
		})
	}
}

func TestALockThatIsWonWhenTheCallerHasGivenUpIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var won context.Context
		late := func(ctx context.Context, name string) (context.Context, context.CancelFunc, error) {
			<-ctx.Done()
			ctx, cancel, err := free(context.WithoutCancel(ctx), name)
			won = ctx
			return ctx, cancel, err
		}
		ctx, cancel := context.WithTimeout(t.Context(), s)
		defer cancel()
		_, err := rueidislock.New(late, "n").Acquire(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || won.Err() == nil {
			t.Errorf("got %v, lock given back: %v", err, won.Err() != nil)
		}
	})
}

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		name string
		// happens after 3 s; cancel ends the context of the acquisition, lose
		// that of the lock.
		happens func(t *testing.T, term *instrument.Term, cancel, lose context.CancelFunc)
		want    electtest.Series
	}{
		{
			"the context of the acquisition does not end the lock",
			func(_ *testing.T, _ *instrument.Term, cancel, _ context.CancelFunc) { cancel() },
			electtest.Series{"leader_active": 1},
		},
		{
			"a release is no loss",
			func(t *testing.T, term *instrument.Term, _, _ context.CancelFunc) {
				if err := term.Release(t.Context()); err != nil {
					t.Error(err)
				}
			},
			electtest.Series{
				`leader_terms_ended_total{cause="released"}`: 1, `leader_releases_total{result="ok"}`: 1,
				"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 3,
			},
		},
		{
			"a loss is no release",
			func(_ *testing.T, _ *instrument.Term, _, lose context.CancelFunc) { lose() },
			electtest.Series{
				`leader_terms_ended_total{cause="lost"}`:  1,
				"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 3,
			},
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var lose context.CancelFunc
			lock := func(ctx context.Context, name string) (context.Context, context.CancelFunc, error) {
				ctx, unlock, err := free(ctx, name)
				lose = unlock
				return ctx, unlock, err
			}
			term, err := m.Election(expect.Lock, options...).Acquire(ctx, rueidislock.New(lock, "n"))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * s)
			c.happens(t, term, cancel, lose)
			synctest.Wait()
			expect.Whole(t, m, "afterwards", expect.Fresh(t, options...).With(electtest.Series{
				"leader_attempts_total": 1, "leader_acquired_total": 1,
				"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
			}).With(c.want))
			_ = term.Release(t.Context())
		})
	}
}

func TestAReleaseEndsWithItsContextAlthoughTheServerIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(ctx context.Context, _ string) (context.Context, context.CancelFunc, error) {
			return ctx, func() { time.Sleep(5 * s) }, nil // the library waits for its server
		}
		m := expect.Middleware(t)
		term, err := m.Election(expect.Lock, options...).Acquire(t.Context(), rueidislock.New(slow, "n"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), s)
		defer cancel()
		start := time.Now()
		if err := term.Release(ctx); err != context.DeadlineExceeded || time.Since(start) != s {
			t.Errorf("released after %v: %v", time.Since(start), err)
		}
		expect.Whole(t, m, "after the release", expect.Fresh(t, options...).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1,
			"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 0,
			`leader_terms_ended_total{cause="release_failed"}`: 1, `leader_releases_total{result="error"}`: 1,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 0,
		}))
		time.Sleep(10 * s)
	})
}
