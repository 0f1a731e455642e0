package instrument_test

import (
	"bytes"
	"context"
	"errors"
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

// Telemetry reaches neither the election nor the outside.

func TestATermThatIsWonAfterForgettingKeepsItsLease(t *testing.T) {
	for name, end := range map[string]func(*instrument.Middleware, *instrument.Election){
		"forget": func(_ *instrument.Middleware, e *instrument.Election) { e.Forget() },
		"close":  func(m *instrument.Middleware, _ *instrument.Election) { _ = m.Close() },
	} {
		bubble(t, name+", with callbacks", func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x", instrument.LeaseDuration(10*s), instrument.StopAtLeaseEnd())
			at := e.Begin(context.Background())
			end(m, e)
			lost, watched, unwatched, returned := make(chan struct{}), false, false, 0
			term := at.Won(instrument.NewLease(func(context.Context) error { returned++; return nil }, instrument.LostOn(lost), instrument.Token(7),
				instrument.WatchWith(func(ctx context.Context, _ instrument.Sink) { watched = true; <-ctx.Done(); unwatched = true })))
			ctx := term.Context()
			if token, ok := term.FencingToken(); token != 7 || !ok || !term.Leading() {
				t.Errorf("token %v %v, leading %v", token, ok, term.Leading())
			}
			synctest.Wait()
			close(lost)
			synctest.Wait()
			if !watched || !unwatched || !errors.Is(context.Cause(ctx), instrument.ErrLost) || term.Leading() {
				t.Errorf("watched %v, to the end %v, context %v, leading %v", watched, unwatched, context.Cause(ctx), term.Leading())
			}
			release(t, term)
			if returned != 1 || len(electtest.Labels(m)) != 0 {
				t.Errorf("given back %d times, labels %v", returned, electtest.Labels(m))
			}
		})
		bubble(t, name+", while Acquire is under way", func(t *testing.T) {
			m := newMiddleware(t)
			e := m.Election("x")
			lost := make(chan struct{})
			done := make(chan error)
			go func() {
				done <- e.Run(context.Background(), electtest.NewElector(electtest.Step{Wait: 5 * s, Lease: instrument.NewLease(nil, instrument.LostOn(lost))}),
					func(ctx context.Context, _ *instrument.Term) error { <-ctx.Done(); return context.Cause(ctx) })
			}()
			time.Sleep(s)
			end(m, e)
			time.Sleep(5 * s)
			close(lost)
			if err := <-done; !errors.Is(err, instrument.ErrLost) {
				t.Errorf("the body was told %v", err)
			}
		})
	}
}

// broken is a lease whose every optional method panics.
type broken struct{ released *bool }

func (b broken) Release(context.Context) error                     { *b.released = true; return nil }
func (broken) Expiry() time.Time                                   { panic("expiry") }
func (broken) LeaseDuration() time.Duration                        { panic("length") }
func (broken) Lost() <-chan struct{}                               { panic("lost") }
func (broken) FencingToken() (uint64, bool)                        { panic("token") }
func (broken) Watch(context.Context, instrument.Sink)              { panic("watch") }
func (broken) Classify(err error) (instrument.Reason, bool)        { panic("classify") }
func (b broken) Acquire(context.Context) (instrument.Lease, error) { return b, nil }

// nilLease is a lease type whose methods need a value.
type nilLease struct{ lost chan struct{} }

func (l *nilLease) Release(context.Context) error { return nil }
func (l *nilLease) Lost() <-chan struct{}         { return l.lost }
func (l *nilLease) Expiry() time.Time             { <-l.lost; return time.Now() }

func TestPanicsOfOptionalMethodsAreContainedAndCounted(t *testing.T) {
	bubble(t, "every method", func(t *testing.T) {
		m := newMiddleware(t)
		released := false
		term := acquire(t, m.Election("x", instrument.LeaseDuration(10*s)), broken{&released})
		synctest.Wait()
		expect(t, m, "x", "won", electtest.Series{"leader_active": 1, "leader_acquired_total": 1, "leader_lease_headroom_seconds": 10})
		release(t, term)
		if !released || m.Faults() != 5 {
			t.Errorf("released %v, %d faults", released, m.Faults())
		}
		if got := electtest.ReadProcess(m)["leader_telemetry_faults_total"]; got != 5 {
			t.Errorf("%v faults are exported", got)
		}
	})
	bubble(t, "a typed nil lease", func(t *testing.T) {
		m := newMiddleware(t)
		term := acquire(t, m.Election("x"), electtest.Wins((*nilLease)(nil)))
		expect(t, m, "x", "won", electtest.Series{"leader_active": 1, "leader_acquired_total": 1, "leader_pending": 0})
		release(t, term)
		if m.Faults() != 2 {
			t.Errorf("%d faults, want 2", m.Faults())
		}
	})
	t.Run("a typed nil error of a renewal and of a release", func(t *testing.T) {
		m := newMiddleware(t)
		var fails error = (*nilError)(nil)
		term := acquire(t, m.Election("x"), electtest.Wins(instrument.NewLease(func(context.Context) error { return fails },
			instrument.RenewWith(func(context.Context) error { return fails }))))
		if err := term.Renew(context.Background()); err != fails {
			t.Errorf("renew: %v", err == fails)
		}
		if err := term.Release(context.Background()); err != fails {
			t.Errorf("release: %v", err == fails)
		}
		err := m.Election("x").Run(context.Background(), electtest.NewElector(), func(context.Context, *instrument.Term) error { return fails })
		if err != fails {
			t.Errorf("run: %v", err == fails)
		}
		term = m.Election("x").Begin(context.Background()).Won(instrument.NewLease(nil))
		term.Sink().RenewalFailed(fails)
		term.Sink().Lost(fails)
		expect(t, m, "x", "after", electtest.Series{`leader_renewals_total{result="error"}`: 2, `leader_terms_ended_total{cause="release_failed"}`: 1,
			`leader_execution_failures_total{cause="error"}`: 1, `leader_terms_ended_total{cause="lost"}`: 1})
	})
	t.Run("a panicking release and renewal are the caller's", func(t *testing.T) {
		m := newMiddleware(t)
		boom := func(context.Context) error { panic("boom") }
		term := acquire(t, m.Election("x"), electtest.Wins(instrument.NewLease(boom, instrument.RenewWith(boom))))
		for name, call := range map[string]func(context.Context) error{"renew": term.Renew, "release": term.Release} {
			func() {
				defer func() {
					if recover() != "boom" {
						t.Errorf("%s does not panic", name)
					}
				}()
				_ = call(context.Background())
			}()
		}
		expect(t, m, "x", "after", electtest.Series{"leader_active": 0, `leader_releases_total{result="error"}`: 1, `leader_terms_ended_total{cause="release_failed"}`: 1})
	})
}

func TestANilContextGoesToTheElectorAsItIs(t *testing.T) {
	var none context.Context
	m := newMiddleware(t)
	e := m.Election("x")
	for name, err := range map[string]error{"won": nil, "contended": instrument.ErrContended, "unknown": errHeld} {
		var got context.Context = context.TODO()
		_, returned := e.Acquire(none, instrument.AcquirerFunc(func(ctx context.Context) (instrument.Lease, error) {
			got = ctx
			return instrument.NewLease(nil), err
		}))
		if returned != err || got != nil {
			t.Errorf("%s: error %v, context %v", name, returned, got)
		}
	}
	err := e.Run(none, electtest.NewElector(), func(ctx context.Context, term *instrument.Term) error {
		term.Context()
		return ctx.Err()
	})
	if err != nil {
		t.Errorf("run: %v", err)
	}
	at := e.Begin(none)
	at.NotAcquired(errHeld)
	expect(t, m, "x", "after", electtest.Series{"leader_attempts_total": 5, "leader_acquired_total": 2, `leader_not_acquired_total{reason="contended"}`: 1, `leader_not_acquired_total{reason="unknown"}`: 2})
}

func TestABodyThatHasReturnedIsKeptByNothing(t *testing.T) {
	m := newMiddleware(t)
	term := acquire(t, m.Election("x", instrument.Hold()), electtest.NewElector())
	ctx := term.Context()
	heap := func() int64 {
		var ms runtime.MemStats
		for range 3 {
			runtime.GC()
		}
		runtime.ReadMemStats(&ms)
		return int64(ms.HeapAlloc)
	}
	before := heap()
	for range 100_000 {
		_ = term.Work(context.Background(), func(context.Context, *instrument.Term) error { return nil })
	}
	nothing := func(context.Context, *instrument.Term) error { return nil }
	running := make(chan struct{})
	for range 50 { // that ran at once
		_ = term.Work(context.WithValue(context.Background(), ctxKey{}, make([]byte, 1<<20)), func(ctx context.Context, t *instrument.Term) error {
			return t.Work(ctx, nothing)
		})
	}
	close(running)
	if after := heap(); after > before+1<<20 {
		t.Errorf("heap from %d to %d bytes", before, after)
	}
	release(t, term)
	if !errors.Is(context.Cause(ctx), instrument.ErrReleased) {
		t.Errorf("the term's context: %v", context.Cause(ctx))
	}
}

func TestTheFirstProgramHasReadableLabelsAndSaysWhatIsOff(t *testing.T) {
	bubble(t, "no policy", func(t *testing.T) {
		var text bytes.Buffer
		m, err := instrument.New(instrument.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
		if err != nil {
			t.Fatal(err)
		}
		labels := []string{m.Election("reconciler").Label(), m.Election("tenant-*").Label(), m.Election("redacted").Label(), m.Election("").Label()}
		synctest.Wait()
		if text.Len() != 0 {
			t.Errorf("a program whose names are constants is told:\n%s", text.String())
		}
		for range 3 {
			for _, tenant := range []string{"alice", "bob"} {
				labels = append(labels, m.Named(tenant).Label())
			}
		}
		synctest.Wait()
		if labels[0] != "reconciler" || labels[1] == "tenant-*" || labels[2] == redact.Redacted || labels[3] == "" || labels[4] != redact.Redacted || labels[5] != redact.Redacted {
			t.Errorf("labels %q", labels)
		}
		logged := text.String()
		if strings.Count(logged, "\n") != 1 || !strings.Contains(logged, "instrument.WithRedactor") || !strings.Contains(logged, "LeaderElectionNoLeader") || strings.Contains(logged, "alice") {
			t.Errorf("logged:\n%s", logged)
		}
	})
	cases := []struct {
		name           string
		policy         instrument.Redactor
		literal, named string
	}{
		{"a hash covers both", redact.Hash([]byte("0123456789abcdef0123456789abcdef"), "k1"), "k1:8b8b2b7f9b8f6a0e", "k1:"},
		{"unless the rule lets constants through", redact.Hash([]byte("0123456789abcdef0123456789abcdef"), "k1", redact.Literals()), "reconciler", "k1:"},
		{"a constant covers both", redact.Constant(), redact.Redacted, redact.Redacted},
		{"raw lets both through", redact.Raw(), "reconciler", "alice"},
		{"a redactor that does not tell them apart", colliding{"x"}, "x10", "x5"},
	}
	for _, c := range cases {
		bubble(t, c.name, func(t *testing.T) {
			var text bytes.Buffer
			m := newMiddleware(t, instrument.WithRedactor(c.policy), instrument.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
			literal, named := m.Election("reconciler").Label(), m.Named("alice").Label()
			if strings.HasPrefix(c.literal, "k1:") {
				c.literal = literal
				if !strings.HasPrefix(literal, "k1:") {
					t.Errorf("a constant is %s", literal)
				}
			}
			if literal != c.literal || !strings.HasPrefix(named, c.named) || strings.HasPrefix(named, "k1:") != (c.named == "k1:") {
				t.Errorf("a constant is %s, a name %s", literal, named)
			}
			synctest.Wait()
			if text.Len() != 0 {
				t.Errorf("a policy that was chosen is told:\n%s", text.String())
			}
		})
	}
}

func TestOptionsThatContradictAreCountedAndLoggedOnce(t *testing.T) {
	declared := []instrument.ElectionOption{instrument.LeaseDuration(10 * s), instrument.Backend("etcd"), instrument.Family("jobs")}
	more := func(o ...instrument.ElectionOption) []instrument.ElectionOption { return append(declared[:3:3], o...) }
	cases := []struct {
		name  string
		first []instrument.ElectionOption
		later []instrument.ElectionOption
		same  bool
	}{
		{"the same", declared, declared, true},
		{"none", declared, nil, true},
		{"none that count", declared, []instrument.ElectionOption{nil}, true},
		{"values that make no sense", declared, []instrument.ElectionOption{instrument.LeaseDuration(0), instrument.ExpectEvery(-s), instrument.MaxLeaders(0)}, true},
		{"no classifiers", declared, []instrument.ElectionOption{instrument.Classify(), instrument.Classify(nil, nil)}, true},
		{"one that counts among others", declared, []instrument.ElectionOption{nil, instrument.LeaseDuration(-s), instrument.Hold()}, false},
		{"no backend and no family", declared, []instrument.ElectionOption{instrument.LeaseDuration(10 * s)}, true},
		{"another length", declared, more(instrument.LeaseDuration(11 * s)), false},
		{"held", declared, more(instrument.Hold()), false},
		{"another backend", declared, more(instrument.Backend("redis")), false},
		{"another family", declared, more(instrument.Family("tenants")), false},
		{"more leaders", declared, more(instrument.MaxLeaders(2)), false},
		{"an interval", declared, more(instrument.ExpectEvery(s)), false},
		{"stops at the lease end", declared, more(instrument.StopAtLeaseEnd()), false},
		{"kept", declared, more(instrument.KeepUntilExpiry()), false},
		{"hidden", declared, more(instrument.HiddenRenewals()), false},
		{"a classifier", declared, more(classified(instrument.Contended, errHeld)), false},
		{"functions of one kind", more(classified(instrument.Contended, errHeld)), more(classified(instrument.Contended, errHeld)), true},
		{"another classifier", more(instrument.Classify(one(1))), more(instrument.Classify(one(2))), false},
	}
	for _, c := range cases {
		bubble(t, c.name, func(t *testing.T) {
			var text bytes.Buffer
			m := newMiddleware(t, instrument.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
			first := m.Election("x", c.first...)
			before := electtest.Read(m, "x")
			for range 3 {
				if m.Named("x", c.later...) != first || m.Election("x", c.later...) != first {
					t.Error("another handle")
				}
			}
			synctest.Wait()
			want := 1
			if c.same {
				want = 0
			}
			if int(m.Faults()) != want || strings.Count(text.String(), "\n") != want {
				t.Errorf("%d faults, want %d; logged:\n%s", m.Faults(), want, text.String())
			}
			for k, v := range electtest.Read(m, "x") {
				if before[k] != v {
					t.Errorf("%s changed to %v", k, v)
				}
			}
		})
	}
}

// one is a classifier that can be compared.
type one int

func (one) Classify(error) (instrument.Reason, bool) { return 0, false }
