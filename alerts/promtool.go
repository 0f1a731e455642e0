package alerts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/internal/promeval"
)

// PromtoolTests returns the scenarios as unit tests of promtool for the rules
// that [YAML] makes of the same configuration, found at a path relative to the
// tests. What each scenario must cause is worked out for the configuration; for
// the default one it is what the scenarios demand. The error is that of
// [Config.Validate], or says that no series could be made to match the selector.
func PromtoolTests(c Config, rulesFile string) ([]byte, error) {
	return promtoolTests(c, rulesFile, scenarios())
}

func promtoolTests(c Config, rulesFile string, table []scenario) ([]byte, error) {
	rules, err := Rules(c)
	if err != nil {
		return nil, err
	}
	file := promtoolFile{RuleFiles: []string{rulesFile}, EvaluationInterval: model.Duration(evaluationStep)}
	spelled := map[string]bool{}
	for _, s := range table {
		series, err := s.series(c)
		if err != nil {
			return nil, err
		}
		fired, err := s.firings(context.Background(), rules, series)
		if err != nil {
			return nil, err
		}
		file.Tests = append(file.Tests, s.promtool(c, series, fired, spelled))
	}
	return encode("promtool", file)
}

// The file format of promtool. Source: cmd/promtool/unittest.go of Prometheus.
type promtoolFile struct {
	RuleFiles          []string       `yaml:"rule_files"`
	EvaluationInterval model.Duration `yaml:"evaluation_interval"`
	Tests              []promtoolTest `yaml:"tests"`
}

type promtoolTest struct {
	Name        string              `yaml:"name"`
	Interval    model.Duration      `yaml:"interval"`
	InputSeries []promtoolSeries    `yaml:"input_series"`
	Alerts      []promtoolAlertTest `yaml:"alert_rule_test,omitempty"`
	Expressions []promtoolExprTest  `yaml:"promql_expr_test"`
}

type promtoolSeries struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

type promtoolAlertTest struct {
	EvalTime  model.Duration  `yaml:"eval_time"`
	AlertName string          `yaml:"alertname"`
	Alerts    []promtoolAlert `yaml:"exp_alerts"`
}

type promtoolAlert struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations map[string]string `yaml:"exp_annotations"`
}

type promtoolExprTest struct {
	Expr     string           `yaml:"expr"`
	EvalTime model.Duration   `yaml:"eval_time"`
	Samples  []promtoolSample `yaml:"exp_samples,omitempty"`
}

type promtoolSample struct {
	Labels string  `yaml:"labels"`
	Value  float64 `yaml:"value"`
}

// promtool writes down the whole set of firing alerts around each change, so
// that the silence of every other alert is tested too. Each alert is spelled
// out with its annotations the first time that it fires.
func (s scenario) promtool(c Config, series []promeval.Series, fired []promeval.Firing, spelled map[string]bool) promtoolTest {
	test := promtoolTest{Name: s.title(), Interval: model.Duration(s.every)}
	for _, in := range series {
		test.InputSeries = append(test.InputSeries, promtoolSeries{Series: in.Selector, Values: in.Values})
	}
	expr := fmt.Sprintf(`count by (%s, %s) (ALERTS{alertstate="firing"})`, labels.AlertName, c.SeverityLabel)
	for _, at := range s.checkpoints(fired) {
		test.Expressions = append(test.Expressions, promtoolExprTest{Expr: expr, EvalTime: model.Duration(at), Samples: countFiring(fired, at, c.SeverityLabel)})
	}
	for _, f := range fired {
		name := f.Labels.Get(labels.AlertName)
		key := name + "/" + f.Labels.Get(c.SeverityLabel)
		if spelled[key] {
			continue
		}
		if alerts, ok := startedTogether(fired, name, f.From); ok {
			spelled[key] = true
			test.Alerts = append(test.Alerts, promtoolAlertTest{EvalTime: model.Duration(f.From), AlertName: name, Alerts: alerts})
		}
	}
	return test
}

// checkpoints are the evaluations before and at each change, and every five
// minutes between.
func (s scenario) checkpoints(fired []promeval.Firing) []time.Duration {
	times := []time.Duration{s.end}
	for at := 5 * time.Minute; at < s.end; at += 5 * time.Minute {
		times = append(times, at)
	}
	for _, f := range fired {
		times = append(times, f.From)
		if f.From > 0 {
			times = append(times, f.From-evaluationStep)
		}
		if !f.Open {
			times = append(times, f.To-evaluationStep, f.To)
		}
	}
	slices.Sort(times)
	return slices.Compact(times)
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

// startedTogether returns the alerts of a name that fire at a time, if all of
// them began then: their annotations are those of that moment.
func startedTogether(fired []promeval.Firing, name string, at time.Duration) ([]promtoolAlert, bool) {
	var out []promtoolAlert
	for _, f := range fired {
		if f.Labels.Get(labels.AlertName) != name || !firesAt(f, at) {
			continue
		}
		if f.From != at {
			return nil, false
		}
		own := f.Labels.Map()
		delete(own, labels.AlertName)
		out = append(out, promtoolAlert{Labels: own, Annotations: f.Annotations})
	}
	return out, true
}
