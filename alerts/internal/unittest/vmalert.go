package unittest

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/scenario"
)

// forVMAlert rewrites a test: tests begin at another time, expressions have
// another key and alerts a group, and failures do not name the test.
func (w writer) forVMAlert(t Test) Test {
	for i := range t.InputSeries {
		t.InputSeries[i] = t.InputSeries[i].since(vmalertBegins)
	}
	for _, e := range t.Expressions {
		e.Expr += " # " + t.Name
		t.MetricsQL = append(t.MetricsQL, e)
	}
	var alerts []AlertTest
	for _, a := range t.Alerts {
		alerts = append(alerts, w.byGroup(a)...)
	}
	t.Expressions, t.Alerts = nil, alerts
	return t
}

// showsIncrease reports whether a text shows an increase, which Prometheus
// extrapolates and VictoriaMetrics does not.
func showsIncrease(r promeval.Rule) bool {
	for _, text := range r.Annotations {
		if strings.Contains(text, "$value") && extrapolates.MatchString(r.Expr) || strings.Contains(text, "| value") && extrapolates.MatchString(text) {
			return true
		}
	}
	return false
}

var extrapolates = regexp.MustCompile(`\b(increase|delta|rate)\(`)

// byGroup splits the alerts of a name by the groups of their rules, and leaves
// out those of a group whose texts the engines print differently.
func (w writer) byGroup(t AlertTest) (tests []AlertTest) {
	for _, g := range w.Groups {
		if slices.ContainsFunc(g.Rules, func(r promeval.Rule) bool { return r.Name == t.AlertName && showsIncrease(r) }) {
			continue
		}
		own := AlertTest{EvalTime: t.EvalTime, GroupName: g.Name, AlertName: t.AlertName}
		for _, a := range t.Alerts {
			if slices.ContainsFunc(g.Rules, func(r promeval.Rule) bool { return w.made(r, t.AlertName, a) }) {
				own.Alerts = append(own.Alerts, a)
			}
		}
		if own.Alerts != nil {
			tests = append(tests, own)
		}
	}
	return tests
}

func (w writer) made(r promeval.Rule, name string, a Alert) bool {
	return r.Name == name && r.Labels[w.SeverityLabel] == a.Labels[w.SeverityLabel] && r.Labels[w.VariantLabel] == a.Labels[w.VariantLabel]
}

// vmalertBegins is the Unix time at which tests of vmalert-tool begin; those of
// promtool begin at 0. Source: testStartTime in app/vmalert-tool/unittest.
const vmalertBegins = 946684800 * time.Second

// since moves the values of a series of Unix times.
func (s Series) since(begin time.Duration) Series {
	s.Values = scenario.Since(begin, s.Series, s.Values)
	return s
}
