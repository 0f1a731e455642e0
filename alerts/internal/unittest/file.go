package unittest

import "github.com/prometheus/common/model"

// File is the format of promtool. Source: cmd/promtool/unittest.go of
// Prometheus.
type File struct {
	RuleFiles          []string       `yaml:"rule_files"`
	EvaluationInterval model.Duration `yaml:"evaluation_interval"`
	Tests              []Test         `yaml:"tests"`
}

// Test is one scenario.
type Test struct {
	Name        string         `yaml:"name"`
	Interval    model.Duration `yaml:"interval"`
	InputSeries []Series       `yaml:"input_series"`
	Alerts      []AlertTest    `yaml:"alert_rule_test,omitempty"`
	Expressions []ExprTest     `yaml:"promql_expr_test,omitempty"`
	// MetricsQL is what vmalert-tool calls its expressions.
	MetricsQL []ExprTest `yaml:"metricsql_expr_test,omitempty"`
}

// Series are samples in the notation of promtool.
type Series struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

// AlertTest has the alerts of a name that fire at a time.
type AlertTest struct {
	EvalTime model.Duration `yaml:"eval_time"`
	// GroupName is the group of the rules; vmalert-tool wants it.
	GroupName string  `yaml:"groupname,omitempty"`
	AlertName string  `yaml:"alertname"`
	Alerts    []Alert `yaml:"exp_alerts"`
}

// Alert is one of them, with its texts.
type Alert struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations map[string]string `yaml:"exp_annotations"`
}

// ExprTest has the values of an expression at a time.
type ExprTest struct {
	Expr     string         `yaml:"expr"`
	EvalTime model.Duration `yaml:"eval_time"`
	Samples  []Sample       `yaml:"exp_samples,omitempty"`
}

// Sample is one of them.
type Sample struct {
	Labels string  `yaml:"labels"`
	Value  float64 `yaml:"value"`
}
