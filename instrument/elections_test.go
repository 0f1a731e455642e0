package instrument_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/redact"
)

func TestANameIsFoundAgainAndItsLabelDecidesWhoSharesAHandle(t *testing.T) {
	m := newMiddleware(t, instrument.WithMaxLabels(3),
		instrument.WithRedactor(redact.Raw(redact.Template("tenant-{id}"), redact.Template("user-{id}").Raw())))
	locks := m.Elections(instrument.Hold(), instrument.Backend("etcd"))
	labels := map[string]string{}
	handles := map[string]*instrument.Election{}
	for range 2 {
		for _, name := range []string{"billing", "tenant-1", "tenant-2", "mail", "user-1", "user-2", "late"} {
			e := locks.Of(name)
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
	if handles["tenant-1"] != handles["tenant-2"] || handles["user-1"] != handles["user-2"] || handles["user-1"] == handles["late"] {
		t.Error("names share a handle if label and family are the same")
	}
	if got := electtest.ReadProcess(m)["leader_redaction_overflows_total"]; got != 3 {
		t.Errorf("%v names folded, want 3", got)
	}
	if _, ok := electtest.Read(m, "billing")[`leader_elector_info{mode="hold",backend="etcd"}`]; !ok {
		t.Error("the options are not those of the look-up")
	}
}

func TestARetiredNameMakesRoomAndLeavesSharedTotalsAlone(t *testing.T) {
	m := newMiddleware(t, instrument.WithMaxLabels(1))
	locks := m.Elections()
	attempt := func(name string) {
		_, _ = locks.Of(name).Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
	}
	attempt("a")
	attempt("b")
	attempt("c")
	for _, name := range []string{"b", "b", "never seen"} { // shares the overflow
		locks.Forget(name)
	}
	if got := electtest.Read(m, redact.Overflow)["leader_attempts_total"]; got != 2 {
		t.Errorf("%v attempts under the overflow, want 2", got)
	}
	locks.Forget("a")
	locks.Forget("a")
	attempt("b")
	if diff := cmp.Diff([]string{"b", "overflow"}, electtest.Labels(m)); diff != "" {
		t.Error(diff)
	}
	locks.Of("b").Forget() // directly
	if got := locks.Of("b"); got.Label() != "b" || electtest.Read(m, "b")["leader_attempts_total"] != 0 {
		t.Error("a name that was forgotten does not begin anew")
	}
	shared := locks.Of("c")
	shared.Forget()
	if locks.Of("c") == shared || electtest.Read(m, redact.Overflow)["leader_attempts_total"] != 0 {
		t.Error("a shared handle that was forgotten is handed out")
	}
}

func TestLookUpsAfterCloseStillElect(t *testing.T) {
	m := newMiddleware(t)
	locks := m.Elections()
	before := locks.Of("a")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*instrument.Election{before, locks.Of("a"), locks.Of("b")} {
		release(t, acquire(t, e, electtest.NewElector()))
	}
	if got := electtest.Labels(m); len(got) != 0 {
		t.Errorf("labels %v after Close", got)
	}
}

func TestNamesAreLookedUpAndForgottenFromManySides(t *testing.T) {
	m := newMiddleware(t, instrument.WithMaxLabels(20), instrument.WithRedactor(redact.Raw(redact.Template("tenant-{id}"))))
	locks := m.Elections()
	var wg sync.WaitGroup
	const workers, rounds = 8, 500
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				name := strconv.Itoa((i*7 + w) % 40)
				if i%3 == 0 {
					name = "tenant-" + name
				}
				_, _ = locks.Of(name).Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
				if i%5 == 0 {
					locks.Forget(name)
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

func TestC21AMillionNamesLeaveMemoryFlatAndTotalsExact(t *testing.T) {
	names := 1_000_000
	if testing.Short() {
		names = 100_000
	}
	m := newMiddleware(t, instrument.WithMaxLabels(100))
	locks := m.Elections()
	flood := func(from, to int) (heap uint64) {
		for i := from; i < to; i++ {
			_, _ = locks.Of("tenant-"+strconv.Itoa(i)).Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
		}
		var ms runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&ms)
		return ms.HeapAlloc
	}
	before := flood(0, 20_000) // more than are remembered
	after := flood(20_000, names)
	if after > before+256<<10 {
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

func TestALookUpAllocatesNothingAndAFirstSightLittle(t *testing.T) {
	p, err := redact.Hash([]byte("0123456789abcdef0123456789abcdef"), "k1")
	if err != nil {
		t.Fatal(err)
	}
	m := newMiddleware(t, instrument.WithRedactor(p), instrument.WithMaxLabels(1000))
	locks := m.Elections(instrument.Hold(), instrument.Backend("etcd"))
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("tenant-%06d/orders/aggregation-dly", i)
	}
	i := 0
	if n := testing.AllocsPerRun(len(names)-1, func() { locks.Of(names[i]); i++ }); n > 60 {
		t.Errorf("a first sight allocates %v times", n)
	}
	if n := testing.AllocsPerRun(1000, func() { locks.Of(names[7]) }); n != 0 {
		t.Errorf("a look-up allocates %v times", n)
	}
}
