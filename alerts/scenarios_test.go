package alerts

import (
	"github.com/leaderscope/leaderscope/internal/scenario"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/internal/promeval"
)

// again is the distance between the scenarios that are played more than once.
var again = 1

// The oldest server that the rules are for counts the sample at the beginning
// of a window in: no alert comes, goes or moves by more than a sample for it.
func TestScenariosCauseExactlyTheirAlerts(t *testing.T) {
	for i, s := range scenario.All() {
		t.Run(s.Title(), func(t *testing.T) {
			t.Parallel()
			rules, series := rulesOf(t, configOf(s)), seriesOf(t, s, Default())
			fired := firesAsWanted(t, s, rules, series)
			if i%again != 0 {
				return
			}
			old, err := s.Fire(t.Context(), evaluated(rules), series, promeval.V2)
			if err != nil {
				t.Fatal(err)
			}
			same := slices.EqualFunc(fired, old, func(a, b promeval.Firing) bool {
				return scenario.Identity(a.Labels) == scenario.Identity(b.Labels) && (a.From-b.From).Abs() <= s.Every && (a.To-b.To).Abs() <= s.Every
			})
			if !same {
				t.Errorf("Prometheus 3\n%s\nPrometheus 2\n%s", scenario.Describe(fired), scenario.Describe(old))
			}
		})
	}
}

// C43: neither labels of the target that the rules do not know nor a prefix that
// an exporter adds change a verdict.
func TestForeignLabelsAndAPrefixChangeNoVerdict(t *testing.T) {
	instance := regexp.MustCompile(`instance="([^"]*)"`)
	for i, s := range scenario.All() {
		if i%again != 0 {
			continue
		}
		t.Run(s.Title(), func(t *testing.T) {
			t.Parallel()
			c := configOf(s)
			c.MetricPrefix = "shop_"
			series := seriesOf(t, s, c)
			for i := range series {
				extra := `{container="app",endpoint="http",node="n1",service="s",`
				if found := instance.FindStringSubmatch(series[i].Selector); found != nil {
					extra += `kubernetes_pod="` + found[1] + `",`
				}
				series[i].Selector = strings.Replace(series[i].Selector, "{", extra, 1)
			}
			firesAsWanted(t, s, rulesOf(t, c), series)
		})
	}
}

func firesAsWanted(t *testing.T, s scenario.Scenario, rules []Rule, series []promeval.Series) []promeval.Firing {
	t.Helper()
	fired, err := s.Fire(t.Context(), evaluated(rules), series, promeval.V3)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(s.Want, "\n")
	slices.Sort(want)
	if diff := cmp.Diff(want, strings.Split(scenario.Describe(fired), "\n")); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
	return fired
}

// configOf is the default, or what reads native histograms too.
func configOf(s scenario.Scenario) Config {
	c := Default()
	if s.Native {
		c.Histograms = Both
	}
	return c
}

func seriesOf(t *testing.T, s scenario.Scenario, c Config) []promeval.Series {
	t.Helper()
	form, err := c.form()
	if err != nil {
		t.Fatal(err)
	}
	series, err := s.Series(form)
	if err != nil {
		t.Fatal(err)
	}
	return series
}

func scenarioTitled(t *testing.T, beginning string) scenario.Scenario {
	t.Helper()
	for _, s := range scenario.All() {
		if s.ID == beginning || strings.HasPrefix(s.Title(), beginning) {
			return s
		}
	}
	t.Fatalf("no scenario %s", beginning)
	return scenario.Scenario{}
}
