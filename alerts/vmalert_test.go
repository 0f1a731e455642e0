package alerts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	"github.com/leaderscope/leaderscope/internal/promeval"
)

func TestVerdictsOfVictoriaMetricsAreOfScenariosAndDiffer(t *testing.T) {
	var titles []string
	for _, s := range everywhere(scenarios()) {
		if slices.Contains(titles, s.title()) {
			t.Errorf("two scenarios are called %q", s.title())
		}
		titles = append(titles, s.title())
		v, differs := onVictoriaMetrics[s.title()]
		if !differs {
			continue
		}
		fired, err := v.firings("severity")
		if err != nil {
			t.Errorf("%s: %v", s.title(), err)
		}
		if v.because != startsBeside && v.because != bornAbove {
			t.Errorf("%s: unknown reason %q", s.title(), v.because)
		}
		if diff := cmp.Diff(withoutValues(s.want), withoutValues(describe(fired))); diff == "" {
			t.Errorf("%s: the verdict is that of Prometheus: remove it", s.title())
		}
	}
	for title := range onVictoriaMetrics {
		if !slices.Contains(titles, title) {
			t.Errorf("there is no scenario %q for vmalert-tool", title)
		}
	}
}

func withoutValues(verdict string) (lines []string) {
	for line := range strings.Lines(verdict) {
		firing, _, _ := strings.Cut(strings.TrimSpace(line), " = ")
		lines = append(lines, firing)
	}
	slices.Sort(lines)
	return lines
}

func TestVerdictsThatCannotBeReadAreErrors(t *testing.T) {
	for _, fires := range []string{"Flapping 1m..", "Flapping/warning 1m", "Flapping/warning 1 m..", "Flapping/warning 1x..", "Flapping/warning 1m..2y3"} {
		if fired, err := (verdict{fires: fires}).firings("severity"); err == nil {
			t.Errorf("%q is read as %v", fires, fired)
		}
	}
}

// How high counters stand when the server starts changes no verdict, so that
// what vmalert-tool finds with high ones holds for others as well.
func TestScenariosWithHistoryCauseTheSameAlerts(t *testing.T) {
	rules := rulesOf(t, Default())
	for _, s := range everywhere(scenarios()) {
		if onVictoriaMetrics[s.title()].because != startsBeside {
			continue
		}
		t.Run(s.title(), func(t *testing.T) {
			t.Parallel()
			high := s.withHistory()
			want, err := s.firings(t.Context(), rules, seriesOf(t, s, Default()), promeval.V3)
			if err != nil {
				t.Fatal(err)
			}
			got, err := high.firings(t.Context(), rules, seriesOf(t, high, Default()), promeval.V3)
			if err != nil {
				t.Fatal(err)
			}
			same := slices.EqualFunc(want, got, func(a, b promeval.Firing) bool {
				return identity(a.Labels) == identity(b.Labels) && (a.From-b.From).Abs() <= 2*s.every && (a.To-b.To).Abs() <= 2*s.every
			})
			if !same {
				t.Errorf("with low counters\n%s\nwith high ones\n%s", describe(want), describe(got))
			}
		})
	}
}

func TestVMAlertTestsHoldPinnedVerdictsUnderTheDefaultConfigurationOnly(t *testing.T) {
	const title = "D7 Prometheus starts beside ten replicas that have all led before"
	other := Default()
	other.Alerts.LabelOverflow.Enabled = false
	for name, c := range map[string]struct {
		config Config
		want   []string
	}{
		"default": {Default(), []string{title, title + ", and counters stand at thousands"}},
		"other":   {other, []string{title + ", and counters stand at thousands"}},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := unitTests(vmalertTool, c.config, "rules.yaml", []scenario{scenarioTitled(t, title)})
			if err != nil {
				t.Fatal(err)
			}
			var file promtoolFile
			if err := yaml.Unmarshal(text, &file); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, test := range file.Tests {
				got = append(got, test.Name)
				if len(test.Expressions) > 0 || len(test.MetricsQL) == 0 {
					t.Errorf("%s: want expressions of vmalert-tool", test.Name)
				}
				for _, e := range test.MetricsQL {
					fires := test.Name == title && e.EvalTime >= minutes(1)
					if fires != (len(e.Samples) > 0) || !strings.HasSuffix(e.Expr, " # "+test.Name) {
						t.Errorf("%s at %s: %v", e.Expr, e.EvalTime, e.Samples)
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

// vmalert-tool looks for the alerts of one name in the group of each rule.
func TestVMAlertTestsSpellAlertsOutByGroup(t *testing.T) {
	alert := promtoolAlert{Labels: map[string]string{"severity": "warning"}}
	other := promtoolAlert{Labels: map[string]string{"severity": "critical"}}
	rule := func(name, severity string, interval model.Duration, expr, text string) Rule {
		return Rule{Name: name, Severity: severity, Interval: interval, Expr: expr, Annotations: map[string]string{"summary": text}}
	}
	w := promtoolWriter{dialect: vmalertTool, config: Default(), rules: []Rule{
		rule("A", "warning", 0, "x", "{{ $value }}"), rule("A", "critical", minutes(5), "x", ""),
		rule("B", "warning", 0, "increase(x[5m])", "{{ $value }} of them"),
		rule("C", "warning", 0, "increase(x[5m])", "{{ with query `increase(x[5m])` }}{{ . | first | label `a` }}{{ end }}"),
		rule("D", "warning", 0, "x", "{{ with query `increase(x[5m])` }}{{ . | first | value }}{{ end }}"),
	}}
	var in []promtoolAlertTest
	for _, name := range []string{"A", "B", "C", "D"} {
		in = append(in, promtoolAlertTest{EvalTime: minutes(90), AlertName: name, Alerts: []promtoolAlert{alert, other}})
	}
	in = append(in, promtoolAlertTest{EvalTime: minutes(95), AlertName: "A", Alerts: []promtoolAlert{other}})
	got := w.forVMAlert(promtoolTest{Alerts: in}).Alerts
	want := []promtoolAlertTest{
		{EvalTime: minutes(90), GroupName: "leader-election", AlertName: "A", Alerts: []promtoolAlert{alert}},
		{EvalTime: minutes(90), GroupName: "leader-election-5m", AlertName: "A", Alerts: []promtoolAlert{other}},
		{EvalTime: minutes(90), GroupName: "leader-election", AlertName: "C", Alerts: []promtoolAlert{alert}},
		{EvalTime: minutes(95), GroupName: "leader-election-5m", AlertName: "A", Alerts: []promtoolAlert{other}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestTimesAreMovedAndCountersRaised(t *testing.T) {
	cases := map[string]struct{ series, values, moved, raised string }{
		"a time":             {"leader_last_acquired_timestamp_seconds", "-600x20 630.5+15x100 stale _ 7", "-500x20 730.5+15x100 stale _ 107", "-600x20 630.5+15x100 stale _ 7"},
		"a time that begins": {`leader_lease_expiry_timestamp_seconds{instance="i1"}`, "_x3 15-1x9", "_x3 115-1x9", "_x3 15-1x9"},
		"a gauge":            {"leader_active", "1x9 stale", "1x9 stale", "1x9 stale"},
		"a counter":          {`leader_acquired_total{instance="i1"}`, "7x19 _x6 8 8+2x3", "7x19 _x6 8 8+2x3", "107x19 _x6 108 108+2x3"},
		"a reset":            {"leader_acquired_total", "7+1x9 16 15x3 99", "7+1x9 16 15x3 99", "107+1x9 116 15x3 99"},
		"a reset to less":    {"leader_acquired_total", "7+1x9 15x3", "7+1x9 15x3", "107+1x9 15x3"},
		"a birth":            {"leader_acquired_total", "_x5 7x9", "_x5 7x9", "_x5 7x9"},
		"a part of another":  {`leader_not_acquired_total{reason="contended"}`, "7x9", "7x9", "17x9"},
		"a histogram":        {`leader_lease_usage_ratio_bucket{le="0.8"}`, "0+6x60", "0+6x60", "100+6x60"},
		"up":                 {"up", "1x9", "1x9", "1x9"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := []string{since(100*time.Second, c.series, c.values), raise(100, c.series, c.values)}
			if diff := cmp.Diff([]string{c.moved, c.raised}, got); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}
