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
		description: "The average duration of runs of each lock; the dashed line is its lease. Whether a single run came near its lease " +
			"is exact in the panels about leases. Held leaderships are left out." + q.whyNoQuantile(),
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
	return q.highest("locks", q.facts.Failures(catalog.FailedWithError.String(), rateInterval), q.barPanel(about{
		id: panel.Failures, title: "Failed runs",
		description: "Guarded bodies that returned an error or panicked. The lock did its part: look at the work itself.",
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
		targets = append(targets, target{expr: q.most(q.facts.Failures(c, rateInterval)), legend: c + ": " + q.legend})
	}
	return targets
}

func (q queries) workAfterLoss() *timeseries.PanelBuilder {
	picked := q.facts
	picked.Scope = q.replicas
	return q.highest("replicas", picked.WorkAfterLoss(rateInterval), q.barPanel(about{
		id: panel.WorkAfterLoss, title: "Work after the lock was lost",
		description: "Time that guarded bodies ran after another replica could lead, by replica. Anything above 0 can be work done twice: " +
			"the body must stop when its context ends, and writes should carry the fencing token.",
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
		description: "Holding a lock and working under it are two facts. Work above holding is work without protection: the body goes " +
			"on after its lock is gone. Holding above work is normal where the lock guards no body.",
		unit: units.Short, noValue: "no data", width: 12, height: 8,
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
		description: "Time since the lock was last won. The dashed line is the declared time between two runs: a saw-tooth above it " +
			"is a job that is overdue. A lock that is held has no cadence.",
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
