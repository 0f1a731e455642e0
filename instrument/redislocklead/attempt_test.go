package redislocklead

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

const (
	key   = "report"
	lease = 60 * s
)

func twice() redislock.RetryStrategy { return redislock.LimitRetry(redislock.LinearBackoff(5*s), 2) }

func TestAttemptsThatDoNotWin(t *testing.T) {
	const once = 2 * way
	for _, c := range []struct {
		name   string
		fault  fault // of a server on which another holds the lock
		waits  bool
		opts   []Option
		caller expect.Caller
		err    error // nil: any
		want   electtest.Series
	}{
		{"another holds the lock", none, false, nil, expect.ForEver, redislock.ErrNotObtained, expect.NotAcquired("contended", once)},
		{"another holds the lock until the caller's deadline", none, true, nil, expect.Within(20 * s), context.DeadlineExceeded, expect.NotAcquired("timeout", 20*s)},
		{"another holds the lock until the caller cancels", none, true, nil, expect.Cancels(20 * s), context.Canceled, expect.NotAcquired("canceled", 20*s)},
		{"another holds the lock for longer than the strategy lasts", none, true, []Option{WithRetry(twice)}, expect.ForEver, redislock.ErrNotObtained, expect.NotAcquired("contended", 3*once+10*s)},
		{"a strategy is for a lock that waits", none, false, []Option{WithRetry(twice)}, expect.ForEver, redislock.ErrNotObtained, expect.NotAcquired("contended", once)},
		{"the server does not answer, which is no contention", silent, false, nil, expect.ForEver, context.DeadlineExceeded, expect.NotAcquired("backend_error", lease)},
		{"the server does not answer one that waits", silent, true, nil, expect.ForEver, context.DeadlineExceeded, expect.NotAcquired("backend_error", lease)},
		{"requests do not arrive", deaf, false, nil, expect.ForEver, context.DeadlineExceeded, expect.NotAcquired("backend_error", lease)},
		{"the server does not answer until the caller's deadline", silent, false, nil, expect.Within(s), context.DeadlineExceeded, expect.NotAcquired("timeout", s)},
		{"the server does not answer until the caller cancels", silent, true, nil, expect.Cancels(s), context.Canceled, expect.NotAcquired("canceled", s)},
		{"the caller has given up before", none, true, nil, expect.Cancels(-1), context.Canceled, expect.NotAcquired("canceled", 0)},
		{"the connection is refused", refused, true, nil, expect.ForEver, nil, expect.NotAcquired("backend_error", 0)},
		{"the connection ends before the answer", ended, false, nil, expect.ForEver, nil, expect.NotAcquired("backend_error", way)},
		{"the server refuses to write", readOnly, true, nil, expect.ForEver, answer("READONLY You can't write against a read only replica."), expect.NotAcquired("backend_error", 0)},
		{"the program has closed the client", closed, true, nil, expect.ForEver, redis.ErrClosed, expect.NotAcquired("backend_error", 0)},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m, r := expect.Middleware(t), newServer()
			r.set(key, "another", time.Hour)
			r.breaks(c.fault)
			ctx, cancel := c.caller(t.Context())
			defer cancel()
			time.Sleep(time.Nanosecond) // for one that cancels at once
			term, err := m.Election(expect.Lock).Acquire(ctx, r.elector(t, key, lease, c.waits, c.opts...))
			if term != nil || err == nil || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("term %v, error %v", term, err)
			}
			expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(c.want))
			time.Sleep(time.Hour / 2)
			if value := r.value(key); value != "another" {
				t.Errorf("the lock of another became %q", value)
			}
		})
	}
}

func TestAnAttemptUnderAnEndedContextAsksNoServer(t *testing.T) {
	for name, waits := range map[string]bool{"waiting": true, "at once": false} {
		expect.Bubble(t, name, func(t *testing.T) {
			r := newServer()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := r.elector(t, key, lease, waits).Acquire(ctx); err != context.Canceled {
				t.Errorf("got %v", err)
			}
			time.Sleep(lease)
			if asked := r.requests(); len(asked) != 0 {
				t.Errorf("asked at %v", asked)
			}
		})
	}
}

func TestErrorsOfTheProgram(t *testing.T) {
	for _, c := range []struct {
		name string
		a    instrument.Acquirer
		want string
	}{
		{"no client", NewLock(nil, key, lease), "leaderscope: redislocklead: the client is nil: pass one of redislock.New"},
		{"no client, at once", NewTryLock(nil, key, lease), "leaderscope: redislocklead: the client is nil: pass one of redislock.New"},
		{"no ttl", NewLock(redislock.New(newServer()), key, 0), "leaderscope: redislocklead: the ttl is 0s after the fraction of a millisecond is left out: pass 1ms or more"},
		{"less than Redis counts", NewTryLock(redislock.New(newServer()), key, 999*time.Microsecond), "leaderscope: redislocklead: the ttl is 0s after the fraction of a millisecond is left out: pass 1ms or more"},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m := expect.Middleware(t)
			if _, err := m.Election(expect.Lock).Acquire(t.Context(), c.a); err == nil || err.Error() != c.want {
				t.Errorf("got %v", err)
			}
			expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired("unknown", 0)))
		})
	}
}

func TestAPanicOfTheClientPassesThrough(t *testing.T) {
	expect.Bubble(t, "a hook panics", func(t *testing.T) {
		m, r := expect.Middleware(t), newServer()
		r.breaks(panics)
		func() {
			defer func() {
				if p := recover(); p != "hook" {
					t.Errorf("recovered %v", p)
				}
			}()
			_, _ = m.Election(expect.Lock).Acquire(t.Context(), r.elector(t, key, lease, false))
		}()
		expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired("panic", 0)))
	})
}

func TestEachAcquireHasAStrategyOfItsOwn(t *testing.T) {
	expect.Bubble(t, "one that counts", func(t *testing.T) {
		r := newServer()
		r.set(key, "another", time.Hour)
		a := r.elector(t, key, lease, true, WithRetry(twice), WithRetry(nil), nil)
		for want := 3; want <= 9; want += 3 {
			if _, err := a.Acquire(t.Context()); !errors.Is(err, redislock.ErrNotObtained) {
				t.Fatal(err)
			}
			if got := len(r.requests()); got != want {
				t.Errorf("%d requests, want %d", got, want)
			}
		}
	})
}

func TestAStrategyEndsTheWaitWithLessThanANanosecond(t *testing.T) {
	for name, c := range map[string]struct {
		backoff  time.Duration
		requests int
	}{
		"none":         {0, 1},
		"a nanosecond": {1, 3},
	} {
		expect.Bubble(t, name, func(t *testing.T) {
			r := newServer()
			r.set(key, "another", time.Hour)
			strategy := func() redislock.RetryStrategy { return redislock.LimitRetry(redislock.LinearBackoff(c.backoff), 2) }
			if _, err := r.elector(t, key, lease, true, WithRetry(strategy)).Acquire(t.Context()); !errors.Is(err, redislock.ErrNotObtained) {
				t.Error(err)
			}
			if got := len(r.requests()); got != c.requests {
				t.Errorf("%d requests, want %d", got, c.requests)
			}
		})
	}
}

func TestTheLimitOfARequestEndsWithIt(t *testing.T) {
	expect.Bubble(t, "that won a lock of an odd number of milliseconds", func(t *testing.T) {
		const odd = 3001 * time.Millisecond
		r := newServer()
		l, err := r.elector(t, key, odd, false).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, limited := r.last.Deadline(); !limited || r.last.Err() != context.Canceled {
			t.Errorf("limited: %v; %v", limited, r.last.Err())
		}
		if length := l.(instrument.Granter).LeaseDuration(); length != odd {
			t.Errorf("the lease is %v, want %v", length, odd)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestHowOftenAWaitingLockAsks(t *testing.T) {
	for name, c := range map[string]struct{ ttl, every time.Duration }{
		"a twentieth of the ttl":       {2 * s, 100 * time.Millisecond},
		"no less often than in 1 s":    {10 * time.Minute, s},
		"a ttl that Redis can express": {2*s + 999*time.Microsecond, 100 * time.Millisecond},
	} {
		expect.Bubble(t, name, func(t *testing.T) {
			r := newServer()
			r.set(key, "another", time.Hour)
			ctx, cancel := context.WithTimeout(t.Context(), 10*s)
			defer cancel()
			_, _ = r.elector(t, key, c.ttl, true).Acquire(ctx)
			asked := r.requests()
			for i := 1; i < len(asked); i++ {
				if got := asked[i].Sub(asked[i-1]); got != c.every+2*way {
					t.Fatalf("%v between two requests, want %v", got, c.every+2*way)
				}
			}
			if len(asked) < 9 {
				t.Errorf("%d requests", len(asked))
			}
		})
	}
}

// A request that is not answered may have won: no term holds what it won.
func TestWhatAnUnansweredRequestWonIsGivenBack(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  fault
		ttl    time.Duration
		caller expect.Caller
		repair time.Duration // after which the server answers again
		free   time.Duration // from the attempt until the lock must be free
		want   electtest.Series
	}{
		{"the answer is lost", silent, lease, expect.ForEver, lease / 2, lease, expect.NotAcquired("backend_error", lease)},
		{"the answer is lost, and the caller's deadline passes", silent, time.Hour, expect.Within(5 * s), 7 * s, readTimeout + 2*s, expect.NotAcquired("timeout", 5*s)},
		{"the connection ends", ended, time.Hour, expect.ForEver, 1, 2 * s, expect.NotAcquired("backend_error", way)},
		{"the connection ends, and Redis is away for ten minutes", ended, time.Hour, expect.ForEver, 10 * time.Minute, 11 * time.Minute, expect.NotAcquired("backend_error", way)},
		{"the caller cancels while the answer is on its way", none, time.Hour, expect.Cancels(3 * way / 2), 1, 2 * s, expect.NotAcquired("canceled", 3*way/2)},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m, r := expect.Middleware(t), newServer()
			r.breaks(c.fault)
			time.AfterFunc(c.repair, func() { r.breaks(none) })
			ctx, cancel := c.caller(t.Context())
			defer cancel()
			_, _ = m.Election(expect.Lock).Acquire(ctx, r.elector(t, key, c.ttl, false))
			expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(c.want))
			if value := r.value(key); value == "" && c.fault != silent {
				t.Error("the request did not win")
			}
			time.Sleep(c.free)
			if timeLeft, there := r.remaining(key); there {
				t.Errorf("no replica holds the lock, and it lives for %v more", timeLeft)
			}
		})
	}
}

func TestARequestThatArrivesLateIsWithdrawn(t *testing.T) {
	expect.Bubble(t, "half a second after the first attempt to withdraw it", func(t *testing.T) {
		r := newServer()
		r.breaks(deaf)
		r.late = readTimeout + s/2
		ctx, cancel := context.WithTimeout(t.Context(), s)
		defer cancel()
		if _, err := r.elector(t, key, time.Hour, false).Acquire(ctx); err != context.DeadlineExceeded {
			t.Fatal(err)
		}
		time.Sleep(10 * s)
		r.breaks(none)
		time.Sleep(readTimeout - 10*s)
		if value := r.value(key); value == "" {
			t.Fatal("the request has not arrived")
		}
		time.Sleep(2 * s)
		if timeLeft, there := r.remaining(key); there {
			t.Errorf("no replica holds the lock, and it lives for %v more", timeLeft)
		}
	})
}

func TestTheCallerCancelsInTheInstantOfWinning(t *testing.T) {
	expect.Bubble(t, "the answer counts, or the lock is given back", func(t *testing.T) {
		m, r := expect.Middleware(t), newServer()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(2*way, cancel)
		term, err := m.Election(expect.Lock).Acquire(ctx, r.elector(t, key, lease, false))
		if err != nil {
			expect.Whole(t, m, "after the attempt", expect.Fresh(t).With(expect.NotAcquired("canceled", 2*way)))
			time.Sleep(2 * s)
		} else {
			want := won(t).With(electtest.Series{"leader_active": 1, "leader_lease_headroom_seconds": (lease - 2*way).Seconds(), "leader_lease_expiry_timestamp_seconds": unix(r, key) - way.Seconds()})
			expect.Whole(t, m, "after the attempt", want)
			if err := term.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if timeLeft, there := r.remaining(key); there {
			t.Errorf("no replica holds the lock, and it lives for %v more", timeLeft)
		}
	})
}

// unix is when Redis drops the key, in seconds of Unix time.
func unix(r *server, key string) float64 {
	timeLeft, _ := r.remaining(key)
	return float64(time.Now().Add(timeLeft).UnixNano()) / 1e9
}

func TestClassification(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		want  instrument.Reason
		knows bool
	}{
		{"not obtained", redislock.ErrNotObtained, instrument.Contended, true},
		{"not held", redislock.ErrLockNotHeld, instrument.SessionLost, true},
		{"an answer", answer("OOM command not allowed"), instrument.BackendError, true},
		{"a connection that ended", io.EOF, instrument.BackendError, true},
		{"a deadline", context.DeadlineExceeded, instrument.BackendError, true},
		{"the core knows network errors", os.ErrDeadlineExceeded, 0, false},
		{"the caller", context.Canceled, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, knows := NewLock(nil, key, lease).(instrument.Classifier).Classify(c.err)
			if got != c.want || knows != c.knows {
				t.Errorf("got %v, %v", got, knows)
			}
		})
	}
}
