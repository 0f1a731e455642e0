package dashboards

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

// The mark of a token that went back stands where the token is drawn.
func TestAMarkOfAFencingTokenStandsAtTheToken(t *testing.T) {
	out, err := Lock(Default())
	if err != nil {
		t.Fatal(err)
	}
	expr := allChosen(decoded(t, out).panel(panel.FencingToken).expr("Regressed"))
	got := map[string]float64{}
	for _, s := range vectorOf(t, expr, []promeval.Series{
		{Selector: `leader_fencing_token{job="a",lock_name="x",instance="i1"}`, Values: "7000x20 6990x20"},
		{Selector: `leader_fencing_token{job="a",lock_name="x",instance="i2"}`, Values: "6999x40"},
		{Selector: `leader_fencing_token_regressions_total{job="a",lock_name="x",instance="i1"}`, Values: "0x38 1x2"},
		{Selector: `leader_fencing_token_regressions_total{job="a",lock_name="x",instance="i2"}`, Values: "0x40"},
	}) {
		got[s.Metric.Get("instance")] = s.F
	}
	if diff := cmp.Diff(map[string]float64{"i1": 6990}, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// The family of a lock stands beside its name, before what does not fit a narrow screen.
func TestTheFamilyStandsBesideTheName(t *testing.T) {
	out, err := Overview(Default())
	if err != nil {
		t.Fatal(err)
	}
	var order map[string]float64
	for _, tr := range decoded(t, out).panel(panel.Locks).Transformations {
		if tr.ID == "organize" {
			order = tr.Options.IndexByName
		}
	}
	if name, ok := order["lock_name"]; !ok || order["family"] != name+1 {
		t.Errorf("lock_name is column %v, family %v", order["lock_name"], order["family"])
	}
}

// A bar has the number of events that there were, wherever in its window they lie
// and at whichever value the counter stood. The bars stand side by side, a step of 2
// minutes apart, and read 30 s more than a step, as $__rate_interval does.
func TestABarHasTheNumberOfItsEvents(t *testing.T) {
	const step = 2 * time.Minute
	cases := map[string]struct {
		values string
		// want are the bars at 2, 4, 6, 8 and 10 minutes.
		want []float64
		// few: also where many locks are shown.
		few bool
	}{
		"one event after the start":           {"0x6 1x14", []float64{0, 1, 0, 0, 0}, true},
		"one event of a counter with a past":  {"57x6 58x14", []float64{0, 1, 0, 0, 0}, true},
		"one between the bars":                {"9x8 10x12", []float64{0, 0, 1, 0, 0}, true},
		"two at different times of one bar":   {"7x5 8x1 9x12", []float64{0, 2, 0, 0, 0}, true},
		"three at once":                       {"0x6 3x14", []float64{0, 3, 0, 0, 0}, true},
		"an event in each bar":                {"4x2 5x3 6x3 7x3 8x3 9x3", []float64{1, 1, 1, 1, 1}, true},
		"forty at once":                       {"100x6 140x14", []float64{0, 40, 0, 0, 0}, false},
		"one a scrape":                        {"100+1x20", []float64{4, 4, 4, 4, 4}, false},
		"one before and one after a restart":  {"7x4 8 0 1x14", []float64{0, 2, 0, 0, 0}, true},
		"a replica that goes after an event":  {"7x5 8 stale", []float64{0, 1, 0, 0, 0}, true},
		"a replica that is not seen at times": {"7x5 _ _ 9x13", []float64{0, 2, 0, 0, 0}, true},
	}
	counters := []struct {
		board   string
		oneLock bool
		panel   int
		ref     string
		series  string
	}{
		{"lock", true, panel.Endings, "A", `leader_terms_ended_total{job="a",lock_name="x",instance="i1",cause="lost"}`},
		{"lock", true, panel.FencingChecks, "A", `leader_fencing_checks_total{job="store",lock_name="x",instance="s1",result="stale"}`},
		{"lock", true, panel.Overruns, "Past", `leader_lease_overruns_total{job="a",lock_name="x",instance="i1"}`},
		{"lock", true, panel.Failures, "A", `leader_execution_failures_total{job="a",lock_name="x",instance="i1",cause="error"}`},
		{"overview", false, panel.Overruns, "Past", `leader_lease_overruns_total{job="a",lock_name="x",instance="i1"}`},
		{"overview", false, panel.Failures, "A", `leader_execution_failures_total{job="a",lock_name="x",instance="i1",cause="error"}`},
		{"backends", false, panel.BackendTerms, "A", `leader_backend_terms_total{job="a",lock_name="x",instance="i1",backend="etcd"}`},
	}
	for _, c := range counters {
		out, err := boards[c.board](Default())
		if err != nil {
			t.Fatal(err)
		}
		one := decoded(t, out)
		expr := allChosen(strings.ReplaceAll(one.panel(c.panel).expr(c.ref), "$__rate_interval", "150s"))
		for name, events := range cases {
			if !events.few && !c.oneLock {
				continue
			}
			t.Run(c.board+", "+one.panel(c.panel).Title+": "+name, func(t *testing.T) {
				store, err := promeval.Load([]promeval.Series{{Selector: c.series, Values: events.values}}, 30*time.Second, promeval.V3)
				if err != nil {
					t.Fatal(err)
				}
				found, err := store.Values(t.Context(), expr, 10*time.Minute, step)
				if err != nil {
					t.Fatal(err)
				}
				got := make([]float64, len(events.want))
				for _, series := range found {
					for _, p := range series.Floats {
						if i := int(time.Duration(p.T)*time.Millisecond/step) - 1; i >= 0 {
							got[i] += p.F
						}
					}
				}
				if diff := cmp.Diff(events.want, got); diff != "" {
					t.Errorf("want -, got +\n%s", diff)
				}
			})
		}
	}
}
