package consullock

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// long is a TTL that does not end during a test.
const long = "60s"

// prompt is how late a call may return on a loaded machine.
const prompt = cleanUpWait + 2*time.Second

// lockers are the ways to lock. Their client looks at its caller's context, or
// at what it is told to stop by, once in a while.
var lockers = map[string]func(t testing.TB, c *api.Client, s *Sessions, ttl string) instrument.Acquirer{
	"lock": func(_ testing.TB, c *api.Client, s *Sessions, ttl string) instrument.Acquirer {
		return NewLock(c, s, &api.LockOptions{Key: "leader", SessionTTL: ttl, LockWaitTime: 3 * time.Second})
	},
	"lock that tries once": func(_ testing.TB, c *api.Client, s *Sessions, ttl string) instrument.Acquirer {
		return NewLock(c, s, &api.LockOptions{Key: "leader", SessionTTL: ttl, LockWaitTime: 3 * time.Second, LockTryOnce: true})
	},
	"lock of the program": func(t testing.TB, c *api.Client, s *Sessions, ttl string) instrument.Acquirer {
		l, err := c.LockOpts(&api.LockOptions{Key: "leader", SessionTTL: ttl, LockWaitTime: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return Lock(c, s, l, "leader")
	},
	"semaphore": func(_ testing.TB, c *api.Client, s *Sessions, ttl string) instrument.Acquirer {
		return NewSemaphore(c, s, &api.SemaphoreOptions{Prefix: "leader", Limit: 1, SessionTTL: ttl, SemaphoreWaitTime: 3 * time.Second})
	},
}

// free says that no session has the lock, and that none was left. The slot of a
// session that has ended is free, and still noted.
func (s *server) free() bool { return s.holder("leader") == "" && s.sessionCount() == 0 }

func TestAnAttemptEndsWithItsContextAndLeavesNothing(t *testing.T) {
	for name, of := range lockers {
		for situation, silent := range map[string]bool{"Consul has others wait": false, "Consul does not answer": true} {
			t.Run(name+", "+situation, func(t *testing.T) {
				t.Parallel()
				s := newServer(t)
				near, sessions := s.client(t)
				holder := acquire(t, lockers[name](t, near, sessions, long))
				c, sessions, way := s.distant(t)
				a := of(t, c, sessions, long)
				if silent {
					way.Block()
				}
				for range 2 {
					ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
					asked := time.Now()
					if _, err := a.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("got %v, want the caller's deadline", err)
					}
					cancel()
					if took := time.Since(asked); took > prompt {
						t.Errorf("Acquire returned after %v", took)
					}
				}
				way.Resume()
				if err := holder.Release(t.Context()); err != nil {
					t.Error(err)
				}
				waitFor(t, s.free)
			})
		}
	}
}

func TestAReleaseWithoutAnAnswerFailsAndIsMadeInTheBackground(t *testing.T) {
	for name, of := range lockers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			c, sessions, way := s.distant(t)
			m := expect.Middleware(t)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), of(t, c, sessions, long))
			if err != nil {
				t.Fatal(err)
			}
			way.Block()
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			asked := time.Now()
			if err := term.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the release returned %v", err)
			}
			if took := time.Since(asked); took > prompt {
				t.Errorf("the release returned after %v", took)
			}
			failed := finished(term, long, "release_failed").With(electtest.Series{
				`leader_releases_total{result="error"}`: 1, "leader_lease_usage_ratio_count": 1,
			})
			expect.Counts(t, m, "after the release", expect.Fresh(t), failed)
			way.Cut() // what was sent is lost
			way.Resume()
			waitFor(t, s.free)
			near, theirs := s.client(t)
			next := acquire(t, lockers[name](t, near, theirs, long))
			if err := next.Release(t.Context()); err != nil {
				t.Error(err)
			}
			if err := term.Release(t.Context()); err != nil && !isNamed(err) {
				t.Errorf("the second release returned %v", err)
			}
		})
	}
}

// finished is what a term exports that has ended with that cause, without a renewal.
func finished(term *instrument.Term, ttl, cause string) electtest.Series {
	s := electtest.Series{
		"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
		`leader_terms_ended_total{cause="` + cause + `"}`: 1, "leader_execution_duration_seconds_count": 1,
		"leader_lease_duration_seconds": duration(ttl).Seconds(), "leader_lease_overruns_total": 0,
	}
	if token, ok := term.FencingToken(); ok {
		s = s.With(electtest.Series{"leader_fencing_token_regressions_total": 0, "leader_fencing_token": float64(token)})
	}
	return s
}

func TestATermWhoseKeyGoesIsLostAtOnceAlthoughItsSessionLives(t *testing.T) {
	for name, of := range lockers {
		for how, lose := range map[string]func(*server){
			"the key is deleted":   func(s *server) { s.remove("leader") },
			"the key is taken":     func(s *server) { s.drop("leader") },
			"another gets the key": func(s *server) { s.give("leader", "another") },
		} {
			if name == "semaphore" {
				continue // it has a key for each contender, and no holder of one
			}
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				s := newServer(t)
				c, sessions := s.client(t)
				m := expect.Middleware(t)
				term, err := m.Election(expect.Lock).Acquire(t.Context(), of(t, c, sessions, long))
				if err != nil {
					t.Fatal(err)
				}
				gone := time.Now()
				lose(s)
				<-term.Context().Done()
				if took := time.Since(gone); took > 2*time.Second {
					t.Errorf("told after %v", took)
				}
				expect.Counts(t, m, "after the loss", expect.Fresh(t), finished(term, long, "lost"))
				if err := term.Release(t.Context()); !errors.Is(err, instrument.ErrSessionLost) {
					t.Errorf("the release returned %v", err)
				}
				expect.Counts(t, m, "after the release", expect.Fresh(t),
					finished(term, long, "lost").With(electtest.Series{`leader_releases_total{result="not_owner"}`: 1}))
				waitFor(t, func() bool { return s.sessionCount() == 0 })
			})
		}
	}
}

func TestRenewalsWithoutAnAnswerAreNoLossBeforeTheLeaseHasEnded(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c, sessions, way := s.distant(t)
	m := expect.Middleware(t)
	e := m.Election(expect.Lock, instrument.Hold())
	term, err := e.Acquire(t.Context(), lockers["lock"](t, c, sessions, seconds))
	if err != nil {
		t.Fatal(err)
	}
	way.Block()
	for e.Leading() {
		if ended := electtest.Read(m, expect.Lock)[`leader_terms_ended_total{cause="lost"}`]; ended != 0 && e.Leading() {
			t.Fatal("the term ended while its lease ran")
		}
		time.Sleep(5 * time.Millisecond)
	}
	<-term.Context().Done()
	got := electtest.Read(m, expect.Lock)
	late, ok := got[`leader_renewals_total{result="timeout"}`], got[`leader_renewals_total{result="ok"}`]
	if late < 1 {
		t.Errorf("%v renewals timed out", late)
	}
	expect.Counts(t, m, "after the lease end", expect.Fresh(t, instrument.Hold()), finished(term, seconds, "lost").With(electtest.Series{
		`leader_renewals_total{result="timeout"}`: late, `leader_renewals_total{result="ok"}`: ok, "leader_renewal_duration_seconds_count": late + ok,
		"leader_lease_usage_ratio_count": ok, "leader_lease_overruns_total": 1,
	}))
	way.Resume()
	_ = term.Release(t.Context())
	waitFor(t, s.free)
}
