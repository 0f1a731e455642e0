package instrument_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

func TestANameHasOneHandleWhicheverWayItIsAskedFor(t *testing.T) {
	m := newMiddleware(t, instrument.WithMaxLabels(3),
		instrument.WithRedactor(redact.Raw(redact.Template("tenant-{id}"), redact.Template("user-{id}").Raw())))
	labels := map[string]string{}
	handles := map[string]*instrument.Election{}
	for range 2 {
		for _, name := range []string{"billing", "tenant-1", "tenant-2", "mail", "user-1", "user-2", "late"} {
			e := m.Named(name, instrument.Hold(), instrument.Backend("etcd"))
			if first := handles[name]; first != nil && first != e {
				t.Errorf("%s has two handles", name)
			}
			handles[name], labels[name] = e, e.Label()
		}
	}
	want := map[string]string{
		"billing": "billing", "tenant-1": "tenant-*", "tenant-2": "tenant-*", "mail": "mail",
		"user-1": "overflow", "user-2": "overflow", "late": "overflow",
	}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Error(diff)
	}
	if handles["tenant-1"] == handles["tenant-2"] || handles["user-1"] == handles["late"] {
		t.Error("two names have one handle")
	}
	if m.Election("billing") != handles["billing"] || m.Election("late") != handles["late"] {
		t.Error("a constant has another handle than the same name made at run time")
	}
	if got := electtest.ReadProcess(m)["leader_redaction_overflows_total"]; got != 3 {
		t.Errorf("%v names folded, want 3", got)
	}
	if _, ok := electtest.Read(m, "billing")[`leader_elector_info{mode="hold",backend="etcd"}`]; !ok {
		t.Error("the options are not those of the first call")
	}
	runtime.KeepAlive(handles)
}

func TestANameInTheOverflowGetsItsLabelWhenThereIsRoomAgain(t *testing.T) {
	bubble(t, "once nothing of it is open", func(t *testing.T) {
		m := newMiddleware(t, instrument.WithMaxLabels(1))
		attempt := func(e *instrument.Election) {
			_, _ = e.Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
		}
		a, b, c := m.Named("a"), m.Named("b"), m.Named("c")
		for _, e := range []*instrument.Election{a, b, c} {
			attempt(e)
		}
		term := acquire(t, b, electtest.NewElector())
		a.Forget()
		if m.Named("b") != b || b.Label() != redact.Overflow {
			t.Errorf("a lock that is held moves to %s", b.Label())
		}
		release(t, term)
		if m.Named("b") != b || b.Label() != "b" {
			t.Errorf("b is still %s", b.Label())
		}
		attempt(b)
		attempt(c)
		if m.Named("c"); c.Label() != redact.Overflow {
			t.Errorf("c is %s although there is no room", c.Label())
		}
		attempts := map[string]float64{}
		for _, l := range electtest.Labels(m) {
			attempts[l] = electtest.Read(m, l)["leader_attempts_total"]
		}
		if diff := cmp.Diff(map[string]float64{"b": 1, "overflow": 4}, attempts); diff != "" {
			t.Error(diff)
		}
		for i := range 200 { // c has nothing open and is folded into its label meanwhile
			m.Named(fmt.Sprint("more-", i))
		}
		b.Forget()
		if m.Named("c"); c.Label() != "c" {
			t.Errorf("c is %s although there is room", c.Label())
		}
	})
}

func TestHandlesAfterCloseStillElect(t *testing.T) {
	m := newMiddleware(t)
	before := m.Named("a")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*instrument.Election{before, m.Named("a"), m.Named("b"), m.Election("c")} {
		release(t, acquire(t, e, electtest.NewElector()))
	}
	if got := electtest.Labels(m); len(got) != 0 {
		t.Errorf("labels %v after Close", got)
	}
}

func TestNamesAreLookedUpAndForgottenFromManySides(t *testing.T) {
	m := newMiddleware(t, instrument.WithMaxLabels(20), instrument.WithRedactor(redact.Raw(redact.Template("tenant-{id}"))))
	m.Named("tenant-keeps the label")
	var wg sync.WaitGroup
	const workers, rounds = 8, 500
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				name := strconv.Itoa((i*7 + w) % 40)
				if i%3 == 0 {
					name = "tenant-" + name
				}
				e := m.Named(name)
				_, _ = e.Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
				if i%3 != 0 && i%5 == 0 {
					e.Forget()
				}
			}
		})
	}
	wg.Wait()
	if n := len(electtest.Labels(m)); n > 21 {
		t.Errorf("%d labels, want at most 21", n)
	}
	if got := electtest.Read(m, "tenant-*")["leader_attempts_total"]; got != workers*167 {
		t.Errorf("%v attempts of the family, want %d", got, workers*167)
	}
}

// heapNow is what is alive, after the cleanups of what is not have run.
func heapNow() uint64 {
	var ms runtime.MemStats
	for range 4 {
		runtime.GC()
		time.Sleep(time.Millisecond) // cleanups have a goroutine of their own
	}
	runtime.ReadMemStats(&ms)
	return ms.HeapAlloc
}

func TestC21AMillionNamesLeaveMemoryFlatAndTotalsExact(t *testing.T) {
	names := 1_000_000
	if testing.Short() {
		names = 100_000
	}
	m := newMiddleware(t, instrument.WithMaxLabels(100))
	flood := func(from, to int) (heap uint64) {
		for i := from; i < to; i++ {
			_, _ = m.Named("tenant-"+strconv.Itoa(i)).Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
		}
		return heapNow()
	}
	before := flood(0, 20_000)
	after := flood(20_000, names)
	if after > before+8<<20 { // the table of names keeps its size for a while
		t.Errorf("heap from %d to %d bytes", before, after)
	}
	labels, total := electtest.Labels(m), 0.
	for _, l := range labels {
		total += electtest.Read(m, l)["leader_attempts_total"]
	}
	if len(labels) != 101 || total != float64(names) {
		t.Errorf("%d labels, %v attempts, want 101 and %d", len(labels), total, names)
	}
	if got := electtest.ReadProcess(m)["leader_redaction_overflows_total"]; got != float64(names-100) {
		t.Errorf("%v names folded, want %d", got, names-100)
	}
}

// What ends by itself is over without a collection that notices it.
func TestLeasesThatEndedUnseenTakeNoMemoryAndNoPlace(t *testing.T) {
	opts := []instrument.ElectionOption{instrument.LeaseDuration(10 * s), instrument.KeepUntilExpiry()}
	runs := func(t *testing.T, e *instrument.Election) {
		t.Helper()
		if err := e.Run(context.Background(), electtest.NewElector(), func(context.Context, *instrument.Term) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	bubble(t, "under a shared label", func(t *testing.T) {
		m := newMiddleware(t, instrument.WithRedactor(redact.Constant()))
		flood := func(n int) uint64 {
			for i := range n {
				if i%1000 == 0 {
					time.Sleep(11 * s)
				}
				runs(t, m.Named(strconv.Itoa(i), opts...))
			}
			return heapNow()
		}
		if before, after := flood(2_000), flood(20_000); after > before+2<<20 {
			t.Errorf("heap from %d to %d bytes", before, after)
		}
		time.Sleep(11 * s)
		expect(t, m, redact.Redacted, "after", electtest.Series{"leader_acquired_total": 22_000, `leader_terms_ended_total{cause="expired"}`: 22_000, "leader_active": 0})
	})
	bubble(t, "in the overflow", func(t *testing.T) {
		m := newMiddleware(t, instrument.WithMaxLabels(1))
		first, second := m.Named("a", opts...), m.Named("b", opts...)
		runs(t, second)
		first.Forget()
		if m.Named("b", opts...); second.Label() != redact.Overflow {
			t.Errorf("a lock that is held has moved to %s", second.Label())
		}
		time.Sleep(11 * s)
		if m.Named("b", opts...); second.Label() != "b" {
			t.Errorf("a lock whose lease has ended stays under %s", second.Label())
		}
		expect(t, m, redact.Overflow, "after", electtest.Series{"leader_acquired_total": 1, `leader_terms_ended_total{cause="expired"}`: 1, "leader_active": 0})
		expect(t, m, "b", "after", electtest.Series{"leader_acquired_total": 0, "leader_active": 0})
	})
}

func TestManyCallsWithOneNameLeaveMemoryFlat(t *testing.T) {
	for name, get := range map[string]func(*instrument.Middleware) *instrument.Election{
		"a constant":              func(m *instrument.Middleware) *instrument.Election { return m.Election("x", instrument.Hold()) },
		"a name made at run time": func(m *instrument.Middleware) *instrument.Election { return m.Named("tenant-1", instrument.Hold()) },
		"a name that was folded":  func(m *instrument.Middleware) *instrument.Election { return m.Named("late", instrument.Hold()) },
		"a name with another's options": func(m *instrument.Middleware) *instrument.Election {
			return m.Named("tenant-1", instrument.LeaseDuration(s))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t, instrument.WithRedactor(nil), instrument.WithMaxLabels(2))
			m.Election("x")
			m.Named("tenant-1")
			before := heapNow()
			for range 300_000 {
				get(m)
			}
			if after := heapNow(); after > before+256<<10 {
				t.Errorf("heap from %d to %d bytes", before, after)
			}
			if labels := electtest.Labels(m); len(labels) > 3 {
				t.Errorf("labels %v", labels)
			}
		})
	}
}

func TestALockUnderASharedLabelIsTheSameWhileItsHandleIsKept(t *testing.T) {
	m := newMiddleware(t, instrument.WithRedactor(redact.Constant()))
	kept := m.Named("kept")
	held := acquire(t, m.Named("held"), electtest.NewElector())
	for i := range 5_000 { // most of these are dropped
		_, _ = m.Named(strconv.Itoa(i)).Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
	}
	heapNow()
	if m.Named("kept") != kept {
		t.Error("a name whose handle is kept has another handle")
	}
	release(t, acquire(t, kept, electtest.NewElector()))
	r := electtest.Read(m, redact.Redacted)
	if r["leader_attempts_total"] != 5_002 || r["leader_acquired_total"] != 2 || r["leader_active"] != 1 {
		t.Errorf("attempts %v, acquired %v, active %v", r["leader_attempts_total"], r["leader_acquired_total"], r["leader_active"])
	}
	release(t, held)
	if r := electtest.Read(m, redact.Redacted); r["leader_active"] != 0 || r[`leader_terms_ended_total{cause="released"}`] != 2 {
		t.Errorf("after the release: %v", r)
	}
}

func TestOptionsAreSharedByManyGoroutines(t *testing.T) {
	m := newMiddleware(t)
	opts := []instrument.ElectionOption{instrument.Hold(), instrument.LeaseDuration(-s), instrument.ExpectEvery(s), instrument.Backend("etcd"), instrument.Family("jobs"),
		instrument.MaxLeaders(0), instrument.HiddenRenewals(), instrument.KeepUntilExpiry(), instrument.StopAtLeaseEnd(), classified(instrument.Contended, errHeld)}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				m.Named(strconv.Itoa((i+w)%10), opts...)
			}
		})
	}
	wg.Wait()
	if m.Faults() != 0 {
		t.Errorf("%d faults", m.Faults())
	}
}

func TestALookUpAllocatesNothingAndAFirstSightLittle(t *testing.T) {
	p := redact.Hash([]byte("0123456789abcdef0123456789abcdef"), "k1")
	m := newMiddleware(t, instrument.WithRedactor(p), instrument.WithMaxLabels(1000))
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("tenant-%06d/orders/aggregation-dly", i)
	}
	i := 0
	if n := testing.AllocsPerRun(len(names)-1, func() { m.Named(names[i], instrument.Hold(), instrument.Backend("etcd")); i++ }); n > 60 {
		t.Errorf("a first sight allocates %v times", n)
	}
	if n := testing.AllocsPerRun(1000, func() { m.Named(names[7]) }); n != 0 {
		t.Errorf("a look-up allocates %v times", n)
	}
	if n := testing.AllocsPerRun(1000, func() { m.Election("tenant") }); n != 0 {
		t.Errorf("a look-up of a constant allocates %v times", n)
	}
}
