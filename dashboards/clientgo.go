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

// clientGo builds the panels on the gauge of client-go.
type clientGo struct {
	foreignQueries
	query.ClientGo
}

// ClientGo is the dashboard "Leader election / client-go" as JSON in Grafana's classic
// schema: which replica claims to lead, how often that changed, and renewals that met
// another writer, from the series that client-go and controller-runtime export. The
// gauge has no lease, so nothing tells whether a claim is still valid. The same
// configuration always gives the same bytes. The error is a [*KeyError] if the
// configuration is invalid. ClientGo is safe for concurrent use.
func ClientGo(cfg Config) ([]byte, error) {
	q := queries{lock: query.ClientGoName, legend: cfg.foreignLegend(query.ClientGoName), listed: query.ClientGoListed, drill: cfg.ClientGo}
	f, err := newForeignQueries(cfg, q, func(s query.Scope) []string { return query.ClientGo{Scope: s}.LockLabels() })
	if err != nil {
		return nil, err
	}
	c := clientGo{f, query.ClientGo{Scope: f.source}}
	return f.build(
		page{
			Identity: cfg.ClientGo, annotations: []cog.Builder[dashboard.AnnotationQuery]{f.alertAnnotation()},
			description: "Leader election as client-go and controller-runtime export it: which replica claims to lead, and how often that changed. The gauge has " +
				"no lease: a process that stopped leading between two renewals and still runs shows that it leads.",
		},
		c.now(),
		c.overTime(),
		row{"Data quality", []cog.Builder[dashboard.Panel]{c.scraped()}},
	)
}

func (c clientGo) now() row {
	return row{"Right now", []cog.Builder[dashboard.Panel]{
		c.firing(),
		c.withoutLeader(),
		c.severalLeaders(),
		c.replicasNow(),
		c.table(),
	}}
}

func (c clientGo) overTime() row {
	return row{"Over time", []cog.Builder[dashboard.Panel]{
		c.ledWhen(),
		c.changed(),
		c.conflicts(),
	}}
}

func (c clientGo) withoutLeader() *stat.PanelBuilder {
	return c.pagingOrNow(about{
		title: "Without a leader",
		description: "Locks that no replica claims to lead. Orange: a failover takes up to a lease, whose duration is not exported. Red: the alert pages. " +
			"Look up the holder of the lock in its Lease, and check that replicas run and campaign.",
		unit: units.Short, noValue: "no replica exports the gauge", width: 8, height: 4,
	}, condition.NoLeader, c.Leaderless(), c.Status())
}

func (c clientGo) severalLeaders() *stat.PanelBuilder {
	return c.pagingOrNow(about{
		title: "Too many leaders",
		description: "Locks that several replicas claim to lead. Orange: a handover may show two for one scrape. Red: the alert pages: two processes may do the same " +
			"work, or one stopped leading without setting its gauge to 0. The holder in the Lease is the one that leads: stop the others.",
		unit: units.Short, noValue: "no replica exports the gauge", width: 8, height: 4,
	}, condition.SplitBrain, query.Op(c.Claims(), ">", query.Number(1)), c.Status())
}

func (c clientGo) replicasNow() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.Unseen, title: "Not scraped",
		description: "Replicas that exported the gauge in the time range shown and that Prometheus cannot reach now. One of them may lead: see the targets page of Prometheus.",
		unit:        units.Short, noValue: "no series up", width: 8, height: 4,
		steps:   []dashboard.Threshold{base(green), from(1, orange)},
		targets: []target{{expr: query.Expr("sum(" + c.campaigned(query.Op(c.targets.Up(), "== bool", query.Number(0))) + ")"), legend: "not scraped"}},
	})
}

// campaigned keeps what belongs to targets that exported the gauge in the range shown.
func (c clientGo) campaigned(e query.Expr) query.Expr {
	by := append(c.targets.TargetLabels(), c.Holder)
	return query.Op(query.By("max", by, e), "and "+query.On(by), overAllShown("last_over_time", c.Status()))
}

// Standings of a lock by the number of claims.
const (
	noClaim  = 0
	oneClaim = 1
)

func (c clientGo) table() *table.PanelBuilder {
	columns := c.columns()
	return c.styled(columns, tablePanel(about{
		id: panel.Locks, title: "Locks",
		description: "One row per lock, those without a leader first. Leader is a replica that claims to lead. Won or lost counts each change of a replica, so " +
			"that a handover between two replicas is two. Conflicts are renewals that met another writer of the record. – means unknown, not 0.",
		unit: units.Short, noValue: "no replica exports the gauge: check that replicas register the metrics of client-go, and that Prometheus scrapes them", width: 24, height: 9,
		steps:   []dashboard.Threshold{base(grey)},
		targets: targetsOf(columns),
	})).
		SortBy([]cog.Builder[common.TableSortByFieldState]{common.NewTableSortByFieldStateBuilder().DisplayName("Claims")})
}

func (c clientGo) columns() []column {
	leading := query.By("max", c.ReplicaLabels(), query.Op(c.Status(), "==", query.Number(1)))
	count := func(pixels int) []dashboard.DynamicConfigValue {
		return []dashboard.DynamicConfigValue{width(pixels), property("decimals", 0)}
	}
	return []column{
		{ref: "Claims", title: "Claims", expr: c.located(c.Claims()), style: []dashboard.DynamicConfigValue{
			property("mappings", []dashboard.ValueMapping{words(says{noClaim, "no leader", orange}, says{oneClaim, "led", green}), several("", orange)}),
			property("custom.cellOptions", map[string]any{"type": "color-background", "mode": "basic"}), width(110), property("custom.align", "left"),
		}, labels: []heading{{label: c.lock, title: "Lock", style: []dashboard.DynamicConfigValue{
			property("custom.minWidth", lockWidth), property("links", []any{c.rowLink()})}}}},
		{ref: "Leader", expr: query.By("topk", c.LockLabels(), "1, "+leading), labels: []heading{
			{label: c.Holder, title: "Leader", style: []dashboard.DynamicConfigValue{property("custom.minWidth", 130)}}}},
		{ref: "Replicas", title: "Replicas", expr: query.By("count", c.LockLabels(), query.By("group", c.ReplicaLabels(), c.Status())), style: count(90)},
		{ref: "Changes", title: "Won or lost", expr: c.Changes(shownRange), style: count(110)},
		{ref: "Conflicts", title: "Conflicts", expr: c.SlowPaths(shownRange), style: count(100)},
	}
}

// ledWhen shows the replicas that led in the range shown, of the locks that moved most.
func (c clientGo) ledWhen() *statetimeline.PanelBuilder {
	led := query.By("max", c.ReplicaLabels(), query.Op(overAllShown("max_over_time", c.Status()), ">", query.Number(0)))
	moves := query.By("sum", c.LockLabels(), query.By("max", c.ReplicaLabels(), overAllShown("changes", c.Status())))
	shown := query.Op(query.By("max", c.ReplicaLabels(), c.Status()), "and", led)
	shown = query.Op(shown, "and "+query.On(c.LockLabels()), c.ranked("topk", timelineLocks, moves))
	return partly(timelinePanel(about{
		id: panel.HolderTimeline, title: "Who led when",
		description: "One line per lock and replica that claimed to lead. In a healthy lock, one green section follows another without a long gap. Two green sections " +
			"at once: two leaders, or a process that stopped leading and still runs. If there are many locks, those whose leadership changed most often are shown.",
		unit: units.Short, noValue: "no replica led", width: 24, height: 10,
		steps:   []dashboard.Threshold{base(grey), from(1, green)},
		targets: []target{{expr: sortedBy(shown, c.lock, c.Holder), legend: "{{" + c.Holder + "}} {{" + c.lock + "}}"}},
	}).
		Mappings([]dashboard.ValueMapping{words(says{0, "does not lead", unseen}, says{1, "claims to lead", green})}).
		PerPage(24), timelineLocks, "most moved", "locks", moves)
}

func (c clientGo) changed() *timeseries.PanelBuilder {
	all := c.Changes(rateInterval)
	return c.highest("locks", all, c.barPanel(about{
		id: panel.Transitions, title: "Leadership won or lost",
		description: "How often replicas began or ceased to lead; a handover between two replicas counts twice. Terms without a sample are missing. A held lock should " +
			"show only rollouts; more is flapping: compare with restarts of the replicas, CPU throttling and the load of the API server.",
		unit: units.Short, noValue: "no replica exports the gauge", width: 12, height: 8,
		steps:   plain(),
		targets: []target{{expr: c.most(all), legend: c.legend}},
	}))
}

func (c clientGo) conflicts() *timeseries.PanelBuilder {
	all := c.SlowPaths(rateInterval)
	return c.highest("locks", all, c.barPanel(about{
		id: panel.Renewals, title: "Renewals that met another writer",
		description: "Renewals that took client-go's slow path, because the record had changed since the last renewal. A few after a takeover are normal; many mean that " +
			"another process, or a person, writes the record. Renewals that failed because the API server could not be reached are not among them.",
		unit: units.Short, noValue: "no replica exports the counter", width: 12, height: 8,
		steps:   plain(),
		targets: []target{{expr: c.most(all), legend: c.legend}},
	}))
}

func (c clientGo) scraped() *statetimeline.PanelBuilder {
	by := append(c.targets.TargetLabels(), c.Holder)
	return timelinePanel(about{
		id: panel.Scraped, title: "Replicas scraped",
		description: "Replicas that exported the gauge in the time range shown. Orange: Prometheus cannot reach the replica, which may still lead. Gap: the replica is no " +
			"longer a target.",
		unit: units.Short, noValue: "no series up", width: 24, height: 6,
		steps:   []dashboard.Threshold{base(orange), from(1, green)},
		targets: []target{{expr: sortedBy(c.campaigned(c.targets.Up()), by...), legend: "{{" + c.Holder + "}}"}},
	}).
		Mappings([]dashboard.ValueMapping{words(says{0, "cannot be reached", orange}, says{1, "scraped", green})}).
		PerPage(drawnReplicas)
}
