package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

func TestPageAndReadmeAreWhatTheResultsSay(t *testing.T) {
	found, err := readAll("../results")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"../../docs/electors.md", "../../README.md"} {
		have, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := rewrite(have, found)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, want) {
			t.Errorf("%s is old; run make generate", file)
		}
		if !bytes.Contains(have, []byte(found.rows[0].Elector)) {
			t.Errorf("%s has no table", file)
		}
	}
}

func TestOnlyTheMarkedPlaceIsRewritten(t *testing.T) {
	rows := []row{{Elector: "new", Module: "instrument/new", Server: "server", Version: "1"}}
	found := results{rows, []soaked{{Title: "new"}}}
	got, err := rewrite([]byte("before\n"+begin+"| old |\n"+end+"after\n"+beginAccuracy+"old\n"+endAccuracy+"last\n"), found)
	if err != nil {
		t.Fatal(err)
	}
	if want := "before\n" + begin + string(table(rows)) + end + "after\n" + beginAccuracy + string(worst(found.soaked)) + endAccuracy + "last\n"; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	again, err := rewrite(got, found)
	if err != nil || !bytes.Equal(again, got) {
		t.Errorf("a second time it is %s, %v", again, err)
	}
	for name, text := range map[string]string{
		"the table": begin + "| old |\n", "the worst figures": begin + "| old |\n" + end + beginAccuracy + "old\n",
	} {
		if _, err := rewrite([]byte(text), found); err == nil {
			t.Errorf("a place for %s without an end was rewritten", name)
		}
	}
}

func TestALibraryThatHidesItsRenewalsSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		row                        row
		leaseEnd, renewals, hidden string
	}{
		"everything shows": {
			row{Seen: []string{
				"leader_lease_headroom_seconds", "leader_fencing_token", "leader_renewal_duration_seconds",
				`leader_renewals_total{result="ok"}`, `leader_renewals_total{result="error"}`,
			}},
			"known", "good and failed", "nothing of the above",
		},
		"a hidden lease":  {row{Hidden: true}, "hidden", "hidden", "headroom, renewals, fencing token"},
		"no lease at all": {row{}, "none", "none", "headroom (there is no lease), fencing token"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.row.leaseEnd(); got != c.leaseEnd {
				t.Errorf("lease end %q, want %q", got, c.leaseEnd)
			}
			if got := c.row.renewals(); got != c.renewals {
				t.Errorf("renewals %q, want %q", got, c.renewals)
			}
			if got := c.row.hidden(); got != c.hidden {
				t.Errorf("hidden %q, want %q", got, c.hidden)
			}
		})
	}
}

func TestTheWorstFiguresAreShown(t *testing.T) {
	const s = time.Second
	led := func(title string, led time.Duration, active, naive gauge) (r soaked) {
		r.Title, r.Total.Led, r.Total.Active, r.Total.Naive = title, led, active, naive
		return r
	}
	all := []soaked{
		led("right", 100*s, gauge{}, gauge{}),
		led("long", 200*s, gauge{FalseLeader: 2 * s, LongestLeader: 2 * s}, gauge{FalseLeader: 3 * s}),
		led("often", 100*s, gauge{FalseLeader: 3 * s, LongestLeader: s, KnownAbsence: 50 * time.Millisecond, FalseAbsence: s}, gauge{FalseLeader: 4 * s}),
		led("absent", 100*s, gauge{FalseAbsence: 20 * s}, gauge{}),
		led("never led", 0, gauge{}, gauge{}),
	}
	const want = "- The worst that was measured [with a fault every few seconds](docs/truth.md): `leader_active` was 1 without the lock for 2.0 s at a stretch (long) " +
		"and for 3.00 % of the leadership in all (often; a gauge set by the callbacks: 4.00 %). It was 0 in spite of the lock for 20.0 % (absent), mostly because no answer said that the lock was still held, or because the elector had given up; otherwise for at most 0.05 %.\n"
	if got := string(worst(all)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestWhatElectorsAllowIsThatOfTheSoak(t *testing.T) {
	var b bytes.Buffer
	allows(&b, []soaked{{Title: "elector", Length: 20 * time.Minute, Terms: 90, Overlap: 12 * time.Second, LongestOverlap: 1500 * time.Millisecond}})
	if want := "\n| elector | 1.50 s | 12.00 s | 20 min | 90 |\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("no %q at the end of %s", want, b.String())
	}
}
