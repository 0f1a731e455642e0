package redislocklead

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/bsm/redislock"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/internal/expect"
)

const once = 2 * way // a request and its answer

// won is what an election shows that has won a free lock.
func won(t *testing.T, opts ...instrument.ElectionOption) electtest.Series {
	return expect.Fresh(t, opts...).With(expect.Acquired(once)).With(expect.Length(lease))
}

// A term is won at 0, on a server that begins to answer after 40 ms.
func TestTerms(t *testing.T) {
	silence := func(r *server, d time.Duration) {
		r.breaks(silent)
		time.AfterFunc(d, func() { r.breaks(none) })
	}
	renew := func(t *testing.T, term *instrument.Term, within time.Duration, want error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		if err := term.Renew(ctx); !errors.Is(err, want) {
			t.Errorf("renew: %v, want %v", err, want)
		}
	}
	release := func(t *testing.T, term *instrument.Term, within time.Duration, want error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		if err := term.Release(ctx); !errors.Is(err, want) {
			t.Errorf("release: %v, want %v", err, want)
		}
	}
	for _, c := range []struct {
		name    string
		happens func(t *testing.T, r *server, term *instrument.Term, asked time.Time)
		want    func(asked time.Time) []electtest.Series
		key     string // whose lock it is afterwards: "ours", another's value, or "" if it is free
	}{
		{
			"the lease counts from before the request",
			func(*testing.T, *server, *instrument.Term, time.Time) { time.Sleep(10 * s) },
			func(asked time.Time) []electtest.Series { return []electtest.Series{expect.Open(asked.Add(lease))} }, "ours",
		},
		{
			"the holder renews",
			func(t *testing.T, _ *server, term *instrument.Term, _ time.Time) {
				time.Sleep(20*s - once)
				renew(t, term, s, nil)
				time.Sleep(10*s - once)
			},
			func(asked time.Time) []electtest.Series {
				return []electtest.Series{expect.Open(asked.Add(20*s + lease)), expect.Renewals("ok", 1, once), expect.Used(lease, 20*s+once)}
			}, "ours",
		},
		{
			"a renewal that times out is no loss, and the lock lives for 55 s more",
			func(t *testing.T, r *server, term *instrument.Term, _ time.Time) {
				time.Sleep(4500*time.Millisecond - once)
				silence(r, s)
				renew(t, term, 500*time.Millisecond, context.DeadlineExceeded)
			},
			func(asked time.Time) []electtest.Series {
				return []electtest.Series{expect.Open(asked.Add(lease)), expect.Renewals("timeout", 1, 500*time.Millisecond)}
			}, "ours",
		},
		{
			"the caller of a renewal cancels",
			func(t *testing.T, r *server, term *instrument.Term, _ time.Time) {
				r.breaks(deaf)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(s, cancel)
				if err := term.Renew(ctx); err != context.Canceled {
					t.Error(err)
				}
				r.breaks(none)
			},
			func(asked time.Time) []electtest.Series {
				return []electtest.Series{expect.Open(asked.Add(lease)), expect.Renewals("canceled", 1, s)}
			}, "ours",
		},
		{
			"a renewal that the server refuses is no loss",
			func(t *testing.T, r *server, term *instrument.Term, _ time.Time) {
				r.breaks(readOnly)
				if err := term.Renew(t.Context()); err == nil {
					t.Error("renewed")
				}
				r.breaks(none)
			},
			func(asked time.Time) []electtest.Series {
				return []electtest.Series{expect.Open(asked.Add(lease)), expect.Renewals("error", 1, 0)}
			}, "ours",
		},
		{
			"the key is deleted, and the next renewal tells",
			func(t *testing.T, r *server, term *instrument.Term, _ time.Time) {
				time.Sleep(10*s - once)
				r.del(key)
				renew(t, term, s, redislock.ErrNotObtained)
				release(t, term, s, redislock.ErrLockNotHeld)
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("lost", 10*s), expect.Renewals("lost", 1, once), expect.Released("not_owner")}
			}, "",
		},
		{
			"another takes the key, and keeps it",
			func(t *testing.T, r *server, term *instrument.Term, _ time.Time) {
				time.Sleep(10*s - once)
				r.set(key, "another", time.Hour)
				renew(t, term, s, redislock.ErrNotObtained)
				release(t, term, s, redislock.ErrLockNotHeld)
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("lost", 10*s), expect.Renewals("lost", 1, once), expect.Released("not_owner")}
			}, "another",
		},
		{
			"another takes the key, and the release tells",
			func(t *testing.T, r *server, term *instrument.Term, _ time.Time) {
				time.Sleep(10*s - once)
				r.set(key, "another", time.Hour)
				release(t, term, s, redislock.ErrLockNotHeld)
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("lost", 10*s-once), expect.Used(lease, 10*s), expect.Released("not_owner")}
			}, "another",
		},
		{
			"the ttl is shortened while the lock is held, and a renewal comes in time",
			func(t *testing.T, r *server, term *instrument.Term, _ time.Time) {
				time.Sleep(10*s - once)
				r.pexpire(key, 5*s)
				time.Sleep(4 * s)
				renew(t, term, s, nil)
			},
			func(asked time.Time) []electtest.Series {
				return []electtest.Series{expect.Open(asked.Add(14*s + lease)), expect.Renewals("ok", 1, once), expect.Used(lease, 14*s+once)}
			}, "ours",
		},
		{
			"the ttl is shortened while the lock is held, and a renewal comes late",
			func(t *testing.T, r *server, term *instrument.Term, _ time.Time) {
				time.Sleep(10*s - once)
				r.pexpire(key, 5*s)
				time.Sleep(6 * s)
				renew(t, term, s, redislock.ErrNotObtained)
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("lost", 16*s), expect.Renewals("lost", 1, once)}
			}, "",
		},
		{
			"a lock is given back",
			func(t *testing.T, _ *server, term *instrument.Term, _ time.Time) {
				time.Sleep(10*s - once)
				release(t, term, s, nil)
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("released", 10*s-once), expect.Used(lease, 10*s), expect.Released("ok")}
			}, "",
		},
		{
			"a lock is given back twice",
			func(t *testing.T, r *server, term *instrument.Term, _ time.Time) {
				time.Sleep(10*s - once)
				release(t, term, s, nil)
				r.set(key, "another", time.Hour)
				release(t, term, s, redislock.ErrLockNotHeld)
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("released", 10*s-once), expect.Used(lease, 10*s), expect.Released("ok")}
			}, "another",
		},
		{
			"a release that is not answered has not released, and can be repeated",
			func(t *testing.T, r *server, term *instrument.Term, _ time.Time) {
				time.Sleep(10*s - once)
				r.breaks(deaf)
				release(t, term, s, context.DeadlineExceeded)
				r.breaks(none)
				release(t, term, s, nil)
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("release_failed", 10*s-once), expect.Used(lease, 10*s), expect.Released("error"), expect.Released("ok")}
			}, "",
		},
		{
			"a release whose answer is lost has released all the same",
			func(t *testing.T, r *server, term *instrument.Term, _ time.Time) {
				time.Sleep(10*s - once)
				silence(r, 2*s)
				release(t, term, s, context.DeadlineExceeded)
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("release_failed", 10*s-once), expect.Used(lease, 10*s), expect.Released("error")}
			}, "",
		},
		{
			"a release after the lease",
			func(t *testing.T, _ *server, term *instrument.Term, _ time.Time) {
				time.Sleep(2*lease + s)
				release(t, term, s, redislock.ErrLockNotHeld)
			},
			func(time.Time) []electtest.Series {
				return []electtest.Series{expect.Ended("expired", 2*lease+s), expect.Used(lease, 2*lease+s+once), expect.Released("not_owner"), {"leader_lease_overruns_total": 1}}
			}, "",
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m, r := expect.Middleware(t), newServer()
			asked := time.Now()
			term, err := m.Election(expect.Lock).Acquire(t.Context(), r.elector(t, key, lease, false, WithMetadata(" replica-1")))
			if err != nil {
				t.Fatal(err)
			}
			ours := r.value(key)
			c.happens(t, r, term, asked)
			want := won(t)
			for _, w := range c.want(asked) {
				want = want.With(w)
			}
			expect.Whole(t, m, "afterwards", want)
			value := r.value(key)
			if value == ours && value != "" {
				value = "ours"
			}
			if value != c.key || ours[26:] != " replica-1" {
				t.Errorf("the key is %q, want %q; ours was %q", value, c.key, ours)
			}
		})
	}
}

func TestTheLeaseOfALockThatWaitedCountsFromTheRequestThatWon(t *testing.T) {
	expect.Bubble(t, "another holds the lock for longer than a lease", func(t *testing.T) {
		m, r := expect.Middleware(t), newServer()
		r.set(key, "another", 100*s)
		begun := time.Now()
		term, err := m.Election(expect.Lock).Acquire(t.Context(), r.elector(t, key, lease, true))
		if err != nil {
			t.Fatal(err)
		}
		requests := r.requests()
		sent := requests[len(requests)-1].Add(-way)
		waited := time.Since(begun)
		if waited < 100*s || waited > 102*s {
			t.Errorf("waited for %v", waited)
		}
		expect.Whole(t, m, "after the win", won(t).With(expect.Open(sent.Add(lease))).With(electtest.Series{
			"leader_acquire_duration_seconds_sum": waited.Seconds(),
		}))
		_ = term.Release(t.Context())
	})
}

func TestALockThatRenewsItself(t *testing.T) {
	const third, n = lease/3 + once, 5 // renewals before something happens
	hold := []instrument.ElectionOption{instrument.Hold()}
	thirds := func(n int) (shares []time.Duration) {
		for range n {
			shares = append(shares, third)
		}
		return shares
	}
	// with adds renewals of another result, to those that were good before.
	with := func(result string, failed int, took time.Duration) electtest.Series {
		return expect.Renewals("ok", n, 0).With(expect.Used(lease, thirds(n)...)).With(electtest.Series{
			`leader_renewals_total{result="` + result + `"}`: float64(failed),
			"leader_renewal_duration_seconds_count":          float64(n + failed), "leader_renewal_duration_seconds_sum": (n*once + took).Seconds(),
		})
	}
	lost := expect.Ended("lost", 120*s).With(with("lost", 1, once))
	for _, c := range []struct {
		name    string
		happens func(r *server) // 105 s after the win
		cause   error           // of the end of the term's context, 100 s later
		want    func(asked time.Time) electtest.Series
	}{
		{"lives on", func(*server) {}, nil, func(asked time.Time) electtest.Series {
			return expect.Open(asked.Add(260 * s)).With(expect.Renewals("ok", 10, 10*once)).With(expect.Used(lease, thirds(10)...))
		}},
		{"is deleted", func(r *server) { r.del(key) }, instrument.ErrLost, func(time.Time) electtest.Series { return lost }},
		{"is taken by another", func(r *server) { r.set(key, "another", time.Hour) }, instrument.ErrLost, func(time.Time) electtest.Series { return lost }},
		{"has less ttl than the time to the next renewal", func(r *server) { r.pexpire(key, 5*s) }, instrument.ErrLost, func(time.Time) electtest.Series { return lost }},
		{
			"meets a server that is silent for half of the lease",
			func(r *server) {
				r.breaks(deaf)
				time.AfterFunc(lease/2, func() { r.breaks(none) })
			}, nil,
			func(asked time.Time) electtest.Series {
				return expect.Open(asked.Add(260 * s)).With(expect.Renewals("ok", 9, 0)).With(expect.Used(lease, append(thirds(8), 40*s+once)...)).With(electtest.Series{
					`leader_renewals_total{result="timeout"}`: 1,
					"leader_renewal_duration_seconds_count":   10, "leader_renewal_duration_seconds_sum": (9*once + 20*s).Seconds(),
				})
			},
		},
		{
			"meets a server that is silent for longer", func(r *server) { r.breaks(deaf) }, instrument.ErrGaveUp,
			func(time.Time) electtest.Series {
				return expect.Ended("gave_up", 154*s-once).With(with("timeout", 2, 34*s))
			},
		},
		{
			"meets a server that refuses to write", func(r *server) { r.breaks(readOnly) }, instrument.ErrGaveUp,
			func(time.Time) electtest.Series { return expect.Ended("gave_up", 154*s-once).With(with("error", 4, 0)) },
		},
		{
			"has its client closed", func(r *server) { r.breaks(closed) }, context.Canceled,
			func(time.Time) electtest.Series {
				return expect.Ended("canceled", 120*s-once).With(with("error", 1, 0))
			},
		},
	} {
		expect.Bubble(t, c.name, func(t *testing.T) {
			m, r := expect.Middleware(t), newServer()
			asked := time.Now()
			term, err := m.Election(expect.Lock, hold...).Acquire(t.Context(), r.elector(t, key, lease, true, WithAutoRenew()))
			if err != nil {
				t.Fatal(err)
			}
			ctx := term.Context()
			time.Sleep(105 * s)
			c.happens(r)
			time.Sleep(100 * s)
			expect.Whole(t, m, "after 205 s", won(t, hold...).With(c.want(asked)))
			if cause := context.Cause(ctx); !errors.Is(cause, c.cause) {
				t.Errorf("the term's context ended with %v", cause)
			}
			_ = term.Release(t.Context())
		})
	}
}

func TestRenewalsAtOnceKeepTheLatestEnd(t *testing.T) {
	expect.Bubble(t, "four at a time, beside those of the lock itself", func(t *testing.T) {
		m, r := expect.Middleware(t), newServer()
		term, err := m.Election(expect.Lock).Acquire(t.Context(), r.elector(t, key, lease, false, WithAutoRenew()))
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				for range 20 {
					time.Sleep(time.Duration(i+1) * s)
					if err := term.Renew(t.Context()); err != nil {
						t.Error(err)
					}
					if end, known := term.Expiry(); !known || time.Until(end) < lease-once {
						t.Errorf("a lease of %v, known: %v", time.Until(end), known)
					}
				}
			})
		}
		all.Wait()
		series := electtest.Read(m, expect.Lock)
		if series["leader_active"] != 1 || series[`leader_renewals_total{result="ok"}`] < 80 || series["leader_lease_overruns_total"] != 0 {
			t.Errorf("%v", series)
		}
		_ = term.Release(t.Context())
	})
}

var noContext context.Context

func TestANilContextHasNoEnd(t *testing.T) {
	for name, make := range map[string]func(*redislock.Client, string, time.Duration, ...Option) instrument.Acquirer{"waiting": NewLock, "at once": NewTryLock} {
		expect.Bubble(t, name, func(t *testing.T) {
			r := newServer()
			term, err := expect.Middleware(t).Election(expect.Lock).Acquire(noContext, make(redislock.New(r), key, lease))
			if err != nil {
				t.Fatal(err)
			}
			if err := term.Renew(noContext); err != nil {
				t.Error(err)
			}
			if err := term.Release(noContext); err != nil {
				t.Error(err)
			}
			if _, there := r.remaining(key); there {
				t.Error("the key is still there")
			}
		})
	}
}
