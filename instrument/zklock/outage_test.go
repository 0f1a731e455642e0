package zklock

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// prompt is how late a call may return on a loaded machine.
const prompt = cleanUpWait + 2*time.Second

// locks are the ways to lock.
var locks = map[string]func(*conn) instrument.Acquirer{
	"election": func(c *conn) instrument.Acquirer { return c.elector("/leader") },
	"lock of the program": func(c *conn) instrument.Acquirer {
		free := make(chan struct{})
		close(free)
		return &borrowed{conn: c, session: c.session, lock: &blocking{free: free, conn: c}, path: "/leader"}
	},
}

// finished is what a term exports that has ended with that cause.
func finished(term *instrument.Term, cause string, renewals float64) electtest.Series {
	token, _ := term.FencingToken()
	return electtest.Series{
		"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
		`leader_renewals_total{result="ok"}`: renewals, "leader_renewal_duration_seconds_count": renewals, "leader_lease_usage_ratio_count": renewals,
		`leader_terms_ended_total{cause="` + cause + `"}`: 1, "leader_execution_duration_seconds_count": 1,
		"leader_lease_duration_seconds": timeout.Seconds(), "leader_lease_overruns_total": 0,
		"leader_fencing_token_regressions_total": 0, "leader_fencing_token": float64(token),
	}
}

func renewals(m *instrument.Middleware) float64 {
	return electtest.Read(m, expect.Lock)[`leader_renewals_total{result="ok"}`]
}

func TestAnAttemptWithoutAnAnswerEndsWithItsContextAndLeavesNothing(t *testing.T) {
	for name, of := range locks {
		t.Run(name, func(t *testing.T) {
			server := newTree()
			c := server.connect()
			a := of(c)
			acquireAndRelease(t, a)
			answered := c.silence()
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
			before := server.created()
			answered()
			waitFor(t, func() bool { return server.created() > before && server.count("/leader") == 0 })
		})
	}
}

func TestAReleaseWithoutAnAnswerFailsAndIsMadeInTheBackground(t *testing.T) {
	for name, of := range locks {
		t.Run(name, func(t *testing.T) {
			server := newTree()
			c := server.connect()
			m := expect.Middleware(t)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), of(c))
			if err != nil {
				t.Fatal(err)
			}
			answered := c.silence()
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			asked := time.Now()
			if err := term.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the release returned %v", err)
			}
			if took := time.Since(asked); took > prompt {
				t.Errorf("the release returned after %v", took)
			}
			failed := finished(term, "release_failed", 0).With(electtest.Series{
				`leader_releases_total{result="error"}`: 1, "leader_lease_usage_ratio_count": 1,
			})
			expect.Counts(t, m, "after the release", expect.Fresh(t), failed)
			c.set(zk.ErrConnectionClosed) // what was sent is lost
			answered()
			time.Sleep(20 * time.Millisecond)
			c.set(nil)
			waitFor(t, func() bool { return server.count("/leader") == 0 })
			waitFor(t, func() bool { return term.Release(t.Context()) == nil })
			if got := electtest.Read(m, expect.Lock)[`leader_releases_total{result="not_owner"}`]; got != 0 {
				t.Errorf("%v releases found the lock lost, want none", got)
			}
		})
	}
}

func TestATermWhoseNodeGoesIsLostAtOnceAlthoughItsSessionLives(t *testing.T) {
	for name, of := range locks {
		t.Run(name, func(t *testing.T) {
			server := newTree()
			m := expect.Middleware(t)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), of(server.connect()))
			if err != nil {
				t.Fatal(err)
			}
			first := server.holder("/leader")
			server.mu.Lock()
			server.drop(first)
			server.mu.Unlock()
			gone := time.Now()
			receive(t, term.Context().Done())
			if took := time.Since(gone); took > timeout/4 {
				t.Errorf("told after %v", took)
			}
			lost := finished(term, "lost", renewals(m))
			expect.Counts(t, m, "after the deletion", expect.Fresh(t), lost)
			if err := term.Release(t.Context()); !errors.Is(err, zk.ErrNoNode) {
				t.Errorf("the release returned %v", err)
			}
			expect.Counts(t, m, "after the release", expect.Fresh(t), lost.With(electtest.Series{`leader_releases_total{result="not_owner"}`: 1}))
		})
	}
}

func TestAClosedConnectionEndsItsTermsAtOnce(t *testing.T) {
	for name, of := range locks {
		for situation, reached := range map[string]bool{"the server hears of it": true, "the server is away": false} {
			t.Run(name+", "+situation, func(t *testing.T) {
				c := newTree().connect()
				m := expect.Middleware(t)
				term, err := m.Election(expect.Lock).Acquire(t.Context(), of(c))
				if err != nil {
					t.Fatal(err)
				}
				closed := time.Now()
				c.close(reached)
				receive(t, term.Context().Done())
				if took := time.Since(closed); took > timeout/4 {
					t.Errorf("told after %v", took)
				}
				expect.Counts(t, m, "after the connection was closed", expect.Fresh(t), finished(term, "canceled", 0))
			})
		}
	}
}

func TestRenewalsWithoutAnAnswerAreNoLoss(t *testing.T) {
	c := newTree().connect()
	m := expect.Middleware(t)
	e := m.Election(expect.Lock, instrument.Hold())
	term, err := e.Acquire(t.Context(), c.elector("/leader"))
	if err != nil {
		t.Fatal(err)
	}
	c.set(zk.ErrConnectionClosed) // what the client says of a server that is silent
	waitFor(t, func() bool { return !e.Leading() })
	got := electtest.Read(m, expect.Lock)
	if got[`leader_renewals_total{result="error"}`] < 1 || got[`leader_terms_ended_total{cause="lost"}`] != 0 {
		t.Errorf("at the lease end: %v", got)
	}
	c.set(nil)
	waitFor(t, e.Leading)
	if err := term.Release(t.Context()); err != nil {
		t.Error(err)
	}
}
