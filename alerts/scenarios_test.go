package alerts

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/internal/promeval"
)

func TestScenariosCauseExactlyTheirAlerts(t *testing.T) {
	for _, s := range scenarios() {
		rules := rulesOf(t, s.config())
		t.Run(s.title(), func(t *testing.T) {
			t.Parallel()
			fired, err := s.firings(t.Context(), rules, seriesOf(t, s, Default()), promeval.V3)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(s.want, "\n")
			slices.Sort(want)
			if diff := cmp.Diff(want, strings.Split(describe(fired), "\n")); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

// The oldest server that the rules are for counts the sample at the beginning
// of a window in: no alert comes, goes or moves by more than a sample for it.
func TestScenariosCauseTheSameAlertsOnPrometheus2(t *testing.T) {
	for _, s := range scenarios() {
		rules := rulesOf(t, s.config())
		t.Run(s.title(), func(t *testing.T) {
			t.Parallel()
			want, err := s.firings(t.Context(), rules, seriesOf(t, s, Default()), promeval.V3)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.firings(t.Context(), rules, seriesOf(t, s, Default()), promeval.V2)
			if err != nil {
				t.Fatal(err)
			}
			same := slices.EqualFunc(want, got, func(a, b promeval.Firing) bool {
				return identity(a.Labels) == identity(b.Labels) && (a.From-b.From).Abs() <= s.every && (a.To-b.To).Abs() <= s.every
			})
			if !same {
				t.Errorf("Prometheus 3\n%s\nPrometheus 2\n%s", describe(want), describe(got))
			}
		})
	}
}

func seriesOf(t *testing.T, s scenario, c Config) []promeval.Series {
	t.Helper()
	series, err := s.series(c)
	if err != nil {
		t.Fatal(err)
	}
	return series
}

func scenarioTitled(t *testing.T, beginning string) scenario {
	t.Helper()
	for _, s := range scenarios() {
		if s.id == beginning || strings.HasPrefix(s.title(), beginning) {
			return s
		}
	}
	t.Fatalf("no scenario %s", beginning)
	return scenario{}
}
