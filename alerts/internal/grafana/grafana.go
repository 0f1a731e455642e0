// Package grafana is the file format of Grafana's alerting provisioning, and
// what becomes of the queries and texts of a Prometheus rule there.
package grafana

import (
	"encoding/json"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/alerting"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/expr"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/prometheus/common/model"
)

// File is the format of Grafana's alerting provisioning. Source:
// pkg/services/provisioning/alerting/rules_types.go of Grafana.
type File struct {
	APIVersion int     `yaml:"apiVersion"`
	Groups     []Group `yaml:"groups"`
}

// Group is evaluated together.
type Group struct {
	OrgID    int64          `yaml:"orgId"`
	Name     string         `yaml:"name"`
	Folder   string         `yaml:"folder"`
	Interval model.Duration `yaml:"interval"`
	Rules    []Rule         `yaml:"rules"`
}

// Rule is one rule as Grafana keeps it.
type Rule struct {
	UID           string            `yaml:"uid"`
	Title         string            `yaml:"title"`
	Condition     string            `yaml:"condition"`
	Data          []any             `yaml:"data"`
	DashboardUID  string            `yaml:"dashboardUid,omitempty"`
	PanelID       int               `yaml:"panelId,omitempty"`
	NoDataState   string            `yaml:"noDataState"`
	ExecErrState  string            `yaml:"execErrState"`
	For           model.Duration    `yaml:"for"`
	KeepFiringFor model.Duration    `yaml:"keepFiringFor,omitempty"`
	Labels        map[string]string `yaml:"labels"`
	Annotations   map[string]string `yaml:"annotations"`
}

// Literally writes a text where Grafana expands environment variables.
// Source: pkg/services/provisioning/values/values.go of Grafana.
func Literally(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// Condition is the name of the step that decides.
const Condition = "firing"

// Data is what Grafana's own import makes of a Prometheus rule: the query,
// whether it has a value, and the condition on that.
func Data(datasourceUID, promQL string) ([]any, error) {
	server := common.DataSourceRef{Type: cog.ToPtr("__expr__"), Uid: cog.ToPtr("__expr__")}
	steps := []cog.Builder[alerting.Query]{
		alerting.NewQueryBuilder("query").DatasourceUid(datasourceUID).RelativeTimeRange(600, 0).
			Model(prometheus.NewDataqueryBuilder().RefId("query").Expr(promQL).Instant().
				Datasource(common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: &datasourceUID}).
				EditorMode(prometheus.QueryEditorModeCode)),
		alerting.NewQueryBuilder("found").DatasourceUid("__expr__").RelativeTimeRange(0, 0).
			Model(expr.NewExprBuilder().TypeMath(expr.NewTypeMathBuilder().RefId("found").Datasource(server).
				Expression("is_number($query) || is_nan($query) || is_inf($query)"))),
		alerting.NewQueryBuilder(Condition).DatasourceUid("__expr__").RelativeTimeRange(0, 0).
			Model(expr.NewExprBuilder().TypeThreshold(expr.NewTypeThresholdBuilder().RefId(Condition).Datasource(server).
				Expression("found").Conditions([]cog.Builder[expr.ExprTypeThresholdConditions]{
				expr.NewExprTypeThresholdConditionsBuilder().Evaluator(
					expr.NewExprTypeThresholdConditionsEvaluatorBuilder().Type(expr.ExprTypeThresholdConditionsEvaluatorTypeGt).Params([]float64{0}))}))),
	}
	var data []any
	for _, s := range steps {
		built, err := s.Build()
		if err != nil {
			return nil, err
		}
		plain, err := asPlain(built)
		if err != nil {
			return nil, err
		}
		data = append(data, plain)
	}
	return data, nil
}

// asPlain is a value with the names of its JSON.
func asPlain(v any) (plain any, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return plain, json.Unmarshal(raw, &plain)
}
