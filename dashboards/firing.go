package dashboards

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/units"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// firing lists the alerts of what is shown, those that page first.
func (q queries) firing() *table.PanelBuilder {
	columns := []column{{ref: "Since", title: "Since", expr: q.firingSince(), before: q.firingHeadings(),
		style: []dashboard.DynamicConfigValue{width(150), property("unit", units.DateTimeFromNow), property("custom.align", "left")},
	}}
	leads := "to its dashboard"
	if q.foreign() {
		leads = "to its part of this dashboard"
	} else {
		columns[0].labels = []heading{{label: backendLabel, title: "Backend", style: []dashboard.DynamicConfigValue{width(90)}}}
	}
	return q.styled(columns, tablePanel(about{
		id: panel.Alerts, title: "Alerts firing",
		description: "Alerts of the locks shown, with the time for which their condition has held, by their names without " + panel.AlertPrefix + ". The name of an alert links to its runbook, " +
			"the name of a lock " + leads + ". The list comes from the series ALERTS of this data source. If the rules are evaluated " +
			"elsewhere, for example by Grafana, the list stays empty, and so do the states that come from alerts.",
		unit: units.Short, noValue: "no alert fires, or the rules are evaluated elsewhere", width: 24, height: 6,
		steps:   []dashboard.Threshold{base(grey)},
		targets: targetsOf(columns),
	})).
		SortBy([]cog.Builder[common.TableSortByFieldState]{
			common.NewTableSortByFieldStateBuilder().DisplayName("Severity"),
		})
}

// alertLockWidth leaves room for the name of the alert on a narrow screen: severity,
// lock and alert fit into 440 pixels. On a wide screen the column grows.
const alertLockWidth = 190

// firingSince is when the condition of each alert began, in milliseconds.
func (q queries) firingSince() query.Expr {
	since := query.Op(q.ofAlerts("ALERTS_FOR_STATE"), "and ignoring (alertstate)", q.alerting())
	by := []string{labels.AlertName, severityLabel}
	if !q.foreign() {
		by = append(by, backendLabel)
	}
	return q.located(query.Op(since, "*", query.Number(1000)), by...)
}

// Labels that the rules give their alerts.
const (
	severityLabel = query.SeverityLabel
	backendLabel  = query.BackendLabel
)

func (q queries) firingHeadings() []heading {
	name := heading{label: labels.AlertName, title: "Alert", style: []dashboard.DynamicConfigValue{
		property("custom.minWidth", 155), property("mappings", []dashboard.ValueMapping{withoutPrefix(panel.AlertPrefix)})}}
	if q.cfg.RunbookURL != "" {
		name.style = append(name.style, property("links", []any{map[string]any{
			"title": "What it means and what to do", "url": strings.TrimSuffix(q.cfg.RunbookURL, "/") + "/${__value.raw}.md", "targetBlank": true,
		}}))
	}
	return []heading{
		{label: severityLabel, title: "Severity", style: []dashboard.DynamicConfigValue{width(90), textColored(),
			property("mappings", []dashboard.ValueMapping{colors(map[string]string{"critical": red, "warning": orange})})}},
		{label: q.lock, title: "Lock", style: []dashboard.DynamicConfigValue{
			property("custom.minWidth", alertLockWidth), property("links", []any{q.rowLink()})}},
		name,
	}
}
