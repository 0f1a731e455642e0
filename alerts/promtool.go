package alerts

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/internal/promeval"
)

// PromtoolTests returns the scenarios as unit tests of promtool for the rules
// that [YAML] makes of the same configuration, found at a path relative to the
// tests. What each scenario must cause is worked out for the configuration; for
// the default one it is what the scenarios demand. The tests look where
// Prometheus 2 and 3 agree, so they hold for the promtool of both. The error is
// that of [Config.Validate], or says that no series could be made to match the
// selector.
func PromtoolTests(c Config, rulesFile string) ([]byte, error) {
	return unitTests(promtool, c, rulesFile, scenarios())
}

// dialect is a tool that runs the tests.
type dialect struct {
	// format is that of gen-dashboards.
	format string
	// table is what the tool runs of a table.
	table func(Config, []scenario) []scenario
	// metricsQL: the tool is vmalert-tool.
	metricsQL bool
}

// promtool is that of Prometheus 2 and 3.
var promtool = dialect{format: "promtool", table: func(_ Config, table []scenario) []scenario { return everywhere(table) }}

// everywhere are scenarios that mean the same to every tool.
func everywhere(table []scenario) []scenario {
	return slices.DeleteFunc(slices.Clone(table), func(s scenario) bool { return s.extrapolated || s.native })
}

func unitTests(tool dialect, c Config, rulesFile string, table []scenario) ([]byte, error) {
	rules, err := Rules(c)
	if err != nil {
		return nil, err
	}
	file := promtoolFile{RuleFiles: []string{rulesFile}, EvaluationInterval: model.Duration(evaluationStep)}
	w := promtoolWriter{dialect: tool, config: c, rules: rules, spelled: map[string]bool{}}
	plays, err := w.plays(context.Background(), tool.table(c, table))
	if err != nil {
		return nil, err
	}
	for _, p := range plays {
		test, err := w.test(context.Background(), p)
		if err != nil {
			return nil, err
		}
		file.Tests = append(file.Tests, test)
	}
	return encode(tool.format, file)
}

// promtoolWriter turns scenarios into tests.
type promtoolWriter struct {
	dialect
	config Config
	rules  []Rule
	// spelled are the rules whose alerts were written down in full.
	spelled map[string]bool
}

// play is a scenario and what each version of Prometheus makes of it.
type play struct {
	scenario scenario
	series   []promeval.Series
	courses  []course
}

// course is what a version of Prometheus makes of a scenario.
type course struct {
	store *promeval.Store
	fired []promeval.Firing
}

// plays evaluates scenarios on all processors.
func (w promtoolWriter) plays(ctx context.Context, table []scenario) ([]play, error) {
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
func (w promtoolWriter) play(ctx context.Context, s scenario) (p play, err error) {
	p.scenario = s
	if p.series, err = s.series(w.config); err != nil {
		return p, err
	}
	if v, other := onVictoriaMetrics[s.title()]; other && w.metricsQL {
		fired, err := v.firings(w.config.SeverityLabel)
		p.courses = []course{{fired: fired}, {fired: fired}}
		return p, err
	}
	for _, version := range []promeval.Version{promeval.V3, promeval.V2} {
		store, err := promeval.Load(p.series, s.every, version)
		if err != nil {
			return p, fmt.Errorf("scenario %s: %w", s.title(), err)
		}
		fired, err := s.run(ctx, w.rules, store)
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
func (w promtoolWriter) test(ctx context.Context, p play) (promtoolTest, error) {
	s, courses := p.scenario, p.courses
	test := promtoolTest{Name: s.title(), Interval: model.Duration(s.every)}
	for _, in := range p.series {
		test.InputSeries = append(test.InputSeries, promtoolSeries{Series: in.Selector, Values: in.Values})
	}
	severity := w.config.SeverityLabel
	expr := fmt.Sprintf(`count by (%s, %s) (ALERTS{alertstate="firing"})`, labels.AlertName, severity)
	for _, at := range s.checkpoints(courses, severity) {
		test.Expressions = append(test.Expressions, promtoolExprTest{Expr: expr, EvalTime: model.Duration(at), Samples: countFiring(courses[0].fired, at, severity)})
		if courses[0].store == nil {
			continue // a pinned verdict
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

// checkpoints are evaluations before and after each change, and every five
// minutes between. The versions agree there, and an evaluation earlier and
// later: releases also differ in how increase extrapolates.
func (s scenario) checkpoints(courses []course, severity string) (times []time.Duration) {
	count := func(i int, at time.Duration) []promtoolSample { return countFiring(courses[i].fired, at, severity) }
	settled := func(at time.Duration) bool {
		for _, near := range []time.Duration{at - evaluationStep, at, at + evaluationStep} {
			if !slices.Equal(count(0, at), count(0, near)) || !slices.Equal(count(0, at), count(1, near)) {
				return false
			}
		}
		return true
	}
	var last time.Duration
	for at := evaluationStep; at < s.end; at += evaluationStep {
		if !settled(at) {
			continue
		}
		if last > 0 && !slices.Equal(count(0, last), count(0, at)) {
			times = append(times, last, at)
		}
		if at%(5*time.Minute) == 0 || at == s.end-evaluationStep {
			times = append(times, at)
		}
		last = at
	}
	slices.Sort(times)
	return slices.Compact(times)
}

// spell writes down the alerts of rules that fire at a time, where the
// versions agree on their texts too.
func (w promtoolWriter) spell(ctx context.Context, courses []course, at time.Duration) (tests []promtoolAlertTest, err error) {
	for _, name := range w.unspelled(courses[0].fired, at) {
		var versions [2][]promtoolAlert
		for i, c := range courses {
			if versions[i], err = w.alerts(ctx, c, name, at); err != nil {
				return nil, err
			}
		}
		if len(versions[0]) > 0 && reflect.DeepEqual(versions[0], versions[1]) {
			tests = append(tests, promtoolAlertTest{EvalTime: model.Duration(at), AlertName: name, Alerts: versions[0]})
			for _, a := range versions[0] {
				w.spelled[w.kind(name, labels.FromMap(a.Labels))] = true
			}
		}
	}
	return tests, nil
}

// kind tells alerts of different rules apart.
func (w promtoolWriter) kind(name string, l labels.Labels) string {
	return name + "/" + l.Get(w.config.SeverityLabel) + "/" + l.Get(variantLabel)
}

// unspelled are the names of alerts that fire at a time, of which one of that
// kind was not written down.
func (w promtoolWriter) unspelled(fired []promeval.Firing, at time.Duration) (names []string) {
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
func (w promtoolWriter) alerts(ctx context.Context, c course, name string, at time.Duration) (out []promtoolAlert, err error) {
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
		results, err := c.store.Results(ctx, r.evaluated(), at)
		if err != nil {
			return nil, err
		}
		for _, result := range results {
			if slices.ContainsFunc(c.fired, func(f promeval.Firing) bool { return firesAt(f, at) && labels.Equal(f.Labels, result.Labels) }) {
				own := result.Labels.Map()
				delete(own, labels.AlertName)
				out = append(out, promtoolAlert{Labels: own, Annotations: result.Annotations})
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

func countFiring(fired []promeval.Firing, at time.Duration, severityLabel string) []promtoolSample {
	var out []promtoolSample
	for _, f := range fired {
		if !firesAt(f, at) {
			continue
		}
		key := labels.FromStrings(labels.AlertName, f.Labels.Get(labels.AlertName), severityLabel, f.Labels.Get(severityLabel)).String()
		if i := slices.IndexFunc(out, func(s promtoolSample) bool { return s.Labels == key }); i >= 0 {
			out[i].Value++
		} else {
			out = append(out, promtoolSample{Labels: key, Value: 1})
		}
	}
	return out
}
