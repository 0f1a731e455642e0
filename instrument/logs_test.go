package instrument_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestEachEndIsLoggedInItsWords(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*instrument.Term)
		want string
	}{
		"released":       {func(term *instrument.Term) { _ = term.Release(context.Background()) }, `level=INFO msg="leadership released" lock_name=x cause=released held=5s`},
		"lost":           {func(term *instrument.Term) { term.Sink().Lost(nil) }, `level=WARN msg="leadership lost" lock_name=x cause=lost held=5s`},
		"given up":       {func(term *instrument.Term) { term.Sink().Lost(instrument.ErrGaveUp) }, `level=WARN msg="leadership given up" lock_name=x cause=gave_up held=5s`},
		"stopped":        {func(term *instrument.Term) { term.Sink().Lost(context.Canceled) }, `level=WARN msg="leadership lost" lock_name=x cause=canceled held=5s`},
		"failed renewal": {func(term *instrument.Term) { term.Sink().RenewalFailed(context.DeadlineExceeded) }, `level=WARN msg="lease renewal failed" lock_name=x result=timeout`},
		"a renewal after the end": {func(term *instrument.Term) {
			_ = term.Release(context.Background())
			_ = term.Renew(context.Background())
		}, `level=INFO msg="leadership released" lock_name=x cause=released held=5s`},
		"renewed": {func(term *instrument.Term) { term.Sink().Renewed(instrument.Renewal{}) }, ""},
	} {
		bubble(t, name, func(t *testing.T) {
			var text bytes.Buffer
			noTime := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}}
			m := newMiddleware(t, instrument.WithLogger(slog.New(slog.NewTextHandler(&text, noTime))))
			term := acquire(t, m.Election("x", instrument.LeaseDuration(time.Minute)), electtest.Wins(instrument.NewLease(nil, instrument.RenewalsReported(), instrument.RenewWith(tooLate))))
			time.Sleep(5 * s)
			c.end(term)
			synctest.Wait()
			want := "level=INFO msg=\"leadership gained\" lock_name=x\n"
			if c.want != "" {
				want += c.want + "\n"
			}
			if diff := cmp.Diff(want, text.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// logged is a middleware and what it has logged of a lock whose lease is 10 s,
// without the time.
func logged(t *testing.T, opts ...instrument.ElectionOption) (*instrument.Middleware, *instrument.Election, func(want ...string)) {
	var text bytes.Buffer
	noTime := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	m := newMiddleware(t, instrument.WithLogger(slog.New(slog.NewTextHandler(&text, noTime))))
	return m, m.Election("x", append(opts, instrument.LeaseDuration(10*s))...), func(want ...string) {
		t.Helper()
		synctest.Wait()
		if diff := cmp.Diff(strings.Join(append(want, ""), "\n"), text.String()); diff != "" {
			t.Error(diff)
		}
	}
}

// What the log says last is how it is.
func TestTheLogSaysInOrderWhatTheSeriesCount(t *testing.T) {
	const (
		gained   = `level=INFO msg="leadership gained" lock_name=x`
		expired  = `level=WARN msg="leadership lost" lock_name=x cause=expired held=10s`
		released = `level=INFO msg="leadership released" lock_name=x cause=released held=2s`
		overrun  = `level=WARN msg="lease overrun" lock_name=x`
	)
	okay := func(context.Context) error { return nil }
	bubble(t, "a term that is revived is gained again, and released", func(t *testing.T) {
		m, e, says := logged(t)
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(okay))))
		time.Sleep(25 * s)
		electtest.Read(m, "x")
		says(gained, expired)
		if err := term.Renew(context.Background()); err != nil {
			t.Error(err)
		}
		says(gained, expired, gained)
		time.Sleep(2 * s)
		release(t, term)
		says(gained, expired, gained, released)
		expect(t, m, "x", "after", electtest.Series{"leader_acquired_total": 2,
			`leader_terms_ended_total{cause="expired"}`: 1, `leader_terms_ended_total{cause="released"}`: 1})
	})
	bubble(t, "and that it is lost again is logged too", func(t *testing.T) {
		m, e, says := logged(t)
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewWith(okay))))
		for range 2 {
			time.Sleep(25 * s)
			electtest.Read(m, "x")
			if err := term.Renew(context.Background()); err != nil {
				t.Error(err)
			}
		}
		says(gained, expired, gained, expired, overrun, gained)
	})
	bubble(t, "a lease that was over when it was won is gained before it is lost", func(t *testing.T) {
		_, e, says := logged(t)
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.ExpiryFrom(in(-10*s)))))
		says(gained, `level=WARN msg="leadership lost" lock_name=x cause=expired held=0s`)
		_ = term
	})
	bubble(t, "an overrun of a process that hangs, when it is seen", func(t *testing.T) {
		m, e, says := logged(t, instrument.Hold())
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewalsReported())))
		time.Sleep(11 * s)
		says(gained)
		electtest.Read(m, "x")
		electtest.Read(m, "x")
		says(gained, overrun)
		release(t, term)
		says(gained, overrun, `level=WARN msg="leadership lost" lock_name=x cause=expired held=11s`)
	})
	bubble(t, "an overrun of a lock that is forgotten", func(t *testing.T) {
		_, e, says := logged(t, instrument.Hold())
		acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewalsReported())))
		time.Sleep(11 * s)
		e.Forget()
		says(gained, overrun)
	})
}

func tooLate(context.Context) error { return context.DeadlineExceeded }

// failing is a log handler that fails, or is not enabled.
type failing struct {
	slog.Handler
	level slog.Level
	err   error
	seen  *[]string
}

func (f failing) Enabled(_ context.Context, l slog.Level) bool { return l >= f.level }
func (f failing) Handle(_ context.Context, r slog.Record) error {
	*f.seen = append(*f.seen, r.Message)
	return f.err
}

func TestALoggerThatFailsIsAFaultAndALevelThatIsOffIsNot(t *testing.T) {
	for name, c := range map[string]struct {
		level  slog.Level
		err    error
		seen   []string
		faults uint64
	}{
		"well":        {slog.LevelInfo, nil, []string{"leadership gained", "leadership released"}, 0},
		"it fails":    {slog.LevelInfo, errBackend, []string{"leadership gained", "leadership released"}, 2},
		"warnings on": {slog.LevelWarn, errBackend, nil, 0},
	} {
		bubble(t, name, func(t *testing.T) {
			var seen []string
			m := newMiddleware(t, instrument.WithLogger(slog.New(failing{level: c.level, err: c.err, seen: &seen})))
			release(t, acquire(t, m.Election("x"), electtest.NewElector()))
			synctest.Wait()
			if !slices.Equal(seen, c.seen) || m.Faults() != c.faults {
				t.Errorf("seen %v, %d faults", seen, m.Faults())
			}
		})
	}
}

// slow is a log handler that waits before it takes a record.
type slow struct {
	slog.Handler
	free chan struct{}
	seen *int
}

func (h slow) Enabled(context.Context, slog.Level) bool { return true }
func (h slow) Handle(context.Context, slog.Record) error {
	<-h.free
	*h.seen++
	return nil
}

// Of what a slow handler leaves waiting, 256 records are kept beside the one
// that it has.
func TestASlowLoggerLosesWhatIsBeyondTheQueueAndEachLossIsAFault(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		free, seen := make(chan struct{}), 0
		m := newMiddleware(t, instrument.WithLogger(slog.New(slow{free: free, seen: &seen})))
		e := m.Election("x")
		cycle := func() { release(t, acquire(t, e, electtest.NewElector())) } // two records
		cycle()
		synctest.Wait()
		for range 127 {
			cycle()
		}
		if m.Faults() != 0 {
			t.Errorf("%d faults of 256 records", m.Faults())
		}
		cycle()
		if m.Faults() != 1 {
			t.Errorf("%d faults of 258 records", m.Faults())
		}
		close(free)
		synctest.Wait()
		cycle()
		synctest.Wait()
		if seen != 259 || m.Faults() != 1 {
			t.Errorf("%d records, %d faults", seen, m.Faults())
		}
	})
}
