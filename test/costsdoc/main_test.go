package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
)

func TestThePageSaysWhatALockCosts(t *testing.T) {
	found, err := os.ReadFile(filepath.Join("../../docs", page))
	if err != nil {
		t.Fatal(err)
	}
	want, err := rewritten("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	idle, err := standby()
	if err != nil {
		t.Fatal(err)
	}
	series, all, native := 0, 0, 0
	for _, g := range groups() {
		c, n := most(g)
		series, all, native = series+idle[g], all+c, native+n
	}
	text := strings.Join(strings.Fields(string(found)), " ")
	for _, sentence := range []string{
		fmt.Sprintf("a lock costs %d series at first", series), fmt.Sprintf("at most %d after it led", all),
		fmt.Sprintf("with native histograms only, at most %d.", native),
	} {
		if !strings.Contains(text, sentence) {
			t.Errorf("docs/%s does not say %q", page, sentence)
		}
	}
	if !bytes.Equal(found, want) {
		t.Errorf("docs/%s is old; run make generate (-docs +generated):\n%s", page, cmp.Diff(string(found), string(want)))
	}
}

// What the table promises is what a middleware leaves out.
func TestAGroupGivesBackWhatTheTableSays(t *testing.T) {
	idle, err := standby()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups() {
		if g == catalog.GroupCore {
			continue
		}
		series := func(opts ...instrument.Option) int {
			m, err := instrument.New(opts...)
			if err != nil {
				t.Fatal(err)
			}
			e := m.Election("orders", instrument.Hold(), instrument.LeaseDuration(15e9), instrument.Backend("etcd"))
			e.Begin(t.Context())
			return len(electtest.Read(m, e.Label()))
		}
		if got := series() - series(instrument.WithoutSeries(g)); got != idle[g] {
			t.Errorf("WithoutSeries(%s) gives back %d series, the table says %d", g, got, idle[g])
		}
	}
}

func TestMeasurementsThatAreNotThereAreAnError(t *testing.T) {
	const (
		rules  = "| 1000 | 186009 | 3889 ms | 3888 ms | 2278 ms | 2277 ms | 1778 ms | 1777 ms |\n"
		server = "| one replica leads, the others wait | 163024 | 54 | 321 MB | 321 kB | 2.0 kB | 4010 |\n"
		memory = "| core and exporter/prom, bytes | 778.5 | at most 4500 | met |\n"
	)
	out, err := costs([]byte(rules+server), []byte(memory))
	for _, want := range []string{"all alerts take 2277 ms of processor time for each 30 s, and the recording rules 1777 ms", "keeps 163024 series in 321 MB of memory, which is 2.0 kB for each", "keeps 778 bytes"} {
		if err != nil || !bytes.Contains(out, []byte(want)) {
			t.Errorf("%v: no %q in\n%s", err, want, out)
		}
	}
	for name, c := range map[string][2]string{"no rules": {server, memory}, "no server": {rules, memory}, "no memory": {rules + server, ""}} {
		if _, err := costs([]byte(c[0]), []byte(c[1])); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
