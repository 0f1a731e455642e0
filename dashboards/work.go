package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// work shows what was done under the locks.
func (q queries) work() row {
	return row{"Work under the lock", []cog.Builder[dashboard.Panel]{
		q.execution(),
		q.failures(),
		q.workAfterLoss(),
	}}
}

func (q queries) execution() *timeseries.PanelBuilder {
	return q.highest("locks", q.facts.RunAverage(rateInterval), ranking(linePanel(about{
		id: panel.Execution, title: "Duration of runs against the lease",
		description: "Average duration of the runs of each lock; the dashed line is its lease. The panels about leases show exactly whether a " +
			"single run came near its lease. If the average is near the line, renew the lease or lengthen it. Held leaderships are left out." + q.whyNoQuantile(),
		unit: units.Seconds, noValue: "no run ended", width: 8, height: 8,
		steps:   plain(),
		targets: q.runs(),
	}), "max").
		Min(0).
		OverrideByQuery("Lease", []dashboard.DynamicConfigValue{
			fixed(grey), property("custom.lineStyle", map[string]any{"fill": "dash", "dash": []int{10, 10}}),
		}))
}

func (q queries) runs() []target {
	all := []target{{ref: "Average", expr: q.most(q.facts.RunAverage(rateInterval)), legend: "average " + q.legend}}
	if q.native() {
		all = append(all, target{ref: "P99", expr: q.most(q.facts.RunQuantile(0.99, rateInterval)), legend: "p99 " + q.legend, exemplars: !q.facts.Recorded})
	}
	return append(all, target{ref: "Lease", expr: q.least(q.facts.RunLease()), legend: "lease " + q.legend})
}

// whyNoQuantile is for readers who look for one.
func (q queries) whyNoQuantile() string {
	if q.native() {
		return ""
	}
	return " Quantiles are shown where scope.histograms is native or both: classic buckets are too wide for them."
}

func (q queries) failures() *timeseries.PanelBuilder {
	return q.highest("locks", q.failed(catalog.FailedWithError.String()), q.barPanel(about{
		id: panel.Failures, title: "Failed runs",
		description: "Runs that returned an error or panicked. Locking worked, but the job failed: see its logs.",
		unit:        units.Short, noValue: "no data", width: 8, height: 8,
		steps:   plain(),
		targets: q.failuresByCause(),
	}))
}

// failuresByCause asks for each cause by itself, so that no query reads more
// than one series of a replica and the worst of either are drawn.
func (q queries) failuresByCause() []target {
	cause, _ := catalog.ExecutionFailures.Label("cause")
	var targets []target
	for _, c := range cause.Values() {
		targets = append(targets, target{expr: q.most(q.failed(c)), legend: c + ": " + q.legend})
	}
	return targets
}

func (q queries) workAfterLoss() *timeseries.PanelBuilder {
	picked := q.facts
	picked.Scope = q.replicas
	return q.highest("replicas", picked.WorkAfterLoss(rateInterval), q.barPanel(about{
		id: panel.WorkAfterLoss, title: "Work after the lock was lost",
		description: "Time that guarded work ran while another replica could lead, by replica. Any value above 0 can be work done twice: " +
			"the work must stop when its context ends, and writes should carry the fencing token.",
		unit: units.Seconds, noValue: "no data", width: 8, height: 8,
		steps: plain(),
		targets: []target{{
			expr:   q.most(picked.WorkAfterLoss(rateInterval)),
			legend: q.replicaLegend(),
		}},
	}))
}

func (q queries) working() *timeseries.PanelBuilder {
	return linePanel(about{
		id: panel.Working, title: "Holding the lock and doing the work",
		description: "Replicas that hold the lock, and replicas that work under it. If more work than hold, work continues without " +
			"protection after its lock is lost. If more hold than work, the lock guards no work; that is normal for some locks.",
		unit: units.Short, noValue: "no data", width: 8, height: 8,
		steps: plain(),
		targets: []target{
			{ref: "Holding", expr: q.facts.Claims(), legend: "holding " + q.legend},
			{ref: "Working", expr: q.locks.By("sum", q.locks.ByHolder("max", q.locks.Metric(catalog.Running))), legend: "working " + q.legend},
		},
	}).
		Decimals(0).LineInterpolation(common.LineInterpolationStepAfter).
		OverrideByQuery("Holding", []dashboard.DynamicConfigValue{fixed(green)}).
		OverrideByQuery("Working", []dashboard.DynamicConfigValue{fixed(blue), property("custom.lineWidth", 2)})
}

func (q queries) cadence() *timeseries.PanelBuilder {
	return linePanel(about{
		id: panel.Cadence, title: "Time since the last run against the cadence",
		description: "Time since the lock was last won. The dashed line is the declared time between two runs: if the time " +
			"rises above it, the job is overdue: check its schedule, and whether its attempts fail. A held lock has no cadence.",
		unit: units.Seconds, noValue: "never won since the replicas started", width: 12, height: 8,
		steps: plain(),
		targets: []target{
			{ref: "Age", expr: q.sinceAcquired(), legend: "since the last run " + q.legend},
			{ref: "Expected", expr: q.locks.By("max", q.locks.Metric(catalog.ExpectedInterval)), legend: "declared " + q.legend},
		},
	}).
		Min(0).
		OverrideByQuery("Expected", []dashboard.DynamicConfigValue{
			fixed(grey), property("custom.lineStyle", map[string]any{"fill": "dash", "dash": []int{10, 10}}),
		})
}

func (q queries) sinceAcquired() query.Expr {
	return query.Op("time()", "-", q.locks.By("max", q.locks.Metric(catalog.LastAcquired)))
}
