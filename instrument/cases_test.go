package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// The field cases of instrumentation, each with the series at the instants
// that matter.

func TestC01BackendOutageIsNotContention(t *testing.T) {
	bubble(t, "an adapter that can tell reports both", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x")
		attempt := func(err error) { _, _ = e.Acquire(context.Background(), electtest.Fails(err)) }
		for range 4 {
			attempt(fmt.Errorf("set if absent: %w", instrument.ErrContended))
		}
		for range 6 {
			attempt(errBackend)
		}
		// The write failed, the read that followed proved that we hold it.
		acquire(t, e, electtest.NewElector())
		check(t, m, "after the outage", zero.With(electtest.Series{
			"leader_attempts_total": 11, "leader_acquired_total": 1, "leader_active": 1,
			`leader_not_acquired_total{reason="contended"}`:     4,
			`leader_not_acquired_total{reason="backend_error"}`: 6,
			"leader_acquire_duration_seconds_count":             11,
		}))
	})
	bubble(t, "an adapter that cannot tell says unknown", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x")
		_, err := e.Acquire(context.Background(), electtest.Fails(instrument.ErrUnknown))
		if !errors.Is(err, instrument.ErrUnknown) {
			t.Fatal(err)
		}
		_, err = e.Acquire(context.Background(), instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) { return nil, nil }))
		if !errors.Is(err, instrument.ErrNoLease) {
			t.Fatal(err)
		}
		check(t, m, "after both", zero.With(electtest.Series{
			"leader_attempts_total": 2, `leader_not_acquired_total{reason="unknown"}`: 2,
			"leader_acquire_duration_seconds_count": 2,
		}))
	})
}

func TestC02PhantomLeaderIsSessionLost(t *testing.T) {
	bubble(t, "a campaign succeeds after its session died", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold())
		session := make(chan struct{})
		time.AfterFunc(40*s, func() { close(session) })
		campaign := electtest.NewElector(electtest.Step{Wait: 300 * s, Lease: instrument.NewLease(nil, instrument.LostOn(session))})
		won := make(chan *instrument.Term)
		go func() { won <- acquire(t, e, campaign) }()

		time.Sleep(200 * s)
		synctest.Wait()
		check(t, m, "at 200", held(zero).With(electtest.Series{
			"leader_attempts_total": 1, "leader_pending": 1, "leader_pending_age_seconds": 200,
		}))
		term := <-won
		want := held(zero).With(electtest.Series{
			"leader_attempts_total": 1, `leader_not_acquired_total{reason="session_lost"}`: 1,
			"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 300,
		})
		check(t, m, "at 300", want)
		if ctx := term.Context(); !errors.Is(context.Cause(ctx), instrument.ErrLost) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
		_ = term.Work(context.Background(), func(context.Context, *instrument.Term) error { time.Sleep(5 * s); return nil })
		check(t, m, "after work without a lock", want.With(electtest.Series{
			"leader_work_after_loss_seconds_total":    5,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 5,
		}))
	})
}

func TestC03HungRenewalDoesNotFreezeHeadroom(t *testing.T) {
	bubble(t, "lease 15, renewed at 2 and 4, hung at 6", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold(), instrument.LeaseDuration(15*s))
		var hang time.Duration
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error {
			time.Sleep(hang)
			return nil
		}))))
		for range 2 {
			time.Sleep(2 * s)
			if err := term.Renew(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		want := held(leased(15 * s)).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1,
			"leader_acquire_duration_seconds_count": 1,
			`leader_renewals_total{result="ok"}`:    2, "leader_renewal_duration_seconds_count": 2,
			"leader_lease_usage_ratio_count": 2, "leader_lease_usage_ratio_sum": 4. / 15,
		})
		start := time.Now().Add(-4 * s)
		time.Sleep(2 * s)
		hang = 60 * s
		done := make(chan error)
		go func() { done <- term.Renew(context.Background()) }()
		for _, at := range []struct{ second, headroom, active, overruns float64 }{
			{15, 4, 1, 0}, {30, -11, 0, 1}, {45, -26, 0, 1}, {60, -41, 0, 1},
		} {
			time.Sleep(time.Until(start.Add(time.Duration(at.second) * s)))
			synctest.Wait()
			check(t, m, fmt.Sprintf("at %v", at.second), want.With(electtest.Series{
				"leader_active": at.active, "leader_lease_headroom_seconds": at.headroom,
				"leader_lease_overruns_total":           at.overruns,
				"leader_lease_expiry_timestamp_seconds": float64(start.Add(19*s).UnixNano()) / 1e9,
			}))
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		check(t, m, "the answer came at last, 60 s into a lease of 15", want.With(electtest.Series{
			"leader_active": 0, "leader_lease_headroom_seconds": 6 + 15 - 66, "leader_lease_overruns_total": 1,
			"leader_lease_expiry_timestamp_seconds": float64(start.Add(21*s).UnixNano()) / 1e9,
			`leader_renewals_total{result="ok"}`:    3, "leader_renewal_duration_seconds_count": 3, "leader_renewal_duration_seconds_sum": 60,
			"leader_lease_usage_ratio_count": 3, "leader_lease_usage_ratio_sum": 4./15 + 62./15,
		}))
	})
}

func TestC04HeadroomCountsFromTheRequest(t *testing.T) {
	renewing := func(m *instrument.Middleware, lease time.Duration, latency *time.Duration) *instrument.Term {
		e := m.Election("x", instrument.LeaseDuration(lease))
		term, _ := e.Acquire(context.Background(), electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error {
			time.Sleep(*latency)
			return nil
		}))))
		return term
	}
	headroom := func(m *instrument.Middleware) float64 {
		return electtest.Read(m, "x")["leader_lease_headroom_seconds"]
	}
	bubble(t, "a slow answer is not credited", func(t *testing.T) {
		m := newMiddleware(t)
		latency := 8 * s
		term := renewing(m, 15*s, &latency)
		time.Sleep(5 * s)
		_ = term.Renew(context.Background())
		if h := headroom(m); h != 7 {
			t.Errorf("at the answer: %v, want 7", h)
		}
		time.Sleep(2 * s)
		if h := headroom(m); h != 5 {
			t.Errorf("2 s later: %v, want 5", h)
		}
	})
	bubble(t, "renew period equal to the lease uses all of it", func(t *testing.T) {
		m := newMiddleware(t)
		var latency time.Duration
		term := renewing(m, 5*s, &latency)
		for range 24 {
			time.Sleep(5 * s)
			_ = term.Renew(context.Background())
		}
		r := electtest.Read(m, "x")
		if got := r[`leader_lease_usage_ratio_bucket{le="1.05"}`]; got != 24 {
			t.Errorf("renewals at the very end: %v, want 24", got)
		}
		if r["leader_acquired_total"] != 1 || r[`leader_renewals_total{result="ok"}`] != 24 {
			t.Errorf("series %v", r)
		}
	})
	bubble(t, "growing latency shows while headroom is still there", func(t *testing.T) {
		m := newMiddleware(t)
		var latency time.Duration
		term := renewing(m, 15*s, &latency)
		for _, l := range []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, 3500 * time.Millisecond, 9 * s} {
			latency = 0
			_ = term.Renew(context.Background())
			time.Sleep(2 * s)
			latency = l
			_ = term.Renew(context.Background())
		}
		// The last answer came 2 + 9 s into the lease, 4 s before its end.
		r := electtest.Read(m, "x")
		if r["leader_renewal_duration_seconds_sum"] != 13.1 || r[`leader_lease_usage_ratio_bucket{le="0.8"}`] != 1 {
			t.Errorf("series %v", r)
		}
	})
	bubble(t, "a dip between two scrapes is counted at the renewal", func(t *testing.T) {
		m := newMiddleware(t)
		var latency time.Duration
		term := renewing(m, 10*s, &latency)
		time.Sleep(9500 * time.Millisecond)
		_ = term.Renew(context.Background())
		if got := electtest.Read(m, "x")[`leader_lease_usage_ratio_bucket{le="1.05"}`]; got != 1 {
			t.Errorf("renewals beyond 0.9: %v, want 1", got)
		}
	})
}

func TestC05WorkGoesOnAfterLoss(t *testing.T) {
	bubble(t, "loss at 60, the body ignores it until 240", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold())
		lost := make(chan struct{})
		time.AfterFunc(60*s, func() { close(lost) })
		done := make(chan error)
		go func() {
			done <- e.Run(context.Background(), electtest.Wins(instrument.NewLease(nil, instrument.LostOn(lost))),
				func(ctx context.Context, _ *instrument.Term) error {
					<-ctx.Done()
					if !errors.Is(context.Cause(ctx), instrument.ErrLost) {
						t.Errorf("cause %v", context.Cause(ctx))
					}
					time.Sleep(180 * s)
					return nil
				})
		}()
		want := held(zero).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_running": 1,
			"leader_acquire_duration_seconds_count": 1,
		})
		time.Sleep(59 * s)
		synctest.Wait()
		check(t, m, "at 59", want.With(electtest.Series{"leader_active": 1}))
		time.Sleep(s)
		synctest.Wait()
		lostWant := want.With(electtest.Series{`leader_terms_ended_total{cause="lost"}`: 1})
		check(t, m, "at 60", lostWant)
		time.Sleep(90 * s)
		check(t, m, "at 150, half way", lostWant.With(electtest.Series{"leader_work_after_loss_seconds_total": 90}))
		<-done
		check(t, m, "at 240", lostWant.With(electtest.Series{
			"leader_work_after_loss_seconds_total": 180, "leader_running": 0,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 240,
			`leader_releases_total{result="ok"}`: 1,
		}))
	})
}

func TestC07RefusedExtensionIsLoss(t *testing.T) {
	taken := errors.New("lock already taken")
	bubble(t, "paused past the lease, another holds it", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.LeaseDuration(20*s), classified(instrument.Contended, taken))
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return taken }))))
		time.Sleep(25 * s)
		for range 9 {
			if err := term.Renew(context.Background()); !errors.Is(err, taken) {
				t.Fatal(err)
			}
			time.Sleep(6700 * time.Millisecond)
		}
		check(t, m, "after 60 s of ticking", leased(20*s).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
			`leader_renewals_total{result="lost"}`: 1, "leader_renewal_duration_seconds_count": 1,
			`leader_terms_ended_total{cause="lost"}`: 1, "leader_lease_overruns_total": 1,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 25,
		}))
	})
	bubble(t, "one transport error, then a renewal", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.LeaseDuration(20*s))
		answers := []error{errBackend, nil}
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error {
			err := answers[0]
			answers = answers[1:]
			return err
		}))))
		time.Sleep(6700 * time.Millisecond)
		_ = term.Renew(context.Background())
		time.Sleep(6700 * time.Millisecond)
		_ = term.Renew(context.Background())
		check(t, m, "after both", leased(20*s).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_active": 1, "leader_acquire_duration_seconds_count": 1,
			`leader_renewals_total{result="error"}`: 1, `leader_renewals_total{result="ok"}`: 1, "leader_renewal_duration_seconds_count": 2,
			"leader_lease_usage_ratio_count": 1, "leader_lease_usage_ratio_sum": 0.67,
			"leader_lease_headroom_seconds":         20,
			"leader_lease_expiry_timestamp_seconds": float64(time.Now().Add(20*s).UnixNano()) / 1e9,
		}))
	})
	bubble(t, "a job of 12 s under a lease of 10", func(t *testing.T) {
		m := newMiddleware(t)
		notHeld := errors.New("lock not held")
		e := m.Election("x", instrument.LeaseDuration(10*s), classified(instrument.SessionLost, notHeld))
		term := acquire(t, e, electtest.Wins(instrument.NewLease(func(context.Context) error { return notHeld })))
		time.Sleep(12 * s)
		for range 2 {
			if err := term.Release(context.Background()); !errors.Is(err, notHeld) {
				t.Fatal(err)
			}
		}
		check(t, m, "after unlocking twice", leased(10*s).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 12,
			"leader_lease_usage_ratio_count": 1, "leader_lease_usage_ratio_sum": 1.2, "leader_lease_overruns_total": 1,
			`leader_releases_total{result="not_owner"}`: 1, `leader_terms_ended_total{cause="expired"}`: 1,
		}))
	})
}

func TestC10TermsAreCountedAndRenewalsAreNot(t *testing.T) {
	bubble(t, "A, then B, then A again", func(t *testing.T) {
		a, b := newMiddleware(t), newMiddleware(t)
		lead := func(e *instrument.Election, renewals int) {
			lost := make(chan struct{})
			term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.LostOn(lost),
				instrument.RenewWith(func(context.Context) error { return nil }))))
			for range renewals {
				_ = term.Renew(context.Background())
			}
			close(lost)
			synctest.Wait()
		}
		ea, eb := a.Election("x", instrument.Hold()), b.Election("x", instrument.Hold())
		lead(ea, 100)
		lead(eb, 0)
		lead(ea, 0)
		want := held(zero).With(electtest.Series{
			"leader_attempts_total": 2, "leader_acquired_total": 2, "leader_acquire_duration_seconds_count": 2,
			`leader_terms_ended_total{cause="lost"}`: 2, "leader_execution_duration_seconds_count": 2,
			`leader_renewals_total{result="ok"}`: 100, "leader_renewal_duration_seconds_count": 100,
		})
		check(t, a, "A", want)
		check(t, b, "B", held(zero).With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
			`leader_terms_ended_total{cause="lost"}`: 1, "leader_execution_duration_seconds_count": 1,
		}))
	})
}

func TestC11GaugesSurviveCancellationAndPanic(t *testing.T) {
	bubble(t, "canceled while waiting", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x")
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(3*s, cancel)
		if _, err := e.Acquire(ctx, electtest.NewElector(electtest.Step{Wait: 60 * s})); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		check(t, m, "after", zero.With(electtest.Series{
			"leader_attempts_total": 1, `leader_not_acquired_total{reason="canceled"}`: 1,
			"leader_acquire_duration_seconds_count": 1, "leader_acquire_duration_seconds_sum": 3,
		}))
	})
	bubble(t, "the body panics after 3 s, the next run is clean", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x")
		boom := errors.New("boom")
		func() {
			defer func() {
				if got := recover(); got != boom {
					t.Errorf("recovered %v", got)
				}
			}()
			_ = e.Run(context.Background(), electtest.NewElector(), func(context.Context, *instrument.Term) error {
				time.Sleep(3 * s)
				panic(boom)
			})
		}()
		after := zero.With(electtest.Series{
			"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_acquire_duration_seconds_count": 1,
			"leader_execution_duration_seconds_count": 1, "leader_execution_duration_seconds_sum": 3,
			`leader_execution_failures_total{cause="panic"}`: 1,
			`leader_terms_ended_total{cause="released"}`:     1, `leader_releases_total{result="ok"}`: 1,
		})
		check(t, m, "after the panic", after)
		_ = e.Run(context.Background(), electtest.NewElector(), func(context.Context, *instrument.Term) error {
			check(t, m, "in the next run", after.With(electtest.Series{
				"leader_attempts_total": 2, "leader_acquired_total": 2, "leader_acquire_duration_seconds_count": 2,
				"leader_active": 1, "leader_running": 1,
			}))
			return nil
		})
	})
}

func TestC12ShutdownIsNotABackendFailure(t *testing.T) {
	bubble(t, "40 canceled, 6 refused, 3 renewals past their own deadline", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x")
		for range 40 {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_, _ = e.Acquire(ctx, electtest.Fails(fmt.Errorf("rpc: %w", errBackend)))
		}
		for range 6 {
			_, _ = e.Acquire(context.Background(), electtest.Fails(errBackend))
		}
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(ctx context.Context) error {
			<-ctx.Done()
			return errBackend
		}))))
		for range 3 {
			ctx, cancel := context.WithTimeout(context.Background(), 10*s)
			_ = term.Renew(ctx)
			cancel()
		}
		check(t, m, "after", zero.With(electtest.Series{
			"leader_attempts_total": 47, "leader_acquired_total": 1, "leader_active": 1, "leader_acquire_duration_seconds_count": 47,
			`leader_not_acquired_total{reason="canceled"}`:      40,
			`leader_not_acquired_total{reason="backend_error"}`: 6,
			`leader_renewals_total{result="timeout"}`:           3,
			"leader_renewal_duration_seconds_count":             3, "leader_renewal_duration_seconds_sum": 30,
		}))
	})
}

func TestC14EachRunOfAFastJobIsATerm(t *testing.T) {
	bubble(t, "three replicas, ten minutes", func(t *testing.T) {
		total := 0.
		for range 3 {
			m := newMiddleware(t)
			e := m.Election("x", instrument.ExpectEvery(60*s))
			for range 10 {
				_ = e.Run(context.Background(), electtest.NewElector(), func(context.Context, *instrument.Term) error {
					time.Sleep(50 * time.Millisecond)
					return nil
				})
				time.Sleep(60*s - 50*time.Millisecond)
			}
			r := electtest.Read(m, "x")
			total += r["leader_acquired_total"]
			if r["leader_expected_interval_seconds"] != 60 || r["leader_active"] != 0 {
				t.Errorf("series %v", r)
			}
		}
		if total != 30 {
			t.Errorf("runs %v, want 30", total)
		}
	})
}

func TestC15TheLossEventNeverArrives(t *testing.T) {
	bubble(t, "lease 15, last renewal at 100", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold(), instrument.LeaseDuration(15*s))
		acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.WatchWith(func(_ context.Context, k instrument.Sink) {
			for range 10 {
				time.Sleep(10 * s)
				k.Renewed(instrument.Renewal{})
			}
		}))))
		time.Sleep(115*s - time.Millisecond)
		synctest.Wait()
		if r := electtest.Read(m, "x"); r["leader_active"] != 1 {
			t.Errorf("just before the lease end: %v", r)
		}
		time.Sleep(time.Millisecond)
		r := electtest.Read(m, "x")
		if r["leader_active"] != 0 || r["leader_lease_headroom_seconds"] > 0 {
			t.Errorf("at the lease end: active %v, headroom %v", r["leader_active"], r["leader_lease_headroom_seconds"])
		}
	})
}

// jumped shifts the wall clock of a time and leaves its monotonic reading,
// which no public function does: seconds are bits 30 to 62 of the first word.
func jumped(t time.Time, by time.Duration) time.Time {
	word := (*uint64)(unsafe.Pointer(&t))
	const rest = 1<<63 | 1<<30 - 1
	seconds := int64(*word<<1>>31) + int64(by/s)
	*word = *word&rest | uint64(seconds)<<30
	return t
}

// wallClock is the real clock with a wall reading that can jump.
type wallClock struct{ by time.Duration }

func (c *wallClock) Now() time.Time { return jumped(time.Now(), c.by) }

func TestC16SuspensionAndClockJumps(t *testing.T) {
	bubble(t, "stopped for 60 s under a lease of 20", func(t *testing.T) {
		m := newMiddleware(t)
		taken := errors.New("taken")
		e := m.Election("x", instrument.LeaseDuration(20*s), classified(instrument.Contended, taken))
		err := e.Run(context.Background(), electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return taken }))),
			func(ctx context.Context, term *instrument.Term) error {
				time.Sleep(60 * s) // as SIGSTOP does
				r := electtest.Read(m, "x")
				if r["leader_lease_headroom_seconds"] > -40 || r["leader_active"] != 0 || r["leader_work_after_loss_seconds_total"] != 40 {
					t.Errorf("first scrape after the stop: %v", r)
				}
				return term.Renew(ctx)
			})
		if !errors.Is(err, taken) {
			t.Fatal(err)
		}
		r := electtest.Read(m, "x")
		if r[`leader_renewals_total{result="lost"}`] != 1 || r["leader_execution_duration_seconds_sum"] != 60 {
			t.Errorf("after: %v", r)
		}
	})
	// On the real clock: a virtual one has no monotonic reading. A jump of an
	// hour is larger than any delay of the machine.
	for _, by := range []time.Duration{-time.Hour, time.Hour} {
		t.Run("the wall clock jumps by "+by.String(), func(t *testing.T) {
			clock := &wallClock{}
			m := newMiddleware(t, instrument.WithClock(clock))
			e := m.Election("x", instrument.LeaseDuration(600*s))
			near := func(what string, got, want float64) {
				t.Helper()
				if math.Abs(got-want) > 300 {
					t.Errorf("%s %v, want about %v", what, got, want)
				}
			}
			_ = e.Run(context.Background(), electtest.NewElector(), func(context.Context, *instrument.Term) error {
				clock.by = by
				r := electtest.Read(m, "x")
				near("headroom", r["leader_lease_headroom_seconds"], 600)
				near("expiry", r["leader_lease_expiry_timestamp_seconds"], float64(clock.Now().Unix())+600)
				return nil
			})
			near("duration", electtest.Read(m, "x")["leader_execution_duration_seconds_sum"], 0)
		})
	}
	bubble(t, "a pause before the request is sent", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.LeaseDuration(5*s))
		acquire(t, e, electtest.NewElector(electtest.Step{Wait: 6 * s, Lease: instrument.NewLease(nil)}))
		r := electtest.Read(m, "x")
		if _, known := r["leader_lease_headroom_seconds"]; known || r["leader_active"] != 1 {
			t.Errorf("a pause longer than the lease shows that the end is unknown: %v", r)
		}
	})
}

func TestC19AStandbyShowsEverythingAtZero(t *testing.T) {
	bubble(t, "up for ten minutes, never wins", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.LeaseDuration(15*s))
		check(t, m, "at first scrape", leased(15*s))
		for range 300 {
			_, _ = e.Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
			time.Sleep(2 * s)
		}
		check(t, m, "after ten minutes", leased(15*s).With(electtest.Series{
			"leader_attempts_total": 300, `leader_not_acquired_total{reason="contended"}`: 300,
			"leader_acquire_duration_seconds_count": 300,
		}))
	})
}
