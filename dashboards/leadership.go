package dashboards

import (
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// leadership shows how leadership moved.
func (q queries) leadership() row {
	return row{"Leadership over time", []cog.Builder[dashboard.Panel]{
		q.holderTimeline(),
		q.holders(),
		q.transitions(),
	}}
}

func (q queries) holderTimeline() *statetimeline.PanelBuilder {
	b := timelinePanel(about{
		id: panel.HolderTimeline, title: "Who led when",
		description: "One line per lock and replica that led. In a healthy held lock, one green section follows another without a gap and " +
			"without an overlap. Overlaps shorter than a scrape are not visible here: check the overruns and the fencing token. " +
			"If there are many locks, those whose leadership changed most often are shown.",
		unit: units.Short, noValue: "no replica led", width: 24, height: 10,
		steps: []dashboard.Threshold{base(grey), from(1, green)},
		targets: []target{{
			expr:   sortedBy(q.readable(q.movedMost(), q.familiesShown()), catalog.LockName.Name(), q.cfg.Scope.Holder),
			legend: q.timelineLegend(),
		}},
	}).
		Mappings([]dashboard.ValueMapping{words(says{0, "standby", unseen}, says{1, "leads", green}), several("", green)}).
		PerPage(24)
	if q.oneLock {
		return b
	}
	_, moved := q.moves()
	return partly(b, timelineLocks, "most moved", "locks", moved)
}

// endLabel is what a line of a timeline shows of its lock.
const endLabel = "end"

// timelineLegend begins with what a person can read: a timeline cuts names.
func (q queries) timelineLegend() string {
	if q.oneLock {
		return q.replicaLegend()
	}
	return "{{" + query.FamilyLabel + "}} {{" + q.cfg.Scope.Holder + "}} {{" + endLabel + "}}"
}

// readableLegend is the legend of locks, where their names are made readable.
func (q queries) readableLegend() string {
	return strings.ReplaceAll(q.legend, "{{"+catalog.LockName.Name()+"}}", "{{"+query.FamilyLabel+"}} {{"+endLabel+"}}")
}

// readable adds the family of the lock, and its name: of a hash the end alone. What a person can
// read stays whole, because names of one family often end alike.
func (q queries) readable(e, families query.Expr) query.Expr {
	if q.oneLock {
		return e
	}
	name := catalog.LockName.Name()
	named := query.Op(e, "* "+query.On(q.locks.Labels)+" group_left ("+query.FamilyLabel+")", families)
	whole := query.Call("label_replace", named, query.Text(endLabel), query.Text("$1"), query.Text(name), query.Text("(.+)"))
	return query.Call("label_replace", whole, query.Text(endLabel), query.Text("…$1"), query.Text(name), query.Text(".*[0-9a-f]{10}([0-9a-f]{6})"))
}

// familiesShown is 1 for each lock of the range shown, with its family where
// one was named. It is the same at each step.
func (q queries) familiesShown() query.Expr {
	named := q.locks.Metric(catalog.ElectorInfo, query.Unequal(query.FamilyLabel, ""))
	if q.facts.Recorded {
		named = q.facts.Recording(query.RecordedFamily)
	}
	with := query.By("max", append(slices.Clone(q.locks.Labels), query.FamilyLabel), overAllShown("last_over_time", named))
	_, every := q.moves()
	return query.Op(q.locks.By("topk", "1, "+with), "or "+query.On(q.locks.Labels), q.locks.By("group", every))
}

// familiesNow is 1 for each lock of now, also for those of which nothing but
// an alert is left.
func (q queries) familiesNow() query.Expr {
	return query.Op(q.facts.Family(), "or "+query.On(q.locks.Labels), q.facts.Seen())
}

func (q queries) holders() *timeseries.PanelBuilder {
	return q.highest("locks", q.facts.Claims(), ranking(linePanel(about{
		id: panel.Holders, title: "Leaders claimed",
		description: "Replicas that hold each lock. 0 is normal for a lock taken for single runs. Red points mark a lock with " +
			"more leaders than its elector allows: two replicas do the same work.",
		unit: units.Short, noValue: "no data", width: 12, height: 8,
		steps: plain(),
		targets: []target{
			{ref: "Claimed", expr: q.most(q.facts.Claims()), legend: q.legend},
			{ref: "Crowded", expr: q.most(q.facts.Crowded()), legend: "too many: " + q.legend},
		},
	}), "max").
		Decimals(0).LineInterpolation(common.LineInterpolationStepAfter).
		// A line would join two splits into one.
		OverrideByQuery("Crowded", []dashboard.DynamicConfigValue{
			fixed(red), property("custom.drawStyle", "points"), property("custom.pointSize", 8),
		}))
}

func (q queries) transitions() *timeseries.PanelBuilder {
	return colored(q.barPanel(about{
		id: panel.Transitions, title: "Terms gained and ended",
		description: "Terms gained (up) and terms ended by cause (down), over all locks shown. A held lock should show only " +
			"rollouts; more is flapping. The causes lost, gave_up and release_failed are unintended, " +
			"and so is expired unless the lock is kept until the end of its lease on purpose. A fencing token that went back means that " +
			"the backend lost its state: storage that checks tokens will refuse the new leader.",
		unit: "cpm", noValue: "no data", width: 12, height: 8,
		steps: plain(),
		targets: []target{
			{ref: "Gained", expr: q.perMinute(catalog.Acquired, ""), legend: "gained"},
			{ref: "Ended", expr: query.Op(query.Number(-1), "*", q.perMinute(catalog.TermsEnded, "cause")), legend: "{{cause}}"},
			{ref: "Regressed", expr: q.most(q.facts.Regressed(rateInterval)), legend: "token went back: " + q.legend},
		},
	}),
		series{name: "gained", color: green},
		series{name: catalog.Released.String(), color: blue}, series{name: catalog.Lost.String(), color: red, downwards: true}, series{name: catalog.Expired.String(), color: orange},
		series{name: catalog.CanceledTerm.String(), color: "light-blue"}, series{name: catalog.Abandoned.String(), color: "purple"},
		series{name: catalog.GaveUp.String(), color: "dark-orange"}, series{name: catalog.ReleaseFailed.String(), color: darkRed, downwards: true},
	).
		OverrideByQuery("Regressed", []dashboard.DynamicConfigValue{fixed(red)})
}

func (q queries) fencingToken() *timeseries.PanelBuilder {
	token, stores := q.replicas.ByHolder("max", q.replicas.Metric(catalog.FencingToken)), q.stores()
	// Drawn at the token itself: the axis does not begin at 0.
	wentBack := q.replicas.ByHolder("sum", query.Over("increase", q.replicas.Metric(catalog.FencingTokenRegressions), rateInterval))
	return ranking(floatingPanel(about{
		id: panel.FencingToken, title: "Fencing token",
		description: "The token of the last term of each replica. Tokens only grow: the leader has the highest one, and storage that checks " +
			"tokens refuses the others. A red point marks a token that went back: the backend lost its state, and storage that checks tokens will " +
			"refuse the new leader. Some backends have no token. The dashed line is the highest token that stores have seen: they refuse replicas below it.",
		unit: units.NoUnit, noValue: "this elector has no token", width: 8, height: 8,
		steps: plain(),
		targets: []target{
			{ref: "Token", expr: token, legend: q.replicaLegend()},
			{ref: "Highest", expr: stores.By("max", stores.Metric(catalog.FencingHighestToken)), legend: "highest in the store " + q.legend},
			{ref: "Regressed", expr: query.Op(token, "and", query.Op(wentBack, ">", query.Number(0))), legend: "went back " + q.replicaLegend()},
		},
	}), "max").
		Decimals(0).LineInterpolation(common.LineInterpolationStepAfter).
		OverrideByQuery("Highest", []dashboard.DynamicConfigValue{
			property("custom.lineStyle", map[string]any{"fill": "dash", "dash": []int{10, 10}}),
		}).
		OverrideByQuery("Regressed", []dashboard.DynamicConfigValue{
			fixed(red), property("custom.drawStyle", "points"), property("custom.pointSize", 10),
		})
}

// fencingChecks is the store's side: who was refused is seen beside it, on the
// panel of the tokens.
func (q queries) fencingChecks() *timeseries.PanelBuilder {
	stores := q.stores()
	result, _ := catalog.FencingChecks.Label("result")
	checked := query.By("sum", []string{result.Name()}, q.grown(stores.Metric(catalog.FencingChecks)))
	return colored(q.barPanel(about{
		id: panel.FencingChecks, title: "Writes checked by stores",
		description: "Writes that stores of any job checked against the tokens of this lock, by result. stale: refused, " +
			"because a later term had already written; the replica did not know that it had lost the lock. missing: the write carried no token.",
		unit: units.Short, noValue: "no store checks the tokens of this lock", width: 8, height: 8,
		steps:   plain(),
		targets: []target{{expr: checked, legend: "{{" + result.Name() + "}}"}},
	}),
		series{name: catalog.FencingAdmitted.String(), color: green},
		series{name: catalog.FencingStale.String(), color: red}, series{name: catalog.FencingMissing.String(), color: orange},
	)
}

// endings says why terms ended. A bar stands where the term ended, within its
// step.
func (q queries) endings() *timeseries.PanelBuilder {
	by := []string{"cause", q.cfg.Scope.Holder}
	ended := query.By("sum", by, q.grown(q.replicas.Metric(catalog.TermsEnded)))
	// Zeros between them keep the bars narrow.
	everEnded := query.Op(query.By("sum", by, overAllShown("increase", q.replicas.Metric(catalog.TermsEnded))), ">", query.Number(0))
	return q.barPanel(about{
		id: panel.Endings, title: "Why terms ended",
		description: "released: the replica released the lock. expired: the lease ended first, by delay or on purpose (KeepUntilExpiry). lost: the backend reported a loss, or the session " +
			"ended. gave_up: the elector stopped before its lease ended. canceled: stopped without a release. release_failed: the backend did not confirm " +
			"the release. abandoned: the program dropped the lock. After lost, gave_up or release_failed, check the backend and the log of the replica.",
		unit: units.Short, noValue: "no term ended", width: 24, height: 5,
		steps:   plain(),
		targets: []target{{expr: query.Op(ended, "and", everEnded), legend: "{{cause}} {{" + q.cfg.Scope.Holder + "}}"}},
	}).
		WithOverride(dashboard.MatcherConfig{Id: "byRegexp", Options: catalog.Lost.String() + " .*"}, []dashboard.DynamicConfigValue{fixed(red)}).
		WithOverride(dashboard.MatcherConfig{Id: "byRegexp", Options: catalog.ReleaseFailed.String() + " .*"}, []dashboard.DynamicConfigValue{fixed(darkRed)})
}

// alertTimeline shows which alerts fired when.
func (q queries) alertTimeline() *statetimeline.PanelBuilder {
	firing := query.By("max", []string{labels.AlertName, severityLabel}, q.alerting())
	short := query.Call("label_replace", firing, query.Text(endLabel), query.Text("$1"), query.Text(labels.AlertName), query.Text(panel.AlertPrefix+"(.+)"))
	return timelinePanel(about{
		id: panel.AlertTimeline, title: "Alerts over time",
		description: "When each alert of this lock, and of the replicas of its job, fired. The list comes from the series ALERTS of this data " +
			"source. If the rules are evaluated elsewhere, it stays empty.",
		unit: units.Short, noValue: "no alert fired, or the rules are evaluated elsewhere", width: 24, height: 5,
		steps:   []dashboard.Threshold{base(orange)},
		targets: []target{{expr: short, legend: "{{" + endLabel + "}} {{" + severityLabel + "}}"}},
	}).
		Mappings([]dashboard.ValueMapping{words(says{1, "fires", orange})}).
		WithOverride(dashboard.MatcherConfig{Id: "byRegexp", Options: ".* critical"}, []dashboard.DynamicConfigValue{
			property("mappings", []dashboard.ValueMapping{words(says{1, "fires", red})}),
		})
}

func (q queries) failover() *timeseries.PanelBuilder {
	return limitPanel(about{
		id: panel.Failover, title: "Failover time and overlap",
		description: "The time from the end of one term to the next win. The replicas export both times, so the scrape interval does not " +
			"matter. A negative value means that two terms overlapped for that long. Differences within a second may be clock skew between the " +
			"replicas. After an overlap, check what both replicas wrote. A long gap means that no standby was ready. If a leader died before its next scrape, " +
			"there is no value.",
		unit: units.Seconds, noValue: "no handover in the time shown", width: 24, height: 7,
		steps:   []dashboard.Threshold{base(red), from(-1, green)},
		targets: []target{{ref: "Gap", expr: q.locks.Handover(shownRange).Gap(), legend: q.legend}},
	}).
		LineInterpolation(common.LineInterpolationStepAfter)
}
