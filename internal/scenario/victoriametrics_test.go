package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestVerdictsOfVictoriaMetricsAreOfScenariosAndDiffer(t *testing.T) {
	var titles []string
	for _, s := range Everywhere(All()) {
		if slices.Contains(titles, s.Title()) {
			t.Errorf("two scenarios are called %q", s.Title())
		}
		titles = append(titles, s.Title())
		v, differs := s.OnVictoriaMetrics()
		if !differs {
			continue
		}
		fired, err := v.Firings("severity")
		if err != nil {
			t.Errorf("%s: %v", s.Title(), err)
		}
		if v.Because != StartsBeside && v.Because != BornAbove {
			t.Errorf("%s: unknown reason %q", s.Title(), v.Because)
		}
		if diff := cmp.Diff(withoutValues(s.Want), withoutValues(Describe(fired))); diff == "" {
			t.Errorf("%s: the verdict is that of Prometheus: remove it", s.Title())
		}
	}
	for title := range verdictsOfVictoriaMetrics {
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
		if fired, err := (Verdict{Fires: fires}).Firings("severity"); err == nil {
			t.Errorf("%q is read as %v", fires, fired)
		}
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
			got := []string{Since(100*time.Second, c.series, c.values), raise(100, c.series, c.values)}
			if diff := cmp.Diff([]string{c.moved, c.raised}, got); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}
