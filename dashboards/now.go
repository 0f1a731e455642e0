package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// now answers the first question of whoever was woken up: which lock, and
// what is wrong with it.
func (q queries) now() row {
	return row{"Right now", []cog.Builder[dashboard.Panel]{
		q.withoutLeader(),
		q.tooManyLeaders(),
		q.nearLeaseEnd(),
		q.backendTrouble(),
		q.leaders(),
		q.locksTable(),
	}}
}

func (q queries) withoutLeader() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.Leaderless, title: "Held locks without a leader",
		description: "Locks that replicas campaign for and that no replica holds now. For a few seconds this is a failover. " +
			"Longer means that no replica can win: look at the backend errors and at what the replicas wait for.",
		unit: units.Short, noValue: "no held lock", width: 6, height: 3,
		steps:   []dashboard.Threshold{base(green), from(1, red)},
		targets: []target{{expr: countOf(q.facts.Leaderless(), q.facts.Mode(catalog.ModeHold)), legend: "without a leader"}},
	})
}

func (q queries) tooManyLeaders() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.Crowded, title: "Locks with too many leaders",
		description: "Locks that more replicas hold now than the elector allows. One scrape may show a handover twice; " +
			"longer means that two replicas do the same work. Labels that several locks share are left out.",
		unit: units.Short, noValue: "no data", width: 6, height: 3,
		steps:   []dashboard.Threshold{base(green), from(1, red)},
		targets: []target{{expr: countOf(q.facts.Crowded(), q.facts.Active()), legend: "with too many leaders"}},
	})
}

func (q queries) nearLeaseEnd() *stat.PanelBuilder {
	window := duration(q.cfg.Thresholds.LeaseWindow)
	near := query.Op(q.facts.NearLeaseLately(), ">", query.Number(0.5))
	past := query.Op(q.facts.OverrunsLately(), ">", query.Number(0.5))
	return statPanel(about{
		id: panel.NearLease, title: "Locks near or past their lease, " + window,
		description: "Locks with a run or a renewal that used more than 80 % of its lease, or, past it, all of it: somebody else may " +
			"already work: make the run shorter, the lease longer, or renew earlier.",
		unit: units.Short, noValue: "no lease known", width: 6, height: 3,
		steps: []dashboard.Threshold{base(green), from(1, orange)},
		targets: []target{
			{ref: "Near", expr: countOf(query.Op(near, "unless", past), q.facts.LeaseLength()), legend: "near"},
			{ref: "Past", expr: countOf(past, q.facts.LeaseLength()), legend: "past"},
		},
	}).
		OverrideByQuery("Past", []dashboard.DynamicConfigValue{steps(base(green), from(1, red))})
}

func (q queries) backendTrouble() *stat.PanelBuilder {
	window := duration(q.cfg.Thresholds.ErrorWindow)
	return statPanel(about{
		id: panel.BackendTrouble, title: "Locks with backend errors, " + window,
		description: "Locks whose attempts met backend errors more often than the alert allows. Many locks at once point at " +
			"the backend or the network, one lock at its configuration.",
		unit: units.Short, noValue: "no data", width: 6, height: 3,
		steps:   []dashboard.Threshold{base(green), from(1, orange)},
		targets: []target{{expr: countOf(q.facts.Erring(), q.facts.Active()), legend: "with backend errors"}},
	})
}

// Tiles that fit beside each other and can still be read.
const (
	tilesCrowded = 4
	tilesHeld    = 8
	tilesRun     = 4
)

func (q queries) leaders() *stat.PanelBuilder {
	held := query.Op(q.facts.ActiveIn(catalog.ModeHold), "unless", q.facts.Crowded())
	run := query.Op(q.facts.ActiveIn(catalog.ModeRun), "unless", q.facts.Crowded())
	return statPanel(about{
		id: panel.Leaders, title: "Leaders",
		description: "One tile per lock. Red is a held lock without a leader, or any lock with more leaders than allowed. A lock " +
			"taken for single runs is running or idle, and idle is normal. A number counts the locks that share one label. Of many " +
			"locks, those in trouble come first and some of the others are left out; the table has all of them and says who leads.",
		unit: units.Short, noValue: "no lock is reported: is the instrumentation built in, and scraped?", width: 24, height: 5,
		steps: []dashboard.Threshold{base(green)},
		targets: []target{
			{ref: "Crowded", expr: q.ranked("topk", tilesCrowded, q.facts.Crowded()), legend: q.legend},
			{ref: "Held", expr: q.ranked("bottomk", tilesHeld, held), legend: q.legend},
			{ref: "Run", expr: q.ranked("topk", tilesRun, run), legend: q.legend},
		},
	}).
		Mappings([]dashboard.ValueMapping{words(says{0, "no leader", red}, says{1, "led", green}), several("", green)}).
		OverrideByQuery("Crowded", []dashboard.DynamicConfigValue{
			property("mappings", []dashboard.ValueMapping{several("too many", red)}),
		}).
		OverrideByQuery("Run", []dashboard.DynamicConfigValue{
			property("mappings", []dashboard.ValueMapping{words(says{0, "idle", unseen}, says{1, "running", blue}), several("", blue)}),
		}).
		WithOverride(dashboard.MatcherConfig{Id: "byRegexp", Options: ".*"}, []dashboard.DynamicConfigValue{
			property("links", []any{q.lockLink("${__field.labels." + catalog.LockName.Name() + ":percentencode}")}),
		}).
		Text(common.NewVizTextDisplayOptionsBuilder().TitleSize(12).ValueSize(16)).
		TextMode(common.BigValueTextModeValueAndName).
		JustifyMode(common.BigValueJustifyModeCenter)
}
