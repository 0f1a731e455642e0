package etcdlock

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// long is a lease that does not end during a test.
const long = time.Minute

// prompt is how late a call may return on a loaded machine.
const prompt = cleanUpWait + 2*time.Second

// electors are the ways to lock, with a session of their own or the caller's.
var electors = map[string]func(t testing.TB, c *clientv3.Client, lock string) instrument.Acquirer{
	"election": func(_ testing.TB, c *clientv3.Client, lock string) instrument.Acquirer {
		return NewElection(c, lock, "replica-1", long)
	},
	"mutex": func(_ testing.TB, c *clientv3.Client, lock string) instrument.Acquirer {
		return NewMutex(c, lock, long)
	},
	"try mutex": func(_ testing.TB, c *clientv3.Client, lock string) instrument.Acquirer {
		return NewTryMutex(c, lock, long)
	},
	"election on the caller's session": func(t testing.TB, c *clientv3.Client, lock string) instrument.Acquirer {
		return onASession["election"](longSession(t, c), lock)
	},
	"mutex on the caller's session": func(t testing.TB, c *clientv3.Client, lock string) instrument.Acquirer {
		return onASession["mutex"](longSession(t, c), lock)
	},
	"try mutex on the caller's session": func(t testing.TB, c *clientv3.Client, lock string) instrument.Acquirer {
		return onASession["try mutex"](longSession(t, c), lock)
	},
}

func longSession(t testing.TB, c *clientv3.Client) *concurrency.Session {
	t.Helper()
	s, err := concurrency.NewSession(c, concurrency.WithTTL(int(long/time.Second)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Orphan)
	return s
}

// waiting are the electors that wait for their turn.
func waiting(name string) bool { return name[:3] != "try" }

func TestAStandbyOutlivesAReconnectAndACompaction(t *testing.T) {
	for name, elector := range electors {
		if !waiting(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far, way, near := distant(t)
			leader := acquire(t, NewElection(near, "/standby", "leader", long))
			failed := start(t.Context(), elector(t, far, "/standby"))
			waiter(t, near, "/standby/")
			time.Sleep(200 * time.Millisecond) // for the watch that follows
			way.Cut()
			for range 3 {
				put, err := near.Put(t.Context(), "/other", "")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := near.Compact(t.Context(), put.Header.Revision); err != nil {
					t.Fatal(err)
				}
			}
			way.Resume()
			if _, err := far.Get(t.Context(), "/other"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * campaignAgainAfter) // for the watch to be answered
			select {
			case err := <-failed:
				t.Fatalf("the attempt ended with %v while another leads", err)
			default:
			}
			if err := leader.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := receive(t, failed); err != nil {
				t.Errorf("the attempt ended with %v after the leader had gone", err)
			}
		})
	}
}

func TestAnAttemptWithoutAnAnswerEndsWithItsContextAndLeavesNothing(t *testing.T) {
	for name, elector := range electors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far, way, near := distant(t)
			a := elector(t, far, "/silent")
			leader := acquire(t, NewElection(near, "/silent", "leader", long))
			defer leader.Release(context.WithoutCancel(t.Context()))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var failed <-chan error
			if waiting(name) {
				failed = start(ctx, a)
				waiter(t, near, "/silent/")
				way.Block()
			} else {
				way.Block()
				failed = start(ctx, a)
				time.Sleep(50 * time.Millisecond) // for the request to be on its way
			}
			gaveUp := time.Now()
			cancel()
			if err := receive(t, failed); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want the caller's cancellation", err)
			}
			if took := time.Since(gaveUp); took > prompt {
				t.Errorf("Acquire returned %v after its context had ended", took)
			}
			again, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer stop()
			if _, err := a.Acquire(again); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the next attempt: got %v, want its deadline", err)
			}
			way.Resume()
			if !becomes(t, func() bool { return keys(t, near, "/silent/") == 1 }) {
				t.Errorf("%d keys, want the leader's alone", keys(t, near, "/silent/"))
			}
		})
	}
}

func TestAReleaseWithoutAnAnswerFailsAndIsMadeInTheBackground(t *testing.T) {
	for name, elector := range electors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far, way, near := distant(t)
			m := expect.Middleware(t)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), elector(t, far, "/release"))
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
			failed := electtest.Series{
				"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
				`leader_terms_ended_total{cause="release_failed"}`: 1, `leader_releases_total{result="error"}`: 1,
				"leader_execution_duration_seconds_count": 1, "leader_lease_usage_ratio_count": 1,
				"leader_lease_duration_seconds": long.Seconds(), "leader_lease_overruns_total": 0,
				"leader_fencing_token_regressions_total": 0, "leader_fencing_token": token(term),
			}
			expect.Counts(t, m, "after the release", expect.Fresh(t), failed)
			way.Resume()
			if !becomes(t, func() bool { return keys(t, near, "/release") == 0 }) {
				t.Error("the key stayed")
			}
			if err := term.Release(t.Context()); err != nil {
				t.Errorf("the second release returned %v", err)
			}
			expect.Counts(t, m, "after the second release", expect.Fresh(t), failed.With(electtest.Series{`leader_releases_total{result="ok"}`: 1}))
		})
	}
}

func TestRenewalsWithoutAnAnswerAreNoLoss(t *testing.T) {
	t.Parallel()
	far, way, _ := distant(t)
	m := expect.Middleware(t)
	term, err := m.Election(expect.Lock, instrument.Hold()).Acquire(t.Context(), NewElection(far, "/late", "leader", ttl))
	if err != nil {
		t.Fatal(err)
	}
	way.Block()
	receive(t, term.Context().Done())
	got := electtest.Read(m, expect.Lock)
	late, ok := got[`leader_renewals_total{result="timeout"}`], got[`leader_renewals_total{result="ok"}`]
	if late < 1 {
		t.Errorf("%v renewals timed out", late)
	}
	expect.Counts(t, m, "after the elector gave up", expect.Fresh(t, instrument.Hold()), electtest.Series{
		"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
		`leader_renewals_total{result="timeout"}`: late, `leader_renewals_total{result="ok"}`: ok, "leader_renewal_duration_seconds_count": late + ok,
		`leader_terms_ended_total{cause="gave_up"}`: 1, "leader_execution_duration_seconds_count": 1, "leader_lease_usage_ratio_count": ok,
		"leader_lease_duration_seconds": ttl.Seconds(), "leader_lease_overruns_total": 0,
		"leader_fencing_token_regressions_total": 0, "leader_fencing_token": token(term),
	})
}

func TestAClosedClientEndsItsTermsAtOnce(t *testing.T) {
	for name, elector := range electors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, c := server(t)
			m := expect.Middleware(t)
			term, err := m.Election(expect.Lock).Acquire(t.Context(), elector(t, c, "/closed"))
			if err != nil {
				t.Fatal(err)
			}
			closed := time.Now()
			c.Close()
			receive(t, term.Context().Done())
			if took := time.Since(closed); took > 2*time.Second {
				t.Errorf("the term ended after %v", took)
			}
			got := electtest.Read(m, expect.Lock)
			ok := got[`leader_renewals_total{result="ok"}`]
			expect.Counts(t, m, "after the client was closed", expect.Fresh(t), electtest.Series{
				"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
				`leader_renewals_total{result="ok"}`: ok, "leader_lease_usage_ratio_count": ok,
				`leader_terms_ended_total{cause="canceled"}`: 1, "leader_execution_duration_seconds_count": 1,
				"leader_lease_duration_seconds": long.Seconds(), "leader_lease_overruns_total": 0,
				"leader_fencing_token_regressions_total": 0, "leader_fencing_token": token(term),
			})
		})
	}
}

func token(term *instrument.Term) float64 {
	value, _ := term.FencingToken()
	return float64(value)
}
