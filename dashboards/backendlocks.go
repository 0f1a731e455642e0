package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// If several reporters watch a lock, the most informative report counts: a holder
// that any of them reports, the latest renewal, the most terms.

func (q queries) view(op string, m *catalog.Metric) query.Expr {
	return query.By(op, q.locks.BackendLabels(), q.locks.Metric(m))
}

// counted is the highest count of any reporter in a window.
func (q queries) counted(m *catalog.Metric, window string) query.Expr {
	return query.By("max", q.locks.BackendLabels(), query.Over("increase", q.locks.Metric(m), window))
}

// renewedAgo is the age of the last renewal, computed from the end and the duration
// of the recorded lease.
func (q queries) renewedAgo() query.Expr {
	renewed := query.Op(q.locks.Metric(catalog.BackendLeaseExpiry), "-", q.locks.Metric(catalog.BackendLeaseDuration))
	return query.Op(query.Call("time"), "-", query.By("max", q.locks.BackendLabels(), renewed))
}

// Standings of a watched lock, as numbers of the table.
const (
	standingFree    = 0
	standingHeld    = 1
	standingUnknown = 2
)

// noneWatched is what a new installation shows in place of locks.
const noneWatched = "no lock is watched: check that leader-observer runs, and that it is scraped"

// viewTable has a row for each lock that is watched.
func (q queries) viewTable() *table.PanelBuilder {
	columns := q.viewColumns()
	return q.styled(columns, tablePanel(about{
		id: panel.BackendLocks, title: "Locks in the backends",
		description: "One row per lock, those without a holder first. Renewed is the age of the last known renewal, and should stay well " +
			"below the lease. Without a holder is how long the backend named no holder in the time range shown. – means unknown, not 0. " +
			"The name of a lock links to its dashboard.",
		unit: units.Short, noValue: noneWatched, width: 24, height: 9,
		steps:   []dashboard.Threshold{base(grey)},
		targets: targetsOf(columns),
	})).
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName("Holder now")})
}

func (q queries) viewColumns() []column {
	named := query.By("max", q.ofView(query.HolderLabel), q.locks.Metric(catalog.BackendHolderInfo))
	unknown := query.Op(query.Number(standingUnknown), "*", query.By("group", q.locks.BackendLabels(), q.locks.Metric(catalog.BackendLastEvent)))
	standing := query.Op(query.Call("clamp_max", q.view("max", catalog.BackendHeld), query.Number(standingHeld)), "or", unknown)
	seconds := func(pixels int) []dashboard.DynamicConfigValue {
		return []dashboard.DynamicConfigValue{width(pixels), property("unit", units.Seconds), property("decimals", 1)}
	}
	return []column{
		{ref: "Held", title: "Holder now", expr: q.located(standing, backendLabel), style: []dashboard.DynamicConfigValue{
			property("mappings", []dashboard.ValueMapping{words(says{standingFree, "none", orange}, says{standingHeld, "held", green}, says{standingUnknown, "not known", unseen})}),
			property("custom.cellOptions", map[string]any{"type": "color-background", "mode": "basic"}), width(110), property("custom.align", "left"),
		}, labels: []heading{{label: catalog.LockName.Name(), title: "Lock", style: []dashboard.DynamicConfigValue{
			property("custom.minWidth", 190), property("links", []any{q.rowLink()})}}}},
		{ref: "Holder", expr: query.By("topk", q.locks.BackendLabels(), "1, "+named), labels: []heading{
			{label: query.HolderLabel, title: "Holder", style: []dashboard.DynamicConfigValue{property("custom.minWidth", 190)}}}},
		{ref: "Lease", title: "Lease", expr: q.view("max", catalog.BackendLeaseDuration), style: seconds(80)},
		{ref: "Renewed", title: "Renewed", expr: q.renewedAgo(), style: seconds(90)},
		{ref: "Vacant", title: "Without a holder", expr: q.counted(catalog.BackendVacant, shownRange), style: seconds(130)},
		{ref: "Terms", title: "Terms", expr: q.counted(catalog.BackendTerms, shownRange), style: []dashboard.DynamicConfigValue{width(80), property("decimals", 0)}},
		{ref: "Token", title: "Token", expr: q.view("max", catalog.BackendToken), style: []dashboard.DynamicConfigValue{width(100), property("unit", units.NoUnit)}},
		{ref: "Event", title: "Last event", expr: query.Op(q.view("max", catalog.BackendLastEvent), "*", query.Number(1000)),
			style:  []dashboard.DynamicConfigValue{width(130), property("unit", units.DateTimeFromNow)},
			labels: []heading{{label: backendLabel, title: "Backend", style: []dashboard.DynamicConfigValue{width(100)}}}},
	}
}

// mostTerms keeps the locks whose holder changed most in the time shown, or
// that were free longest.
func (q queries) mostTerms(e query.Expr) query.Expr {
	return query.Op(e, "and "+query.On(q.locks.BackendLabels()), q.ranked("topk", timelineLocks, q.changed()))
}

// changed is how often the holder changed in the range shown, and a little for
// each second without one. It is the same at each step.
func (q queries) changed() query.Expr {
	terms, vacant := overAllShown("increase", q.locks.Metric(catalog.BackendTerms)), overAllShown("increase", q.locks.Metric(catalog.BackendVacant))
	return query.By("max", q.locks.BackendLabels(), query.Op(terms, "+", query.Op(vacant, "/", query.Number(1e6))))
}

func (q queries) namedWhen() *statetimeline.PanelBuilder {
	named := query.By("max", q.ofView(query.HolderLabel), q.replicas.Metric(catalog.BackendHolderInfo))
	free := query.Op(query.By("max", q.locks.BackendLabels(), q.replicas.Metric(catalog.BackendHeld)), "==", query.Number(0))
	name := "{{" + endLabel + "}}"
	lock := func(e query.Expr) query.Expr { return hashEnd(q.mostTerms(e), catalog.LockName.Name(), endLabel) }
	return partly(timelinePanel(about{
		id: panel.BackendTimeline, title: "Who held which lock",
		description: "One line per lock and holder that the backend named, and an orange line while it named none. If all lines of a lock have a gap, " +
			"the backend could not be queried. If there are many locks, those whose holder changed most often are shown. The holder is the " +
			"identity with which a process campaigns, on Kubernetes usually the pod.",
		unit: units.Short, noValue: "no holder was named", width: 24, height: 10,
		steps: []dashboard.Threshold{base(grey), from(1, green)},
		targets: []target{
			{ref: "Named", expr: sortedBy(hashEnd(lock(named), query.HolderLabel, holderEndLabel), catalog.LockName.Name(), query.HolderLabel), legend: "{{" + holderEndLabel + "}} " + name},
			{ref: "Free", expr: sortedBy(lock(free), catalog.LockName.Name()), legend: "no holder " + name},
		},
	}).
		Mappings([]dashboard.ValueMapping{words(says{0, "no holder", orange}, says{1, "holds", green})}).
		PerPage(24), timelineLocks, "most moved", "locks", q.changed())
}

// holderEndLabel is what hashEnd leaves of a holder.
const holderEndLabel = "named"

// hashEnd copies a label into another, and of a hash the end alone: beside a
// timeline is room for some 20 characters. Names of pods and of leases stay whole.
func hashEnd(e query.Expr, label, into string) query.Expr {
	whole := query.Call("label_replace", e, query.Text(into), query.Text("$1"), query.Text(label), query.Text("(.+)"))
	return query.Call("label_replace", whole, query.Text(into), query.Text("…$1"), query.Text(label), query.Text(".{9,}([0-9a-f]{6})"))
}

func (q queries) vacancies() *timeseries.PanelBuilder {
	all := q.counted(catalog.BackendVacant, rateInterval)
	return q.highest("locks", all, q.barPanel(about{
		id: panel.BackendVacancies, title: "Time without a holder",
		description: "How long the backend named no live holder. Backends that send events give exact times, including gaps between two " +
			"scrapes. A handover after a crash takes up to a lease; longer " +
			"means that no candidate could win: see their logs. Time in which the backend could not be queried is not counted.",
		unit: units.Seconds, noValue: "no lock is watched", width: 12, height: 8,
		steps:   plain(),
		targets: []target{{expr: q.most(all), legend: q.legend}},
	}))
}

func (q queries) terms() *timeseries.PanelBuilder {
	all := query.By("max", q.locks.BackendLabels(), q.grown(q.locks.Metric(catalog.BackendTerms)))
	return q.highest("locks", all, q.barPanel(about{
		id: panel.BackendTerms, title: "Terms that began",
		description: "How often the backend named a new holder, or the same one again after a gap, including several changes between " +
			"two scrapes. A held lock should show only rollouts; more is flapping: compare with the restarts of its replicas and the load of the backend.",
		unit: units.Short, noValue: "no lock is watched", width: 12, height: 8,
		steps:   plain(),
		targets: []target{{expr: q.most(all), legend: q.legend}},
	}))
}

func (q queries) handovers() *timeseries.PanelBuilder {
	m := catalog.BackendHandover
	grew := query.Op(q.locks.Observed(m, rateInterval), ">", query.Number(0))
	sum, count := query.Op(q.locks.Observations(m, rateInterval), "and", grew), grew
	if q.facts.Histograms != query.NativeHistograms {
		// A histogram begins with its first handover, which is no increase.
		born := func(e query.Expr) query.Expr { return query.Op(e, "unless", query.Offset(e, rateInterval)) }
		sum, count = query.Op(sum, "or", born(q.locks.Sum(m))), query.Op(count, "or", born(q.locks.Count(m)))
	}
	sum, count = query.By("sum", q.locks.BackendLabels(), sum), query.By("sum", q.locks.BackendLabels(), count)
	all := query.Op(query.Op(sum, "/", count), ">=", query.Number(0)) // drops NaN
	return q.highest("locks", all, linePanel(about{
		id: panel.BackendHandover, title: "Handover duration",
		description: "Average time without a live holder before each term. Near 0: the holder released the lock, and the next one was already " +
			"waiting. Up to the lease: the holder crashed. Longer: no candidate was ready. Gaps with an unknown start are left out.",
		unit: units.Seconds, noValue: "no handover in the time shown", width: 12, height: 8,
		steps:   plain(),
		targets: []target{{expr: q.most(all), legend: q.legend}},
	}).
		ShowPoints(common.VisibilityModeAlways))
}

func (q queries) renewAge() *timeseries.PanelBuilder {
	// Of a lock that is free the age grows for ever, and would hide the others.
	used := query.Op(query.Op(q.renewedAgo(), "/", q.view("max", catalog.BackendLeaseDuration)), "and", query.Op(q.view("max", catalog.BackendHeld), ">", query.Number(0)))
	return q.highest("locks", used, ranking(limitPanel(about{
		id: panel.BackendRenewAge, title: "Age of the last renewal, share of the lease",
		description: "1 is the end of the lease: another candidate may take the lock. A healthy holder renews well before, for example after a third of " +
			"its lease. Locks without a holder are left out, and so are backends that report no end of a lease: etcd, ZooKeeper, PostgreSQL.",
		unit: units.PercentUnit, noValue: "no end of a lease is known", width: 12, height: 8,
		steps:   []dashboard.Threshold{base(green), from(1, red)},
		targets: []target{{expr: q.most(used), legend: q.legend}},
	}), "max"))
}
