package unittest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/leaderscope/leaderscope/internal/promeval"
)

// vmalert-tool looks for the alerts of one name in the group of each rule.
func TestVMAlertTestsSpellAlertsOutByGroup(t *testing.T) {
	alert := Alert{Labels: map[string]string{"severity": "warning"}}
	other := Alert{Labels: map[string]string{"severity": "critical"}}
	rule := func(name, severity, expr, text string) promeval.Rule {
		return promeval.Rule{Name: name, Expr: expr, Labels: map[string]string{"severity": severity}, Annotations: map[string]string{"summary": text}}
	}
	w := writer{Suite: Suite{Tool: VMAlertTool, SeverityLabel: "severity", VariantLabel: "variant", Groups: []Group{
		{Name: "fast", Rules: []promeval.Rule{
			rule("A", "warning", "x", "{{ $value }}"),
			rule("B", "warning", "increase(x[5m])", "{{ $value }} of them"),
			rule("C", "warning", "increase(x[5m])", "{{ with query `increase(x[5m])` }}{{ . | first | label `a` }}{{ end }}"),
			rule("D", "warning", "x", "{{ with query `increase(x[5m])` }}{{ . | first | value }}{{ end }}"),
		}},
		{Name: "slow", Rules: []promeval.Rule{rule("A", "critical", "x", "")}},
	}}}
	var in []AlertTest
	for _, name := range []string{"A", "B", "C", "D"} {
		in = append(in, AlertTest{EvalTime: model.Duration(90 * time.Minute), AlertName: name, Alerts: []Alert{alert, other}})
	}
	in = append(in, AlertTest{EvalTime: model.Duration(95 * time.Minute), AlertName: "A", Alerts: []Alert{other}})
	got := w.forVMAlert(Test{Alerts: in}).Alerts
	want := []AlertTest{
		{EvalTime: model.Duration(90 * time.Minute), GroupName: "fast", AlertName: "A", Alerts: []Alert{alert}},
		{EvalTime: model.Duration(90 * time.Minute), GroupName: "slow", AlertName: "A", Alerts: []Alert{other}},
		{EvalTime: model.Duration(90 * time.Minute), GroupName: "fast", AlertName: "C", Alerts: []Alert{alert}},
		{EvalTime: model.Duration(95 * time.Minute), GroupName: "slow", AlertName: "A", Alerts: []Alert{other}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}
