package alerts

import "github.com/prometheus/common/model"

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
	Expressions []promtoolExprTest  `yaml:"promql_expr_test,omitempty"`
	// MetricsQL is what vmalert-tool calls its expressions.
	MetricsQL []promtoolExprTest `yaml:"metricsql_expr_test,omitempty"`
}

type promtoolSeries struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

type promtoolAlertTest struct {
	EvalTime model.Duration `yaml:"eval_time"`
	// GroupName is the group of the rules; vmalert-tool wants it.
	GroupName string          `yaml:"groupname,omitempty"`
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
