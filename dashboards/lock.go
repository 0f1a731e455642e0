package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// Lock is the dashboard "Leader election / Lock" as JSON in Grafana's classic
// schema: one lock, which replica led when, how attempts end, runs against the lease,
// renewals, fencing token, work after loss, and the quality of the data. The same
// configuration always gives the same bytes. The error is a [*KeyError] if the
// configuration is invalid. Lock is safe for concurrent use.
func Lock(cfg Config) ([]byte, error) {
	q, err := newLockQueries(cfg)
	if err != nil {
		return nil, err
	}
	return q.build(
		page{
			Identity: cfg.Lock, annotations: q.annotations(), others: []Identity{{cfg.UID, cfg.Title}, cfg.Backends},
			description: "One lock: which replica led when, how attempts end, how close work came to the end of the lease, and work after the lease was lost.",
		},
		q.lockNow(),
		q.lockLeadership(),
		q.lockAcquisition(),
		q.lockLease(),
		q.lockWork(),
		q.lockInstrumentation(),
	)
}

// lockNow is for a reader who follows a link from an alert: the holder of the lock,
// its problems, and the state of each replica.
func (q queries) lockNow() row {
	return row{"Right now", []cog.Builder[dashboard.Panel]{
		q.firing().Height(5),
		q.holderNow(),
		q.stateNow(),
		q.leaseLeftNow(),
		q.lastAcquired(),
		q.declared(),
		q.replicasTable(),
	}}
}

// lockLeadership shows the history in panels of full width with one time axis, so
// that an alert is below the handover that caused it.
func (q queries) lockLeadership() row {
	return row{"Leadership over time", []cog.Builder[dashboard.Panel]{
		q.holderTimeline().Height(6),
		q.endings(),
		q.alertTimeline(),
		q.scraped(),
		q.transitions().Span(8),
		q.fencingToken(),
		q.fencingChecks(),
		q.failover(),
	}}
}

func (q queries) lockAcquisition() row {
	return row{"Acquiring", []cog.Builder[dashboard.Panel]{
		q.outcomes().Span(12),
		q.backendErrors().Span(12),
		q.waiting().Span(12),
		q.acquireDuration(),
	}}
}

func (q queries) lockLease() row {
	return row{"Lease", []cog.Builder[dashboard.Panel]{
		q.leaseHeadroom(),
		q.leaseUsage(),
		q.leaseOverruns().Span(8),
		q.renewals().Span(8),
		q.renewalDuration(),
	}}
}

func (q queries) lockWork() row {
	return row{"Work under the lock", []cog.Builder[dashboard.Panel]{
		q.execution().Span(12),
		q.cadence(),
		q.working(),
		q.failures(),
		q.workAfterLoss(),
	}}
}

func (q queries) lockInstrumentation() row {
	return row{"Data quality", []cog.Builder[dashboard.Panel]{
		q.health(),
	}}
}

func (q queries) scraped() *statetimeline.PanelBuilder {
	by := append(q.locks.TargetLabels(), q.cfg.Scope.Holder)
	worst := query.By("min", by, overAllShown("min_over_time", q.replicas.Up()))
	all := q.scrapedTargets(worst)
	up := query.Op(query.By("max", by, q.replicas.Up()), "and "+query.On(by), query.Call("bottomk", query.Number(drawnReplicas), all))
	return partly(timelinePanel(about{
		id: panel.Scraped, title: "Replicas scraped",
		description: "Whether Prometheus can scrape the replicas of the services that have this lock. While a replica cannot be scraped, it is " +
			"unknown whether it leads, and its last values are not shown. If there are many replicas, those that were down are shown first. Push " +
			"pipelines have no such series.",
		unit: units.Short, noValue: "nothing is scraped: the metrics are pushed, or the labels of up differ", width: 24, height: 6,
		steps:   []dashboard.Threshold{base(orange), from(1, green)},
		targets: []target{{expr: sortedBy(up, q.cfg.Scope.Holder), legend: q.replicaLegend()}},
	}).
		Mappings([]dashboard.ValueMapping{words(says{0, "down", orange}, says{1, "up", green})}).
		PerPage(drawnReplicas+1), drawnReplicas, "worst", "replicas", all)
}

// drawnReplicas is how many replicas a panel over time shows.
const drawnReplicas = 12

// scrapedTargets keeps the targets that showed this lock within an hour.
func (q queries) scrapedTargets(e query.Expr) query.Expr {
	by := append(q.locks.TargetLabels(), q.cfg.Scope.Holder)
	seen := query.Over("last_over_time", q.replicas.Metric(catalog.Attempts), "1h")
	return query.Op(e, "and "+query.On(by), query.By("group", by, seen))
}
