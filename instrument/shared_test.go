package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

func TestSeveralLocksUnderOneLabelShowTheLeastHeadroomAndTheOldestAttempt(t *testing.T) {
	bubble(t, "two tenants, one family", func(t *testing.T) {
		m := newMiddleware(t, instrument.WithRedactor(redact.Constant(redact.Template("tenant-{id}"))))
		a := m.Named("tenant-1", instrument.LeaseDuration(10*s))
		b := m.Named("tenant-2", instrument.LeaseDuration(30*s), instrument.MaxLeaders(3))
		acquire(t, a, electtest.NewElector())
		acquire(t, b, electtest.NewElector())
		waits := electtest.NewElector(electtest.Step{Wait: 60 * s, Err: errBackend})
		go func() { _, _ = a.Acquire(context.Background(), waits) }()
		time.Sleep(4 * s)
		go func() { _, _ = b.Acquire(context.Background(), waits) }()
		time.Sleep(2 * s)
		synctest.Wait()
		r := electtest.Read(m, "tenant-*")
		want := electtest.Series{
			"leader_active": 2, "leader_lease_headroom_seconds": 4, "leader_lease_duration_seconds": 30,
			"leader_pending": 2, "leader_pending_age_seconds": 6, "leader_max_leaders": 3,
			`leader_elector_info{mode="run",family="tenant-*"}`: 1,
		}
		for k, v := range want {
			if r[k] != v {
				t.Errorf("%s is %v, want %v", k, r[k], v)
			}
		}
		time.Sleep(time.Minute)
	})
}

func TestAttemptsOfOneHandleAtOnceAreAllInFlight(t *testing.T) {
	bubble(t, "two that wait, two with callbacks", func(t *testing.T) {
		m := newMiddleware(t, instrument.WithRedactor(redact.Constant(redact.Exact("x", "y").Constant())))
		e, other := m.Named("x"), m.Named("y")
		show := func(at string, want electtest.Series) {
			t.Helper()
			r := electtest.Read(m, redact.Redacted)
			for k, v := range want {
				if r[k] != v {
					t.Errorf("%s: %s is %v, want %v", at, k, r[k], v)
				}
			}
		}
		waits := func(d time.Duration) {
			_, _ = e.Acquire(context.Background(), electtest.NewElector(electtest.Step{Wait: d, Err: errBackend}))
		}
		go waits(11 * s)
		time.Sleep(4 * s)
		first := e.Begin(context.Background())
		time.Sleep(2 * s)
		go waits(20 * s)
		time.Sleep(2 * s)
		second := e.Begin(context.Background())
		time.Sleep(2 * s)
		show("all in flight", electtest.Series{"leader_attempts_total": 4, "leader_pending": 4, "leader_pending_age_seconds": 10})
		second.NotAcquired(instrument.ErrContended)
		time.Sleep(2 * s)
		show("the oldest failed", electtest.Series{"leader_attempts_total": 4, "leader_pending": 2, "leader_pending_age_seconds": 8,
			`leader_not_acquired_total{reason="backend_error"}`: 1})
		go waits(20 * s)
		synctest.Wait()

		e.Forget()
		gone := electtest.Series{"leader_attempts_total": 5, "leader_pending": 0, "leader_pending_age_seconds": 0,
			`leader_not_acquired_total{reason="unknown"}`: 3}
		show("forgotten", gone)
		time.Sleep(30 * s)
		first.Won(instrument.NewLease(nil))
		e.Begin(context.Background())
		waits(s)
		show("used after it was forgotten", gone)
		release(t, acquire(t, other, electtest.NewElector()))
		show("the other handle", electtest.Series{"leader_attempts_total": 6, "leader_acquired_total": 1})
	})
}

func TestALowerFencingTokenIsARegression(t *testing.T) {
	m := newMiddleware(t)
	e := m.Election("x")
	for _, token := range []uint64{7, 9, 3, 3, 4} {
		release(t, acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.Token(token)))))
	}
	r := electtest.Read(m, "x")
	if r["leader_fencing_token"] != 4 || r["leader_fencing_token_regressions_total"] != 1 {
		t.Errorf("token %v, regressions %v", r["leader_fencing_token"], r["leader_fencing_token_regressions_total"])
	}
}

func TestALossReachesEveryContextOfTheTerm(t *testing.T) {
	bubble(t, "two bodies and the term's own", func(t *testing.T) {
		m := newMiddleware(t)
		lost := make(chan struct{})
		term := acquire(t, m.Election("x"), electtest.Wins(instrument.NewLease(nil, instrument.LostOn(lost))))
		causes := make(chan error, 3)
		for range 2 {
			go func() {
				_ = term.Work(context.Background(), func(ctx context.Context, _ *instrument.Term) error {
					<-ctx.Done()
					causes <- context.Cause(ctx)
					return nil
				})
			}()
		}
		synctest.Wait()
		if running := electtest.Read(m, "x")["leader_running"]; running != 2 {
			t.Errorf("%v bodies run, want 2", running)
		}
		own := term.Context()
		close(lost)
		<-own.Done()
		causes <- context.Cause(own)
		for range 3 {
			if cause := <-causes; !errors.Is(cause, instrument.ErrLost) {
				t.Errorf("a context ended with %v, want %v", cause, instrument.ErrLost)
			}
		}
	})
}

func TestABodyThatObeysCancellationHasNotFailed(t *testing.T) {
	cases := []struct {
		name string
		stop func(cancel context.CancelFunc, lost chan struct{})
		err  error
		want float64
	}{
		{"the caller cancels", func(cancel context.CancelFunc, _ chan struct{}) { cancel() }, context.Canceled, 0},
		{"the term is lost", func(_ context.CancelFunc, lost chan struct{}) { close(lost) }, fmt.Errorf("stop: %w", context.Canceled), 0},
		{"another error is a failure", func(cancel context.CancelFunc, _ chan struct{}) { cancel() }, errBackend, 1},
	}
	for _, c := range cases {
		bubble(t, c.name, func(t *testing.T) {
			m := newMiddleware(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			lost := make(chan struct{})
			err := m.Election("x").Run(ctx, electtest.Wins(instrument.NewLease(nil, instrument.LostOn(lost))),
				func(ctx context.Context, _ *instrument.Term) error {
					c.stop(cancel, lost)
					<-ctx.Done()
					return c.err
				})
			if !errors.Is(err, c.err) {
				t.Errorf("run returned %v", err)
			}
			if got := electtest.Read(m, "x")[`leader_execution_failures_total{cause="error"}`]; got != c.want {
				t.Errorf("failures %v, want %v", got, c.want)
			}
		})
	}
}

func TestADeclaredLeaseGivesAnEndOnlyWhereItCanBeTrue(t *testing.T) {
	renewable := instrument.RenewWith(func(context.Context) error { return nil })
	cases := []struct {
		name  string
		lease instrument.Lease
		opts  []instrument.ElectionOption
		known bool
	}{
		{"a lock around one run, which something renews", instrument.NewLease(nil, renewable), nil, true},
		{"a held leadership that is renewed unseen", instrument.NewLease(nil), []instrument.ElectionOption{instrument.Hold()}, false},
		{"a held leadership renewed on demand", instrument.NewLease(nil, renewable), []instrument.ElectionOption{instrument.Hold()}, true},
		{"a lock whose library hides its renewals", instrument.NewLease(nil), []instrument.ElectionOption{instrument.HiddenRenewals()}, false},
		{"a lease whose library hides its renewals", instrument.NewLease(nil, instrument.RenewalsHidden()), nil, false},
		{"an elector that is only observed", nil, nil, false},
	}
	for _, c := range cases {
		bubble(t, c.name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", append(c.opts, instrument.LeaseDuration(10*s))...)
			if c.lease == nil {
				e.ObserveLeading(instrument.Leadership{})
			} else {
				acquire(t, e, electtest.Wins(c.lease))
			}
			time.Sleep(11 * s)
			r := electtest.Read(m, "x")
			headroom, known := r["leader_lease_headroom_seconds"]
			if known != c.known || r["leader_active"] == 1 == c.known || known && headroom != -1 {
				t.Errorf("headroom %v (known %v), active %v", headroom, known, r["leader_active"])
			}
		})
	}
}

func TestALeaseThatHidesItsRenewalsHasNeitherAnEndNorRenewals(t *testing.T) {
	const lease = 10 * s
	for _, c := range []struct {
		name  string
		opts  []instrument.ElectionOption
		fresh electtest.Series
		lease func() []instrument.LeaseOption
	}{
		{"a lock around one run, whose length is declared", []instrument.ElectionOption{instrument.LeaseDuration(lease)}, leased(lease), func() []instrument.LeaseOption { return nil }},
		{"a held leadership that knows an end of before", []instrument.ElectionOption{instrument.LeaseDuration(lease), instrument.Hold()}, held(leased(lease)),
			func() []instrument.LeaseOption { return []instrument.LeaseOption{instrument.ExpiryFrom(in(lease))} }},
	} {
		bubble(t, c.name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", c.opts...)
			check(t, m, "at first", c.fresh)
			term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, append(c.lease(), instrument.RenewalsHidden())...)))
			time.Sleep(10 * lease)
			leads := c.fresh.Without(
				`leader_renewals_total{result="ok"}`, `leader_renewals_total{result="error"}`, `leader_renewals_total{result="timeout"}`,
				`leader_renewals_total{result="canceled"}`, `leader_renewals_total{result="lost"}`,
			).With(electtest.Series{
				"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1, "leader_acquire_duration_seconds_count": 1,
			})
			check(t, m, "after ten lease lengths", leads)
			if _, known := term.Expiry(); known || !term.Leading() {
				t.Errorf("the end is known: %v; leading: %v", known, term.Leading())
			}
			release(t, term)
			check(t, m, "after the release", leads.With(electtest.Series{
				"leader_active": 0, `leader_terms_ended_total{cause="released"}`: 1, `leader_releases_total{result="ok"}`: 1,
				"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 100,
			}))
			release(t, acquire(t, e, electtest.Wins(instrument.NewLease(nil))))
			if _, there := electtest.Read(m, "x")[`leader_renewals_total{result="ok"}`]; !there {
				t.Error("after a lease that hides nothing there are no renewal series")
			}
		})
	}
}

func TestAnAttemptThatWaitedIsNotPartOfTheLease(t *testing.T) {
	for name, opts := range map[string][]instrument.ElectionOption{
		"the length is declared":     {instrument.LeaseDuration(15 * s)},
		"the length is what is seen": nil,
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", append(opts, instrument.Hold())...)
			var end time.Time
			lease := instrument.NewLease(nil, instrument.ExpiryFrom(func() time.Time { return end }),
				instrument.WatchWith(func(_ context.Context, k instrument.Sink) {
					for range 3 {
						time.Sleep(6 * s)
						k.Renewed(instrument.Renewal{Expiry: time.Now().Add(15 * s)})
					}
				}))
			acquire(t, e, instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) {
				time.Sleep(time.Hour)
				end = time.Now().Add(15 * s)
				return lease, nil
			}))
			time.Sleep(19 * s)
			r := electtest.Read(m, "x")
			if r["leader_lease_usage_ratio_count"] != 3 || r["leader_lease_usage_ratio_sum"] < 1.19 || r["leader_lease_usage_ratio_sum"] > 1.21 {
				t.Errorf("usage %v in %v renewals, want 1.2 in 3", r["leader_lease_usage_ratio_sum"], r["leader_lease_usage_ratio_count"])
			}
			if r["leader_lease_duration_seconds"] != 15 || r["leader_lease_headroom_seconds"] != 14 {
				t.Errorf("lease %v, headroom %v", r["leader_lease_duration_seconds"], r["leader_lease_headroom_seconds"])
			}
		})
	}
}

func TestAnAnswerInTransitIsPartOfTheLease(t *testing.T) {
	bubble(t, "renewed by the library, answered 3 s after the request", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.LeaseDuration(15*s))
		acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.WatchWith(func(_ context.Context, k instrument.Sink) {
			for range 2 {
				time.Sleep(3 * s)
				end := time.Now().Add(15 * s)
				time.Sleep(3 * s)
				k.Renewed(instrument.Renewal{Expiry: end})
			}
		}))))
		time.Sleep(13 * s)
		r := electtest.Read(m, "x")
		if got := r["leader_lease_usage_ratio_sum"]; got < 0.999 || got > 1.001 { // 6 s of 15, then 9 of 15
			t.Errorf("usage %v, want 1", got)
		}
		if r["leader_lease_headroom_seconds"] != 11 {
			t.Errorf("headroom %v, want 11", r["leader_lease_headroom_seconds"])
		}
	})
}
