package alerts

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/internal/promeval"
)

func TestScenariosCauseExactlyTheirAlerts(t *testing.T) {
	rules, err := Rules(Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios() {
		t.Run(s.title(), func(t *testing.T) {
			t.Parallel()
			fired, err := s.firings(t.Context(), rules, seriesOf(t, s, Default()))
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

func seriesOf(t *testing.T, s scenario, c Config) []promeval.Series {
	t.Helper()
	series, err := s.series(c)
	if err != nil {
		t.Fatal(err)
	}
	return series
}
