package instrument_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

// sees is a reading that finds a holder, as client-go's standbys see a Lease.
func sees(e *instrument.Election, holder string, token uint64) {
	e.ObserveBackend(instrument.BackendView{
		State: instrument.BackendHeld, Holder: holder, Token: token, Counted: true,
		Expiry: time.Now().Add(15 * s), Granted: 15 * s, ValidFor: 15 * s, Every: 2 * s,
	})
}

func seesNone(e *instrument.Election) {
	e.ObserveBackend(instrument.BackendView{State: instrument.BackendVacant, ValidFor: 15 * s, Every: 2 * s})
}

func seesNothing(e *instrument.Election) { e.ObserveBackend(instrument.BackendView{}) }

// backendIs compares what the backend says, without the instants.
func backendIs(t *testing.T, m *instrument.Middleware, label, at string, want electtest.Series) {
	t.Helper()
	got := electtest.ReadBackend(m, label)
	for key := range got {
		if strings.Contains(key, "_timestamp_seconds") {
			delete(got, key)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", at, diff)
	}
}

func TestAStandbySeesWhoLeadsInTheBackend(t *testing.T) {
	bubble(t, "a release, a gap and an outage", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("orders", instrument.Hold(), instrument.Backend("etcd"))
		backendIs(t, m, "orders", "before the first look", electtest.Series{})
		start := time.Now()
		sees(e, "pod-a", 4)
		series := electtest.Series{
			`leader_backend_held{backend="etcd"}`:                       1,
			`leader_backend_holder_info{backend="etcd",holder="pod-a"}`: 1,
			`leader_backend_lease_duration_seconds{backend="etcd"}`:     15,
			`leader_backend_token{backend="etcd"}`:                      4,
			`leader_backend_terms_total{backend="etcd"}`:                0,
			`leader_backend_vacant_seconds_total{backend="etcd"}`:       0,
			`leader_backend_up{backend="etcd"}`:                         1,
			`leader_backend_poll_interval_seconds{backend="etcd"}`:      2,
		}
		backendIs(t, m, "orders", "a leads", series)
		r := electtest.ReadBackend(m, "orders")
		if end := r[`leader_backend_lease_expiry_timestamp_seconds{backend="etcd"}`]; end != float64(start.Unix()+15) {
			t.Errorf("the lease ends at %v", end)
		}
		if last := r[`leader_backend_last_event_timestamp_seconds{backend="etcd"}`]; last != float64(start.Unix()) {
			t.Errorf("the last event was at %v", last)
		}

		time.Sleep(4 * s)
		seesNone(e)
		time.Sleep(3 * s)
		sees(e, "pod-b", 5)
		series = series.Without(`leader_backend_holder_info{backend="etcd",holder="pod-a"}`).With(electtest.Series{
			`leader_backend_holder_info{backend="etcd",holder="pod-b"}`:       1,
			`leader_backend_token{backend="etcd"}`:                            5,
			`leader_backend_terms_total{backend="etcd"}`:                      1,
			`leader_backend_vacant_seconds_total{backend="etcd"}`:             3,
			`leader_backend_handover_seconds_count{backend="etcd"}`:           1,
			`leader_backend_handover_seconds_sum{backend="etcd"}`:             3,
			`leader_backend_handover_seconds_bucket{backend="etcd",le="7.5"}`: 1,
		})
		backendIs(t, m, "orders", "b leads", series)

		time.Sleep(2 * s)
		seesNothing(e)
		blind := series.Without(
			`leader_backend_held{backend="etcd"}`, `leader_backend_holder_info{backend="etcd",holder="pod-b"}`,
			`leader_backend_lease_duration_seconds{backend="etcd"}`, `leader_backend_token{backend="etcd"}`,
		).With(electtest.Series{`leader_backend_up{backend="etcd"}`: 0})
		backendIs(t, m, "orders", "the backend cannot be asked", blind)
		time.Sleep(60 * s)
		backendIs(t, m, "orders", "nor later", blind)
		sees(e, "pod-b", 5)
		backendIs(t, m, "orders", "it can be asked again", series)
		time.Sleep(16 * s)
		backendIs(t, m, "orders", "the looks stopped", blind)
		e.ObserveBackend(instrument.BackendView{State: instrument.BackendUnwatched})
		backendIs(t, m, "orders", "nobody looks", blind.Without(`leader_backend_up{backend="etcd"}`, `leader_backend_poll_interval_seconds{backend="etcd"}`))
	})
}

func TestWhatTheBackendSaysTouchesNothingOfThisProcess(t *testing.T) {
	bubble(t, "a standby, a leader, and one after the end of its lease", func(t *testing.T) {
		m := newMiddleware(t)
		e := m.Election("orders", instrument.LeaseDuration(10*s))
		collect := func(at string) {
			t.Helper()
			before, leading := electtest.Read(m, "orders"), e.Leading()
			for _, state := range []instrument.BackendState{instrument.BackendVacant, instrument.BackendHeld, instrument.BackendUnknown, instrument.BackendUnwatched, 200} {
				e.ObserveBackend(instrument.BackendView{State: state, Holder: "b", Token: 99, Counted: true, Expiry: time.Now().Add(-s), Granted: 7 * s})
				if diff := cmp.Diff(before, electtest.Read(m, "orders")); diff != "" || e.Leading() != leading {
					t.Errorf("%s, state %d: %s", at, state, diff)
				}
			}
		}
		collect("a standby")
		term := acquire(t, e, electtest.Wins(instrument.NewLease(nil, instrument.Token(3))))
		collect("a leader")
		time.Sleep(11 * s)
		collect("a leader whose lease has ended")
		release(t, term)
		collect("a standby again")
	})
}

func TestAProcessThatOnlyWatchesHasNothingToSayOfItself(t *testing.T) {
	m := newMiddleware(t, instrument.WithRedactor(redact.Raw(redact.Template("tenant-{id}").Constant())))
	e := m.Election("orders", instrument.WatchOnly(), instrument.Backend("etcd"))
	sees(e, "pod-a", 4)
	if r := electtest.Read(m, "orders"); len(r) != 0 {
		t.Errorf("series of the process: %v", r)
	}
	if r := electtest.ReadBackend(m, "orders"); r[`leader_backend_held{backend="etcd"}`] != 1 {
		t.Errorf("series of the backend: %v", r)
	}
	watched := m.Named("tenant-1", instrument.WatchOnly())
	if r := electtest.Read(m, watched.Label()); len(r) != 0 {
		t.Errorf("series of a family that is watched: %v", r)
	}
	watched.Forget()
	m.Named("tenant-2", instrument.WatchOnly())
	if r := electtest.Read(m, watched.Label()); len(r) != 0 {
		t.Errorf("series of a family of which one was forgotten: %v", r)
	}
	m.Named("tenant-3")
	if _, there := electtest.Read(m, watched.Label())["leader_active"]; !there {
		t.Error("a family of which one is campaigned for has no leader_active")
	}
}

// A lock that is only watched adds nothing to what is said of those under its
// label for which this process campaigns, also when it is swept or forgotten.
func TestALockThatIsOnlyWatchedSaysNothingOfOthersUnderItsLabel(t *testing.T) {
	for name, c := range map[string]func(m *instrument.Middleware, watch func(n int) *instrument.Election){
		"while it is watched": func(_ *instrument.Middleware, watch func(int) *instrument.Election) { watch(0) },
		"when it is forgotten": func(_ *instrument.Middleware, watch func(int) *instrument.Election) {
			watch(0).Forget()
		},
		"when it is swept away": func(_ *instrument.Middleware, watch func(int) *instrument.Election) {
			for n := range 200 {
				watch(n).ObserveBackend(instrument.BackendView{State: instrument.BackendUnwatched})
			}
		},
		"when it is used all the same": func(_ *instrument.Middleware, watch func(int) *instrument.Election) {
			_, _ = watch(0).Acquire(context.Background(), electtest.NewElector())
		},
	} {
		bubble(t, name, func(t *testing.T) {
			m := newMiddleware(t, instrument.WithRedactor(redact.Constant()))
			e := m.Named("mine", instrument.Hold(), instrument.HiddenRenewals(), instrument.LeaseDuration(10*s), instrument.Backend("etcd"))
			before := electtest.Read(m, redact.Redacted)
			c(m, func(n int) *instrument.Election {
				other := m.Named(fmt.Sprint("theirs-", n), instrument.WatchOnly(), instrument.LeaseDuration(30*s), instrument.MaxLeaders(5),
					instrument.Backend("redis"), instrument.Family("f"), instrument.ExpectEvery(s))
				seesNone(other)
				return other
			})
			if diff := cmp.Diff(before, electtest.Read(m, redact.Redacted)); diff != "" {
				t.Error(diff)
			}
			if _, watched := electtest.ReadBackend(m, redact.Redacted)[`leader_backend_terms_total{backend="redis"}`]; !watched {
				t.Error("the view of the backend is gone")
			}
			e.Forget()
		})
	}
}

func TestHoldersAreRedactedLikeNamesMadeAtRunTime(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	hash := redact.Hash(key, "k1", redact.Literals(), redact.Template("web-{id}"))
	for name, c := range map[string]struct {
		redactor     instrument.Redactor
		holder, want string
		faults       uint64
	}{
		"the default":       {nil, "pod-7", "redacted", 0},
		"raw":               {redact.Raw(), "pod-7", "pod-7", 0},
		"a hash":            {hash, "pod-7", hash.Label("pod-7").Text, 0},
		"a family":          {hash, "web-7", "web-*", 0},
		"a hostile holder":  {redact.Raw(), "pod\n7\xff", redact.Raw().Label("pod\n7\xff").Text, 0},
		"a redactor panics": {&failsLater{after: 1}, "pod-7", "redacted", 2},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t, instrument.WithRedactor(c.redactor))
			e := m.Election("orders")
			sees(e, c.holder, 1)
			sees(e, c.holder, 1) // does not ask again
			e.Identify(c.holder)
			r := electtest.ReadBackend(m, e.Label())
			for _, metric := range []*catalog.Metric{catalog.BackendHolderInfo, catalog.IdentityInfo} {
				if key := fmt.Sprintf("%s{holder=%q}", metric.Name(), c.want); r[key] != 1 {
					t.Errorf("no %s in %v", key, r)
				}
			}
			if m.Faults() != c.faults {
				t.Errorf("%d faults", m.Faults())
			}
		})
	}
}

// failsLater panics from the second label on.
type failsLater struct{ after int }

func (p *failsLater) Label(name string) redact.Label {
	if p.after--; p.after < 0 {
		panic(name)
	}
	return redact.Label{Text: "a"}
}

func (p *failsLater) Info() redact.Info { return redact.Info{} }

func TestALabelOfSeveralLocksAddsUpAndNamesNoHolder(t *testing.T) {
	bubble(t, "three tenants on two backends", func(t *testing.T) {
		m := newMiddleware(t, instrument.WithRedactor(redact.Constant(redact.Template("tenant-{id}"))))
		a, b := m.Named("tenant-1", instrument.Backend("etcd")), m.Named("tenant-2", instrument.Backend("etcd"))
		c := m.Named("tenant-3", instrument.Backend("redis"))
		for _, e := range []*instrument.Election{a, b, c} {
			e.Identify("pod-a")
			sees(e, "pod-a", 3)
		}
		time.Sleep(2 * s)
		end := time.Now().Add(13 * s)
		sees(a, "pod-a", 3)
		if got := electtest.ReadBackend(m, "tenant-*")[`leader_backend_lease_expiry_timestamp_seconds{backend="etcd"}`]; got != float64(end.Unix()) {
			t.Errorf("the earliest end is %v, want %v", got, end.Unix())
		}
		seesNone(a)
		seesNothing(c)
		time.Sleep(3 * s)
		backendIs(t, m, "tenant-*", "one is vacant, one cannot be seen", electtest.Series{
			`leader_backend_held{backend="etcd"}`:                   1,
			`leader_backend_lease_duration_seconds{backend="etcd"}`: 15,
			`leader_backend_terms_total{backend="etcd"}`:            0,
			`leader_backend_vacant_seconds_total{backend="etcd"}`:   3,
			`leader_backend_up{backend="etcd"}`:                     1,
			`leader_backend_poll_interval_seconds{backend="etcd"}`:  2,
			`leader_backend_terms_total{backend="redis"}`:           0,
			`leader_backend_vacant_seconds_total{backend="redis"}`:  0,
			`leader_backend_up{backend="redis"}`:                    0,
			`leader_backend_poll_interval_seconds{backend="redis"}`: 2,
		})
	})
}

func TestForgottenLocksLeaveNoViewButTheirShare(t *testing.T) {
	bubble(t, "a lock of its own, and two of a family", func(t *testing.T) {
		m := newMiddleware(t, instrument.WithRedactor(redact.Raw(redact.Template("tenant-{id}").Constant())))
		own := m.Named("orders", instrument.Backend("etcd"))
		a, b := m.Named("tenant-1", instrument.Backend("etcd")), m.Named("tenant-2", instrument.Backend("etcd"))
		for _, e := range []*instrument.Election{own, a, b} {
			seesNone(e)
		}
		ended := own.Identify("pod-a")
		time.Sleep(5 * s)
		own.Forget()
		a.Forget()
		for _, e := range []*instrument.Election{own, a} { // nothing comes back
			sees(e, "pod-a", 3)
			e.Identify("pod-b")
		}
		ended()
		ended()
		backendIs(t, m, "orders", "the lock", electtest.Series{
			`leader_backend_up{backend="etcd"}`: 1, `leader_backend_poll_interval_seconds{backend="etcd"}`: 2,
		})
		sees(b, "pod-a", 3)
		backendIs(t, m, "tenant-*", "the family", electtest.Series{
			`leader_backend_held{backend="etcd"}`:                   1,
			`leader_backend_lease_duration_seconds{backend="etcd"}`: 15,
			`leader_backend_terms_total{backend="etcd"}`:            1,
			`leader_backend_vacant_seconds_total{backend="etcd"}`:   10,
			`leader_backend_up{backend="etcd"}`:                     1,
			`leader_backend_poll_interval_seconds{backend="etcd"}`:  2,
		})
	})
}

func TestAnIdentityLastsAsLongAsItsCampaigns(t *testing.T) {
	m := newMiddleware(t)
	e := m.Election("orders")
	identities := func(want ...string) {
		t.Helper()
		series := electtest.Series{}
		for _, holder := range want {
			series[fmt.Sprintf("leader_identity_info{holder=%q}", holder)] = 1
		}
		if diff := cmp.Diff(series, electtest.ReadBackend(m, "orders")); diff != "" {
			t.Error(diff)
		}
	}
	first, again, other := e.Identify("pod-a"), e.Identify("pod-a"), e.Identify("pod-b")
	identities("pod-a", "pod-b")
	e.Identify("")()
	first()
	first()
	identities("pod-a", "pod-b")
	again()
	identities("pod-b")
	other()
	identities()
}

func TestTheProgramSaysWhetherABackendCanBeAsked(t *testing.T) {
	m := newMiddleware(t)
	m.BackendUnreachable("etcd")
	backendIs(t, m, "orders", "at the start", electtest.Series{`leader_backend_up{backend="etcd"}`: 0})
	m.BackendReachable("etcd")
	m.BackendReachable("nats\n")
	backendIs(t, m, "orders", "later", electtest.Series{`leader_backend_up{backend="etcd"}`: 1, `leader_backend_up{backend="nats_"}`: 1})
}

func TestALockThatIsWatchedStaysWhenIdleOnesOfItsLabelAreSweptAway(t *testing.T) {
	bubble(t, "a vacancy that is swept away and looked at again", func(t *testing.T) {
		m := newMiddleware(t, instrument.WithRedactor(redact.Constant()))
		open, swept := m.Named("tenant-a"), m.Named("tenant-b")
		sees(open, "pod-a", 1)
		seesNone(swept)
		time.Sleep(5 * s)
		swept.ObserveBackend(instrument.BackendView{State: instrument.BackendUnwatched})
		handles := make([]*instrument.Election, 200)
		for i := range handles { // a sweep comes by
			handles[i] = m.Named(fmt.Sprintf("other-%d", i))
		}
		is := func(at string, held, vacant float64) {
			t.Helper()
			r := electtest.ReadBackend(m, redact.Redacted)
			if r["leader_backend_held"] != held || r["leader_backend_vacant_seconds_total"] != vacant || r["leader_backend_up"] != 1 {
				t.Errorf("%s: %v", at, r)
			}
		}
		is("after the sweep", 1, 5)
		seesNone(swept)
		is("looked at again", 1, 5)
		time.Sleep(2 * s)
		is("and vacant for longer", 1, 7)
	})
}

// A standby of client-go looks every two seconds, an observer sees every
// renewal of thousands of locks.
func TestALookThatShowsTheSameAllocatesNothing(t *testing.T) {
	for name, state := range map[string]instrument.BackendState{"held": instrument.BackendHeld, "vacant": instrument.BackendVacant, "unknown": instrument.BackendUnknown} {
		m := newMiddleware(t, instrument.WithRedactor(redact.Hash([]byte("0123456789abcdef0123456789abcdef"), "k1")))
		e := m.Named("orders")
		view := instrument.BackendView{State: state, Holder: "pod-a", Token: 3, Counted: true, Granted: 15 * s}
		e.ObserveBackend(view)
		if n := testing.AllocsPerRun(100, func() { view.Expiry = time.Now().Add(15 * s); e.ObserveBackend(view) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestGapsReachObserversWithTheirBackend(t *testing.T) {
	m := newMiddleware(t)
	got := &gaps{}
	defer m.Attach(func(string) instrument.Observer { return got })()
	e := m.Election("orders", instrument.Backend("etcd"))
	for _, holder := range []string{"pod-a", "pod-b"} {
		e.ObserveBackend(instrument.BackendView{State: instrument.BackendHeld, Holder: holder})
	}
	_, _ = e.Acquire(context.Background(), electtest.Fails(errBackend))
	if diff := cmp.Diff([]string{"leader_backend_handover_seconds [etcd] 0", "leader_acquire_duration_seconds []"}, got.seen); diff != "" {
		t.Error(diff)
	}
}

type gaps struct{ seen []string }

func (g *gaps) Observe(_ context.Context, m *catalog.Metric, values []string, v float64) {
	if m != catalog.BackendHandover {
		g.seen = append(g.seen, fmt.Sprint(m.Name(), " ", values))
		return
	}
	g.seen = append(g.seen, fmt.Sprint(m.Name(), " ", values, " ", v))
}
