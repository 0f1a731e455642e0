package dashboards

import (
	"slices"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// instrumentation shows the quality of the data in the other rows.
func (q queries) instrumentation() row {
	return row{"Data quality", []cog.Builder[dashboard.Panel]{q.health()}}
}

func (q queries) health() *stat.PanelBuilder {
	warn := func(limit float64, color string) []dashboard.DynamicConfigValue {
		return []dashboard.DynamicConfigValue{steps(base(green), from(limit, color))}
	}
	return statPanel(about{
		id: panel.Instrumentation, title: "Health of the instrumentation",
		description: "Targets down: replicas that Prometheus cannot reach; one of them may lead. Redaction keys: more than one means that " +
			"replicas label the same lock differently, so every lock seems to have two leaders or none. Names folded: there are more locks than the limit " +
			"on labels allows, and the others share one label. Catch-all labels " +
			"(redacted, overflow) stand for every lock that no rule covers: per-lock alerts do not cover them.",
		unit: units.Short, noValue: "no data", width: 24, height: 4,
		steps: plain(),
		targets: []target{
			{ref: "Up", expr: q.targetsIn("1"), legend: "targets up"},
			{ref: "Down", expr: q.targetsIn("0"), legend: "targets down"},
			{ref: "Keys", expr: q.redactionKeys(), legend: "redaction keys in use"},
			{ref: "Folded", expr: q.foldedNames(), legend: "lock names folded, range shown"},
			{ref: "CatchAll", expr: q.catchAllLabels(), legend: "catch-all labels"},
		},
	}).
		OverrideByQuery("Down", warn(1, orange)).
		OverrideByQuery("Keys", warn(2, orange)).
		OverrideByQuery("Folded", warn(0.5, orange)).
		OverrideByQuery("CatchAll", warn(1, orange))
}

// targetsIn counts the targets whose up has a value.
func (q queries) targetsIn(up query.Expr) query.Expr {
	return query.Expr("sum(" + q.targets(query.Op(q.locks.Up(), "== bool", up)) + ")")
}

// redactionKeys is the greatest number of label policies and keys that one
// service uses.
func (q queries) redactionKeys() query.Expr {
	labels := q.locks.TargetLabels()
	policies := query.By("group", append(slices.Clone(labels), redactionLabels()...), q.locks.Metric(catalog.RedactionInfo))
	return query.Expr("max(" + query.By("count", labels, policies) + ")")
}

// redactionLabels tell label policies and keys apart.
func redactionLabels() []string {
	var names []string
	for _, l := range catalog.RedactionInfo.Labels() {
		names = append(names, l.Name())
	}
	return names
}

func (q queries) foldedNames() query.Expr {
	return query.Expr("sum(" + query.Over("increase", q.locks.Metric(catalog.RedactionOverflows), shownRange) + ")")
}

// catchAllLabels counts the labels that stand for locks that no rule covers.
func (q queries) catchAllLabels() query.Expr {
	catchAll := query.Matches(catalog.LockName.Name(), catalog.RedactedLabel+"|"+catalog.OverflowLabel)
	return countOf(
		q.locks.By("group", q.locks.Metric(catalog.ElectorInfo, catchAll)),
		q.locks.By("group", q.locks.Metric(catalog.ElectorInfo)))
}
