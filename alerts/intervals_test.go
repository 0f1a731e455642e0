package alerts

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/scenario"
)

// differing are scenarios whose course is another one at another interval, by
// their id, with the reason.
var differing = map[string]string{
	"B4":  "more than ten samples, which the warning of MetricsAbsent wants, are there every 15 s",
	"M2":  "ten samples, which are too few for MetricsAbsent, are there every 60 s",
	"E14": "an outage of 90 s lasts for two minutes in samples 60 s apart",
	"E16": "an error 60 s apart is seen in two of three minutes, and the errors are further apart",
	"H4":  "a dip of 30 s lasts for a minute and a quarter",
	"S9":  "an overlap of 90 s lasts for more than two minutes",
	"C56": "every second sample is of the same replica",
	"X13": "half a minute is not sampled every 60 s",
	"Q10": "the sample after the loss is not taken every 60 s",
	"B58": "with backend errors, a failover has 45 s, and the next leader is sampled after 60 s",
}

// The committed rules are for targets that are scraped every 15 to 60 s: what
// happens in a scenario of half a minute causes the same alerts for any
// interval.
func TestScenariosCauseTheSameAlertsFrom15To60Seconds(t *testing.T) {
	rules := rulesOf(t, Default())
	for i, s := range scenario.All() {
		if s.Every != 30*time.Second || s.Native || differing[s.ID] != "" || !repeated(i, s) {
			continue
		}
		t.Run(s.Title(), func(t *testing.T) {
			t.Parallel()
			series := seriesOf(t, s, Default())
			for _, every := range []time.Duration{15 * time.Second, 60 * time.Second} {
				o := s
				o.Every = every
				fired, err := o.Fire(t.Context(), evaluated(rules), resampled(t, series, every), promeval.V3)
				if err != nil {
					t.Fatal(err)
				}
				causesFirst(t, every, fired)
				if diff := cmp.Diff(alertsOf(s.Want), alertsOf(scenario.Describe(fired))); diff != "" {
					t.Errorf("every %s: want -, got +\n%s\n%s", every, diff, scenario.Describe(fired))
				}
			}
		})
	}
}

// causesFirst checks that an outage of the backend pages no later than the missing
// leader that it causes: the first page must be that of the cause, which mutes the
// other one.
func causesFirst(t *testing.T, every time.Duration, fired []promeval.Firing) {
	t.Helper()
	page := func(f promeval.Firing, alert string) bool {
		return f.Labels.Get("alertname") == Prefix+alert && f.Labels.Get("severity") == critical
	}
	for _, cause := range fired {
		for _, symptom := range fired {
			if page(cause, "BackendErrors") && page(symptom, "NoLeader") && sameLock(cause.Labels, symptom.Labels) &&
				symptom.From < cause.From && (symptom.Open || cause.From < symptom.To) {
				t.Errorf("every %s: NoLeader fires at %s, and its cause, BackendErrors, at %s", every, symptom.From, cause.From)
			}
		}
	}
}

func sameLock(a, b labels.Labels) bool {
	return !slices.ContainsFunc(Default().ScopeLabels, func(l string) bool { return a.Get(l) != b.Get(l) })
}

// alertsOf are the alerts of firings that a scenario writes down, without
// their times and values.
func alertsOf(described string) []string {
	var names []string
	for line := range strings.Lines(described) {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// resampled takes series of half a minute at another interval.
func resampled(t *testing.T, series []promeval.Series, every time.Duration) []promeval.Series {
	t.Helper()
	var out []promeval.Series
	for _, s := range series {
		_, values, err := parser.NewParser(parser.Options{}).ParseSeriesDesc(s.Selector + " " + s.Values)
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for i := range values {
			switch {
			case every < 30*time.Second:
				text = append(text, written(values[i]), between(values, i))
			case i%2 == 0 && values[i].Omitted && i > 0 && isStale(values[i-1]):
				text = append(text, "stale")
			case i%2 == 0:
				text = append(text, written(values[i]))
			case i == len(values)-1 && isStale(values[i]):
				text = append(text, "stale")
			}
		}
		out = append(out, promeval.Series{Selector: s.Selector, Values: strings.Join(text, " ")})
	}
	return out
}

// between is what a scrape between two samples sees: still the first.
func between(values []parser.SequenceValue, i int) string {
	if isStale(values[i]) {
		return "_"
	}
	return written(values[i])
}

func isStale(v parser.SequenceValue) bool { return !v.Omitted && value.IsStaleNaN(v.Value) }

func written(v parser.SequenceValue) string {
	switch {
	case v.Omitted:
		return "_"
	case isStale(v):
		return "stale"
	case math.IsNaN(v.Value):
		return "NaN"
	}
	return fmt.Sprint(v.Value)
}
