package instrument_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// half is a clock that goes half as fast as the timers of the system.
type half struct{ start time.Time }

func (c half) Now() time.Time { return c.start.Add(time.Since(c.start) / 2) }

func TestContextsEndWithTheLeaseThatIsKnownAtThatInstant(t *testing.T) {
	for name, c := range map[string]struct {
		opts   []instrument.Option
		during func(*instrument.Election, *instrument.Term) // at 30 s of a lease of 60 s
		ends   time.Duration                                // 0 is never
	}{
		"with its lease":         {during: func(*instrument.Election, *instrument.Term) {}, ends: 60 * s},
		"with the renewed lease": {during: func(_ *instrument.Election, term *instrument.Term) { term.Sink().Renewed(instrument.Renewal{}) }, ends: 90 * s},
		"with a shorter lease": {during: func(_ *instrument.Election, term *instrument.Term) {
			term.Sink().Renewed(instrument.Renewal{Sent: time.Now(), Expiry: time.Now().Add(10 * s)})
		}, ends: 40 * s},
		"at once, when its renewal tells an end that has passed": {during: func(_ *instrument.Election, term *instrument.Term) {
			term.Sink().Renewed(instrument.Renewal{Sent: time.Now(), Expiry: time.Now().Add(-s)})
		}, ends: 30 * s},
		"never, when its end is not known any more": {during: func(_ *instrument.Election, term *instrument.Term) {
			term.Sink().Renewed(instrument.Renewal{Sent: time.Now(), Expiry: time.Now().Add(1_000_000 * time.Hour)})
		}},
		"when it is over by the clock": {opts: []instrument.Option{instrument.WithClock(half{time.Now()})}, during: func(*instrument.Election, *instrument.Term) {}, ends: 120 * s},
	} {
		bubble(t, name, func(t *testing.T) {
			opts := c.opts
			if opts != nil {
				opts = []instrument.Option{instrument.WithClock(half{time.Now()})}
			}
			m := newMiddleware(t, opts...)
			e := m.Election("x", instrument.LeaseDuration(60*s), instrument.StopAtLeaseEnd())
			start := time.Now()
			term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.RenewalsReported())))
			ctx := term.Context()
			var ended time.Duration
			stop := context.AfterFunc(ctx, func() { ended = time.Since(start) })
			defer stop()
			time.Sleep(30 * s)
			c.during(e, term)
			time.Sleep(300 * s)
			synctest.Wait()
			if (ended-c.ends).Abs() > time.Microsecond || c.ends > 0 && !errors.Is(context.Cause(ctx), instrument.ErrLeaseEnded) {
				t.Errorf("ended after %v by %v, want %v", ended, context.Cause(ctx), c.ends)
			}
			release(t, term)
			synctest.Wait()
		})
	}
}

// learning is a lease whose type has a Renew method, so that the end of a held
// leadership is unknown until a renewal was tried.
type learning struct {
	end   time.Time
	renew func(context.Context) error
}

func (l *learning) Release(context.Context) error   { return nil }
func (l *learning) Expiry() time.Time               { return l.end }
func (l *learning) Renew(ctx context.Context) error { return l.renew(ctx) }

// As soon as the end is known, contexts end with it, whichever way it became known.
func TestContextsEndWithALeaseWhoseEndBecameKnownLater(t *testing.T) {
	for name, c := range map[string]struct {
		renew func(ctx context.Context, l *learning) error
		ends  time.Duration // 0: not at all
	}{
		"by a renewal that worked": {func(_ context.Context, l *learning) error { l.end = time.Now().Add(10 * s); return nil }, 15 * s},
		"by one that failed":       {func(context.Context, *learning) error { return errBackend }, 10 * s},
		"by one that took too long": {func(ctx context.Context, _ *learning) error {
			ctx, cancel := context.WithTimeout(ctx, s)
			defer cancel()
			<-ctx.Done()
			return ctx.Err()
		}, 10 * s},
		"by one that panicked":            {func(context.Context, *learning) error { panic("renew") }, 10 * s},
		"by one that came after the end":  {func(context.Context, *learning) error { time.Sleep(7 * s); return errBackend }, 12 * s},
		"not, where it cannot be renewed": {func(context.Context, *learning) error { return errors.ErrUnsupported }, 0},
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", instrument.Hold(), instrument.StopAtLeaseEnd())
			l := &learning{end: time.Now().Add(10 * s)}
			l.renew = func(ctx context.Context) error { return c.renew(ctx, l) }
			start := time.Now()
			term := acquire(t, e, electtest.Wins(l))
			ctx := term.Context()
			var ended time.Duration
			context.AfterFunc(ctx, func() { ended = time.Since(start) })
			time.Sleep(5 * s)
			func() {
				defer func() { _ = recover() }()
				_ = term.Renew(context.Background())
			}()
			time.Sleep(time.Minute)
			synctest.Wait()
			if ended != c.ends || c.ends > 0 && !errors.Is(context.Cause(ctx), instrument.ErrLeaseEnded) {
				t.Errorf("ended after %v by %v, want %v", ended, context.Cause(ctx), c.ends)
			}
			if e.Leading() != (c.ends == 0) {
				t.Errorf("leading: %v", e.Leading())
			}
			release(t, term)
			synctest.Wait()
		})
	}
}

func TestAnObservedTermLeadsUntilTheEndThatWasSeenLast(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.StopAtLeaseEnd())
		start := time.Now()
		seen := func(end time.Duration) { e.ObserveLeading(instrument.Leadership{Expiry: start.Add(end)}) }
		seen(60 * s)
		time.Sleep(50 * s)
		seen(100 * s)
		time.Sleep(20 * s)
		if !e.Leading() {
			t.Error("it stopped leading before the end that was seen last")
		}
		time.Sleep(30 * s)
		if e.Leading() {
			t.Error("it leads beyond its end")
		}
		e.ObserveNotLeading(nil)
		synctest.Wait()
	})
}

func TestAnOverrunIsLoggedOnce(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		var text bytes.Buffer
		m := newMiddleware(t, instrument.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
		e := m.Election("x", instrument.LeaseDuration(10*s))
		_ = e.Run(context.Background(), electtest.NewElector(), func(context.Context, *instrument.Term) error {
			time.Sleep(11 * s)
			electtest.Read(m, "x")
			time.Sleep(s)
			return nil
		})
		synctest.Wait()
		if n := strings.Count(text.String(), `level=WARN msg="lease overrun" lock_name=x`); n != 1 {
			t.Errorf("logged %d times:\n%s", n, text.String())
		}
	})
}

// panicky is a redactor that panics.
type panicky struct{}

func (panicky) Label(string) redact.Label   { panic("label") }
func (panicky) Literal(string) redact.Label { panic("literal") }
func (panicky) Info() redact.Info           { panic("info") }

func TestARedactorThatPanicsRedacts(t *testing.T) {
	m := newMiddleware(t, instrument.WithRedactor(panicky{}))
	if one, two := m.Election("constant"), m.Named("made"); one.Label() != "redacted" || two.Label() != "redacted" || m.Faults() != 2 {
		t.Errorf("labels %s and %s, %d faults", one.Label(), two.Label(), m.Faults())
	}
	if got := electtest.ReadProcess(m)[`leader_redaction_info{policy="custom"}`]; got != 1 {
		t.Errorf("%v", electtest.ReadProcess(m))
	}
}

// releasing ends a term as soon as its win is observed, before what reports
// losses of it has started.
type releasing struct{ release func() }

func (r *releasing) Observe(_ context.Context, m *catalog.Metric, _ []string, _ float64) {
	if m == catalog.AcquireDuration && r.release != nil {
		release := r.release
		r.release = nil
		release()
	}
}

func TestATermThatEndsWhileItIsWonLeavesNothingBehind(t *testing.T) {
	lost := make(chan struct{})
	watched := 0
	for name, opt := range map[string]instrument.LeaseOption{
		"what tells a loss": instrument.LostOn(lost), "what watches": instrument.WatchWith(func(ctx context.Context, _ instrument.Sink) { watched++; <-ctx.Done() }),
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			o := &releasing{}
			defer m.Attach(func(string) instrument.Observer { return o })()
			at := m.Election("x").Begin(context.Background())
			lease := instrument.NewLease(nil, opt)
			o.release = func() { release(t, at.Won(lease)) }
			term := at.Won(lease)
			synctest.Wait()
			if err := context.Cause(term.Context()); err != instrument.ErrReleased {
				t.Errorf("the context ends by %v", err)
			}
			if diff := cmp.Diff(map[string]float64{`leader_terms_ended_total{cause="released"}`: 1, "leader_acquired_total": 1}, counted(m, "leader_terms_ended", "leader_acquired", "leader_active")); diff != "" {
				t.Error(diff)
			}
		})
	}
	if watched != 0 {
		t.Errorf("%d watchers of terms that had ended", watched)
	}
}

// A lease that is over when it is won ends with the next win, which may come
// before what reports losses of the first has started.
func TestATermThatIsSupersededWhileItIsWonIsNotWatched(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		m := newMiddleware(t)
		e, o := m.Election("x"), &releasing{}
		defer m.Attach(func(string) instrument.Observer { return o })()
		watched := 0
		past := time.Now().Add(-s)
		outlived := instrument.NewLease(nil, instrument.Token(1), instrument.ExpiryFrom(func() time.Time { return past }),
			instrument.WatchWith(func(ctx context.Context, _ instrument.Sink) { watched++; <-ctx.Done() }))
		o.release = func() { acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.Token(2)))) }
		term := acquire(t, e, electtest.Wins(outlived))
		synctest.Wait()
		if err := context.Cause(term.Context()); err != instrument.ErrLost || watched != 0 {
			t.Errorf("the context ends by %v, %d watchers", err, watched)
		}
	})
}

func TestEveryBodyOfATermIsToldOfItsEndAndNoOther(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		m := newMiddleware(t)
		term := acquire(t, m.Election("x"), electtest.Wins(instrument.NewLease(nil, instrument.RenewalsReported())))
		told := make([]error, 4)
		leaves := make([]chan struct{}, 4)
		for i := range told {
			leaves[i] = make(chan struct{})
			go func() {
				_ = term.Work(context.Background(), func(ctx context.Context, _ *instrument.Term) error {
					select {
					case <-ctx.Done():
						told[i] = context.Cause(ctx)
					case <-leaves[i]:
					}
					return nil
				})
			}()
			synctest.Wait()
		}
		close(leaves[0])
		close(leaves[2])
		synctest.Wait()
		if got := electtest.Read(m, "x")["leader_running"]; got != 2 {
			t.Errorf("%v bodies run", got)
		}
		term.Sink().Lost(nil)
		synctest.Wait()
		for i, err := range told {
			if ran := i%2 == 1; ran != errors.Is(err, instrument.ErrLost) || !ran && err != nil {
				t.Errorf("body %d was told %v", i, err)
			}
		}
		if got := electtest.Read(m, "x")["leader_running"]; got != 0 {
			t.Errorf("%v bodies run", got)
		}
	})
}
