package main

import (
	"bytes"
	"os"
	"testing"
)

func TestPageAndReadmeAreWhatTheResultsSay(t *testing.T) {
	rows, err := read("../results")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"../../docs/electors.md", "../../README.md"} {
		have, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := rewrite(have, rows)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, want) {
			t.Errorf("%s is out of date: make generate", file)
		}
		if !bytes.Contains(have, []byte(rows[0].Elector)) {
			t.Errorf("%s has no table", file)
		}
	}
}

func TestOnlyTheMarkedPlaceIsRewritten(t *testing.T) {
	rows := []row{{Elector: "new", Module: "instrument/new", Server: "server", Version: "1"}}
	got, err := rewrite([]byte("before\n"+begin+"| old |\n"+end+"after\n"), rows)
	if err != nil {
		t.Fatal(err)
	}
	if want := "before\n" + begin + string(table(rows)) + end + "after\n"; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	again, err := rewrite(got, rows)
	if err != nil || !bytes.Equal(again, got) {
		t.Errorf("a second time it is %s, %v", again, err)
	}
	if _, err := rewrite([]byte(begin+"| old |\n"), rows); err == nil {
		t.Error("a place without an end was rewritten")
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
