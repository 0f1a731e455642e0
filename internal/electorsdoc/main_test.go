package main

import (
	"os"
	"testing"
)

func TestThePageIsWhatTheResultsSay(t *testing.T) {
	rows, err := read("../itest/results")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../docs/electors.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != string(page(rows)) {
		t.Error("docs/electors.md is out of date: go run ./internal/electorsdoc internal/itest/results docs/electors.md")
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
