package instrument_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestALeaseOfFunctionsAnswersWhatItWasNotGiven(t *testing.T) {
	type all interface {
		instrument.Expirer
		instrument.Granter
		instrument.Renewer
		instrument.Watcher
		instrument.LossNotifier
		instrument.Fencer
	}
	l := instrument.NewLease(nil, nil).(all)
	l.Watch(context.Background(), instrument.Sink{})
	token, ok := l.FencingToken()
	if !l.Expiry().IsZero() || l.LeaseDuration() != 0 || !errors.Is(l.Renew(context.Background()), errors.ErrUnsupported) || l.Lost() != nil || token != 0 || ok {
		t.Errorf("a lease without functions knows something: %v", l)
	}
	end := time.Unix(1, 0)
	lost := make(chan struct{})
	watched := false
	l = instrument.NewLease(nil, instrument.ExpiryFrom(func() time.Time { return end }), instrument.GrantedFrom(func() time.Duration { return time.Minute }),
		instrument.RenewWith(func(context.Context) error { return errBackend }), instrument.LostOn(lost), instrument.Token(0),
		instrument.WatchWith(func(context.Context, instrument.Sink) { watched = true })).(all)
	l.Watch(context.Background(), instrument.Sink{})
	token, ok = l.FencingToken()
	if l.Expiry() != end || l.LeaseDuration() != time.Minute || l.Renew(context.Background()) != errBackend || l.Lost() != (<-chan struct{})(lost) || token != 0 || !ok || !watched {
		t.Errorf("a lease of functions does not call them: %v", l)
	}
}

func TestARenewalWithoutARenewerIsUnsupportedAndRecordsNothing(t *testing.T) {
	m := newMiddleware(t)
	term := acquire(t, m.Election("x"), electtest.Wins(instrument.NewLease(nil)))
	if err := term.Renew(context.Background()); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "the lease has no Renewer") {
		t.Errorf("error %v", err)
	}
	if got := counted(m, "leader_renewals"); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if token, ok := term.FencingToken(); token != 0 || ok {
		t.Errorf("token %v, %v", token, ok)
	}
	_ = term.Context()
	if token, ok := term.FencingToken(); token != 0 || ok {
		t.Errorf("token %v, %v", token, ok)
	}
}

// While the answer of a renewal is out the term is open; afterwards its lease
// ends it again, one length late.
func TestATermWhoseRenewalWasAnsweredEndsWithItsLease(t *testing.T) {
	for name, answer := range map[string]error{"failed": errBackend, "unsupported": errors.ErrUnsupported} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", instrument.LeaseDuration(30*s))
			term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(func(context.Context) error {
				time.Sleep(s)
				return answer
			}))))
			time.Sleep(10 * s)
			_ = term.Renew(context.Background())
			time.Sleep(50 * s)
			want := map[string]float64{`leader_terms_ended_total{cause="expired"}`: 1}
			if diff := cmp.Diff(want, counted(m, "leader_terms_ended", "leader_active")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestATermTellsWhetherItLeadsAndUntilWhen(t *testing.T) {
	bubble(t, "until its lease ends", func(t *testing.T) {
		m := newMiddleware(t)
		start := time.Now()
		e := m.Election("x", instrument.LeaseDuration(time.Minute))
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil)))
		for _, asked := range []interface {
			Leading() bool
			Expiry() (time.Time, bool)
		}{term, e} {
			if end, ok := asked.Expiry(); !asked.Leading() || !ok || !end.Equal(start.Add(time.Minute)) {
				t.Errorf("%T leads %v until %v, %v", asked, asked.Leading(), end.Sub(start), ok)
			}
		}
		time.Sleep(time.Minute)
		if end, ok := term.Expiry(); term.Leading() || ok || !end.IsZero() {
			t.Errorf("after the lease it leads %v until %v, %v", term.Leading(), end, ok)
		}
		unknown := acquire(t, m.Election("y"), electtest.Wins(instrument.NewLease(nil)))
		if end, ok := unknown.Expiry(); !unknown.Leading() || ok || !end.IsZero() {
			t.Errorf("without a known end it leads %v until %v, %v", unknown.Leading(), end, ok)
		}
	})
}

func TestAnAttemptThatIsDoneStaysSo(t *testing.T) {
	m := newMiddleware(t)
	e := m.Election("x")
	begin := func() *instrument.Attempt { return e.Begin(context.Background()) }
	at := begin()
	at.Panicked()
	at.Panicked()
	at.NotAcquired(errBackend)
	if late := at.Won(instrument.NewLease(nil)); late == nil || at.Won(instrument.NewLease(nil)) != late {
		t.Errorf("afterwards the term is %v", late)
	}
	nothing := begin()
	term := nothing.Won(nil)
	if term == nil || nothing.Won(nil) != term || term.Unwrap() == nil {
		t.Errorf("without a lease the term is %v", term)
	}
	release(t, term)
	unknown := begin()
	unknown.NotAcquired(nil)
	unknown.NotAcquired(errBackend)
	want := map[string]float64{"leader_attempts_total": 3, `leader_not_acquired_total{reason="panic"}`: 1, `leader_not_acquired_total{reason="unknown"}`: 2}
	if diff := cmp.Diff(want, counted(m, "leader_attempts", "leader_not_acquired", "leader_acquired", "leader_pending", "leader_active")); diff != "" {
		t.Error(diff)
	}
}

// renewer is a lease with a method for renewals, whose answer decides whether
// they can be seen.
type renewer struct{ err error }

func (renewer) Release(context.Context) error            { return nil }
func (r *renewer) Renew(context.Context) error           { return r.err }
func (*renewer) LeaseDuration() time.Duration            { return time.Minute }
func (*renewer) Expiry() time.Time                       { return time.Time{} }
func (*renewer) FencingToken() (uint64, bool)            { return 0, false }
func (*renewer) Lost() <-chan struct{}                   { return nil }
func (*watching) Watch(context.Context, instrument.Sink) {}

// watching reports renewals by itself, too.
type watching struct{ renewer }

func TestRenewalsThatAreUnsupportedAreTakenForUnseen(t *testing.T) {
	for name, c := range map[string]struct {
		lease instrument.Lease
		ends  bool // the end of a held leadership is known
	}{
		"renewed":                        {&renewer{}, true},
		"a failed renewal":               {&renewer{errBackend}, true},
		"unsupported":                    {&renewer{errors.ErrUnsupported}, false},
		"said to be the holder's":        {instrument.NewLease(nil, instrument.GrantedFrom(func() time.Duration { return time.Minute }), instrument.RenewWith(func(context.Context) error { return errBackend })), true},
		"said so, and yet not supported": {instrument.NewLease(nil, instrument.GrantedFrom(func() time.Duration { return time.Minute }), instrument.RenewWith(func(context.Context) error { return errors.ErrUnsupported })), false},
		"reported":                       {instrument.NewLease(nil, instrument.GrantedFrom(func() time.Duration { return time.Minute }), instrument.RenewalsReported()), true},
		"none":                           {instrument.NewLease(nil, instrument.GrantedFrom(func() time.Duration { return time.Minute })), false},
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			term := acquire(t, m.Election("x", instrument.Hold()), electtest.Wins(c.lease))
			_ = term.Renew(context.Background())
			synctest.Wait()
			if _, ok := term.Expiry(); ok != c.ends {
				t.Errorf("its end is known: %v", ok)
			}
			release(t, term)
			synctest.Wait()
		})
	}
}

func TestAWatcherThatReturnsLeavesRenewalsUnseen(t *testing.T) {
	granted := instrument.GrantedFrom(func() time.Duration { return time.Minute })
	returns := instrument.WatchWith(func(context.Context, instrument.Sink) {})
	panics := instrument.WatchWith(func(context.Context, instrument.Sink) { panic("watch") })
	stays := instrument.WatchWith(func(ctx context.Context, _ instrument.Sink) { <-ctx.Done() })
	renews := instrument.RenewWith(func(context.Context) error { return errors.ErrUnsupported })
	for name, c := range map[string]struct {
		lease  instrument.Lease
		ends   bool
		faults uint64
	}{
		"it stays":                    {instrument.NewLease(nil, granted, stays), true, 0},
		"it returns":                  {instrument.NewLease(nil, granted, returns), false, 0},
		"it panics":                   {instrument.NewLease(nil, granted, panics), false, 1},
		"it returns, the holder not":  {instrument.NewLease(nil, granted, returns, renews), true, 0},
		"a type that watches, too":    {&watching{renewer{errors.ErrUnsupported}}, false, 0},
		"it stays, renewals are none": {instrument.NewLease(nil, granted, stays, renews), true, 0},
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			term := acquire(t, m.Election("x", instrument.Hold()), electtest.Wins(c.lease))
			synctest.Wait()
			if name == "it stays, renewals are none" || name == "a type that watches, too" {
				_ = term.Renew(context.Background())
			}
			if _, ok := term.Expiry(); ok != c.ends || m.Faults() != c.faults {
				t.Errorf("its end is known: %v, %d faults", ok, m.Faults())
			}
			release(t, term)
			synctest.Wait()
		})
	}
}

func TestTheSinkFillsInWhatARenewalDoesNotTell(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		m := newMiddleware(t)
		start := time.Now()
		end, granted := start.Add(30*s), 30*s
		lease := instrument.NewLease(nil, instrument.RenewalsReported(), instrument.ExpiryFrom(func() time.Time { return end }), instrument.GrantedFrom(func() time.Duration { return granted }))
		term := acquire(t, m.Election("x", instrument.Hold()), electtest.Wins(lease))
		expires := func(when string, want time.Duration, length time.Duration) {
			t.Helper()
			got, ok := term.Expiry()
			if !ok || got.Sub(start) != want || electtest.Read(m, "x")["leader_lease_duration_seconds"] != length.Seconds() {
				t.Errorf("%s: the end is at %v, %v; length %v s", when, got.Sub(start), ok, electtest.Read(m, "x")["leader_lease_duration_seconds"])
			}
		}
		expires("won", 30*s, 30*s)
		time.Sleep(10 * s)
		end, granted = start.Add(41*s), 31*s
		term.Sink().Renewed(instrument.Renewal{})
		expires("the lease tells", 41*s, 31*s)
		term.Sink().Renewed(instrument.Renewal{Expiry: start.Add(45 * s), Granted: 35 * s})
		expires("the renewal tells", 45*s, 35*s)
		term.Sink().Renewed(instrument.Renewal{Expiry: start.Add(46 * s)})
		expires("the renewal tells its end", 46*s, 31*s)
		term.Sink().RenewalFailed(nil)
		term.Sink().RenewalFailedSince(start.Add(8*s), errBackend)
		want := map[string]float64{`leader_renewals_total{result="ok"}`: 3, `leader_renewals_total{result="error"}`: 2, "leader_renewal_duration_seconds_count": 1, "leader_renewal_duration_seconds_sum": 2}
		got := counted(m, "leader_renewals", "leader_renewal_duration_seconds_count", "leader_renewal_duration_seconds_sum")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		release(t, term)
	})
}
