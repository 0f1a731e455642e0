package alerts

import (
	"github.com/leaderscope/leaderscope/internal/scenario"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/promeval"
)

// C42: some engines take the first sample of a counter for an increase from
// zero: VictoriaMetrics where it is small, Prometheus with start timestamps
// always. A rollout and a crash loop cause the same alerts there, and so do
// failures of old that are a small share. What is counted without a share is
// reported once more when a process is first seen. What VictoriaMetrics itself
// says is in Scenario.OnVictoriaMetrics.
func TestC42EnginesThatCountFromZero(t *testing.T) {
	const silent = ""
	cases := map[string]string{
		"C28 a rolling restart of three, born at 1":                        silent,
		"C28 a rolling restart of two with a gap of one lease":             silent,
		"C29 a crash loop with fresh pod names, born at 1":                 "Flapping/warning 7m.. = 5.3",
		"D4 a process is first seen after 500 acquisitions":                "Flapping/warning 11m.. = 500",
		"C42 a pod is first seen after 50 errors in 5000 attempts":         silent,
		"C42 a pod is first seen after 50 failures in 5000 runs":           silent,
		"F9 a pod is first seen after 50 failures in 5000 renewals":        silent,
		"C27 errors of short-lived processes before their first sample":    "BackendErrors/critical 11m..14m45s = 1\nBackendErrors/critical 6m..9m45s = 1\nNoAcquisition/warning 10m.. = 6.14",
		"C27 a fresh process goes back before its first sample":            "TokenRegressed/critical 5m.. = 1",
		"T6 Prometheus starts beside a process that failed yesterday":      silent,
		"K5 a process with regressions of yesterday is first seen":         "TokenRegressed/critical 10m.. = 3",
		"G5 a process with overruns of yesterday is first seen":            "LeaseExceeded/critical 10m.. = 3\nNearLease/warning 10m.. = 12.5",
		"W3 work after the losses of yesterday":                            "WorkAfterLoss/critical 2m15s.. = 400",
		"C27 a process fails before its first sample, and did well before": "TaskFailing/warning 5m.. = 1",
		"O4 names were folded yesterday, and their locks are gone":         silent,
		"A5 a replaced replica takes over the runs":                        silent,
		"C40 errors go on while three pods are replaced one by one":        "BackendErrors/warning 5m45s.. = 0.5",
	}
	rules := rulesOf(t, Default())
	for beginning, want := range cases {
		t.Run(beginning, func(t *testing.T) {
			t.Parallel()
			s := scenarioTitled(t, beginning)
			series := seriesOf(t, s, Default())
			for i := range series {
				series[i] = fromZero(series[i])
			}
			fired, err := s.Fire(t.Context(), evaluated(rules), series, promeval.V3)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, scenario.Describe(fired)); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

// unborn is the time before the first sample.
var unborn = regexp.MustCompile(`^(?:_x(\d+) |((?:_ )*)_ )`)

// fromZero puts zeros before the first sample of a counter that begins while
// it is watched: two where there is room, so that a subquery whose steps are
// twice as long as those of the samples meets one.
func fromZero(s promeval.Series) promeval.Series {
	name, _, _ := strings.Cut(s.Selector, "{")
	m, known := catalog.ByName(name)
	found := unborn.FindStringSubmatch(s.Values)
	if !known || found == nil || m.Kind() != catalog.Counter && m.Kind() != catalog.Histogram {
		return s
	}
	before := found[2] + "0 "
	if n, _ := strconv.Atoi(found[1]); n > 1 {
		before = strings.Repeat("_ ", n-2) + "0 0 "
	}
	return promeval.Series{Selector: s.Selector, Values: before + strings.TrimPrefix(s.Values, found[0])}
}
