package promeval

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// stretch is a firing without its labels.
type stretch struct {
	From, To time.Duration
	Open     bool
	Summary  string
}

func TestAlertsFollowPrometheusStateMachine(t *testing.T) {
	const s, m = time.Second, time.Minute
	cases := map[string]struct {
		values     string
		hold, keep time.Duration
		want       []stretch
	}{
		"never true":                               {values: "0x20"},
		"true at once and to the end":              {values: "1x40", want: []stretch{{Open: true, Summary: "a at 1"}}},
		"true for shorter than the hold":           {values: "0x3 1x3 0x10", hold: m},
		"true for exactly the hold":                {values: "0x3 1x4 0x10", hold: m, want: []stretch{{From: 2 * m, To: 2*m + 15*s, Summary: "a at 1"}}},
		"a gap resets the hold":                    {values: "1x3 0 1x3 0x10", hold: m},
		"keeping counts from the first empty step": {values: "0x3 1 0x10", keep: m, want: []stretch{{From: m, To: 2*m + 15*s, Summary: "a at 1"}}},
		"true again while kept":                    {values: "1 0 0 1 0x10", keep: m, want: []stretch{{To: 2 * m, Summary: "a at 1"}}},
		"two stretches with their own values":      {values: "1 0x3 2 0x10", want: []stretch{{To: 15 * s, Summary: "a at 1"}, {From: 75 * s, To: 90 * s, Summary: "a at 2"}}},
		"a stale series ends it":                   {values: "1x3 stale", want: []stretch{{To: m, Summary: "a at 1"}}},
		"a series without a marker lingers":        {values: "1x3", want: []stretch{{To: 5*m + 45*s, Summary: "a at 1"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			store, err := Load([]Series{{Selector: `x{job="a"}`, Values: c.values}}, 15*time.Second, V3)
			if err != nil {
				t.Fatal(err)
			}
			rule := Rule{
				Name: "X", Expr: "x > 0", For: c.hold, KeepFiringFor: c.keep, Labels: map[string]string{"severity": "page"},
				Annotations: map[string]string{"summary": `{{ with query "x" }}{{ . | first | label "job" }}{{ end }} at {{ $value }}`},
			}
			fired, err := store.Alerts(t.Context(), rule, 10*time.Minute, 15*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			var got []stretch
			for _, f := range fired {
				if want := `{alertname="X", job="a", severity="page"}`; f.Labels.String() != want {
					t.Errorf("labels %s, want %s", f.Labels, want)
				}
				got = append(got, stretch{From: f.From, To: f.To, Open: f.Open, Summary: f.Annotations["summary"]})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

func TestLoadRefusesWhatIsNoSeries(t *testing.T) {
	for name, series := range map[string][]Series{
		"a broken selector": {{Selector: "x{", Values: "1"}},
		"broken values":     {{Selector: "x", Values: "one"}},
		"the same twice":    {{Selector: `x{a="1"}`, Values: "1"}, {Selector: `x{a="1"}`, Values: "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Load(series, time.Minute, V3); err == nil {
				t.Error("want an error")
			}
		})
	}
}

func TestAlertsRefuseTwoResultsOfOneIdentity(t *testing.T) {
	store, err := Load([]Series{{Selector: `x{job="a"}`, Values: "1"}, {Selector: `x{job="b"}`, Values: "1"}}, time.Minute, V3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Alerts(t.Context(), Rule{Name: "X", Expr: "x", Labels: map[string]string{"job": "c"}}, time.Minute, time.Minute); err == nil {
		t.Error("want an error")
	}
}

func TestAFailingTemplateDoesNotSilenceTheAlert(t *testing.T) {
	store, err := Load([]Series{{Selector: "x", Values: "1"}}, time.Minute, V3)
	if err != nil {
		t.Fatal(err)
	}
	fired, err := store.Alerts(t.Context(), Rule{Name: "X", Expr: "x", Annotations: map[string]string{"summary": `{{ query "x" | first | value | nonsense }}`}}, 0, time.Minute)
	if err != nil || len(fired) != 1 || fired[0].Annotations["summary"][:6] != "<error" {
		t.Errorf("got %v, %v", fired, err)
	}
}

// Source: the migration guide of Prometheus 3, range selectors and lookback
// exclude samples at the left boundary.
func TestVersionsDifferInTheSampleAtTheBeginning(t *testing.T) {
	cases := map[string]struct {
		expr   string
		at     time.Duration
		v2, v3 float64
	}{
		"a range":    {"count_over_time(x[5m])", 5 * time.Minute, 6, 5},
		"a subquery": {"count_over_time(x[5m:1m])", 5 * time.Minute, 6, 5},
		"lookback":   {"count(x) or vector(0)", 15 * time.Minute, 1, 0},
		"an offset":  {"count_over_time(x[5m] offset 1m)", 6 * time.Minute, 6, 5},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for version, want := range map[Version]float64{V2: c.v2, V3: c.v3} {
				store, err := Load([]Series{{Selector: "x", Values: "1x10"}}, time.Minute, version)
				if err != nil {
					t.Fatal(err)
				}
				got, err := store.Query(t.Context(), c.expr, epoch.Add(c.at))
				if err != nil || len(got) != 1 || got[0].F != want {
					t.Errorf("version %d: got %v, %v; want %v", version, got, err, want)
				}
			}
		})
	}
}

// The engine computes in the histograms that it is given.
func TestQueriesLeaveNativeHistogramsAsTheyAre(t *testing.T) {
	const late = `{{schema:3 sum:3 count:7 offset:-8 buckets:[7]}}x20 {{schema:3 sum:4 count:8 offset:-8 buckets:[8]}}x10 {{schema:3 sum:4 count:9 offset:-8 buckets:[8 0 0 0 0 0 0 1]}}x150`
	store, err := Load([]Series{{Selector: `h{job="a"}`, Values: late}}, 30*time.Second, V3)
	if err != nil {
		t.Fatal(err)
	}
	rule := Rule{Name: "X", Expr: "histogram_fraction(0.9, 1, increase(h[30m])) * histogram_count(increase(h[30m])) > 0"}
	fired, err := store.Alerts(t.Context(), rule, time.Hour, 15*time.Second)
	if err != nil || len(fired) != 1 || fired[0].From != 16*time.Minute {
		t.Errorf("got %v, %v; want one alert from 16m on", fired, err)
	}
}
