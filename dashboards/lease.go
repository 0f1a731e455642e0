package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// leases shows how much of each lease was left when it counted.
func (q queries) leases() row {
	return row{"Leases", []cog.Builder[dashboard.Panel]{
		q.leaseHeadroom(),
		q.leaseUsage(),
		q.leaseOverruns(),
		q.renewals(),
	}}
}

func (q queries) leaseHeadroom() *timeseries.PanelBuilder {
	return limitPanel(about{
		id: panel.Headroom, title: "Lease left",
		description: "Time until the lease of the present term ends, as a share of the lease; the least of each lock. Renewals make a " +
			"saw-tooth. Below the upper line the next hiccup loses the lock. Below 0 the lease is over: somebody else may lead already.",
		unit: units.PercentUnit, noValue: "no lock is held, or no lease end is known", width: 12, height: 8,
		steps:   []dashboard.Threshold{base(red), from(0, orange), from(q.cfg.Thresholds.Headroom, green)},
		targets: []target{{expr: q.leaseLeft(), legend: q.cfg.legend()}},
	}).
		Max(1).
		// A lock that was free for a while has no lease to draw a line over.
		InsertNulls(common.BoolOrFloat64{Float64: cog.ToPtr(300_000.0)})
}

func (q queries) leaseUsage() *heatmap.PanelBuilder {
	used := query.Over("increase", q.locks.Bucket(catalog.LeaseUsageRatio), rateInterval)
	return bucketPanel(about{
		id: panel.LeaseUsage, title: "Share of the lease used",
		description: "How much of its lease was gone when it was renewed or released, over all locks shown; darker is more often. " +
			"Above 0.8 it was close, above 1 the lease had run out. Needs classic buckets.",
		unit: units.PercentUnit, noValue: "no lease was renewed or released", width: 12, height: 8,
		steps:   plain(),
		targets: []target{{expr: query.By("sum", []string{"le"}, used), legend: "{{le}}"}},
	})
}

func (q queries) leaseOverruns() *timeseries.PanelBuilder {
	return barPanel(about{
		id: panel.Overruns, title: "Near and past the end of the lease",
		description: "Uses of a lease that took more than 80 % of it, and in red terms that ran past its end. A term past its end " +
			"worked without protection for a while: make the work shorter, the lease longer, or renew earlier.",
		unit: units.Short, noValue: "no lease known", width: 12, height: 8,
		steps: plain(),
		targets: []target{
			{ref: "Near", expr: q.nearLease(rateInterval), legend: "near: " + q.cfg.legend()},
			{ref: "Past", expr: q.overruns(rateInterval), legend: "past: " + q.cfg.legend()},
		},
	}).
		OverrideByQuery("Near", []dashboard.DynamicConfigValue{fixed(orange)}).
		OverrideByQuery("Past", []dashboard.DynamicConfigValue{fixed(red)})
}

func (q queries) renewals() *timeseries.PanelBuilder {
	return linePanel(about{
		id: panel.Renewals, title: "Renewals by result",
		description: "Lease renewals over all locks shown. A few errors cost headroom, a row of them the lock; lost means that the " +
			"backend had given it away. Electors whose library hides its renewals have none here.",
		unit: "cpm", noValue: "no elector reports renewals", width: 12, height: 8,
		steps:   plain(),
		targets: []target{{expr: q.perMinute(catalog.Renewals, "result"), legend: "{{result}}"}},
	}).
		OverrideByName(catalog.RenewalOK.String(), []dashboard.DynamicConfigValue{fixed(green)}).
		OverrideByName(catalog.RenewalError.String(), []dashboard.DynamicConfigValue{fixed(red)}).
		OverrideByName(catalog.RenewalTimeout.String(), []dashboard.DynamicConfigValue{fixed(orange)}).
		OverrideByName(catalog.RenewalLost.String(), []dashboard.DynamicConfigValue{fixed("dark-red")})
}
