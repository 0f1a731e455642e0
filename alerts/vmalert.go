package alerts

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/internal/promeval"
)

// VMAlertTests are the tests of [PromtoolTests] for vmalert-tool unittest of
// VictoriaMetrics. Where its engine gives another verdict under the default
// configuration, that verdict is tested; under any other configuration such a
// scenario is left out. Texts that show increases are not tested, for MetricsQL
// does not extrapolate them.
func VMAlertTests(c Config, rulesFile string) ([]byte, error) {
	return unitTests(vmalertTool, c, rulesFile, scenarios())
}

// vmalertTool is that of VictoriaMetrics, which stores no native histograms.
var vmalertTool = dialect{format: "vmalert-tool", metricsQL: true, table: forVictoriaMetrics}

// forVictoriaMetrics has scenarios whose verdict rests on first samples twice,
// once with counters that hide nothing.
func forVictoriaMetrics(c Config, table []scenario) (all []scenario) {
	pinned := reflect.DeepEqual(c, Default())
	add := func(s scenario) (other verdict, differs bool) {
		other, differs = onVictoriaMetrics[s.title()]
		if pinned || !differs {
			all = append(all, s)
		}
		return other, differs
	}
	for _, s := range everywhere(table) {
		if v, differs := add(s); differs && v.because == startsBeside {
			add(s.withHistory())
		}
	}
	return all
}

// withHistory is the scenario beside counters so high that VictoriaMetrics does
// not take their first samples for increases.
func (s scenario) withHistory() scenario {
	s.name += ", and counters stand at thousands"
	s.raised = 1000
	return s
}

// verdict is what an engine makes of a scenario where it differs.
type verdict struct {
	because reason
	// fires has a firing alert a line, as scenario.want but without values.
	fires string
}

// reason is a property of an engine.
type reason string

var firingLine = regexp.MustCompile(`^(\w+)/(\w+) (\w+)\.\.(\w*)$`)

// firings reads what fires.
func (v verdict) firings(severityLabel string) (all []promeval.Firing, err error) {
	for line := range strings.Lines(v.fires) {
		m := firingLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			return nil, fmt.Errorf("%q is no firing alert; write Name/severity 1m..2m", line)
		}
		f := promeval.Firing{Labels: labels.FromStrings(labels.AlertName, Prefix+m[1], severityLabel, m[2]), Open: m[4] == ""}
		if f.From, err = parseDuration(m[3]); err == nil && !f.Open {
			f.To, err = parseDuration(m[4])
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		all = append(all, f)
	}
	return all, nil
}

func parseDuration(s string) (time.Duration, error) {
	d, err := model.ParseDuration(s)
	return time.Duration(d), err
}

// forVMAlert rewrites a test: tests begin at another time, expressions have
// another key and alerts a group, and failures do not name the test.
func (w promtoolWriter) forVMAlert(t promtoolTest) promtoolTest {
	for i := range t.InputSeries {
		t.InputSeries[i] = t.InputSeries[i].since(vmalertBegins)
	}
	for _, e := range t.Expressions {
		e.Expr += " # " + t.Name
		t.MetricsQL = append(t.MetricsQL, e)
	}
	var alerts []promtoolAlertTest
	for _, a := range t.Alerts {
		alerts = append(alerts, w.byGroup(a)...)
	}
	t.Expressions, t.Alerts = nil, alerts
	return t
}

// showsIncrease reports whether a text shows an increase, which Prometheus
// extrapolates and VictoriaMetrics does not.
func showsIncrease(r Rule) bool {
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
func (w promtoolWriter) byGroup(t promtoolAlertTest) (tests []promtoolAlertTest) {
	for _, g := range grouped(w.config, w.rules) {
		if slices.ContainsFunc(g.rules, func(r Rule) bool { return r.Name == t.AlertName && showsIncrease(r) }) {
			continue
		}
		own := promtoolAlertTest{EvalTime: t.EvalTime, GroupName: g.name, AlertName: t.AlertName}
		for _, a := range t.Alerts {
			if slices.ContainsFunc(g.rules, func(r Rule) bool { return w.made(r, t.AlertName, a) }) {
				own.Alerts = append(own.Alerts, a)
			}
		}
		if own.Alerts != nil {
			tests = append(tests, own)
		}
	}
	return tests
}

func (w promtoolWriter) made(r Rule, name string, a promtoolAlert) bool {
	return r.Name == name && r.Severity == a.Labels[w.config.SeverityLabel] && r.Variant == a.Labels[variantLabel]
}

// vmalertBegins is the Unix time at which tests of vmalert-tool begin; those of
// promtool begin at 0. Source: testStartTime in app/vmalert-tool/unittest.
const vmalertBegins = 946684800 * time.Second

// since moves the values of a series of Unix times.
func (s promtoolSeries) since(begin time.Duration) promtoolSeries {
	s.Values = since(begin, s.Series, s.Values)
	return s
}
