package instrument_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// What is shown, and what a program is told, does not depend on whether
// anybody looked in between.

// eitherWay runs a scenario twice: with look reading the series, and with look
// doing nothing.
func eitherWay(t *testing.T, name string, scenario func(t *testing.T, m *instrument.Middleware, collect func())) {
	bubble(t, name+", looked at", func(t *testing.T) {
		m := newMiddleware(t)
		scenario(t, m, func() { electtest.Read(m, "x") })
	})
	bubble(t, name+", not looked at", func(t *testing.T) {
		scenario(t, newMiddleware(t), func() {})
	})
}

func renewable(end *time.Time, more ...instrument.LeaseOption) instrument.Lease {
	return instrument.NewLease(nil, append(more, instrument.ExpiryFrom(func() time.Time { return *end }),
		instrument.RenewWith(func(context.Context) error { *end = time.Now().Add(10 * s); return nil }))...)
}

func TestContextsEndWithALeaseThatWasOverWhenItWasWon(t *testing.T) {
	late := func() instrument.Acquirer {
		return instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) {
			end := time.Now().Add(10 * s)
			time.Sleep(11 * s)
			return instrument.NewLease(nil, instrument.ExpiryFrom(func() time.Time { return end })), nil
		})
	}
	bubble(t, "the body's", func(t *testing.T) {
		m := newMiddleware(t)
		err := m.Election("x", instrument.StopAtLeaseEnd()).Run(context.Background(), late(), func(ctx context.Context, _ *instrument.Term) error {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(time.Hour):
				return nil
			}
		})
		if !errors.Is(err, instrument.ErrLeaseEnded) {
			t.Errorf("the body was told %v", err)
		}
	})
	eitherWay(t, "the term's, at the end of the lease", func(t *testing.T, m *instrument.Middleware, collect func()) {
		ctx := acquire(t, m.Election("x", instrument.StopAtLeaseEnd(), instrument.LeaseDuration(10*s)), electtest.NewElector()).Context()
		time.Sleep(10 * s)
		collect()
		synctest.Wait()
		time.Sleep(s)
		if !errors.Is(context.Cause(ctx), instrument.ErrLeaseEnded) {
			t.Errorf("told %v", context.Cause(ctx))
		}
	})
}

func TestAWinTellsTheTermThatItsLeaseHadEnded(t *testing.T) {
	var text bytes.Buffer
	eitherWay(t, "left to its lease", func(t *testing.T, m *instrument.Middleware, collect func()) {
		e := m.Election("x", instrument.LeaseDuration(10*s))
		ctx := acquire(t, e, electtest.NewElector()).Context()
		time.Sleep(11 * s)
		collect()
		acquire(t, e, electtest.NewElector())
		if !errors.Is(context.Cause(ctx), instrument.ErrLost) {
			t.Errorf("told %v", context.Cause(ctx))
		}
		expect(t, m, "x", "after", electtest.Series{"leader_active": 1, `leader_terms_ended_total{cause="expired"}`: 1})
	})
	eitherWay(t, "left to its lease, and asked for its context afterwards", func(t *testing.T, m *instrument.Middleware, collect func()) {
		e := m.Election("x", instrument.LeaseDuration(10*s))
		term := acquire(t, e, electtest.NewElector())
		time.Sleep(11 * s)
		collect()
		if err := term.Context().Err(); err != nil {
			t.Errorf("no other has won, and it is told %v", err)
		}
		other := acquire(t, e, electtest.NewElector())
		collect()
		isTold := func(ctx context.Context, _ *instrument.Term) error { return context.Cause(ctx) }
		if err := term.Work(context.Background(), isTold); !errors.Is(err, instrument.ErrLost) || !errors.Is(context.Cause(term.Context()), instrument.ErrLost) {
			t.Errorf("a body is told %v, and the term %v", err, context.Cause(term.Context()))
		}
		if err := other.Work(context.Background(), isTold); err != nil {
			t.Errorf("the term that holds is told %v", err)
		}
		release(t, other)
	})
	eitherWay(t, "left to its lease, and nothing waited for its end", func(t *testing.T, m *instrument.Middleware, collect func()) {
		e := m.Election("x", instrument.LeaseDuration(10*s))
		first := acquire(t, e, electtest.NewElector())
		time.Sleep(11 * s)
		collect()
		acquire(t, e, electtest.NewElector())
		if err := first.Work(context.Background(), func(ctx context.Context, _ *instrument.Term) error { return context.Cause(ctx) }); !errors.Is(err, instrument.ErrLost) {
			t.Errorf("a body is told %v", err)
		}
		expect(t, m, "x", "after", electtest.Series{"leader_active": 1, `leader_terms_ended_total{cause="expired"}`: 1, "leader_work_after_loss_seconds_total": 0})
	})
	eitherWay(t, "a slot that has room beside it", func(t *testing.T, m *instrument.Middleware, collect func()) {
		e := m.Election("x", instrument.LeaseDuration(10*s), instrument.MaxLeaders(2))
		term := acquire(t, e, electtest.NewElector())
		time.Sleep(11 * s)
		collect()
		acquire(t, e, electtest.NewElector())
		if err := term.Context().Err(); err != nil {
			t.Errorf("told %v", err)
		}
		acquire(t, e, electtest.NewElector())
		if err := context.Cause(term.Context()); !errors.Is(err, instrument.ErrLost) {
			t.Errorf("two others hold, and it is told %v", err)
		}
	})
	bubble(t, "and it is logged once", func(t *testing.T) {
		m := newMiddleware(t, instrument.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
		e := m.Election("x", instrument.LeaseDuration(10*s))
		acquire(t, e, electtest.NewElector())
		time.Sleep(11 * s)
		acquire(t, e, electtest.NewElector())
		synctest.Wait()
		if n := strings.Count(text.String(), "leadership lost"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, text.String())
		}
	})
}

// That a lock is gone is told also after its lease has ended, by whichever call
// says it, and whether or not anybody noticed the end.
func TestALossAfterTheLeaseHadEndedIsTold(t *testing.T) {
	lost := func(context.Context) error { return instrument.ErrContended }
	for name, say := range map[string]func(term *instrument.Term){
		"by a renewal on demand":   func(term *instrument.Term) { _ = term.Renew(context.Background()) },
		"by a reported renewal":    func(term *instrument.Term) { term.Sink().RenewalFailed(instrument.ErrLost) },
		"by a reported loss":       func(term *instrument.Term) { term.Sink().Lost(nil) },
		"by a release":             func(term *instrument.Term) { _ = term.Release(context.Background()) },
		"by two of them at a time": func(term *instrument.Term) { _ = term.Renew(context.Background()); term.Sink().Lost(nil) },
	} {
		eitherWay(t, name, func(t *testing.T, m *instrument.Middleware, collect func()) {
			e := m.Election("x", instrument.LeaseDuration(10*s))
			watching := make(chan struct{})
			term := acquire(t, e, electtest.Wins(instrument.NewLease(lost, instrument.RenewWith(lost), instrument.WatchWith(func(ctx context.Context, _ instrument.Sink) {
				<-ctx.Done()
				close(watching)
			}))))
			ctx := term.Context()
			time.Sleep(25 * s)
			collect()
			if ctx.Err() != nil {
				t.Errorf("told %v before", context.Cause(ctx))
			}
			say(term)
			synctest.Wait()
			if cause := context.Cause(ctx); !errors.Is(cause, instrument.ErrLost) && !errors.Is(cause, instrument.ErrReleased) {
				t.Errorf("told %v", cause)
			}
			<-watching
			expect(t, m, "x", "after", electtest.Series{"leader_active": 0, "leader_acquired_total": 1, `leader_terms_ended_total{cause="expired"}`: 1})
		})
	}
}

func TestATermThatIsRevivedIsStillWatched(t *testing.T) {
	eitherWay(t, "a loss", func(t *testing.T, m *instrument.Middleware, collect func()) {
		lost, end := make(chan struct{}), time.Now().Add(10*s)
		term := acquire(t, m.Election("x"), electtest.Wins(renewable(&end, instrument.LostOn(lost))))
		ctx := term.Context()
		time.Sleep(25 * s)
		collect()
		_ = term.Renew(context.Background())
		expect(t, m, "x", "revived", electtest.Series{"leader_active": 1, "leader_acquired_total": 2})
		close(lost)
		synctest.Wait()
		expect(t, m, "x", "lost", electtest.Series{"leader_active": 0, `leader_terms_ended_total{cause="lost"}`: 1})
		if !errors.Is(context.Cause(ctx), instrument.ErrLost) {
			t.Errorf("told %v", context.Cause(ctx))
		}
	})
	eitherWay(t, "renewals", func(t *testing.T, m *instrument.Middleware, collect func()) {
		term := acquire(t, m.Election("x", instrument.LeaseDuration(10*s)), electtest.Wins(instrument.NewLease(nil, instrument.WatchWith(func(ctx context.Context, k instrument.Sink) {
			time.Sleep(25 * s)
			for ctx.Err() == nil {
				k.Renewed(instrument.Renewal{Sent: time.Now()})
				time.Sleep(5 * s)
			}
		}))))
		time.Sleep(22 * s)
		collect()
		time.Sleep(100 * s)
		expect(t, m, "x", "later", electtest.Series{"leader_active": 1, "leader_acquired_total": 2, `leader_terms_ended_total{cause="expired"}`: 1})
		release(t, term)
		time.Sleep(10 * s)
	})
}

func TestARenewalThatDoesNotTellItsEndHasThatOfTheLease(t *testing.T) {
	cases := []struct {
		name  string
		opts  []instrument.ElectionOption
		lease func(end *time.Time) []instrument.LeaseOption
		tells instrument.Renewal
		want  float64
	}{
		{"the Expirer is asked", nil, func(end *time.Time) []instrument.LeaseOption {
			return []instrument.LeaseOption{instrument.ExpiryFrom(func() time.Time { return *end })}
		}, instrument.Renewal{}, 10},
		{"the granted length decides", nil, func(*time.Time) []instrument.LeaseOption {
			return []instrument.LeaseOption{instrument.GrantedFrom(func() time.Duration { return 10 * s })}
		}, instrument.Renewal{}, 10},
		{"ahead of the declared one", []instrument.ElectionOption{instrument.LeaseDuration(30 * s)}, func(*time.Time) []instrument.LeaseOption {
			return []instrument.LeaseOption{instrument.GrantedFrom(func() time.Duration { return 3 * s })}
		}, instrument.Renewal{}, 3},
		{"as granted by a renewal before", nil, func(*time.Time) []instrument.LeaseOption { return nil }, instrument.Renewal{Granted: 10 * s}, 10},
		{"an Expirer that has not moved says nothing", []instrument.ElectionOption{instrument.LeaseDuration(10 * s)}, func(*time.Time) []instrument.LeaseOption {
			return []instrument.LeaseOption{instrument.ExpiryFrom(in(10 * s))}
		}, instrument.Renewal{}, 10},
	}
	for _, c := range cases {
		bubble(t, c.name, func(t *testing.T) {
			m := newMiddleware(t)
			end := time.Now().Add(10 * s)
			term := acquire(t, m.Election("x", append(c.opts, instrument.Hold())...), electtest.Wins(instrument.NewLease(nil, append(c.lease(&end), instrument.RenewalsReported())...)))
			time.Sleep(2 * s)
			c.tells.Sent = time.Now()
			end = time.Now().Add(10 * s)
			term.Sink().Renewed(c.tells)
			term.Sink().Renewed(instrument.Renewal{Sent: time.Now()})
			expect(t, m, "x", "renewed", electtest.Series{"leader_active": 1, "leader_lease_headroom_seconds": c.want})
			time.Sleep(time.Hour)
			expect(t, m, "x", "and no more", electtest.Series{"leader_active": 0})
		})
	}
}

func TestLateLooksOfAnObservedLock(t *testing.T) {
	seen := func(d time.Duration) instrument.Leadership {
		return instrument.Leadership{Expiry: time.Now().Add(d), Granted: 10 * s}
	}
	eitherWay(t, "a look after the end", func(t *testing.T, m *instrument.Middleware, collect func()) {
		e := m.Election("x")
		e.ObserveLeading(seen(10 * s))
		time.Sleep(12 * s)
		collect()
		e.ObserveLeading(seen(10 * s))
		expect(t, m, "x", "led again", electtest.Series{"leader_active": 1, "leader_acquired_total": 2, `leader_renewals_total{result="ok"}`: 0})
	})
	eitherWay(t, "a failed look after the end", func(t *testing.T, m *instrument.Middleware, collect func()) {
		e := m.Election("x")
		e.ObserveLeading(seen(s))
		time.Sleep(25 * s)
		collect()
		e.ObserveUnknown(errBackend)
		expect(t, m, "x", "counted", electtest.Series{`leader_not_acquired_total{reason="backend_error"}`: 1, "leader_attempts_total": 2})
	})
	bubble(t, "an old row says nothing", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x")
		row := seen(10 * s)
		for range 100 {
			e.ObserveLeading(row)
			time.Sleep(s)
		}
		expect(t, m, "x", "after", electtest.Series{"leader_active": 0, "leader_acquired_total": 1, "leader_attempts_total": 1})
	})
	bubble(t, "an end that is never, after one that was known", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold())
		e.ObserveLeading(seen(10 * s))
		e.ObserveLeading(instrument.Leadership{Expiry: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)})
		time.Sleep(20 * s)
		e.ObserveLeading(instrument.Leadership{Expiry: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)})
		expect(t, m, "x", "later", electtest.Series{"leader_active": 1, "leader_lease_overruns_total": 0})
	})
	bubble(t, "an old row of the term before", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold())
		saw := func(token uint64, remaining time.Duration) {
			e.ObserveLeading(instrument.Leadership{Token: token, Fenced: true, Expiry: time.Now().Add(remaining)})
		}
		saw(7, 10*s)
		saw(8, 20*s)
		saw(7, -s)
		expect(t, m, "x", "late", electtest.Series{"leader_active": 1, "leader_acquired_total": 2, `leader_terms_ended_total{cause="lost"}`: 1,
			"leader_fencing_token": 8, "leader_fencing_token_regressions_total": 0, "leader_lease_headroom_seconds": 20})
		saw(7, 30*s)
		expect(t, m, "x", "a lower token that leads", electtest.Series{"leader_active": 1, "leader_acquired_total": 3, `leader_terms_ended_total{cause="lost"}`: 2,
			"leader_fencing_token": 7, "leader_fencing_token_regressions_total": 1, "leader_lease_headroom_seconds": 30})
		saw(9, -s)
		expect(t, m, "x", "a later term that has ended", electtest.Series{"leader_active": 0, "leader_acquired_total": 3, `leader_terms_ended_total{cause="lost"}`: 3})
	})
	bubble(t, "led past the end that was known", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold())
		e.ObserveLeading(seen(10 * s))
		for range 20 {
			time.Sleep(s)
			e.ObserveLeading(instrument.Leadership{})
		}
		expect(t, m, "x", "later", electtest.Series{"leader_active": 1, "leader_acquired_total": 1})
	})
	bubble(t, "a token that is seen later", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold())
		e.ObserveLeading(instrument.Leadership{})
		e.ObserveLeading(instrument.Leadership{Token: 5, Fenced: true})
		expect(t, m, "x", "the first", electtest.Series{"leader_fencing_token": 5, "leader_acquired_total": 1})
		e.ObserveLeading(instrument.Leadership{Token: 6, Fenced: true})
		expect(t, m, "x", "another", electtest.Series{"leader_fencing_token": 6, "leader_acquired_total": 2})
	})
	bubble(t, "an end that has passed is believed within the slack", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold())
		e.ObserveLeading(instrument.Leadership{Expiry: time.Now().Add(60 * s), Granted: 60 * s})
		time.Sleep(55 * s)
		e.ObserveLeading(instrument.Leadership{Expiry: time.Now().Add(-s), Granted: 60 * s})
		expect(t, m, "x", "after", electtest.Series{"leader_active": 0, "leader_lease_headroom_seconds": -1})
	})
}

func TestARenewalUnderWayKeepsItsTermOpen(t *testing.T) {
	for name, err := range map[string]error{"it succeeds": nil, "it fails": errBackend} {
		eitherWay(t, name, func(t *testing.T, m *instrument.Middleware, collect func()) {
			took := 30 * s
			term := acquire(t, m.Election("x", instrument.LeaseDuration(10*s)), electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error {
				time.Sleep(took)
				return err
			}))))
			time.Sleep(5 * s)
			done := make(chan struct{})
			go func() { _ = term.Renew(context.Background()); close(done) }()
			time.Sleep(29 * s)
			collect()
			<-done
			result := "ok"
			if err != nil {
				result = "error"
			}
			expect(t, m, "x", "answered", electtest.Series{"leader_acquired_total": 1, `leader_renewals_total{result="` + result + `"}`: 1, "leader_lease_overruns_total": 1})
		})
	}
	bubble(t, "one that panics is counted", func(t *testing.T) {
		m := newMiddleware(t)
		term := acquire(t, m.Election("x", instrument.LeaseDuration(10*s)), electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error { panic("boom") }))))
		func() {
			defer func() { _ = recover() }()
			_ = term.Renew(context.Background())
		}()
		expect(t, m, "x", "after", electtest.Series{`leader_renewals_total{result="error"}`: 1, "leader_active": 1})
	})
}

func TestTheSlotThatWasOverFirstGoesFirst(t *testing.T) {
	eitherWay(t, "one that cannot be renewed", func(t *testing.T, m *instrument.Middleware, collect func()) {
		e := m.Election("x", instrument.MaxLeaders(2), instrument.LeaseDuration(10*s))
		acquire(t, e, electtest.NewElector())
		time.Sleep(5 * s)
		end := time.Now().Add(10 * s)
		b := acquire(t, e, electtest.Wins(renewable(&end)))
		time.Sleep(11 * s)
		collect()
		acquire(t, e, electtest.NewElector())
		_ = b.Renew(context.Background())
		expect(t, m, "x", "after", electtest.Series{"leader_active": 2, "leader_acquired_total": 3})
	})
	eitherWay(t, "both can", func(t *testing.T, m *instrument.Middleware, collect func()) {
		e := m.Election("x", instrument.MaxLeaders(2), instrument.Hold())
		one, two := time.Now().Add(10*s), time.Now().Add(15*s)
		a, b := acquire(t, e, electtest.Wins(renewable(&one))), acquire(t, e, electtest.Wins(renewable(&two)))
		first, second := a.Context(), b.Context()
		time.Sleep(16 * s)
		collect()
		acquire(t, e, electtest.NewElector())
		if first.Err() == nil || second.Err() != nil {
			t.Errorf("the first %v, the second %v", first.Err(), second.Err())
		}
	})
}

func TestWonIsOneTermHoweverOftenItIsSaid(t *testing.T) {
	bubble(t, "after NotAcquired it is still the lease's", func(t *testing.T) {
		m := newMiddleware(t)
		at := m.Election("x").Begin(context.Background())
		at.NotAcquired(errBackend)
		lost, watched := make(chan struct{}), false
		term := at.Won(instrument.NewLease(nil, instrument.LostOn(lost), instrument.WatchWith(func(context.Context, instrument.Sink) { watched = true })))
		ctx := term.Context()
		synctest.Wait()
		close(lost)
		synctest.Wait()
		if !watched || !errors.Is(context.Cause(ctx), instrument.ErrLost) || at.Won(instrument.NewLease(nil)) != term {
			t.Errorf("watched %v, told %v", watched, context.Cause(ctx))
		}
		expect(t, m, "x", "after", electtest.Series{"leader_acquired_total": 0, `leader_not_acquired_total{reason="backend_error"}`: 1})
	})
	bubble(t, "from within, and at once", func(t *testing.T) {
		m := newMiddleware(t)
		for range 200 {
			at := m.Election("x").Begin(context.Background())
			var within *instrument.Term
			lease := instrument.NewLease(nil, instrument.ExpiryFrom(func() time.Time { within = at.Won(instrument.NewLease(nil)); return time.Time{} }))
			terms := make(chan *instrument.Term, 3)
			for range 3 {
				go func() { terms <- at.Won(lease) }()
			}
			first, second, third := <-terms, <-terms, <-terms
			if second != first || third != first || within != first {
				t.Fatal("one attempt has several terms")
			}
			release(t, first)
		}
		expect(t, m, "x", "after", electtest.Series{"leader_acquired_total": 200, "leader_active": 0, `leader_terms_ended_total{cause="released"}`: 200})
	})
}

// An attempt returns its term to every caller, also while the lease is
// queried. What becomes of the term then is counted with its win.
func TestATermIsCountedThatEndsWhileItsLeaseIsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(term *instrument.Term)
		log       string
		changed   electtest.Series
	}{
		"released": {func(term *instrument.Term) { _ = term.Release(context.Background()) }, `msg="leadership released" lock_name=x cause=released`, electtest.Series{
			`leader_terms_ended_total{cause="released"}`: 1, `leader_releases_total{result="ok"}`: 1,
		}},
		"lost": {func(term *instrument.Term) { term.Sink().Lost(nil) }, `msg="leadership lost" lock_name=x cause=lost`, electtest.Series{
			`leader_terms_ended_total{cause="lost"}`: 1,
		}},
	} {
		bubble(t, name, func(t *testing.T) {
			var text bytes.Buffer
			m := newMiddleware(t, instrument.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
			a := m.Election("x").Begin(context.Background())
			var lease instrument.Lease
			lease = instrument.NewLease(nil, instrument.ExpiryFrom(func() time.Time {
				c.meanwhile(a.Won(lease))
				return time.Now().Add(10 * s)
			}))
			term := a.Won(lease)
			if term.Leading() || term.Context().Err() == nil {
				t.Errorf("leading %v, context %v", term.Leading(), term.Context().Err())
			}
			synctest.Wait()
			if i, j := strings.Index(text.String(), "leadership gained"), strings.Index(text.String(), c.log); i < 0 || j < i {
				t.Errorf("logged:\n%s", text.String())
			}
			expect(t, m, "x", "after", zero.With(electtest.Series{
				"leader_attempts_total": 1, "leader_acquired_total": 1, "leader_lease_overruns_total": 0,
				"leader_acquire_duration_seconds_count": 1, "leader_execution_duration_seconds_count": 1,
			}).With(c.changed))
		})
	}
}

func TestCloseEndsLogsAndHandlesThatWereFolded(t *testing.T) {
	bubble(t, "a shared label", func(t *testing.T) {
		var text bytes.Buffer
		m := newMiddleware(t, instrument.WithRedactor(redact.Constant()), instrument.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
		var handles []*instrument.Election
		for i := range 200 {
			handles = append(handles, m.Named(fmt.Sprint("tenant-", i)))
		}
		_ = m.Close()
		for _, e := range handles {
			term := acquire(t, e, electtest.NewElector())
			if e.Leading() {
				t.Fatal("a closed middleware knows who leads")
			}
			e.ObserveLeading(instrument.Leadership{})
			release(t, term)
		}
		synctest.Wait()
		if text.Len() != 0 {
			t.Errorf("logged:\n%s", text.String())
		}
	})
}

func TestNoticesAreBoundedByLabels(t *testing.T) {
	bubble(t, "a thousand names", func(t *testing.T) {
		var text bytes.Buffer
		m := newMiddleware(t, instrument.WithRedactor(redact.Constant()), instrument.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
		for i := range 1000 {
			_, _ = m.Named(fmt.Sprint("tenant-", i)).Acquire(context.Background(), electtest.Fails(errHeld))
		}
		synctest.Wait()
		if n := strings.Count(text.String(), "\n"); n != 1 {
			t.Errorf("%d lines", n)
		}
	})
}

func TestValuesThatMakeNoSenseAreIgnored(t *testing.T) {
	m := newMiddleware(t)
	m.Election("x", instrument.LeaseDuration(10*s), instrument.LeaseDuration(-1), instrument.LeaseDuration(1<<62), instrument.MaxLeaders(3), instrument.MaxLeaders(0),
		instrument.ExpectEvery(s), instrument.ExpectEvery(-s))
	expect(t, m, "x", "declared", electtest.Series{"leader_lease_duration_seconds": 10, "leader_max_leaders": 3, "leader_expected_interval_seconds": 1})
}

func TestOfTwoValuesTheLastIsTaken(t *testing.T) {
	m := newMiddleware(t)
	m.Election("x", instrument.LeaseDuration(10*s), instrument.LeaseDuration(1), instrument.MaxLeaders(3), instrument.MaxLeaders(1),
		instrument.ExpectEvery(s), instrument.ExpectEvery(1))
	expect(t, m, "x", "declared", electtest.Series{"leader_lease_duration_seconds": 1e-9, "leader_max_leaders": 1, "leader_expected_interval_seconds": 1e-9})
}

// quitting is a handler that ends its goroutine.
type quitting struct{ slog.Handler }

func (quitting) Enabled(context.Context, slog.Level) bool { return true }
func (q quitting) Handle(ctx context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "gained") {
		runtime.Goexit()
	}
	return q.Handler.Handle(ctx, r)
}

func TestAHandlerThatEndsItsGoroutineLosesItsRecordAlone(t *testing.T) {
	bubble(t, "three cycles", func(t *testing.T) {
		var text bytes.Buffer
		m := newMiddleware(t, instrument.WithLogger(slog.New(quitting{slog.NewTextHandler(&text, nil)})))
		for range 3 {
			release(t, acquire(t, m.Election("x"), electtest.NewElector()))
			synctest.Wait()
		}
		if n := strings.Count(text.String(), "leadership released"); n != 3 || m.Faults() != 3 {
			t.Errorf("%d records, %d faults:\n%s", n, m.Faults(), text.String())
		}
	})
}

func TestABodyThatReleasedIsNotReleasedAgain(t *testing.T) {
	m := newMiddleware(t)
	released := 0
	lease := instrument.NewLease(func(context.Context) error {
		if released++; released > 1 {
			return instrument.ErrContended
		}
		return nil
	})
	err := m.Election("x").Run(context.Background(), electtest.Wins(lease), func(ctx context.Context, term *instrument.Term) error { return term.Release(ctx) })
	if err != nil || released != 1 {
		t.Errorf("run: %v, released %d times", err, released)
	}
}
