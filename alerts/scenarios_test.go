package alerts

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScenariosCauseExactlyTheirAlerts(t *testing.T) {
	rules, err := Rules(Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios() {
		t.Run(s.title(), func(t *testing.T) {
			t.Parallel()
			fired, err := s.firings(t.Context(), rules)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(s.want, "\n")
			slices.Sort(want)
			if diff := cmp.Diff(want, strings.Split(describe(fired, "severity"), "\n")); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}
