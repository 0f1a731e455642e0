package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

// Work after loss counts from the instant at which another replica may lead,
// and the contexts that depend on a term end before the backend is told.

func TestWorkAfterLossCountsFromWhenAnotherMayLead(t *testing.T) {
	evidence, gaveUp := fmt.Errorf("record of another: %w", instrument.ErrContended), fmt.Errorf("renew deadline: %w", instrument.ErrGaveUp)
	cases := []struct {
		name     string
		lease    time.Duration // 0 unknown
		at       time.Duration // of the loss
		cause    error
		channel  bool // the loss is told by a channel
		body     time.Duration
		work     float64
		overruns float64
		ended    string
	}{
		{"gave up at 40 of 60, stopped 5 s before the end", 60 * s, 40 * s, gaveUp, false, 55 * s, 0, 0, "gave_up"},
		{"gave up at 10 of 15, stopped 3 s past the end", 15 * s, 10 * s, gaveUp, false, 18 * s, 3, 1, "gave_up"},
		{"the channel alone, and the lease still runs", 60 * s, 40 * s, nil, true, 55 * s, 0, 0, "lost"},
		{"the channel alone, and the body runs past the lease", 15 * s, 10 * s, nil, true, 18 * s, 3, 1, "lost"},
		{"the library does not say why", 15 * s, 10 * s, errors.New("lib: over"), false, 18 * s, 3, 1, "lost"},
		{"stopped without giving it back", 15 * s, 10 * s, context.Canceled, false, 18 * s, 3, 1, "canceled"},
		{"the backend names another", 60 * s, 40 * s, evidence, false, 55 * s, 15, 0, "lost"},
		{"the session has ended", 60 * s, 40 * s, instrument.ErrSessionLost, false, 55 * s, 15, 0, "lost"},
		{"the backend names another, and the body runs past the lease", 15 * s, 10 * s, evidence, false, 18 * s, 8, 1, "lost"},
		{"gave up after the end", 15 * s, 16 * s, gaveUp, false, 18 * s, 3, 1, "lost"},
		{"gave up in the instant of the end", 15 * s, 15 * s, gaveUp, false, 18 * s, 3, 1, "lost"},
		{"the end is unknown, and it gave up", 0, 10 * s, gaveUp, false, 18 * s, 8, 0, "lost"},
		{"the end is unknown, and the channel", 0, 10 * s, nil, true, 18 * s, 8, 0, "lost"},
	}
	for _, c := range cases {
		bubble(t, c.name, func(t *testing.T) {
			m := newMiddleware(t)
			lost, start := make(chan struct{}), time.Now()
			lease := []instrument.LeaseOption{instrument.RenewalsReported()}
			if c.lease > 0 {
				lease = append(lease, instrument.ExpiryFrom(in(c.lease)))
			}
			if c.channel {
				lease = append(lease, instrument.LostOn(lost))
			}
			err := m.Election("x", instrument.Hold()).Run(context.Background(), electtest.Wins(instrument.NewLease(nil, lease...)),
				func(ctx context.Context, term *instrument.Term) error {
					time.Sleep(c.at)
					if c.channel {
						close(lost)
					} else {
						term.Sink().Lost(c.cause)
					}
					synctest.Wait()
					if !errors.Is(context.Cause(ctx), instrument.ErrLost) {
						t.Errorf("the body was told %v", context.Cause(ctx))
					}
					time.Sleep((c.body - c.at) / 2)
					electtest.Read(m, "x") // a reading in between changes nothing
					time.Sleep(c.body - time.Since(start))
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
			want := electtest.Series{
				"leader_work_after_loss_seconds_total": c.work, `leader_terms_ended_total{cause="` + c.ended + `"}`: 1, "leader_active": 0, "leader_running": 0,
				"leader_last_ended_timestamp_seconds": float64(start.Add(c.at).UnixNano()) / 1e9,
			}
			if c.lease > 0 {
				want["leader_lease_overruns_total"] = c.overruns
				want["leader_last_ended_timestamp_seconds"] = float64(start.Add(min(c.at, c.lease)).UnixNano()) / 1e9
			}
			expect(t, m, "x", "after", want)
		})
	}
}

func TestAReleaseAfterGivingUpLetsOthersLeadAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		work float64
	}{"which succeeds": {nil, 8}, "which finds it gone": {instrument.ErrSessionLost, 8}, "which fails": {errBackend, 0}} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			lease := instrument.NewLease(func(context.Context) error { return c.err }, instrument.RenewalsReported(), instrument.ExpiryFrom(in(60*s)))
			term := acquire(t, m.Election("x", instrument.Hold()), electtest.Wins(lease))
			go func() {
				_ = term.Work(context.Background(), func(context.Context, *instrument.Term) error { time.Sleep(48 * s); return nil })
			}()
			time.Sleep(30 * s)
			term.Sink().Lost(instrument.ErrGaveUp)
			time.Sleep(10 * s)
			_ = term.Release(context.Background())
			time.Sleep(10 * s)
			expect(t, m, "x", "after", electtest.Series{"leader_work_after_loss_seconds_total": c.work, `leader_terms_ended_total{cause="gave_up"}`: 1})
		})
	}
	bubble(t, "stopped, and gone with it", func(t *testing.T) {
		m := newMiddleware(t)
		term := acquire(t, m.Election("x", instrument.Hold()), electtest.Wins(instrument.NewLease(nil, instrument.RenewalsReported(), instrument.ExpiryFrom(in(60*s)))))
		go func() {
			_ = term.Work(context.Background(), func(context.Context, *instrument.Term) error { time.Sleep(20 * s); return nil })
		}()
		time.Sleep(15 * s)
		term.Sink().Lost(errors.Join(context.Canceled, instrument.ErrSessionLost))
		time.Sleep(10 * s)
		expect(t, m, "x", "after", electtest.Series{"leader_work_after_loss_seconds_total": 5, `leader_terms_ended_total{cause="canceled"}`: 1})
	})
}

func TestTheShareOfALeaseCountsFromItsBeginning(t *testing.T) {
	bubble(t, "a renewal of two requests, the first of which failed", func(t *testing.T) {
		m := newMiddleware(t)
		term := acquire(t, m.Election("x", instrument.Hold(), instrument.LeaseDuration(100*s)), electtest.Wins(instrument.NewLease(nil, instrument.RenewalsReported())))
		time.Sleep(5 * s)
		first := time.Now()
		time.Sleep(5 * s)
		second := time.Now()
		time.Sleep(s)
		term.Sink().Renewed(instrument.Renewal{Sent: first, Expiry: second.Add(100 * s)})
		time.Sleep(9 * s)
		term.Sink().Renewed(instrument.Renewal{Sent: time.Now(), Expiry: time.Now().Add(100 * s)})
		expect(t, m, "x", "after both", electtest.Series{"leader_lease_usage_ratio_count": 2, "leader_lease_usage_ratio_sum": 0.11 + 0.1, "leader_renewal_duration_seconds_sum": 6})
	})
}

func TestContextsEndBeforeTheBackendIsTold(t *testing.T) {
	for name, refused := range map[string]error{"the release succeeds": nil, "the release fails": errBackend} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			var told atomic.Bool
			var late []string
			lease := instrument.NewLease(func(context.Context) error {
				told.Store(true)
				time.Sleep(8 * s)
				return refused
			})
			term := acquire(t, m.Election("x"), electtest.Wins(lease))
			stopped := make(chan string, 3)
			for i := range 2 {
				go func() {
					_ = term.Work(context.Background(), func(ctx context.Context, _ *instrument.Term) error {
						<-ctx.Done()
						if !errors.Is(context.Cause(ctx), instrument.ErrReleased) {
							t.Errorf("a body was told %v", context.Cause(ctx))
						}
						stopped <- fmt.Sprint("body ", i)
						return ctx.Err()
					})
				}()
			}
			own := term.Context()
			context.AfterFunc(own, func() { stopped <- "the term's context" })
			synctest.Wait()
			go func() { _ = term.Release(context.Background()) }()
			synctest.Wait()
			if !told.Load() || len(stopped) != 3 {
				t.Errorf("while the backend is told: %v; stopped %d, late %v", told.Load(), len(stopped), late)
			}
			expect(t, m, "x", "during the release", electtest.Series{"leader_active": 0, "leader_running": 0})
			if ctx := term.Context(); !errors.Is(context.Cause(ctx), instrument.ErrReleased) {
				t.Errorf("a context that is asked for during the release: %v", context.Cause(ctx))
			}
			time.Sleep(9 * s)
			expect(t, m, "x", "after it", electtest.Series{"leader_work_after_loss_seconds_total": 0, "leader_execution_duration_seconds_count": 2, `leader_execution_failures_total{cause="error"}`: 0})
		})
	}
	bubble(t, "a body that does not stop works after loss", func(t *testing.T) {
		m := newMiddleware(t)
		term := acquire(t, m.Election("x"), electtest.Wins(instrument.NewLease(func(context.Context) error { time.Sleep(2 * s); return nil })))
		go func() {
			_ = term.Work(context.Background(), func(context.Context, *instrument.Term) error { time.Sleep(10 * s); return nil })
		}()
		time.Sleep(4 * s)
		release(t, term)
		time.Sleep(10 * s)
		expect(t, m, "x", "after", electtest.Series{"leader_work_after_loss_seconds_total": 6})
	})
}

func TestAReleaseThatFailedIsNotReleased(t *testing.T) {
	cases := []struct {
		name   string
		err    error
		after  time.Duration
		cause  string
		result string
	}{
		{"given back", nil, s, "released", "ok"},
		{"the backend failed", errBackend, s, "release_failed", "error"},
		{"a deadline", context.DeadlineExceeded, s, "release_failed", "error"},
		{"not the owner", instrument.ErrSessionLost, s, "lost", "not_owner"},
		{"after the lease had ended", errBackend, 11 * s, "expired", "error"},
	}
	for _, c := range cases {
		bubble(t, c.name, func(t *testing.T) {
			m := newMiddleware(t)
			err := c.err
			term := acquire(t, m.Election("x", instrument.LeaseDuration(10*s)), electtest.Wins(instrument.NewLease(func(context.Context) error { return err })))
			time.Sleep(c.after)
			_ = term.Release(context.Background())
			want := electtest.Series{`leader_terms_ended_total{cause="` + c.cause + `"}`: 1, `leader_releases_total{result="` + c.result + `"}`: 1, "leader_active": 0}
			expect(t, m, "x", "released", want)
			err = nil
			_ = term.Release(context.Background())
			want[`leader_releases_total{result="ok"}`] = 1
			if c.result == "not_owner" {
				want[`leader_releases_total{result="ok"}`] = 0
			}
			expect(t, m, "x", "released again, which succeeds", want)
		})
	}
}

func TestOfTwoReleasesAtOnceTheOneThatSucceedsNamesTheEnd(t *testing.T) {
	bubble(t, "the second reaches the backend first", func(t *testing.T) {
		m := newMiddleware(t)
		var calls atomic.Int32
		term := acquire(t, m.Election("x"), electtest.Wins(instrument.NewLease(func(context.Context) error {
			if calls.Add(1) == 1 {
				time.Sleep(2 * s)
				return instrument.ErrSessionLost
			}
			return nil
		})))
		done := make(chan error)
		go func() { done <- term.Release(context.Background()) }()
		time.Sleep(s)
		release(t, term)
		if err := <-done; !errors.Is(err, instrument.ErrSessionLost) {
			t.Errorf("the first: %v", err)
		}
		expect(t, m, "x", "after both", electtest.Series{`leader_terms_ended_total{cause="released"}`: 1, `leader_releases_total{result="ok"}`: 1, "leader_active": 0})
	})
}

func TestTheLengthOfALeaseIsAConstant(t *testing.T) {
	granted := func(d *time.Duration) instrument.LeaseOption {
		return instrument.GrantedFrom(func() time.Duration { return *d })
	}
	bubble(t, "measured over a way that jitters", func(t *testing.T) {
		m := newMiddleware(t)
		end, way := time.Time{}, 1900*time.Nanosecond
		ask := func(context.Context) error { time.Sleep(way); end = time.Now().Add(15 * s); return nil }
		term := acquire(t, m.Election("x"), instrument.AcquirerFunc(func(ctx context.Context) (instrument.Lease, error) {
			_ = ask(ctx)
			return instrument.NewLease(nil, instrument.ExpiryFrom(func() time.Time { return end }), instrument.RenewWith(ask)), nil
		}))
		for range 10 {
			expect(t, m, "x", "each time", electtest.Series{"leader_lease_duration_seconds": 15})
			time.Sleep(5 * s)
			way = way*3/2 + 300*time.Nanosecond
			_ = term.Renew(context.Background())
		}
		release(t, term)
	})
	bubble(t, "the granted length is believed ahead of the declared one", func(t *testing.T) {
		m := newMiddleware(t)
		length := 3 * s
		term := acquire(t, m.Election("x", instrument.LeaseDuration(30*s)), electtest.Wins(instrument.NewLease(nil, granted(&length), instrument.RenewWith(func(context.Context) error { return nil }))))
		expect(t, m, "x", "won", electtest.Series{"leader_lease_duration_seconds": 3, "leader_lease_headroom_seconds": 3})
		time.Sleep(s)
		length = 6 * s
		_ = term.Renew(context.Background())
		expect(t, m, "x", "renewed for longer", electtest.Series{"leader_lease_duration_seconds": 6, "leader_lease_headroom_seconds": 6, "leader_active": 1})
		release(t, term)
	})
	bubble(t, "a granted length that is none is unknown", func(t *testing.T) {
		m := newMiddleware(t)
		length := -s
		acquire(t, m.Election("x", instrument.LeaseDuration(30*s)), electtest.Wins(instrument.NewLease(nil, granted(&length))))
		expect(t, m, "x", "won", electtest.Series{"leader_lease_duration_seconds": 30, "leader_lease_headroom_seconds": 30})
	})
}

func TestContextsEndWithTheLeaseWhenThatIsAskedFor(t *testing.T) {
	renewing := func() instrument.Lease {
		return instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { return nil }))
	}
	bubble(t, "the body and the term", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.LeaseDuration(10*s), instrument.StopAtLeaseEnd())
		start := time.Now()
		err := e.Run(context.Background(), electtest.Wins(renewing()), func(ctx context.Context, term *instrument.Term) error {
			own := term.Context()
			time.Sleep(6 * s)
			if err := term.Renew(ctx); err != nil {
				return err
			}
			<-ctx.Done()
			if took := time.Since(start); took != 16*s || !errors.Is(context.Cause(own), instrument.ErrLeaseEnded) {
				t.Errorf("told after %v, the term's context: %v", took, context.Cause(own))
			}
			return context.Cause(ctx)
		})
		if !errors.Is(err, instrument.ErrLeaseEnded) || errors.Is(err, instrument.ErrLost) {
			t.Errorf("the body was told %v", err)
		}
		expect(t, m, "x", "after", electtest.Series{`leader_execution_failures_total{cause="error"}`: 0, "leader_work_after_loss_seconds_total": 0, `leader_terms_ended_total{cause="expired"}`: 1})
	})
	bubble(t, "not without it", func(t *testing.T) {
		m := newMiddleware(t)
		_ = m.Election("x", instrument.LeaseDuration(10*s)).Run(context.Background(), electtest.Wins(renewing()), func(ctx context.Context, _ *instrument.Term) error {
			time.Sleep(20 * s)
			if ctx.Err() != nil {
				t.Errorf("told %v", context.Cause(ctx))
			}
			return nil
		})
	})
	bubble(t, "nor where the end is unknown, nor after a release", func(t *testing.T) {
		m := newMiddleware(t)
		held := acquire(t, m.Election("x", instrument.Hold(), instrument.LeaseDuration(10*s), instrument.StopAtLeaseEnd()), electtest.NewElector())
		run := acquire(t, m.Election("y", instrument.LeaseDuration(10*s), instrument.StopAtLeaseEnd()), electtest.Wins(renewing()))
		ctx, other := held.Context(), run.Context()
		release(t, run)
		time.Sleep(time.Minute)
		if ctx.Err() != nil || !errors.Is(context.Cause(other), instrument.ErrReleased) {
			t.Errorf("held: %v, released: %v", context.Cause(ctx), context.Cause(other))
		}
	})
	bubble(t, "renewals that are reported move it", func(t *testing.T) {
		m := newMiddleware(t)
		term := acquire(t, m.Election("x", instrument.Hold(), instrument.LeaseDuration(10*s), instrument.StopAtLeaseEnd()), electtest.Wins(instrument.NewLease(nil, instrument.RenewalsReported())))
		ctx := term.Context()
		for range 10 {
			time.Sleep(9 * s)
			term.Sink().Renewed(instrument.Renewal{Sent: time.Now()})
		}
		if ctx.Err() != nil {
			t.Errorf("told %v although it was renewed", context.Cause(ctx))
		}
		time.Sleep(10*s + 1)
		if !errors.Is(context.Cause(ctx), instrument.ErrLeaseEnded) {
			t.Errorf("told %v", context.Cause(ctx))
		}
		release(t, term)
	})
}
