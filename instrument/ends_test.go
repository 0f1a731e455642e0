package instrument_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// An end that cannot be known is not invented, and one that is known counts.

// wrapper carries every optional method, as a wrapper of any library does, and
// answers as the test says.
type wrapper struct {
	expiry func() time.Time
	renew  func(context.Context) error
	watch  func(context.Context, instrument.Sink)
}

func (wrapper) Release(context.Context) error { return nil }
func (wrapper) Lost() <-chan struct{}         { return nil }
func (wrapper) FencingToken() (uint64, bool)  { return 0, false }
func (wrapper) LeaseDuration() time.Duration  { return 0 }

func (w wrapper) Expiry() time.Time {
	if w.expiry == nil {
		return time.Time{}
	}
	return w.expiry()
}

func (w wrapper) Renew(ctx context.Context) error {
	if w.renew == nil {
		return errors.ErrUnsupported
	}
	return w.renew(ctx)
}

func (w wrapper) Watch(ctx context.Context, k instrument.Sink) {
	if w.watch != nil {
		w.watch(ctx, k)
	}
}

// in is a source of a lease end that far from now, fixed when it is made.
func in(d time.Duration) func() time.Time {
	end := time.Now().Add(d)
	return func() time.Time { return end }
}

func TestAHeldLeadershipHasAnEndOnlyWhereItsRenewalsCanBeSeen(t *testing.T) {
	ok := func(context.Context) error { return nil }
	const lease = 10 * s
	cases := []struct {
		name  string
		opts  []instrument.ElectionOption
		lease func() instrument.Lease
		known bool
	}{
		{"an end, and no renewals", nil, func() instrument.Lease { return instrument.NewLease(nil, instrument.ExpiryFrom(in(lease))) }, false},
		{"a declared length, and no renewals", []instrument.ElectionOption{instrument.LeaseDuration(lease)}, func() instrument.Lease { return instrument.NewLease(nil) }, false},
		{"an end, and renewals that are declared hidden", []instrument.ElectionOption{instrument.HiddenRenewals()},
			func() instrument.Lease {
				return instrument.NewLease(nil, instrument.ExpiryFrom(in(lease)), instrument.RenewWith(ok))
			}, false},
		{"an end and renewals, and a library that hides those of its own", nil, func() instrument.Lease {
			return instrument.NewLease(nil, instrument.RenewalsHidden(), instrument.ExpiryFrom(in(lease)), instrument.RenewWith(ok))
		}, false},
		{"a wrapper whose every answer is unknown", []instrument.ElectionOption{instrument.LeaseDuration(lease)}, func() instrument.Lease { return wrapper{} }, false},
		{"a wrapper that knows its end and no renewals", nil, func() instrument.Lease { return wrapper{expiry: in(lease)} }, false},
		{"a wrapper whose watch panics", []instrument.ElectionOption{instrument.LeaseDuration(lease)},
			func() instrument.Lease {
				return wrapper{watch: func(context.Context, instrument.Sink) { panic("watch") }}
			}, false},
		{"a watch that returns at once", []instrument.ElectionOption{instrument.LeaseDuration(lease)},
			func() instrument.Lease {
				return instrument.NewLease(nil, instrument.WatchWith(func(context.Context, instrument.Sink) {}))
			}, false},
		{"a watch that goes on and is silent", []instrument.ElectionOption{instrument.LeaseDuration(lease)},
			func() instrument.Lease {
				return wrapper{watch: func(ctx context.Context, _ instrument.Sink) { <-ctx.Done() }}
			}, true},
		{"renewed on demand", nil, func() instrument.Lease {
			return instrument.NewLease(nil, instrument.ExpiryFrom(in(lease)), instrument.RenewWith(ok))
		}, true},
		{"renewed on demand, and a watch that returns at once", []instrument.ElectionOption{instrument.LeaseDuration(lease)},
			func() instrument.Lease {
				return instrument.NewLease(nil, instrument.RenewWith(ok), instrument.WatchWith(func(context.Context, instrument.Sink) {}))
			}, true},
		{"renewals are reported by the term's sink", []instrument.ElectionOption{instrument.LeaseDuration(lease)},
			func() instrument.Lease { return instrument.NewLease(nil, instrument.RenewalsReported()) }, true},
	}
	for _, c := range cases {
		bubble(t, c.name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", append(c.opts, instrument.Hold())...)
			term := acquire(t, e, electtest.Wins(c.lease()))
			synctest.Wait()
			for _, past := range []time.Duration{0, lease - s, 2 * s, time.Hour} {
				time.Sleep(past)
				r := electtest.Read(m, "x")
				_, known := r["leader_lease_headroom_seconds"]
				end, ok := e.Expiry()
				leads := r["leader_active"] == 1
				if known != c.known || leads != e.Leading() || leads != term.Leading() || ok != (known && leads) || ok && time.Until(end).Seconds() != r["leader_lease_headroom_seconds"] {
					t.Errorf("after %v: headroom known %v, active %v, Leading %v, Expiry %v %v", past, known, leads, e.Leading(), end, ok)
				}
				if !c.known && (!leads || r["leader_lease_overruns_total"] != 0) {
					t.Errorf("a healthy leader is dead or overran: %v", r)
				}
			}
			if r := electtest.Read(m, "x"); c.known && (r["leader_active"] != 0 || r["leader_lease_overruns_total"] != 1) {
				t.Errorf("a lease that ended: %v", r)
			}
			release(t, term)
		})
	}
	bubble(t, "a wrapper whose renewal is seen to work", func(t *testing.T) {
		m := newMiddleware(t)
		end := in(lease)
		term := acquire(t, m.Election("x", instrument.Hold()), electtest.Wins(wrapper{
			expiry: func() time.Time { return end() }, renew: func(context.Context) error { end = in(lease); return nil }}))
		time.Sleep(5 * s)
		if _, known := electtest.Read(m, "x")["leader_lease_headroom_seconds"]; known {
			t.Error("an end is known before a renewal was seen")
		}
		_ = term.Renew(context.Background())
		expect(t, m, "x", "renewed", electtest.Series{"leader_active": 1, "leader_lease_headroom_seconds": 10})
		time.Sleep(11 * s)
		expect(t, m, "x", "and then not", electtest.Series{"leader_active": 0, "leader_lease_headroom_seconds": -1, "leader_lease_overruns_total": 1})
		release(t, term)
	})
	bubble(t, "a renewal that is refused as unsupported shows the contrary", func(t *testing.T) {
		m := newMiddleware(t)
		term := acquire(t, m.Election("x", instrument.Hold()), electtest.Wins(instrument.NewLease(nil, instrument.ExpiryFrom(in(lease)),
			instrument.RenewWith(func(context.Context) error { return errors.ErrUnsupported }))))
		_ = term.Renew(context.Background())
		time.Sleep(time.Hour)
		expect(t, m, "x", "an hour later", electtest.Series{"leader_active": 1, `leader_renewals_total{result="error"}`: 0})
		release(t, term)
	})
}

func TestAnObservedEndIsTheOneThatWasSeenLast(t *testing.T) {
	seen := func(d time.Duration) instrument.Leadership {
		return instrument.Leadership{Asked: time.Now(), Expiry: time.Now().Add(d)}
	}
	bubble(t, "an hour, then ten seconds", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold())
		e.ObserveLeading(seen(time.Hour))
		e.ObserveLeading(seen(10 * s))
		expect(t, m, "x", "at once", electtest.Series{"leader_active": 1, "leader_lease_headroom_seconds": 10, `leader_renewals_total{result="ok"}`: 0})
		time.Sleep(11 * s)
		expect(t, m, "x", "after eleven", electtest.Series{"leader_active": 0})
		e.ObserveLeading(seen(10 * s))
		expect(t, m, "x", "renewed late", electtest.Series{"leader_active": 1, `leader_renewals_total{result="ok"}`: 1, "leader_acquired_total": 1})
	})
	bubble(t, "an end that is not seen any more is still known", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold())
		e.ObserveLeading(seen(20 * s))
		time.Sleep(5 * s)
		e.ObserveLeading(instrument.Leadership{})
		expect(t, m, "x", "the zero Leadership changes nothing", electtest.Series{"leader_active": 1, "leader_lease_headroom_seconds": 15})
	})
	bubble(t, "an end that is seen later than the win", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold())
		e.ObserveLeading(instrument.Leadership{})
		time.Sleep(time.Hour)
		expect(t, m, "x", "no end", electtest.Series{"leader_active": 1})
		e.ObserveLeading(seen(20 * s))
		expect(t, m, "x", "an end", electtest.Series{"leader_active": 1, "leader_lease_headroom_seconds": 20, `leader_renewals_total{result="ok"}`: 0})
	})
}

func TestJitterOfThePollIsNoRenewal(t *testing.T) {
	for name, declared := range map[string][]instrument.ElectionOption{
		"a length that is declared": {instrument.LeaseDuration(30 * s)}, "a length that is not": nil,
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", append(declared, instrument.Hold())...)
			end := time.Now().Add(30 * s)
			for i := range 30 {
				if i%10 == 9 {
					end = time.Now().Add(30 * s)
				}
				asked := time.Now()
				way := time.Duration(i*7%20) * time.Millisecond // to the database
				time.Sleep(way)
				remaining := time.Until(end)
				time.Sleep(time.Millisecond)
				e.ObserveLeading(instrument.Leadership{Asked: asked, Expiry: asked.Add(remaining)})
				time.Sleep(s - way - time.Millisecond)
			}
			r := electtest.Read(m, "x")
			if r[`leader_renewals_total{result="ok"}`] != 3 || r["leader_active"] != 1 {
				t.Errorf("renewals %v, want 3", r[`leader_renewals_total{result="ok"}`])
			}
			if length, there := r["leader_lease_duration_seconds"]; there != (declared != nil) || there && length != 30 {
				t.Errorf("lease %v, %v", length, there)
			}
			if n := r["leader_lease_usage_ratio_count"]; n != 3 && declared != nil || n != 0 && declared == nil {
				t.Errorf("%v shares of a lease", n)
			}
		})
	}
	bubble(t, "without the instant of asking", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold(), instrument.LeaseDuration(30*s))
		end := time.Now().Add(30 * s)
		for i := range 9 {
			e.ObserveLeading(instrument.Leadership{Expiry: end.Add(-time.Duration(i*7%20) * 20 * time.Millisecond)})
		}
		e.ObserveLeading(instrument.Leadership{Expiry: end.Add(10 * s)})
		expect(t, m, "x", "after ten looks", electtest.Series{`leader_renewals_total{result="ok"}`: 1, "leader_lease_headroom_seconds": 40})
	})
}

func TestAWaitThatIsLongerThanTheLeaseHasNoKnownEnd(t *testing.T) {
	for _, c := range []struct {
		wait     time.Duration
		headroom float64
		known    bool
	}{{0, 15, true}, {2 * s, 13, true}, {15 * s, 0, false}, {60 * s, 0, false}} {
		bubble(t, c.wait.String(), func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", instrument.LeaseDuration(15*s))
			term := acquire(t, e, electtest.NewElector(electtest.Step{Wait: c.wait, Lease: instrument.NewLease(nil)}))
			r := electtest.Read(m, "x")
			headroom, known := r["leader_lease_headroom_seconds"]
			if known != c.known || headroom != c.headroom || r["leader_active"] != 1 || r["leader_lease_overruns_total"] != 0 {
				t.Errorf("headroom %v, %v, active %v, overruns %v", headroom, known, r["leader_active"], r["leader_lease_overruns_total"])
			}
			release(t, term)
		})
	}
	bubble(t, "a callback that came after long, too, until a renewal is seen", func(t *testing.T) {
		m := newMiddleware(t)
		at := m.Election("x", instrument.Hold(), instrument.LeaseDuration(15*s)).Begin(context.Background())
		time.Sleep(time.Hour)
		term := at.Won(instrument.NewLease(nil, instrument.RenewalsReported()))
		expect(t, m, "x", "won", electtest.Series{"leader_active": 1})
		if _, known := electtest.Read(m, "x")["leader_lease_headroom_seconds"]; known {
			t.Error("the end is known")
		}
		sent := time.Now()
		time.Sleep(2 * s)
		term.Sink().Renewed(instrument.Renewal{Sent: sent})
		expect(t, m, "x", "renewed", electtest.Series{"leader_active": 1, "leader_lease_headroom_seconds": 13, "leader_renewal_duration_seconds_sum": 2})
	})
}

func TestAnswersOutOfOrderDoNotMoveTheEndBack(t *testing.T) {
	bubble(t, "two renewals at once on demand", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold(), instrument.LeaseDuration(15*s))
		took := make(chan time.Duration, 2)
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { time.Sleep(<-took); return nil }))))
		time.Sleep(3 * s)
		took <- 8 * s
		go func() { _ = term.Renew(context.Background()) }()
		synctest.Wait()
		time.Sleep(2 * s)
		took <- s
		_ = term.Renew(context.Background())
		expect(t, m, "x", "the second answer", electtest.Series{"leader_lease_headroom_seconds": 14})
		time.Sleep(6 * s)
		synctest.Wait()
		expect(t, m, "x", "the first answer", electtest.Series{"leader_lease_headroom_seconds": 8, `leader_renewals_total{result="ok"}`: 2, "leader_active": 1})
		release(t, term)
	})
	report := func(t *testing.T, opts ...instrument.ElectionOption) (*instrument.Middleware, instrument.Sink) {
		m := newMiddleware(t)
		return m, acquire(t, m.Election("x", append(opts, instrument.Hold())...), electtest.Wins(instrument.NewLease(nil, instrument.RenewalsReported(), instrument.ExpiryFrom(in(15*s))))).Sink()
	}
	bubble(t, "reported with the instants of sending", func(t *testing.T) {
		m, k := report(t)
		start := time.Now()
		time.Sleep(6 * s)
		k.Renewed(instrument.Renewal{Sent: start.Add(5 * s), Expiry: start.Add(20 * s)})
		k.Renewed(instrument.Renewal{Sent: start.Add(2 * s), Expiry: start.Add(17 * s)})
		expect(t, m, "x", "after both", electtest.Series{"leader_lease_headroom_seconds": 14, `leader_renewals_total{result="ok"}`: 2})
	})
	bubble(t, "reported without", func(t *testing.T) {
		m, k := report(t)
		start := time.Now()
		time.Sleep(6 * s)
		k.Renewed(instrument.Renewal{Expiry: start.Add(20 * s)})
		k.Renewed(instrument.Renewal{Expiry: start.Add(17 * s)})
		expect(t, m, "x", "after both", electtest.Series{"leader_lease_headroom_seconds": 14, `leader_renewals_total{result="ok"}`: 2})
	})
	bubble(t, "a renewal that was sent later and granted less is believed", func(t *testing.T) {
		m, k := report(t, instrument.LeaseDuration(15*s))
		time.Sleep(5 * s)
		k.Renewed(instrument.Renewal{Sent: time.Now(), Expiry: time.Now().Add(3 * s), Granted: 3 * s})
		expect(t, m, "x", "shorter", electtest.Series{"leader_lease_headroom_seconds": 3, "leader_lease_duration_seconds": 3})
	})
}

func TestNeverIsNoEnd(t *testing.T) {
	never := map[string]struct {
		opts   []instrument.ElectionOption
		expiry func() time.Time
	}{
		"the year 2300":          {nil, func() time.Time { return time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC) }},
		"the year 9999":          {nil, func() time.Time { return time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) }},
		"the largest Unix time":  {nil, func() time.Time { return time.Unix(math.MaxInt64, 0) }},
		"the largest duration":   {nil, func() time.Time { return time.Now().Add(math.MaxInt64) }},
		"a declared length that": {[]instrument.ElectionOption{instrument.LeaseDuration(math.MaxInt64)}, nil},
		"both":                   {[]instrument.ElectionOption{instrument.LeaseDuration(math.MaxInt64)}, func() time.Time { return time.Now().Add(math.MaxInt64) }},
	}
	for name, c := range never {
		for _, hold := range []bool{true, false} {
			bubble(t, name, func(t *testing.T) {
				m := newMiddleware(t)
				opts, want := c.opts, zero
				if hold {
					opts, want = append(opts, instrument.Hold()), held(zero)
				}
				e := m.Election("x", opts...)
				var more []instrument.LeaseOption
				if c.expiry != nil {
					more = append(more, instrument.ExpiryFrom(c.expiry))
				}
				term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, append(more, instrument.RenewWith(func(context.Context) error { return nil }))...)))
				want = want.With(electtest.Series{"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1, "leader_acquire_duration_seconds_count": 1})
				check(t, m, "won", want)
				time.Sleep(1000 * time.Hour)
				if err := term.Renew(context.Background()); err != nil {
					t.Fatal(err)
				}
				term.Sink().Renewed(instrument.Renewal{Expiry: time.Unix(1<<60, 0)})
				check(t, m, "renewed", want.With(electtest.Series{`leader_renewals_total{result="ok"}`: 2, "leader_renewal_duration_seconds_count": 1}))
				release(t, term)
			})
		}
	}
	bubble(t, "a declared length does not make an end of never", func(t *testing.T) {
		m := newMiddleware(t)
		acquire(t, m.Election("x", instrument.LeaseDuration(10*s)), electtest.Wins(instrument.NewLease(nil, instrument.ExpiryFrom(func() time.Time { return time.Now().Add(math.MaxInt64) }))))
		time.Sleep(time.Hour)
		check(t, m, "an hour later", leased(10*s).With(electtest.Series{"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1, "leader_acquire_duration_seconds_count": 1}))
	})
	bubble(t, "a time in the past is an end", func(t *testing.T) {
		m := newMiddleware(t)
		acquire(t, m.Election("x", instrument.Hold()), electtest.Wins(instrument.NewLease(nil, instrument.RenewalsReported(),
			instrument.ExpiryFrom(func() time.Time { return time.Now().Add(-24 * time.Hour) }))))
		expect(t, m, "x", "won", electtest.Series{"leader_active": 0, "leader_lease_headroom_seconds": -86400, "leader_lease_overruns_total": 1})
	})
}

func TestALockLeftToItsLeaseEndsWithIt(t *testing.T) {
	for name, opts := range map[string][]instrument.ElectionOption{
		"declared so": {instrument.KeepUntilExpiry()}, "and not declared": nil,
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", append(opts, instrument.LeaseDuration(10*s))...)
			want := leased(10 * s)
			for run := 1.; run <= 3; run++ {
				term := acquire(t, e, electtest.NewElector())
				ctx := term.Context()
				expect(t, m, "x", "held", electtest.Series{"leader_active": 1, "leader_lease_expiry_timestamp_seconds": float64(time.Now().Add(10*s).UnixNano()) / 1e9})
				if _, there := electtest.Read(m, "x")["leader_lease_headroom_seconds"]; there == (opts != nil) {
					t.Errorf("headroom is there: %v", there)
				}
				time.Sleep(60 * s)
				check(t, m, "a minute later", want.With(electtest.Series{
					"leader_attempts_total": run, "leader_acquired_total": run, "leader_acquire_duration_seconds_count": run,
					`leader_terms_ended_total{cause="expired"}`: run,
					"leader_last_ended_timestamp_seconds":       float64(time.Now().Add(-50*s).UnixNano()) / 1e9,
				}))
				if ctx.Err() != nil {
					t.Errorf("the context ended by being looked at: %v", context.Cause(ctx))
				}
				if e.Leading() || term.Leading() {
					t.Error("a lock whose lease has ended is led")
				}
			}
		})
	}
	bubble(t, "whether or not it was looked at in between", func(t *testing.T) {
		looked, unseen := newMiddleware(t), newMiddleware(t)
		for _, m := range []*instrument.Middleware{looked, unseen} {
			go func() {
				term := acquire(t, m.Election("x", instrument.LeaseDuration(10*s)), electtest.NewElector())
				time.Sleep(12 * s)
				release(t, term)
			}()
		}
		for range 15 {
			time.Sleep(s)
			electtest.Read(looked, "x")
		}
		want := leased(10 * s).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 12,
			"leader_lease_usage_ratio_count": 1, "leader_lease_usage_ratio_sum": 1.2, "leader_lease_overruns_total": 1,
			`leader_releases_total{result="ok"}`: 1, `leader_terms_ended_total{cause="expired"}`: 1,
		})
		check(t, looked, "looked at", want)
		check(t, unseen, "not looked at", want)
	})
	bubble(t, "Run leaves it, and its body ran in time", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.KeepUntilExpiry(), instrument.LeaseDuration(10*s))
		given := false
		err := e.Run(context.Background(), electtest.Wins(instrument.NewLease(func(context.Context) error { given = true; return nil })),
			func(context.Context, *instrument.Term) error { time.Sleep(3 * s); return nil })
		if err != nil || given {
			t.Errorf("run: %v, given back %v", err, given)
		}
		want := leased(10 * s).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1, "leader_active": 1,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 3,
		})
		check(t, m, "after the body", want.With(electtest.Series{"leader_lease_expiry_timestamp_seconds": float64(time.Now().Add(7*s).UnixNano()) / 1e9}))
		time.Sleep(8 * s)
		check(t, m, "after the lease", want.With(electtest.Series{"leader_active": 0, `leader_terms_ended_total{cause="expired"}`: 1}))
	})
	bubble(t, "Run leaves it, and its body ran too long", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.KeepUntilExpiry(), instrument.LeaseDuration(10*s))
		_ = e.Run(context.Background(), electtest.NewElector(), func(context.Context, *instrument.Term) error { time.Sleep(14 * s); return nil })
		check(t, m, "after the body", leased(10*s).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 14,
			"leader_work_after_loss_seconds_total": 4, "leader_lease_overruns_total": 1, `leader_terms_ended_total{cause="expired"}`: 1,
		}))
	})
	bubble(t, "the next win ends one whose lease is unknown", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.KeepUntilExpiry())
		for range 2 {
			_ = e.Run(context.Background(), electtest.NewElector(), func(context.Context, *instrument.Term) error { return nil })
			time.Sleep(s)
		}
		expect(t, m, "x", "after two", electtest.Series{"leader_active": 1, "leader_acquired_total": 2, `leader_terms_ended_total{cause="expired"}`: 1})
	})
	bubble(t, "a lock that could be renewed and never was", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.LeaseDuration(10*s))
		acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return nil }))))
		time.Sleep(11 * s)
		expect(t, m, "x", "a late renewal may still come", electtest.Series{"leader_active": 0, `leader_terms_ended_total{cause="expired"}`: 0, "leader_lease_overruns_total": 0})
		time.Sleep(10 * s)
		expect(t, m, "x", "but not for ever", electtest.Series{"leader_active": 0, `leader_terms_ended_total{cause="expired"}`: 1, "leader_lease_overruns_total": 0})
		if _, there := electtest.Read(m, "x")["leader_lease_headroom_seconds"]; there {
			t.Error("headroom of a lock that is over")
		}
	})
	bubble(t, "and one that is renewed after all is another acquisition", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.LeaseDuration(10*s))
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return nil }))))
		time.Sleep(time.Minute)
		electtest.Read(m, "x")
		if err := term.Renew(context.Background()); err != nil {
			t.Fatal(err)
		}
		expect(t, m, "x", "renewed", electtest.Series{"leader_active": 1, "leader_attempts_total": 2, "leader_acquired_total": 2, `leader_terms_ended_total{cause="expired"}`: 1, "leader_lease_headroom_seconds": 10})
		release(t, term)
		expect(t, m, "x", "released", electtest.Series{"leader_active": 0, `leader_terms_ended_total{cause="expired"}`: 1, `leader_terms_ended_total{cause="released"}`: 1})
	})
}

// A win counts each term that is over once, also one whose lease ended while a
// body still works under it or began to afterwards.
func TestABodyOfAnEndedTermHidesNoOtherTermFromTheNextWin(t *testing.T) {
	kept := []instrument.ElectionOption{instrument.KeepUntilExpiry()}
	short := func() instrument.Lease { return instrument.NewLease(nil, instrument.ExpiryFrom(in(s))) }
	unknown := func() instrument.Lease { return instrument.NewLease(nil) }
	cases := []struct {
		name    string
		opts    []instrument.ElectionOption
		lapsed  int // terms that their lease has ended, each with a body
		renewed bool
		want    electtest.Series
	}{
		{"one ended term with a body", kept, 1, false,
			electtest.Series{"leader_active": 1, "leader_acquired_total": 3, `leader_terms_ended_total{cause="expired"}`: 2, "leader_running": 1}},
		{"three of them", kept, 3, false,
			electtest.Series{"leader_active": 1, "leader_acquired_total": 5, `leader_terms_ended_total{cause="expired"}`: 4, "leader_running": 3}},
		{"none", kept, 0, false,
			electtest.Series{"leader_active": 1, "leader_acquired_total": 2, `leader_terms_ended_total{cause="expired"}`: 1, "leader_running": 0}},
		{"with room for two leaders both are open", append([]instrument.ElectionOption{instrument.MaxLeaders(2)}, kept...), 1, false,
			electtest.Series{"leader_active": 2, "leader_acquired_total": 3, `leader_terms_ended_total{cause="expired"}`: 1, "leader_running": 1}},
		{"one that was kept after all is open again", kept, 1, true,
			electtest.Series{"leader_active": 2, "leader_acquired_total": 4, `leader_terms_ended_total{cause="expired"}`: 2, "leader_running": 1}},
	}
	for _, c := range cases {
		bubble(t, c.name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", c.opts...)
			stop := make(chan struct{})
			var first *instrument.Term
			for range c.lapsed {
				term := acquire(t, e, electtest.Wins(short()))
				time.Sleep(2 * s)
				electtest.Read(m, "x") // the term is seen to be over before its body begins
				go func() {
					_ = term.Work(context.Background(), func(context.Context, *instrument.Term) error { <-stop; return nil })
				}()
				synctest.Wait()
				first = term
			}
			acquire(t, e, electtest.Wins(unknown()))
			acquire(t, e, electtest.Wins(unknown()))
			if c.renewed {
				first.Sink().Renewed(instrument.Renewal{Expiry: time.Now().Add(s)})
			}
			expect(t, m, "x", "after the wins", c.want)
			close(stop)
			synctest.Wait()
			expect(t, m, "x", "after the bodies", c.want.With(electtest.Series{"leader_running": 0}))
		})
	}
}
