package redsynclead

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

// won is what an election shows that has won a free lock of that kind. Where the
// expiry is not known the length of the lease is measured.
func (k kind) won(t *testing.T, opts ...instrument.ElectionOption) electtest.Series {
	length := lease
	if k.wraps {
		length = valid
	}
	return expect.Fresh(t, opts...).With(expect.Acquired(once)).With(expect.Length(length))
}

func renew(t *testing.T, term *instrument.Term, within time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	return term.Renew(ctx)
}

func release(t *testing.T, term *instrument.Term, within time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	return term.Release(ctx)
}

func good(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func bad(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func isTaken(t *testing.T, err error) {
	t.Helper()
	if _, taken := errors.AsType[*redsync.ErrTaken](err); !taken {
		t.Errorf("got %v, want an ErrTaken", err)
	}
}

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		name    string
		happens func(t *testing.T, all nodes, term *instrument.Term)
		want    func(asked time.Time) []electtest.Series
		key     string // whose lock it is afterwards: "ours", another's value, or "" if it is free
	}{
		{
			"the lease counts from before the request",
			func(*testing.T, nodes, *instrument.Term) { time.Sleep(10 * s) },
			func(asked time.Time) []electtest.Series { return []electtest.Series{expect.Open(asked.Add(valid))} }, "ours",
		},
		{
			"the holder renews",
			func(t *testing.T, _ nodes, term *instrument.Term) {
				time.Sleep(20*s - once)
				good(t, renew(t, term, s))
				time.Sleep(10*s - once)
			},
			func(asked time.Time) []electtest.Series {
				return []electtest.Series{expect.Open(asked.Add(20*s + valid)), expect.Renewals("ok", 1, once), expect.Used(valid, 20*s+once)}
			}, "ours",
		},
		{
			"a renewal that times out is no loss, and the lock lives for 55 s more",
			func(t *testing.T, all nodes, term *instrument.Term) {
				time.Sleep(4500*time.Millisecond - once)
				all.breaks(deaf)
				bad(t, renew(t, term, 500*time.Millisecond), context.DeadlineExceeded)
				all.breaks(none)
			},
			func(asked time.Time) []electtest.Series {
				return []electtest.Series{expect.Open(asked.Add(valid)), expect.Renewals("timeout", 1, 500*time.Millisecond)}
			}, "ours",
		},
		{
			"a renewal that was given up has its turn until the server answers",
			func(t *testing.T, all nodes, term *instrument.Term) {
				all.breaks(deaf)
				bad(t, renew(t, term, s), context.DeadlineExceeded)
				all.breaks(none)
				bad(t, renew(t, term, s), context.DeadlineExceeded)
			},
			func(asked time.Time) []electtest.Series {
				return []electtest.Series{expect.Open(asked.Add(valid)), expect.Renewals("timeout", 2, 2*s)}
			}, "ours",
		},
		{
			"a renewal that the server refuses is no loss",
			func(t *testing.T, all nodes, term *instrument.Term) {
				all.breaks(readOnly)
				if err := renew(t, term, s); err == nil {
					t.Error("renewed")
				}
				all.breaks(none)
			},
			func(asked time.Time) []electtest.Series {
				return []electtest.Series{expect.Open(asked.Add(valid)), expect.Renewals("error", 1, 0)}
			}, "ours",
		},
		{
			"the key is deleted, and the next renewal tells",
			func(t *testing.T, all nodes, term *instrument.Term) {
				time.Sleep(10*s - once)
				all.del(key)
				isTaken(t, renew(t, term, s))
				bad(t, release(t, term, s), redsync.ErrLockAlreadyExpired)
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("lost", 10*s), expect.Renewals("lost", 1, once), expect.Released("not_owner")}
			}, "",
		},
		{
			"another takes the key, and keeps it",
			func(t *testing.T, all nodes, term *instrument.Term) {
				time.Sleep(10*s - once)
				all.set(key, "another", time.Hour)
				isTaken(t, renew(t, term, s))
				isTaken(t, release(t, term, s))
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("lost", 10*s), expect.Renewals("lost", 1, once), expect.Released("not_owner")}
			}, "another",
		},
		{
			"the ttl is shortened while the lock is held, and a renewal comes in time",
			func(t *testing.T, all nodes, term *instrument.Term) {
				time.Sleep(10*s - once)
				all.pexpire(key, 5*s)
				time.Sleep(4 * s)
				good(t, renew(t, term, s))
			},
			func(asked time.Time) []electtest.Series {
				return []electtest.Series{expect.Open(asked.Add(14*s + valid)), expect.Renewals("ok", 1, once), expect.Used(valid, 14*s+once)}
			}, "ours",
		},
		{
			"the ttl is shortened while the lock is held, and a renewal comes late",
			func(t *testing.T, all nodes, term *instrument.Term) {
				time.Sleep(10*s - once)
				all.pexpire(key, 5*s)
				time.Sleep(6 * s)
				isTaken(t, renew(t, term, s))
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("lost", 16*s), expect.Renewals("lost", 1, once)}
			}, "",
		},
		{
			"a lock is given back twice, and another's is left alone",
			func(t *testing.T, all nodes, term *instrument.Term) {
				time.Sleep(10*s - once)
				good(t, release(t, term, s))
				all.set(key, "another", time.Hour)
				isTaken(t, release(t, term, s))
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("released", 10*s-once), expect.Used(valid, 10*s), expect.Released("ok")}
			}, "another",
		},
		{
			"a release that is not answered has not released",
			func(t *testing.T, all nodes, term *instrument.Term) {
				time.Sleep(10*s - once)
				all.breaks(deaf)
				bad(t, release(t, term, s), context.DeadlineExceeded)
				all.breaks(none)
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("release_failed", 10*s-once), expect.Used(valid, 10*s), expect.Released("error")}
			}, "ours",
		},
		{
			"a renewal after a release takes nothing",
			func(t *testing.T, _ nodes, term *instrument.Term) {
				time.Sleep(10*s - once)
				good(t, release(t, term, s))
				bad(t, renew(t, term, s), instrument.ErrSessionLost)
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("released", 10*s-once), expect.Used(valid, 10*s), expect.Released("ok")}
			}, "",
		},
	} {
		for name, k := range map[string]kind{"a mutex of its own": {}, "a mutex of the program": {wraps: true}} {
			expect.Bubble(t, c.name+", "+name, func(t *testing.T) {
				settles(t)
				m, all := expect.Middleware(t), newNodes(3)
				asked := time.Now()
				a := k.elector(all.redsync(), key, append(patient, redsync.WithSetNXOnExtend())[:len(patient)]...)
				term, err := m.Election(expect.Lock).Acquire(t.Context(), a)
				if err != nil {
					t.Fatal(err)
				}
				ours := all.value(key)
				c.happens(t, all, term)
				want := k.won(t)
				for _, w := range c.want(asked) {
					want = want.With(w)
				}
				expect.Whole(t, m, "afterwards", want)
				value := all.value(key)
				if value == ours && value != "" {
					value = "ours"
				}
				if value != c.key {
					t.Errorf("the key is %q, want %q", value, c.key)
				}
			})
		}
	}
}

func TestARenewalAfterAReleaseDoesNotTakeTheLockAnew(t *testing.T) {
	for name, k := range map[string]kind{"a mutex of its own": {renewsItself: true}, "a mutex of the program": {wraps: true, renewsItself: true}} {
		expect.Bubble(t, name, func(t *testing.T) {
			all := newNodes(1)
			a := k.elector(all.redsync(), key, redsync.WithExpiry(lease), redsync.WithSetNXOnExtend())
			lease, err := a.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			good(t, lease.Release(t.Context()))
			bad(t, lease.(instrument.Renewer).Renew(t.Context()), instrument.ErrSessionLost)
			if value := all.value(key); value != "" {
				t.Errorf("the key is %q", value)
			}
		})
	}
}

func TestAMutexOfTheProgramHoldsOneLockAtATime(t *testing.T) {
	expect.Bubble(t, "of two terms, the second after the lease of the first", func(t *testing.T) {
		m, all := expect.Middleware(t), newNodes(1)
		e := m.Election(expect.Lock)
		a := TryMutex(all.redsync().NewMutex(key, patient...))
		first, err := e.Acquire(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Acquire(t.Context(), a); !errors.Is(err, instrument.ErrAlreadyHeld) {
			t.Errorf("while it holds one: %v", err)
		}
		time.Sleep(lease)
		second, err := e.Acquire(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		ours := all.value(key)
		bad(t, first.Renew(t.Context()), instrument.ErrSessionLost)
		bad(t, first.Release(t.Context()), instrument.ErrSessionLost)
		if value := all.value(key); value != ours {
			t.Errorf("the first gave back the lock of the second: %q", value)
		}
		expect.Whole(t, m, "afterwards", kind{wraps: true}.won(t).With(expect.Open(time.Now().Add(valid-once))).With(electtest.Series{
			"leader_attempts_total": 3, "leader_acquired_total": 2, `leader_not_acquired_total{reason="already_held"}`: 1,
			"leader_acquire_duration_seconds_count": 3, "leader_acquire_duration_seconds_sum": (2 * once).Seconds(),
			`leader_terms_ended_total{cause="expired"}`: 1, `leader_releases_total{result="not_owner"}`: 1,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": (valid - once).Seconds(),
		}))
		good(t, second.Release(t.Context()))
	})
}

func TestALockThatRenewsItself(t *testing.T) {
	hold := []instrument.ElectionOption{instrument.Hold()}
	for _, c := range []struct {
		name    string
		happens func(all nodes) // 105 s after the win
		cause   error           // of the end of the term's context, 100 s later
		want    electtest.Series
	}{
		{"lives on", func(nodes) {}, nil, electtest.Series{"leader_active": 1, `leader_renewals_total{result="ok"}`: 10}},
		{"lives on without one of three nodes", func(all nodes) { all[1].breaks(refused) }, nil,
			electtest.Series{"leader_active": 1, `leader_renewals_total{result="ok"}`: 10}},
		{"is deleted", func(all nodes) { all.del(key) }, instrument.ErrLost,
			electtest.Series{`leader_terms_ended_total{cause="lost"}`: 1, `leader_renewals_total{result="ok"}`: 5, `leader_renewals_total{result="lost"}`: 1}},
		{"is deleted on one of three nodes", func(all nodes) { all[:1].del(key) }, nil,
			electtest.Series{"leader_active": 1, `leader_renewals_total{result="ok"}`: 10}},
		{"meets servers that refuse to write", func(all nodes) { all.breaks(readOnly) }, instrument.ErrGaveUp,
			electtest.Series{`leader_terms_ended_total{cause="gave_up"}`: 1, `leader_renewals_total{result="ok"}`: 5, `leader_renewals_total{result="error"}`: 4}},
		{"meets servers that are silent", func(all nodes) { all.breaks(deaf) }, instrument.ErrGaveUp,
			electtest.Series{`leader_terms_ended_total{cause="gave_up"}`: 1, `leader_renewals_total{result="ok"}`: 5, `leader_renewals_total{result="timeout"}`: 2}},
	} {
		for name, k := range map[string]kind{"a mutex of its own": {waits: true, renewsItself: true}, "a mutex of the program": {wraps: true, waits: true, renewsItself: true}} {
			expect.Bubble(t, c.name+", "+name, func(t *testing.T) {
				settles(t)
				m, all := expect.Middleware(t), newNodes(3)
				term, err := m.Election(expect.Lock, hold...).Acquire(t.Context(), k.elector(all.redsync(), key, patient...))
				if err != nil {
					t.Fatal(err)
				}
				ctx := term.Context()
				time.Sleep(105 * s)
				c.happens(all)
				time.Sleep(100 * s)
				got, want := electtest.Read(m, expect.Lock), k.won(t, hold...).With(c.want)
				for _, measured := range []string{ // as the tests of the keeper have them
					"leader_renewal_duration_seconds_count", "leader_renewal_duration_seconds_sum", "leader_lease_usage_ratio_count", "leader_lease_usage_ratio_sum",
					"leader_execution_duration_seconds_count", "leader_execution_duration_seconds_sum", "leader_lease_headroom_seconds", "leader_lease_expiry_timestamp_seconds",
				} {
					if v, there := got[measured]; there {
						want[measured] = v
					}
				}
				expect.Whole(t, m, "after 205 s", want)
				if cause := context.Cause(ctx); !errors.Is(cause, c.cause) {
					t.Errorf("the term's context ended with %v", cause)
				}
				_ = term.Release(t.Context())
			})
		}
	}
}

func TestRenewalsAtOnceTakeTurns(t *testing.T) {
	expect.Bubble(t, "four at a time, beside those of the lock itself", func(t *testing.T) {
		m, all := expect.Middleware(t), newNodes(3)
		term, err := m.Election(expect.Lock).Acquire(t.Context(), TryMutex(all.redsync().NewMutex(key, patient...), WithAutoRenew()))
		if err != nil {
			t.Fatal(err)
		}
		var callers sync.WaitGroup
		for i := range 4 {
			callers.Go(func() {
				for range 20 {
					time.Sleep(time.Duration(i+1) * s)
					good(t, term.Renew(t.Context()))
					if end, known := term.Expiry(); !known || time.Until(end) < valid-5*once {
						t.Errorf("a lease of %v, known: %v", time.Until(end), known)
					}
				}
			})
		}
		callers.Wait()
		series := electtest.Read(m, expect.Lock)
		if series["leader_active"] != 1 || series[`leader_renewals_total{result="ok"}`] < 80 || series["leader_lease_overruns_total"] != 0 {
			t.Errorf("%v", series)
		}
		_ = term.Release(t.Context())
	})
}
