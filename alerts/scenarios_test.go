package alerts

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/scenario"
)

// again is the distance between the scenarios that are played more than once.
var again = 1

// repeated tells whether a scenario is played more than once: with the race
// detector one of several, and none that takes long.
func repeated(i int, s scenario.Scenario) bool {
	return i%again == 0 && (again == 1 || s.End <= 2*time.Hour)
}

// The oldest server that the rules are for counts the sample at the beginning
// of a window in: no alert comes, goes or moves by more than a sample for it.
func TestScenariosCauseExactlyTheirAlerts(t *testing.T) {
	for i, s := range scenario.All() {
		t.Run(s.Title(), func(t *testing.T) {
			t.Parallel()
			fired := fire(t, s)
			wanted(t, s, fired)
			causesFirst(t, s.Every, fired)
			if !repeated(i, s) {
				return
			}
			old, err := s.Fire(t.Context(), evaluated(rulesOf(t, configOf(s))), seriesOf(t, s, Default()), promeval.V2)
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
		if !repeated(i, s) {
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
			fired, err := s.Fire(t.Context(), evaluated(rulesOf(t, c)), series, promeval.V3)
			if err != nil {
				t.Fatal(err)
			}
			wanted(t, s, fired)
		})
	}
}

// wanted expects what a scenario says.
func wanted(t *testing.T, s scenario.Scenario, fired []promeval.Firing) {
	t.Helper()
	want := strings.Split(s.Want, "\n")
	slices.Sort(want)
	if diff := cmp.Diff(want, strings.Split(scenario.Describe(fired), "\n")); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// fire evaluates the default rules over a scenario on Prometheus 3, once for all
// tests.
func fire(t *testing.T, s scenario.Scenario) []promeval.Firing {
	t.Helper()
	play, _ := played.LoadOrStore(s.Title(), sync.OnceValues(func() ([]promeval.Firing, error) {
		c := configOf(s)
		rules, err := defaultRules(c.Histograms)
		if err != nil {
			return nil, err
		}
		form, err := c.form()
		if err != nil {
			return nil, err
		}
		series, err := s.Series(form)
		if err != nil {
			return nil, err
		}
		return s.Fire(context.Background(), rules, series, promeval.V3)
	}))
	fired, err := play.(func() ([]promeval.Firing, error))()
	if err != nil {
		t.Fatal(err)
	}
	return fired
}

var played, ruled sync.Map

// defaultRules are the rules of the default configuration that read histograms of
// a form.
func defaultRules(h Histograms) ([]promeval.Rule, error) {
	rules, _ := ruled.LoadOrStore(h, sync.OnceValues(func() ([]promeval.Rule, error) {
		c := Default()
		c.Histograms = h
		rules, err := Rules(c)
		return evaluated(rules), err
	}))
	return rules.(func() ([]promeval.Rule, error))()
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
