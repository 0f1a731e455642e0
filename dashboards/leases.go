package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// leases builds the panels on the Leases of kube-state-metrics.
type leases struct {
	foreignQueries
	query.Leases
}

// Leases is the dashboard "Leader election / Leases" as JSON in Grafana's classic
// schema: who holds each Lease, how long ago it was renewed, and how often its holder
// changed, from the series of kube-state-metrics. They lack the lease duration, so
// Thresholds.StaleAfter stands for it. The same configuration always gives the same
// bytes. The error is a [*KeyError] if the configuration is invalid. Leases is safe for
// concurrent use.
func Leases(cfg Config) ([]byte, error) {
	q := queries{lock: query.LeaseName, legend: "{{" + query.LeaseSpace + "}} / {{" + query.LeaseName + "}}", listed: query.LeaseListed, drill: cfg.KubeStateMetrics}
	f, err := newForeignQueries(cfg, q, func(s query.Scope) []string { return query.Leases{Scope: s}.LockLabels() })
	if err != nil {
		return nil, err
	}
	l := leases{f, query.Leases{Scope: f.source}}
	return f.build(
		page{
			Identity: cfg.KubeStateMetrics, annotations: []cog.Builder[dashboard.AnnotationQuery]{f.alertAnnotation()},
			description: "Leases as kube-state-metrics exports them: who holds each Lease, how long ago it was renewed, and how often its holder changed. The lease duration is " +
				"not exported: a Lease that was not renewed for " + duration(cfg.Thresholds.StaleAfter) + " counts as free. Leases of nodes and of API servers are left out.",
		},
		l.now(),
		l.overTime(),
		row{"Data quality", []cog.Builder[dashboard.Panel]{l.exporters()}},
	)
}

func (l leases) now() row {
	return row{"Right now", []cog.Builder[dashboard.Panel]{
		l.firing(),
		l.free(),
		l.watched(),
		l.table(),
	}}
}

func (l leases) overTime() row {
	return row{"Over time", []cog.Builder[dashboard.Panel]{
		l.heldWhen(),
		l.renewals(),
		l.changed(),
	}}
}

func (l leases) vacant() query.Expr {
	return l.Vacant(l.cfg.Thresholds.StaleAfter, l.cfg.Thresholds.VacantLookback)
}

// each is 1 for every Lease.
func (l leases) each() query.Expr { return query.By("group", l.LockLabels(), l.Renewed()) }

func (l leases) free() *stat.PanelBuilder {
	return l.pagingOrNow(about{
		title: "Without a holder",
		description: "Leases that were released, or not renewed for " + duration(l.cfg.Thresholds.StaleAfter) + ", and renewed within " + duration(l.cfg.Thresholds.VacantLookback) + ". Orange: a " +
			"rollout releases a Lease for some seconds. Red: the alert pages, and the leader's work is not being done. Check that candidates run and can reach the API server.",
		unit: units.Short, noValue: "no Lease is exported", width: 12, height: 4,
	}, condition.Vacant, l.vacant(), l.each())
}

func (l leases) watched() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.BackendWatched, title: "Leases exported",
		description: "Leases that kube-state-metrics exports, and how many of them name a holder that renewed within " + duration(l.cfg.Thresholds.StaleAfter) + ". The others may " +
			"belong to programs that no longer run.",
		unit: units.Short, noValue: noLease, width: 12, height: 4,
		steps: plain(),
		targets: []target{
			{ref: "All", expr: countAll(l.each()), legend: "Leases"},
			{ref: "Held", expr: countOf(l.renewedAndHeld(), l.each()), legend: "held"},
		},
	}).
		TextMode(common.BigValueTextModeValueAndName)
}

func (l leases) renewedAndHeld() query.Expr {
	stale := l.Stale(l.cfg.Thresholds.StaleAfter)
	return query.Op(query.By("group", l.LockLabels(), l.Held()), "unless", stale)
}

// Standings of a Lease, as numbers of the table, beside standingHeld.
const (
	standingReleased = 0
	standingStale    = 2
)

// noLease is what a new installation shows in place of Leases.
const noLease = "no Lease is exported: check that leases are among the resources of kube-state-metrics, and that it is scraped with honorLabels"

func (l leases) table() *table.PanelBuilder {
	columns := l.columns()
	return l.styled(columns, tablePanel(about{
		id: panel.BackendLocks, title: "Leases",
		description: "One row per Lease, those that were released first. Renewed is the age of the last renewal, and should stay well below the lease, whose duration is not " +
			"exported. Not renewed: for longer than " + duration(l.cfg.Thresholds.StaleAfter) + "; its last holder is still named. Holders are the different ones in the time range shown. – means unknown, not 0.",
		unit: units.Short, noValue: noLease, width: 24, height: 9,
		steps:   []dashboard.Threshold{base(grey)},
		targets: targetsOf(columns),
	})).
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName("Holder now")})
}

func (l leases) columns() []column {
	mark := func(standing float64, e query.Expr) query.Expr {
		return query.Op(query.Op(query.Number(0), "*", e), "+", query.Number(standing))
	}
	standing := query.Any(
		mark(standingReleased, query.By("group", l.LockLabels(), l.Released())),
		mark(standingStale, l.Stale(l.cfg.Thresholds.StaleAfter)),
		query.By("group", l.LockLabels(), l.Held()),
	)
	named := query.By("max", append(l.LockLabels(), query.LeaseHolder), l.Held())
	return []column{
		{ref: "Held", title: "Holder now", expr: l.located(standing), style: []dashboard.DynamicConfigValue{
			property("mappings", []dashboard.ValueMapping{words(
				says{standingReleased, "released", orange}, says{standingHeld, "held", green}, says{standingStale, "not renewed", orange})}),
			property("custom.cellOptions", map[string]any{"type": "color-background", "mode": "basic"}), width(120), property("custom.align", "left"),
		}, labels: []heading{{label: l.lock, title: "Lock", style: []dashboard.DynamicConfigValue{
			property("custom.minWidth", lockWidth), property("links", []any{l.rowLink()})}}}},
		{ref: "Holder", expr: query.By("topk", l.LockLabels(), "1, "+named), labels: []heading{
			{label: query.LeaseHolder, title: "Holder", style: []dashboard.DynamicConfigValue{property("custom.minWidth", 190)}}}},
		{ref: "Renewed", title: "Renewed", expr: l.Age(), style: []dashboard.DynamicConfigValue{width(100), property("unit", units.Seconds), property("decimals", 0)}},
		{ref: "Holders", title: "Holders", expr: l.Holders(shownRange), style: []dashboard.DynamicConfigValue{width(90), property("decimals", 0)}},
	}
}

// heldWhen shows the Leases with the most holders in the range shown.
func (l leases) heldWhen() *statetimeline.PanelBuilder {
	by := append(l.LockLabels(), query.LeaseHolder)
	holders := query.By("count", l.LockLabels(), query.By("group", by, overAllShown("last_over_time", l.Held())))
	most := func(e query.Expr) query.Expr {
		return query.Op(e, "and "+query.On(l.LockLabels()), l.ranked("topk", timelineLocks, holders))
	}
	fresh := query.Op(query.By("max", by, l.Held()), "unless "+query.On(l.LockLabels()), l.Stale(l.cfg.Thresholds.StaleAfter))
	free := query.Op(query.Number(0), "*", query.Op(l.vacant(), ">=", query.Number(0)))
	return partly(timelinePanel(about{
		id: panel.BackendTimeline, title: "Who held which lock",
		description: "One line per Lease and holder, and an orange line while the Lease was released, or not renewed for " + duration(l.cfg.Thresholds.StaleAfter) + ". Holders that held it between " +
			"two scrapes only are missing. If there are many Leases, those with the most holders are shown.",
		unit: units.Short, noValue: "no holder was named", width: 24, height: 10,
		steps: []dashboard.Threshold{base(grey), from(1, green)},
		targets: []target{
			{ref: "Named", expr: sortedBy(most(fresh), l.lock, query.LeaseHolder), legend: "{{" + query.LeaseHolder + "}} {{" + l.lock + "}}"},
			{ref: "Free", expr: sortedBy(most(free), l.lock), legend: "no holder {{" + l.lock + "}}"},
		},
	}).
		Mappings([]dashboard.ValueMapping{words(says{0, "no holder", orange}, says{1, "holds", green})}).
		PerPage(24), timelineLocks, "most moved", "Leases", holders)
}

func (l leases) renewals() *timeseries.PanelBuilder {
	// The age of a Lease that is free grows for ever, and would hide the others.
	all := query.Op(l.Age(), "<", query.Number(l.cfg.Thresholds.VacantLookback.Seconds()))
	return l.highest("Leases", all, ranking(limitPanel(about{
		id: panel.BackendRenewAge, title: "Age of the last renewal",
		description: "Time since each Lease was renewed, or released. A healthy holder renews well before the end of its lease, usually every few seconds; the value " +
			"has whole seconds and grows until the next scrape. Red: the Lease counts as free. Leases of programs that are gone are left out.",
		unit: units.Seconds, noValue: "no Lease is exported", width: 12, height: 8,
		steps:   []dashboard.Threshold{base(green), from(l.cfg.Thresholds.StaleAfter.Seconds(), red)},
		targets: []target{{expr: l.most(all), legend: l.legend}},
	}), "max"))
}

func (l leases) changed() *timeseries.PanelBuilder {
	all := l.NewHolders("$__interval")
	return l.highest("Leases", all, l.barPanel(about{
		id: panel.BackendTerms, title: "New holders",
		description: "Leases whose holder is another than one step before. Changes between two scrapes, and terms of the same holder, are missing. A held " +
			"lock should show only rollouts; more is flapping: compare with restarts of the holders and the load of the API server.",
		unit: units.Short, noValue: "no Lease is exported", width: 12, height: 8,
		steps:   plain(),
		targets: []target{{expr: l.most(all), legend: l.legend}},
	}))
}

// exporters shows a kube-state-metrics that lost access to Leases.
func (l leases) exporters() *timeseries.PanelBuilder {
	by := append(l.ExporterLabels(), l.Holder)
	return linePanel(about{
		id: panel.BackendReporters, title: "Leases by exporter",
		description: "How many of the Leases shown each kube-state-metrics exports, those of nodes and API servers among them. Gap or drop: kube-state-metrics is not scraped, or " +
			"may not read Leases; until it exports them again, a Lease without a holder goes unnoticed.",
		unit: units.Short, noValue: "no Lease is exported", width: 24, height: 6,
		steps:   plain(),
		targets: []target{{expr: query.By("count", by, l.Exported()), legend: "{{" + l.Holder + "}}"}},
	})
}
