package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

func TestSharedLabelsAreTheSameWordsEverywhere(t *testing.T) {
	if redact.Redacted != catalog.RedactedLabel || redact.Overflow != catalog.OverflowLabel || redact.Wildcard != catalog.FamilyWildcard {
		t.Error("redact and catalog disagree about the labels that names share")
	}
	modes, _ := catalog.RedactionInfo.Label("policy")
	if diff := cmp.Diff([]string{redact.PolicyConstant, redact.PolicyHash, redact.PolicyRaw, "custom"}, modes.Values()); diff != "" {
		t.Error(diff)
	}
}

func TestTwoElectorsOfOneLockAddUpAndForgettingItEndsBoth(t *testing.T) {
	bubble(t, "one name, one handle", func(t *testing.T) {
		m := newMiddleware(t)
		a, b := m.Election("x"), m.Named("x")
		if a != b {
			t.Error("one name has two handles")
		}
		ta := acquire(t, a, electtest.NewElector())
		acquire(t, b, electtest.NewElector())
		want := zero.With(electtest.Series{
			"leader_attempts_total": 2, "leader_acquired_total": 2, "leader_active": 2, "leader_acquire_duration_seconds_count": 2,
		})
		check(t, m, "both hold", want)
		a.Forget()
		a.Forget()
		if got := electtest.Labels(m); len(got) != 0 {
			t.Errorf("labels %v are left", got)
		}
		release(t, ta)
		if again := m.Election("x"); again == a {
			t.Error("a forgotten handle is handed out")
		}
		check(t, m, "a new handle begins at zero", zero)
	})
}

func TestTwoLocksOfOneLabelAddUpAndForgettingOneRemovesItsShare(t *testing.T) {
	bubble(t, "a family", func(t *testing.T) {
		m := newMiddleware(t, instrument.WithRedactor(redact.Constant(redact.Exact("x", "y").Constant())))
		a, b := m.Named("x"), m.Named("y")
		ta := acquire(t, a, electtest.NewElector())
		acquire(t, b, electtest.NewElector())
		read := func() electtest.Series { return electtest.Read(m, redact.Redacted) }
		if r := read(); r["leader_active"] != 2 || r["leader_acquired_total"] != 2 {
			t.Errorf("both hold: %v", r)
		}
		a.Forget()
		a.Forget()
		want := electtest.Series{"leader_active": 1, "leader_acquired_total": 2, `leader_terms_ended_total{cause="abandoned"}`: 1, `leader_terms_ended_total{cause="released"}`: 0}
		release(t, ta)
		r := read()
		for k, v := range want {
			if r[k] != v {
				t.Errorf("one is forgotten: %s is %v, want %v", k, r[k], v)
			}
		}
		b.Forget()
		if got := electtest.Labels(m); len(got) != 0 {
			t.Errorf("labels %v are left", got)
		}
	})
}

func TestAForgottenHandleStillElects(t *testing.T) {
	for name, end := range map[string]func(*instrument.Middleware, *instrument.Election){
		"forget": func(_ *instrument.Middleware, e *instrument.Election) { e.Forget() },
		"close":  func(m *instrument.Middleware, _ *instrument.Election) { _ = m.Close(); _ = m.Close() },
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x")
			lost := make(chan struct{})
			lease := instrument.NewLease(nil, instrument.LostOn(lost))
			running := make(chan struct{})
			stopped := make(chan error)
			body := func(ctx context.Context, _ *instrument.Term) error {
				close(running)
				<-ctx.Done()
				return context.Cause(ctx)
			}
			go func() { stopped <- e.Run(context.Background(), electtest.Wins(lease), body) }()
			<-running
			waiting := make(chan error)
			go func() {
				_, err := e.Acquire(context.Background(), electtest.NewElector(electtest.Step{Wait: 10 * s, Err: errBackend}))
				waiting <- err
			}()
			synctest.Wait()
			end(m, e)
			close(lost)
			if err := <-stopped; !errors.Is(err, instrument.ErrLost) {
				t.Errorf("the body was told %v", err)
			}
			if err := <-waiting; !errors.Is(err, errBackend) {
				t.Errorf("the attempt in flight returned %v", err)
			}
			ran := false
			err := e.Run(context.Background(), electtest.NewElector(), func(context.Context, *instrument.Term) error { ran = true; return nil })
			if err != nil || !ran {
				t.Errorf("afterwards: ran %v, %v", ran, err)
			}
			if got := electtest.Labels(m); len(got) != 0 {
				t.Errorf("labels %v are left", got)
			}
		})
	}
}

func TestATermEndsOnceWhateverHappensAtOnce(t *testing.T) {
	bubble(t, "twenty releases race a loss", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x")
		for range 50 {
			lost := make(chan struct{})
			term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.LostOn(lost),
				instrument.RenewWith(func(context.Context) error { return instrument.ErrContended }))))
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() { _ = term.Release(context.Background()) })
			}
			wg.Go(func() { close(lost) })
			wg.Go(func() { _ = term.Renew(context.Background()) })
			wg.Wait()
			synctest.Wait()
		}
		r := electtest.Read(m, "x")
		ended := 0.
		for _, cause := range []string{"released", "lost", "expired", "canceled", "abandoned", "gave_up", "release_failed"} {
			ended += r[fmt.Sprintf("leader_terms_ended_total{cause=%q}", cause)]
		}
		if ended != 50 || r["leader_active"] != 0 || r[`leader_releases_total{result="ok"}`] != 50 {
			t.Errorf("%v terms ended of 50: %v", ended, r)
		}
	})
}

func TestC21TheCapFoldsNamesAndKeepsTotals(t *testing.T) {
	m := newMiddleware(t, instrument.WithMaxLabels(100))
	for i := range 10_000 {
		e := m.Named(fmt.Sprintf("tenant-%d", i))
		_, _ = e.Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
	}
	labels := electtest.Labels(m)
	total := 0.
	for _, l := range labels {
		total += electtest.Read(m, l)["leader_attempts_total"]
	}
	if len(labels) != 101 || total != 10_000 {
		t.Errorf("%d labels, %v attempts", len(labels), total)
	}
	if got := electtest.ReadProcess(m)["leader_redaction_overflows_total"]; got != 9_900 {
		t.Errorf("%v names folded, want 9900", got)
	}
}

// Goroutines and memory are flat over names that come and go, whichever label
// they have.
func TestNamesThatComeAndGoLeaveNothing(t *testing.T) {
	cycles := 100_000
	if testing.Short() {
		cycles = 10_000
	}
	for name, policy := range map[string]instrument.Redactor{"labels of their own": redact.Raw(), "a shared label": redact.Constant()} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t, instrument.WithRedactor(policy))
			cycle := func(from, to int) (heap uint64, goroutines int) {
				for i := from; i < to; i++ {
					e := m.Named(fmt.Sprintf("tenant-%d", i), instrument.Hold(), instrument.LeaseDuration(time.Hour))
					var lease instrument.Lease = instrument.NewLease(nil)
					if i%10 == 0 {
						lease = instrument.NewLease(nil, instrument.LostOn(make(chan struct{})),
							instrument.WatchWith(func(ctx context.Context, _ instrument.Sink) { <-ctx.Done() }))
					}
					term := acquire(t, e, electtest.Wins(lease))
					_ = term.Work(context.Background(), func(context.Context, *instrument.Term) error { return nil })
					release(t, term)
					if i%2 == 0 || e.Label() != redact.Redacted { // some are only dropped
						e.Forget()
					}
				}
				time.Sleep(10 * time.Millisecond) // for what ends by itself
				return heapNow(), runtime.NumGoroutine()
			}
			cycle(0, cycles/10)
			heap, goroutines := cycle(cycles/10, cycles/5)
			after, more := cycle(cycles/5, cycles)
			if after > heap+4<<20 || more > goroutines+10 {
				t.Errorf("heap from %d to %d bytes, goroutines from %d to %d", heap, after, goroutines, more)
			}
			if got := electtest.Labels(m); len(got) > 1 {
				t.Errorf("labels %v are left", got)
			}
		})
	}
}

func TestTheHoldingEndsBeforeTheBackendIsTold(t *testing.T) {
	m := newMiddleware(t)
	e := m.Election("x")
	during := -1.
	term := acquire(t, e, electtest.Wins(instrument.NewLease(func(context.Context) error {
		during = electtest.Read(m, "x")["leader_active"]
		return errBackend
	})))
	if err := term.Release(context.Background()); !errors.Is(err, errBackend) {
		t.Fatal(err)
	}
	r := electtest.Read(m, "x")
	if during != 0 || r["leader_active"] != 0 || r[`leader_releases_total{result="error"}`] != 1 || r[`leader_terms_ended_total{cause="release_failed"}`] != 1 {
		t.Errorf("active while releasing %v, series %v", during, r)
	}
	_ = term.Release(context.Background())
	if r := electtest.Read(m, "x"); r[`leader_releases_total{result="error"}`] != 2 {
		t.Errorf("a second try that fails counts too: %v", r)
	}
}

// hostile is a redactor, log handler, tracer provider and clock that panics.
type hostile struct{ trace.TracerProvider }

func (hostile) Label(string) redact.Label                         { panic("label") }
func (hostile) Info() redact.Info                                 { panic("info") }
func (hostile) Enabled(context.Context, slog.Level) bool          { panic("enabled") }
func (hostile) Handle(context.Context, slog.Record) error         { panic("handle") }
func (h hostile) WithAttrs([]slog.Attr) slog.Handler              { return h }
func (h hostile) WithGroup(string) slog.Handler                   { return h }
func (hostile) Now() time.Time                                    { panic("now") }
func (hostile) Tracer(string, ...trace.TracerOption) trace.Tracer { return hostileTracer{} }

type hostileTracer struct{ noop.Tracer }

func (hostileTracer) Start(context.Context, string, ...trace.SpanStartOption) (context.Context, trace.Span) {
	panic("start")
}

func TestPanicsOfUserCodeNeverReachTheElection(t *testing.T) {
	h := hostile{noop.NewTracerProvider()}
	m, err := instrument.New(instrument.WithRedactor(h), instrument.WithLogger(slog.New(h)), instrument.WithTracerProvider(h), instrument.WithClock(h))
	if err != nil {
		t.Fatal(err)
	}
	panics := instrument.ClassifierFunc(func(error) (instrument.Reason, bool) { panic("classify") })
	e := m.Named("tenant-42", instrument.Classify(panics), instrument.LeaseDuration(time.Hour))
	if e.Label() != redact.Redacted {
		t.Errorf("label %q", e.Label())
	}
	if _, err := e.Acquire(context.Background(), electtest.Fails(errBackend)); !errors.Is(err, errBackend) {
		t.Errorf("acquire: %v", err)
	}
	ran := false
	err = e.Run(context.Background(), electtest.NewElector(), func(ctx context.Context, term *instrument.Term) error {
		ran = true
		return nil
	})
	if err != nil || !ran {
		t.Errorf("run: %v, ran %v", err, ran)
	}
	r := electtest.Read(m, redact.Redacted)
	if r["leader_attempts_total"] != 2 || r[`leader_not_acquired_total{reason="backend_error"}`] != 1 || m.Faults() == 0 {
		t.Errorf("%d faults, series %v", m.Faults(), r)
	}
	if info := electtest.ReadProcess(m); info[`leader_redaction_info{policy="custom"}`] != 1 {
		t.Errorf("process series %v", info)
	}
}

// blocked is a log handler that never returns.
type blocked struct{ slog.Handler }

func (blocked) Enabled(context.Context, slog.Level) bool  { return true }
func (blocked) Handle(context.Context, slog.Record) error { select {} }

func TestABlockedLoggerNeverBlocksTheElection(t *testing.T) {
	m := newMiddleware(t, instrument.WithLogger(slog.New(blocked{})))
	e := m.Election("x")
	for range 1000 {
		release(t, acquire(t, e, electtest.NewElector()))
	}
	if m.Faults() == 0 {
		t.Error("dropped records are counted")
	}
}

// stuck is a clock that answers once and then blocks.
type stuck struct{ answered bool }

func (c *stuck) Now() time.Time {
	if c.answered {
		select {}
	}
	c.answered = true
	return time.Now()
}

func TestABlockedClockIsReplacedForGood(t *testing.T) {
	m := newMiddleware(t, instrument.WithClock(&stuck{}))
	e := m.Election("x")
	for range 100 {
		release(t, acquire(t, e, electtest.NewElector()))
	}
	if m.Faults() != 1 {
		t.Errorf("%d faults, want 1", m.Faults())
	}
}

func TestLogsCarryTheLabelAndTheExactToken(t *testing.T) {
	bubble(t, "gained, renewal failed, lost", func(t *testing.T) {
		var text strings.Builder
		p := redact.Hash([]byte("0123456789abcdef0123456789abcdef"), "k1")
		m := newMiddleware(t, instrument.WithRedactor(p), instrument.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
		e := m.Named("tenant-42")
		leaky := fmt.Errorf("tenant-42: %w", errBackend)
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.Token(1<<60+1),
			instrument.RenewWith(func(context.Context) error { return leaky }))))
		_ = term.Renew(context.Background())
		release(t, term)
		synctest.Wait()
		got := text.String()
		for _, want := range []string{"leadership gained", "fencing_token=1152921504606846977", "lease renewal failed", "leadership released", e.Label()} {
			if !strings.Contains(got, want) {
				t.Errorf("logs lack %q:\n%s", want, got)
			}
		}
		if strings.Contains(got, "tenant") || strings.Contains(got, "10.0.0.1") {
			t.Errorf("logs leak:\n%s", got)
		}
	})
}

func TestBadOptionsAreOneClearError(t *testing.T) {
	for want, opt := range map[string]instrument.Option{
		"WithMaxLabels(0)":                       instrument.WithMaxLabels(0),
		"WithReleaseTimeout(-1s)":                instrument.WithReleaseTimeout(-s),
		`WithoutSeries("core")`:                  instrument.WithoutSeries(catalog.GroupCore),
		`WithoutSeries("leases"): unknown group`: instrument.WithoutSeries(catalog.GroupLease, "leases"),
		`WithoutSeries(""): unknown group`:       instrument.WithoutSeries(""),
		"rule 1: the template has no {variable}": instrument.WithRedactor(redact.Raw(redact.Template("x"))),
	} {
		if _, err := instrument.New(opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := instrument.New(nil, instrument.WithRedactor(nil), instrument.WithRedactor((*redact.Policy)(nil))); err != nil {
		t.Errorf("nil options: %v", err)
	}
}

func TestGoexitInABodyIsAPanicAndTheLockIsReleased(t *testing.T) {
	m := newMiddleware(t)
	e := m.Election("x")
	done := make(chan struct{})
	released := false
	go func() {
		defer close(done)
		_ = e.Run(context.Background(), electtest.Wins(instrument.NewLease(func(context.Context) error { released = true; return nil })),
			func(context.Context, *instrument.Term) error { runtime.Goexit(); return nil })
	}()
	<-done
	r := electtest.Read(m, "x")
	if !released || r["leader_running"] != 0 || r[`leader_execution_failures_total{cause="panic"}`] != 1 {
		t.Errorf("released %v, series %v", released, r)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = e.Acquire(context.Background(), electtest.NewElector(electtest.Step{Panic: "boom"}))
	}()
	if r := electtest.Read(m, "x"); r[`leader_not_acquired_total{reason="panic"}`] != 1 || r["leader_pending"] != 0 {
		t.Errorf("series %v", r)
	}
}
