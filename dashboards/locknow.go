package dashboards

import (
	"slices"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

func (q queries) holderNow() *stat.PanelBuilder {
	leading := q.facts.Leading()
	on := query.On(q.locks.Labels)
	holder := "{{" + q.cfg.Scope.Holder + "}}"
	targets := []target{
		{ref: "Crowd", expr: query.Op(leading, "and "+on, q.facts.Crowded()), legend: holder},
		{ref: "Holder", expr: query.Op(leading, "unless "+on, q.facts.Crowded()), legend: holder},
		{ref: "Unprotected", expr: q.facts.Unprotected(), legend: holder + " works without it"},
		{ref: "NotSeen", expr: q.facts.UnseenLeaders(), legend: holder + ", not scraped"},
		{ref: "NoLeader", expr: query.Op(q.facts.Leaderless(), "unless", q.facts.Unseen()), legend: "no replica"},
		{ref: "Idle", expr: q.facts.Run(query.Op(q.facts.Active(), "==", query.Number(0))), legend: "idle"},
	}
	if slices.Contains(q.locks.Labels, "job") {
		targets = append(targets, target{ref: "Elsewhere", expr: q.facts.OtherLeaders(), legend: holder + " of job {{job}}"})
	}
	return statPanel(about{
		id: panel.Holder, title: "Held by",
		description: "The replica that holds the lock now. Several replicas in red are more than the elector allows: two replicas do the same work. " +
			"A lock taken for single runs is idle most of the time. In blue: a replica of another job that leads the same lock, as of a canary and its stable release.",
		unit: units.Short, noValue: "not reported", width: 7, height: 4,
		steps:   []dashboard.Threshold{base(green)},
		targets: targets,
	}).
		OverrideByQuery("Crowd", []dashboard.DynamicConfigValue{fixed(red)}).
		OverrideByQuery("Unprotected", []dashboard.DynamicConfigValue{fixed(red)}).
		OverrideByQuery("NotSeen", []dashboard.DynamicConfigValue{fixed(orange)}).
		OverrideByQuery("NoLeader", []dashboard.DynamicConfigValue{fixed(orange)}).
		OverrideByQuery("Elsewhere", []dashboard.DynamicConfigValue{fixed(blue)}).
		OverrideByQuery("Idle", []dashboard.DynamicConfigValue{fixed(unseen)}).
		Text(common.NewVizTextDisplayOptionsBuilder().ValueSize(20)).
		TextMode(common.BigValueTextModeName)
}

func (q queries) stateNow() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.State, title: "State",
		description: "The worst state of the lock. Red: an alert that pages fires. Orange: an alert that warns fires, or the state may be temporary, " +
			"such as a term near its lease within " + duration(q.cfg.Thresholds.LeaseWindow) + " and backend errors within " +
			duration(q.cfg.Thresholds.ErrorWindow) + ".",
		unit: units.Short, noValue: "not reported", width: 5, height: 4,
		steps:   plain(),
		targets: []target{{expr: q.facts.State(), legend: q.legend}},
	}).
		Mappings([]dashboard.ValueMapping{stateWords()}).
		TextMode(common.BigValueTextModeValue)
}

func (q queries) leaseLeftNow() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.LeaseLeft, title: "Lease left now",
		description: "Time until the lease of the current term ends, and its share of the lease. Negative: the lease has expired, and the " +
			"work continues.",
		unit: units.PercentUnit, noValue: "not held, or no lease end is known", width: 4, height: 4,
		steps: q.leaseSteps(),
		targets: []target{
			{ref: "Share", expr: q.facts.LeaseLeft(), legend: "of the lease"},
			{ref: "Time", expr: q.facts.Headroom(), legend: "time"},
		},
	}).
		Decimals(0).
		OverrideByQuery("Time", []dashboard.DynamicConfigValue{
			property("unit", units.Seconds), property("decimals", 1), steps(base(red), from(0, blue)),
		}).
		TextMode(common.BigValueTextModeValue)
}

func (q queries) lastAcquired() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.LastAcquired, title: "Last acquired",
		description: "Time since the lock was last won. For a lock taken for single runs this should stay below the declared interval. " +
			"For a held lock it is the time since the leader was elected.",
		unit: units.Seconds, noValue: "not reported by the replicas scraped", width: 4, height: 4,
		steps:   plain(),
		targets: []target{{expr: q.sinceAcquired(), legend: "ago"}},
	}).
		Decimals(0).
		TextMode(common.BigValueTextModeValue)
}

func (q queries) declared() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.Declared, title: "As declared",
		description: "The lease, the time between two runs, and the number of leaders that the elector allows. The cadence is shown if the " +
			"service declares it; without it, no alert detects a job that stopped.",
		unit: units.Seconds, noValue: "nothing is declared", width: 4, height: 4,
		steps: []dashboard.Threshold{base(grey)},
		targets: []target{
			{ref: "Lease", expr: q.facts.LeaseLength(), legend: "lease"},
			{ref: "Cadence", expr: q.locks.By("max", q.locks.Metric(catalog.ExpectedInterval)), legend: "cadence"},
			{ref: "Leaders", expr: q.facts.Allowed(), legend: "leaders"},
		},
	}).
		OverrideByQuery("Leaders", []dashboard.DynamicConfigValue{property("unit", units.Short)}).
		Text(common.NewVizTextDisplayOptionsBuilder().TitleSize(13).ValueSize(22)).
		ColorMode(common.BigValueColorModeNone).
		TextMode(common.BigValueTextModeValueAndName)
}

// replicasTable says what each replica is doing about the lock, those that
// lead first.
func (q queries) replicasTable() *table.PanelBuilder {
	columns := q.replicaColumns()
	return q.styled(columns, tablePanel(about{
		id: panel.Replicas, title: "Replicas",
		description: "One row per replica that reports the lock. A replica that works without holding the lock has no " +
			"protection. A replica that waits for a long time while no replica leads cannot win: see its log. – means unknown, not 0.",
		unit: units.Short, noValue: "no replica reports this lock: check the labels chosen above, and that its replicas run and are scraped", width: 24, height: 6,
		steps:   []dashboard.Threshold{base(grey)},
		targets: targetsOf(columns),
	})).
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName("Lock").Desc(true)})
}

func (q queries) replicaColumns() []column {
	each := func(op string, m *catalog.Metric) query.Expr { return q.replicas.ByHolder(op, q.replicas.Metric(m)) }
	picked := q.facts
	picked.Scope = q.replicas
	unprotected := picked.Unprotected()
	seconds := []dashboard.DynamicConfigValue{width(110), property("unit", units.Seconds), property("decimals", 1)}
	info := append(slices.Clone(q.locks.Labels), q.cfg.Scope.Holder, "mode", "backend", "family")
	return []column{
		{ref: "Active", title: "Lock", expr: each("max", catalog.Active), labels: []heading{{label: q.cfg.Scope.Holder, title: "Replica", style: []dashboard.DynamicConfigValue{property("custom.minWidth", 160)}}},
			style: []dashboard.DynamicConfigValue{
				property("mappings", []dashboard.ValueMapping{words(says{0, "not held", grey}, says{1, "holds it", green}), several("", green)}),
				property("custom.cellOptions", map[string]any{"type": "color-text"}), width(110), property("custom.align", "left"),
			}},
		{ref: "Running", title: "Works", expr: query.Op(query.Op("-1", "*", unprotected), "or", each("max", catalog.Running)), style: []dashboard.DynamicConfigValue{
			width(130), textColored(), property("mappings", []dashboard.ValueMapping{words(says{0, "no", grey}, says{1, "yes", grey}), below("without the lock", red)})}},
		{ref: "Waiting", title: "Waits since", expr: each("max", catalog.PendingAge), style: seconds},
		{ref: "Headroom", title: "Headroom", expr: each("min", catalog.LeaseHeadroom), style: seconds},
		{ref: "Token", title: "Fencing token", expr: each("max", catalog.FencingToken), style: []dashboard.DynamicConfigValue{
			width(130), property("unit", units.NoUnit)}},
		{ref: "Acquired", title: "Last acquired", expr: query.Op(each("max", catalog.LastAcquired), "*", query.Number(1000)),
			style: []dashboard.DynamicConfigValue{width(150), property("unit", units.DateTimeFromNow)}},
		{ref: "Info", expr: query.By("max", info, q.replicas.Metric(catalog.ElectorInfo)), labels: infoHeadings()},
	}
}
