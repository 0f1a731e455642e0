// Package unittest writes scenarios down as unit tests of rules, for promtool
// and for vmalert-tool.
package unittest

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/internal/promeval"
	"github.com/leaderscope/leaderscope/internal/scenario"
)

// Tool runs the tests.
type Tool struct {
	// Format is that of gen-dashboards.
	Format string
	// metricsQL: the tool is vmalert-tool.
	metricsQL bool
}

// Promtool is that of Prometheus 2 and 3, VMAlertTool that of VictoriaMetrics.
var (
	Promtool    = Tool{Format: "promtool"}
	VMAlertTool = Tool{Format: "vmalert-tool", metricsQL: true}
)

// Group is a group of a rules file.
type Group struct {
	Name  string
	Rules []promeval.Rule
}

// Suite is what is tested.
type Suite struct {
	Tool
	// RulesFile is a path relative to the tests, with these groups.
	RulesFile string
	Groups    []Group
	// SeverityLabel and VariantLabel tell rules of one name apart.
	SeverityLabel, VariantLabel string
	Form                        scenario.Form
}

// Write writes a table down. What each scenario must cause is worked out for
// the rules of the suite. The tests look where Prometheus 2 and 3 agree, so they
// hold for the promtool of both; where VictoriaMetrics gives another verdict
// under the default configuration, that verdict is tested by vmalert-tool.
// Texts that show increases are not tested there, for MetricsQL does not
// extrapolate them.
func (s Suite) Write(ctx context.Context, table []scenario.Scenario) (File, error) {
	file := File{RuleFiles: []string{s.RulesFile}, EvaluationInterval: model.Duration(scenario.Step)}
	w := writer{Suite: s, spelled: map[string]bool{}}
	for _, g := range s.Groups {
		w.rules = append(w.rules, g.Rules...)
	}
	plays, err := w.plays(ctx, table)
	if err != nil {
		return file, err
	}
	for _, p := range plays {
		test, err := w.test(ctx, p)
		if err != nil {
			return file, err
		}
		file.Tests = append(file.Tests, test)
	}
	return file, nil
}

// writer turns scenarios into tests.
type writer struct {
	Suite
	rules []promeval.Rule
	// spelled are the rules whose alerts were written down in full.
	spelled map[string]bool
}

// play is a scenario and what each version of Prometheus makes of it.
type play struct {
	scenario scenario.Scenario
	series   []promeval.Series
	courses  []course
}

// course is what a version of Prometheus makes of a scenario.
type course struct {
	store *promeval.Store
	fired []promeval.Firing
}

// plays evaluates scenarios on all processors.
func (w writer) plays(ctx context.Context, table []scenario.Scenario) ([]play, error) {
	plays, errs := make([]play, len(table)), make([]error, len(table))
	var taken atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(taken.Add(1)) - 1; i < len(table); i = int(taken.Add(1)) - 1 {
				plays[i], errs[i] = w.play(ctx, table[i])
			}
		})
	}
	workers.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i] // the others say the same
	}
	return plays, nil
}

// play evaluates a scenario. It is safe for concurrent use.
func (w writer) play(ctx context.Context, s scenario.Scenario) (p play, err error) {
	p.scenario = s
	if p.series, err = s.Series(w.Form); err != nil {
		return p, err
	}
	if v, other := s.OnVictoriaMetrics(); other && w.metricsQL {
		fired, err := v.Firings(w.SeverityLabel)
		p.courses = []course{{fired: fired}, {fired: fired}}
		return p, err
	}
	for _, version := range []promeval.Version{promeval.V3, promeval.V2} {
		store, err := s.Store(p.series, version)
		if err != nil {
			return p, err
		}
		fired, err := s.Run(ctx, w.rules, store)
		if err != nil {
			return p, err
		}
		p.courses = append(p.courses, course{store, fired})
	}
	return p, nil
}

// test writes down the whole set of firing alerts around each change, so that
// the silence of every other alert is tested too. Each rule is spelled out
// with its annotations once.
func (w writer) test(ctx context.Context, p play) (Test, error) {
	s, courses := p.scenario, p.courses
	test := Test{Name: s.Title(), Interval: model.Duration(s.Every)}
	for _, in := range p.series {
		test.InputSeries = append(test.InputSeries, Series{Series: in.Selector, Values: in.Values})
	}
	severity := w.SeverityLabel
	expr := fmt.Sprintf(`count by (%s, %s) (ALERTS{alertstate="firing"})`, labels.AlertName, severity)
	for _, at := range checkpoints(s, courses, severity) {
		test.Expressions = append(test.Expressions, ExprTest{Expr: expr, EvalTime: model.Duration(at), Samples: countFiring(courses[0].fired, at, severity)})
		if courses[0].store == nil || crowded(p.series) {
			continue // a pinned verdict, or texts that differ
		}
		spelled, err := w.spell(ctx, courses, at)
		if err != nil {
			return test, err
		}
		test.Alerts = append(test.Alerts, spelled...)
	}
	if w.metricsQL {
		return w.forVMAlert(test), nil
	}
	return test, nil
}

// listed is how many replicas a text lists.
const listed = 5

// crowded reports whether texts leave replicas out: which, engines choose
// differently where they are alike.
func crowded(series []promeval.Series) bool {
	replicas := map[string]bool{}
	for _, s := range series {
		if found := replica.FindString(s.Selector); found != "" {
			replicas[found] = true
		}
	}
	return len(replicas) > listed
}

var replica = regexp.MustCompile(`\binstance="[^"]*"`)

// checkpoints are evaluations before and after each change, and every five
// minutes between. The versions agree there, and an evaluation earlier and
// later: releases also differ in how increase extrapolates.
func checkpoints(s scenario.Scenario, courses []course, severity string) (times []time.Duration) {
	count := func(i int, at time.Duration) []Sample { return countFiring(courses[i].fired, at, severity) }
	settled := func(at time.Duration) bool {
		for _, near := range []time.Duration{at - scenario.Step, at, at + scenario.Step} {
			if !slices.Equal(count(0, at), count(0, near)) || !slices.Equal(count(0, at), count(1, near)) {
				return false
			}
		}
		return true
	}
	var last time.Duration
	for at := scenario.Step; at < s.End; at += scenario.Step {
		if !settled(at) {
			continue
		}
		if last > 0 && !slices.Equal(count(0, last), count(0, at)) {
			times = append(times, last, at)
		}
		if at%(5*time.Minute) == 0 || at == s.End-scenario.Step {
			times = append(times, at)
		}
		last = at
	}
	slices.Sort(times)
	return slices.Compact(times)
}

// spell writes down the alerts of rules that fire at a time, where the
// versions agree on their texts too.
func (w writer) spell(ctx context.Context, courses []course, at time.Duration) (tests []AlertTest, err error) {
	for _, name := range w.unspelled(courses[0].fired, at) {
		var versions [2][]Alert
		for i, c := range courses {
			if versions[i], err = w.alerts(ctx, c, name, at); err != nil {
				return nil, err
			}
		}
		if len(versions[0]) > 0 && reflect.DeepEqual(versions[0], versions[1]) {
			tests = append(tests, AlertTest{EvalTime: model.Duration(at), AlertName: name, Alerts: versions[0]})
			for _, a := range versions[0] {
				w.spelled[w.kind(name, labels.FromMap(a.Labels))] = true
			}
		}
	}
	return tests, nil
}

// kind tells alerts of different rules apart.
func (w writer) kind(name string, l labels.Labels) string {
	return name + "/" + l.Get(w.SeverityLabel) + "/" + l.Get(w.VariantLabel)
}

// unspelled are the names of alerts that fire at a time, of which one of that
// kind was not written down.
func (w writer) unspelled(fired []promeval.Firing, at time.Duration) (names []string) {
	for _, f := range fired {
		name := f.Labels.Get(labels.AlertName)
		if firesAt(f, at) && !w.spelled[w.kind(name, f.Labels)] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// alerts are those of a name that fire at a time; none if one of them only
// lingers, for its text is of an earlier time.
func (w writer) alerts(ctx context.Context, c course, name string, at time.Duration) (out []Alert, err error) {
	firing := 0
	for _, f := range c.fired {
		if f.Labels.Get(labels.AlertName) == name && firesAt(f, at) {
			firing++
		}
	}
	for _, r := range w.rules {
		if r.Name != name {
			continue
		}
		results, err := c.store.Results(ctx, r, at)
		if err != nil {
			return nil, err
		}
		for _, result := range results {
			if slices.ContainsFunc(c.fired, func(f promeval.Firing) bool { return firesAt(f, at) && labels.Equal(f.Labels, result.Labels) }) {
				own := result.Labels.Map()
				delete(own, labels.AlertName)
				out = append(out, Alert{Labels: own, Annotations: result.Annotations})
			}
		}
	}
	if len(out) != firing {
		return nil, nil
	}
	return out, nil
}

func firesAt(f promeval.Firing, at time.Duration) bool {
	return f.From <= at && (f.Open || at < f.To)
}

func countFiring(fired []promeval.Firing, at time.Duration, severityLabel string) []Sample {
	var out []Sample
	for _, f := range fired {
		if !firesAt(f, at) {
			continue
		}
		key := labels.FromStrings(labels.AlertName, f.Labels.Get(labels.AlertName), severityLabel, f.Labels.Get(severityLabel)).String()
		if i := slices.IndexFunc(out, func(s Sample) bool { return s.Labels == key }); i >= 0 {
			out[i].Value++
		} else {
			out = append(out, Sample{Labels: key, Value: 1})
		}
	}
	return out
}
