package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/condition"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// now answers the first question of a reader on call: which lock has a problem, and
// which problem.
func (q queries) now() row {
	return row{"Right now", []cog.Builder[dashboard.Panel]{
		q.firing(),
		q.withoutLeader(),
		q.tooManyLeaders(),
		q.nearLeaseEnd(),
		q.backendTrouble(),
		q.unprotected(),
		q.notScraped(),
		q.leaders(),
		q.locksTable(),
	}}
}

func (q queries) withoutLeader() *stat.PanelBuilder {
	return q.pagingOrNow(about{
		title: "Without a leader",
		description: "Locks that replicas campaign for and that no replica holds now, of this job or of another with the same lock. Orange: a " +
			"failover takes a few seconds. Red: the alert pages. Check the backend errors and the attempts that wait.",
		unit: units.Short, noValue: "no held lock", width: 4, height: 4,
	}, condition.NoLeader, q.facts.Leaderless(), q.facts.Mode(catalog.ModeHold))
}

func (q queries) tooManyLeaders() *stat.PanelBuilder {
	return q.pagingOrNow(about{
		title: "Too many leaders",
		description: "Locks that more replicas hold now than the elector allows. Orange: a handover may show two leaders for one scrape. Red: " +
			"the alert pages, and two replicas do the same work. Labels that several locks share are left out.",
		unit: units.Short, noValue: "no data", width: 4, height: 4,
	}, condition.SplitBrain, q.facts.Crowded(), q.facts.Active())
}

// pagingOrNow is the condition's tile: it counts the locks whose alert pages, and those
// others that are in such a state now, of all.
func (q queries) pagingOrNow(a about, c *condition.Condition, now, all query.Expr) *stat.PanelBuilder {
	paging := q.locks.By("group", q.facts.Paging(c))
	a.id, a.steps = uint32(c.Tile), []dashboard.Threshold{base(green), from(1, orange)}
	a.targets = []target{
		{ref: "Firing", expr: countAll(paging), legend: "alert pages"},
		{ref: "Now", expr: countOf(query.Op(now, "unless", paging), all), legend: "no page"},
	}
	return statPanel(a).Text(tileText()).OverrideByQuery("Firing", []dashboard.DynamicConfigValue{steps(base(green), from(1, red))})
}

func (q queries) unprotected() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.Unprotected, title: "Works without lock",
		description: "Replicas whose guarded work continues although their lease has expired or their lock is lost: another replica may do the " +
			"same work. Stop these replicas, unless the store checks fencing tokens.",
		unit: units.Short, noValue: "no replica", width: 4, height: 4,
		steps:   []dashboard.Threshold{base(red)},
		targets: []target{{expr: q.readable(q.facts.Unprotected(), q.familiesNow()), legend: "{{" + q.cfg.Scope.Holder + "}}: {{" + query.FamilyLabel + "}} {{" + endLabel + "}}"}},
	}).
		Text(common.NewVizTextDisplayOptionsBuilder().ValueSize(16)).
		TextMode(common.BigValueTextModeName)
}

func (q queries) notScraped() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.Unseen, title: "Not scraped",
		description: "Targets that exported these metrics within the last hour and that Prometheus cannot reach now. One of them may lead, " +
			"and its state is unknown: see the targets page of Prometheus. Push pipelines have no such series.",
		unit: units.Short, noValue: "no series up", width: 4, height: 4,
		steps:   []dashboard.Threshold{base(green), from(1, orange)},
		targets: []target{{expr: q.targetsIn("0"), legend: "not scraped"}},
	})
}

func (q queries) nearLeaseEnd() *stat.PanelBuilder {
	window := duration(q.cfg.Thresholds.LeaseWindow)
	near := query.Op(q.facts.NearLeaseLately(), ">", query.Number(0.5))
	past := query.Op(q.facts.OverrunsLately(), ">", query.Number(0.5))
	return statPanel(about{
		id: panel.NearLease, title: "Near or past lease",
		description: "Locks with a run or a renewal that within " + window + " used more than 80 % of its lease (near), or all of it (past): another replica may " +
			"already work. Shorten the run, lengthen the lease, or renew earlier.",
		unit: units.Short, noValue: "no lease known", width: 4, height: 4,
		steps: []dashboard.Threshold{base(green), from(1, orange)},
		targets: []target{
			{ref: "Near", expr: countOf(query.Op(near, "unless", past), q.facts.LeaseLength()), legend: "near"},
			{ref: "Past", expr: countOf(past, q.facts.LeaseLength()), legend: "past"},
		},
	}).
		Text(tileText()).
		OverrideByQuery("Past", []dashboard.DynamicConfigValue{steps(base(green), from(1, red))})
}

func (q queries) backendTrouble() *stat.PanelBuilder {
	window := duration(q.cfg.Thresholds.ErrorWindow)
	return statPanel(about{
		id: panel.BackendTrouble, title: "Backend errors",
		description: "Locks whose attempts within " + window + " met backend errors more often than the alert allows. If many locks are affected, check " +
			"the backend and the network; if one is, check its configuration.",
		unit: units.Short, noValue: "no data", width: 4, height: 4,
		steps:   []dashboard.Threshold{base(green), from(1, orange)},
		targets: []target{{expr: countOf(q.facts.Erring(), q.facts.Active()), legend: "with backend errors"}},
	})
}

// tileText keeps the words beside a number as large as those of other panels.
func tileText() *common.VizTextDisplayOptionsBuilder {
	return common.NewVizTextDisplayOptionsBuilder().TitleSize(14).ValueSize(32)
}

// tiles is how many fit beside each other and can still be read.
const tiles = 9

func (q queries) leaders() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.Leaders, title: "Locks, the worst first",
		description: "One tile per lock with its state, as in the table below. Red: an alert that pages fires. Orange: an alert that warns fires, or the " +
			"state may be temporary. A lock taken for single runs is running or idle, and idle is normal. If there are many locks, those with problems come first, " +
			"and some of the others are left out; the table shows all locks with their leaders.",
		unit: units.Short, noValue: q.whatToCheck(), width: 24, height: 7,
		steps: plain(),
		targets: []target{
			{expr: q.locating(q.readable(q.ranked("topk", tiles, q.facts.State()), q.familiesNow())), legend: q.readableLegend()},
			counted(query.Op(query.Op(countAll(q.facts.Active()), "-", query.Number(tiles)), ">", query.Number(0)), "{{"+ofLabel+"}} more locks: see the table"),
		},
	}).
		OverrideByQuery(partRef, append(wordless(1), fixed(unseen))).
		Mappings([]dashboard.ValueMapping{stateWords()}).
		WithOverride(dashboard.MatcherConfig{Id: "byRegexp", Options: ".*"}, []dashboard.DynamicConfigValue{
			property("links", []any{q.lockLink("${__field.labels."+catalog.LockName.Name()+":percentencode}", "${__field.labels."+whereLabel+"}")}),
		}).
		Text(common.NewVizTextDisplayOptionsBuilder().TitleSize(12).ValueSize(14)).
		TextMode(common.BigValueTextModeValueAndName).
		JustifyMode(common.BigValueJustifyModeCenter)
}
