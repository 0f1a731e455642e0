package dashboards

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/panel"
)

// reds are the panels that can show red, and what it says there. Nothing else
// is red: neither a limit, nor a line because of its name.
var reds = map[int]string{
	panel.Alerts:        "an alert that pages",
	panel.AlertTimeline: "an alert that pages",
	panel.Leaderless:    "the alert fires",
	panel.Crowded:       "the alert fires",
	panel.NearLease:     "past the lease",
	panel.Unprotected:   "work without the lock",
	panel.Leaders:       "the state of a lock whose alert pages",
	panel.State:         "the state of a lock whose alert pages",
	panel.Locks:         "the state of a lock whose alert pages, an error share that pages, a lease that is over",
	panel.Holder:        "too many leaders, or work without the lock",
	panel.Replicas:      "work without the lock",
	panel.LeaseLeft:     "a lease that is over",
	panel.Headroom:      "the limit at which a lease is over",
	panel.BackendErrors: "the limit of the alert that pages",
	panel.Failover:      "the limit below which terms overlapped",
	panel.Holders:       "too many leaders",
	panel.Overruns:      "past the lease",
	panel.Transitions:   "a lock that was lost, a release that failed, a token that went back",
	panel.Endings:       "a lock that was lost, a release that failed",
	panel.FencingToken:  "a token that went back",
	panel.FencingChecks: "a late write that a store refused",
	panel.Outcomes:      "a backend error",
	panel.Renewals:      "a renewal that failed",

	panel.BackendUp:        "a backend that cannot be asked",
	panel.BackendReporters: "a reporter that cannot ask",
	panel.BackendFree:      "the alert fires",
	panel.BackendImpostors: "the alert fires",
	panel.BackendRenewAge:  "a lease that is over",
}

func TestRedIsTroubleAndNothingElse(t *testing.T) {
	got := map[int]bool{}
	for _, build := range boards {
		out, err := build(Default())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range decoded(t, out).Panels {
			raw, err := json.Marshal(p.raw)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(raw), `"red"`) || strings.Contains(string(raw), `-red"`) {
				got[p.ID] = true
			}
			for _, scheme := range []string{"palette-classic", "continuous-", `"Reds"`, `"RdYlGn"`, `"Spectral"`, `"Oranges"`} {
				if strings.Contains(string(raw), scheme) {
					t.Errorf("panel %q takes its colours from %s, which has red for what is well", p.Title, scheme)
				}
			}
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(reds)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("panels that can be red (-want +got): if a panel says what is wrong in red, add it to reds with what that is; otherwise choose another colour\n%s", diff)
	}
}

// A word for trouble is in the legend while there is none: its line is grey
// until it leaves 0, on whichever side it is drawn.
func TestALineOfTroubleIsGreyUntilThereIsSome(t *testing.T) {
	cases := map[string]struct {
		line  series
		value float64
		want  string
	}{
		"none":                  {series{name: "error", color: red}, 0, grey},
		"some":                  {series{name: "error", color: red}, 0.01, red},
		"none, drawn downwards": {series{name: "lost", color: darkRed, downwards: true}, 0, grey},
		"some, drawn downwards": {series{name: "lost", color: darkRed, downwards: true}, -0.01, darkRed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(c.line.colors())
			if err != nil {
				t.Fatal(err)
			}
			var properties []struct {
				ID    string
				Value struct {
					Mode, SeriesBy string
					Steps          []struct {
						Value *float64
						Color string
					}
				}
			}
			if err := json.Unmarshal(raw, &properties); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, s := range properties[1].Value.Steps {
				if s.Value == nil || c.value >= *s.Value {
					got = s.Color
				}
			}
			by := map[bool]string{false: "max", true: "min"}[c.line.downwards]
			if got != c.want || properties[0].Value.SeriesBy != by || properties[0].Value.Mode != "thresholds" {
				t.Errorf("got %s by %s, want %s by %s", got, properties[0].Value.SeriesBy, c.want, by)
			}
		})
	}
}

// Red and orange each have a word beside them: no two states read alike, but
// for one whose colour alone tells whether its alert fires yet.
func TestNoStateIsToldByItsColourAlone(t *testing.T) {
	texts := map[string]*condition.Condition{}
	for _, c := range condition.States() {
		other := texts[c.Text]
		texts[c.Text] = c
		if c.Text == "" || other != nil && other != condition.UnprotectedNow {
			t.Errorf("two states read %q", c.Text)
		}
	}
}
