package instrument_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// The state of one lock never mixes with another's, even if they share a label.

// sharing are the ways in which several locks come to have one label.
var sharing = map[string]struct {
	opts  []instrument.Option
	label string
}{
	"the default policy":            {[]instrument.Option{instrument.WithRedactor(nil)}, redact.Redacted},
	"a family":                      {[]instrument.Option{instrument.WithRedactor(redact.Constant(redact.Template("shard-{n}")))}, "shard-*"},
	"the overflow":                  {[]instrument.Option{instrument.WithRedactor(redact.Raw()), instrument.WithMaxLabels(1)}, redact.Overflow},
	"a collision":                   {[]instrument.Option{instrument.WithRedactor(colliding{"k1:"})}, "k1:7*"},
	"a redactor's own shared label": {[]instrument.Option{instrument.WithRedactor(together{})}, "all*"},
}

// together gives all names one label that says so only by Shared.
type together struct{}

func (together) Label(string) redact.Label { return redact.Label{Text: "all", Shared: true} }
func (together) Info() redact.Info         { return redact.Info{} }

// shards makes a middleware and locks that share a label.
func shards(t *testing.T, opts []instrument.Option, with ...instrument.ElectionOption) (m *instrument.Middleware, a, b, c *instrument.Election) {
	t.Helper()
	m = newMiddleware(t, opts...)
	if m.MaxLabels() == 1 {
		m.Named("the only one")
	}
	return m, m.Named("shard-1", with...), m.Named("shard-2", with...), m.Named("shard-3", with...)
}

// expect compares the series that a test names.
func expect(t *testing.T, m *instrument.Middleware, label, at string, want electtest.Series) {
	t.Helper()
	got := electtest.Read(m, label)
	if why := electtest.Broken(got); why != "" {
		t.Errorf("%s: %s", at, why)
	}
	named := electtest.Series{}
	for k := range want {
		if v, there := got[k]; there {
			named[k] = v
		}
	}
	if diff := cmp.Diff(want, named, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", at, diff)
	}
}

func TestAWinProvesNothingAboutAnotherLockOfTheLabel(t *testing.T) {
	for name, how := range sharing {
		bubble(t, name, func(t *testing.T) {
			m, a, b, _ := shards(t, how.opts)
			var end time.Time
			renewed := 0
			lease := instrument.NewLease(nil, instrument.ExpiryFrom(func() time.Time { return end }),
				instrument.RenewWith(func(context.Context) error { renewed++; end = time.Now().Add(10 * s); return nil }))
			end = time.Now().Add(10 * s)
			ta := acquire(t, a, electtest.Wins(lease))
			ctx := ta.Context()
			time.Sleep(15 * s)
			acquire(t, b, electtest.NewElector())
			expect(t, m, how.label, "a has lapsed, b was won", electtest.Series{
				"leader_active": 1, "leader_acquired_total": 2, `leader_terms_ended_total{cause="expired"}`: 0})
			for range 2 {
				if err := ta.Renew(context.Background()); err != nil {
					t.Fatal(err)
				}
				expect(t, m, how.label, "a was renewed late", electtest.Series{
					"leader_active": 2, "leader_acquired_total": 2, "leader_lease_headroom_seconds": 10, "leader_lease_overruns_total": 1,
					`leader_terms_ended_total{cause="expired"}`: 0, `leader_renewals_total{result="ok"}`: float64(renewed)})
				time.Sleep(3 * s)
			}
			if ctx.Err() != nil {
				t.Errorf("a's context ended: %v", context.Cause(ctx))
			}
		})
	}
}

func TestObservationsBelongToTheirLock(t *testing.T) {
	for name, how := range sharing {
		bubble(t, name, func(t *testing.T) {
			m, a, b, c := shards(t, how.opts, instrument.Hold())
			for range 3 {
				a.ObserveLeading(instrument.Leadership{})
				b.ObserveNotLeading(nil)
				c.ObserveLeading(instrument.Leadership{Fenced: true, Token: 9})
			}
			want := electtest.Series{
				"leader_active": 2, "leader_attempts_total": 2, "leader_acquired_total": 2, `leader_terms_ended_total{cause="lost"}`: 0}
			expect(t, m, how.label, "two lead, one does not", want)
			a.ObserveNotLeading(nil)
			expect(t, m, how.label, "one stepped down", electtest.Series{
				"leader_active": 1, "leader_attempts_total": 2, `leader_terms_ended_total{cause="lost"}`: 1})
			b.ObserveUnknown(errBackend)
			expect(t, m, how.label, "one cannot be seen", electtest.Series{
				"leader_active": 1, "leader_attempts_total": 3, `leader_not_acquired_total{reason="backend_error"}`: 1, `leader_renewals_total{result="error"}`: 0})
		})
	}
}

func TestTokensOfTwoLocksAreNotCompared(t *testing.T) {
	for name, how := range sharing {
		bubble(t, name, func(t *testing.T) {
			m, a, b, _ := shards(t, how.opts)
			for range 3 {
				release(t, acquire(t, a, electtest.Wins(instrument.NewLease(nil, instrument.Token(7)))))
				release(t, acquire(t, b, electtest.Wins(instrument.NewLease(nil, instrument.Token(3)))))
			}
			for series := range electtest.Read(m, how.label) {
				if series == "leader_fencing_token" || series == "leader_fencing_token_regressions_total" {
					t.Errorf("a label of several locks has %s", series)
				}
			}
		})
	}
	bubble(t, "each has its own, under labels of their own", func(t *testing.T) {
		m := newMiddleware(t)
		for _, lock := range []struct {
			name   string
			tokens []uint64
		}{{"x", []uint64{7, 7, 7}}, {"y", []uint64{3, 2, 3}}} {
			for _, token := range lock.tokens {
				release(t, acquire(t, m.Named(lock.name), electtest.Wins(instrument.NewLease(nil, instrument.Token(token)))))
			}
		}
		expect(t, m, "x", "x", electtest.Series{"leader_fencing_token": 7, "leader_fencing_token_regressions_total": 0})
		expect(t, m, "y", "y", electtest.Series{"leader_fencing_token": 3, "leader_fencing_token_regressions_total": 1})
	})
}

func TestSlotsOfAGroupElectorDoNotEndEachOther(t *testing.T) {
	renewable := func(end *time.Time) instrument.Lease {
		return instrument.NewLease(nil, instrument.ExpiryFrom(func() time.Time { return *end }),
			instrument.RenewWith(func(context.Context) error { *end = time.Now().Add(10 * s); return nil }))
	}
	bubble(t, "three slots, one of which lapses and is renewed late", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold(), instrument.MaxLeaders(3))
		var ends [3]time.Time
		var terms [3]*instrument.Term
		for i := range terms {
			ends[i] = time.Now().Add(10 * s)
			terms[i] = acquire(t, e, electtest.Wins(renewable(&ends[i])))
			time.Sleep(4 * s)
		}
		expect(t, m, "x", "the first has lapsed", electtest.Series{"leader_active": 2, `leader_terms_ended_total{cause="expired"}`: 0, "leader_max_leaders": 3})
		_ = terms[0].Renew(context.Background())
		expect(t, m, "x", "and was renewed late", electtest.Series{"leader_active": 3, "leader_acquired_total": 3, `leader_terms_ended_total{cause="expired"}`: 0})
	})
	bubble(t, "a fourth win proves that a lapsed slot is over", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.Hold(), instrument.MaxLeaders(2))
		first, second, third := time.Now().Add(10*s), time.Now().Add(100*s), time.Now().Add(100*s)
		ctx := acquire(t, e, electtest.Wins(renewable(&first))).Context()
		acquire(t, e, electtest.Wins(renewable(&second)))
		time.Sleep(11 * s)
		acquire(t, e, electtest.Wins(renewable(&third)))
		expect(t, m, "x", "after the third", electtest.Series{"leader_active": 2, "leader_acquired_total": 3, `leader_terms_ended_total{cause="expired"}`: 1})
		if !errors.Is(context.Cause(ctx), instrument.ErrLost) {
			t.Errorf("the context of the slot that is over: %v", context.Cause(ctx))
		}
	})
	bubble(t, "tokens of slots are not compared", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("x", instrument.MaxLeaders(3))
		for _, token := range []uint64{9, 4, 9, 4} {
			acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.Token(token))))
		}
		expect(t, m, "x", "after four wins", electtest.Series{"leader_fencing_token": 4, "leader_fencing_token_regressions_total": 0, "leader_active": 4})
	})
}

// lengths gives names of three bytes the label abc, and others the shared abc*.
type lengths struct{}

func (lengths) Label(name string) redact.Label {
	if len(name) == 3 {
		return redact.Label{Text: "abc"}
	}
	return redact.Label{Text: "abc*", Shared: true}
}
func (lengths) Info() redact.Info { return redact.Info{} }

func TestACollisionThatMeetsASharedLabelJoinsIt(t *testing.T) {
	for name, order := range map[string][]string{
		"the shared label was first": {"longer", "one", "two", "new"},
		"the collision was first":    {"one", "two", "longer", "new"},
		"one of each in turn":        {"one", "longer", "two", "new"},
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t, instrument.WithRedactor(lengths{}))
			for _, n := range order {
				acquire(t, m.Named(n), electtest.NewElector())
			}
			if diff := cmp.Diff([]string{"abc*"}, electtest.Labels(m)); diff != "" {
				t.Error(diff)
			}
			series := map[string]int{}
			m.Collect(func(x *instrument.Sample) {
				if x.Metric.PerLock() {
					series[electtest.Key(x.Metric.Name(), x.Metric.Labels(), x.Values[:])]++
				}
			})
			for k, n := range series {
				if n != 1 {
					t.Errorf("%s is exported %d times", k, n)
				}
			}
			expect(t, m, "abc*", "all", electtest.Series{"leader_active": 4, "leader_acquired_total": 4})
			for _, n := range order {
				m.Named(n).Forget()
			}
			if got := electtest.Labels(m); len(got) != 0 {
				t.Errorf("labels %v are left", got)
			}
		})
	}
}

func TestForgettingALockUnderASharedLabelLeavesTheOthers(t *testing.T) {
	for name, how := range sharing {
		bubble(t, name, func(t *testing.T) {
			m, a, b, _ := shards(t, how.opts, instrument.LeaseDuration(20*s))
			ta := acquire(t, a, electtest.NewElector())
			time.Sleep(5 * s)
			acquire(t, b, electtest.NewElector())
			a.Forget()
			expect(t, m, how.label, "one forgotten", electtest.Series{
				"leader_active": 1, "leader_acquired_total": 2, "leader_lease_headroom_seconds": 20, `leader_terms_ended_total{cause="abandoned"}`: 1})
			release(t, ta)
			if again := m.Named("shard-1"); again == a {
				t.Error("a forgotten handle is handed out")
			}
			release(t, acquire(t, m.Named("shard-1"), electtest.NewElector()))
			expect(t, m, how.label, "and used again by name", electtest.Series{
				"leader_active": 1, "leader_acquired_total": 3, `leader_terms_ended_total{cause="released"}`: 1})
		})
	}
}
