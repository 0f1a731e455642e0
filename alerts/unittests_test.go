package alerts

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/leaderscope/leaderscope/alerts/internal/unittest"
	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/scenario"
)

// How high counters stand when the server starts changes no verdict, so that
// what vmalert-tool finds with high ones holds for others as well.
func TestScenariosWithHistoryCauseTheSameAlerts(t *testing.T) {
	rules := rulesOf(t, Default())
	for _, s := range scenario.Everywhere(scenario.All()) {
		if v, _ := s.OnVictoriaMetrics(); v.Because != scenario.StartsBeside {
			continue
		}
		t.Run(s.Title(), func(t *testing.T) {
			t.Parallel()
			high := s.WithHistory()
			want := fire(t, s)
			got, err := high.Fire(t.Context(), evaluated(rules), seriesOf(t, high, Default()), promeval.V3)
			if err != nil {
				t.Fatal(err)
			}
			same := slices.EqualFunc(want, got, func(a, b promeval.Firing) bool {
				return scenario.Identity(a.Labels) == scenario.Identity(b.Labels) && (a.From-b.From).Abs() <= 2*s.Every && (a.To-b.To).Abs() <= 2*s.Every
			})
			if !same {
				t.Errorf("with low counters\n%s\nwith high ones\n%s", scenario.Describe(want), scenario.Describe(got))
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
			text, err := unitTests(unittest.VMAlertTool, c.config, "rules.yaml",
				scenario.ForVictoriaMetrics([]scenario.Scenario{scenarioTitled(t, title)}, reflect.DeepEqual(c.config, Default())))
			if err != nil {
				t.Fatal(err)
			}
			var file unittest.File
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
