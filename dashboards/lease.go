package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
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
	return q.lowest("locks", q.facts.LeaseLeft(), ranking(limitPanel(about{
		id: panel.Headroom, title: "Lease left",
		description: "Time until the lease of the current term ends, as a share of the lease; the minimum of each lock. Renewals form a " +
			"sawtooth. Below the upper line, the next delay can lose the lock. Below 0, the lease has expired: another replica may already lead.",
		unit: units.PercentUnit, noValue: "no lock is held, or no lease end is known", width: 12, height: 8,
		steps:   q.leaseSteps(),
		targets: []target{{expr: q.shortest(q.facts.LeaseLeft()), legend: q.legend}},
	}), "min").
		Max(1))
}

// shortest keeps the locks that came closest to the end of their lease in the
// range shown, the same ones at each step.
func (q queries) shortest(e query.Expr) query.Expr {
	if q.oneLock {
		return e
	}
	left := q.locks.By("min", overAllShown("min_over_time", q.facts.Recording(query.RecordedLeaseLeft)))
	if !q.facts.Recorded {
		headroom := q.locks.By("min", overAllShown("min_over_time", q.locks.Metric(catalog.LeaseHeadroom)))
		length := q.locks.By("max", overAllShown("max_over_time", q.locks.Metric(catalog.LeaseDuration)))
		left = query.Op(headroom, "/", length)
	}
	return query.Op(e, "and "+query.On(q.locks.Labels), q.least(left))
}

// leaseSteps judge the share of the lease that is left.
func (q queries) leaseSteps() []dashboard.Threshold {
	return []dashboard.Threshold{base(red), from(0, orange), from(q.cfg.Thresholds.Headroom, green)}
}

func (q queries) leaseUsage() *heatmap.PanelBuilder {
	grown := func(e query.Expr) query.Expr { return query.Over("increase", e, rateInterval) }
	classic := q.total("le", q.facts.RecordedJobBuckets(), func(only ...query.Matcher) query.Expr {
		return grown(q.locks.Bucket(catalog.LeaseUsageRatio, only...))
	})
	native := q.total("", q.facts.RecordedJobUsage(), func(only ...query.Matcher) query.Expr {
		return grown(q.locks.Metric(catalog.LeaseUsageRatio, only...))
	})
	hasBuckets := query.Expr("group(" + q.locks.Bucket(catalog.LeaseUsageRatio, query.Equal("le", string(query.Number(catalog.NearLeaseBound)))) + ")")
	if q.facts.Recorded {
		hasBuckets = classic
	}
	return bucketPanel(about{
		id: panel.LeaseUsage, title: "Share of the lease used",
		description: "Share of the lease that had passed when it was renewed or released, over all locks shown; darker means more often. " +
			"Above 80 % it was close; above 100 % the lease had expired: shorten the work, lengthen the lease, or renew earlier.",
		unit: units.PercentUnit, noValue: "no lease was renewed or released", width: 12, height: 8,
		steps: plain(),
		targets: []target{
			{ref: "Classic", expr: classic, legend: "{{le}}"},
			{ref: "Native", expr: query.Op(native, "unless on ()", hasBuckets), legend: "used"},
		},
	})
}

func (q queries) leaseOverruns() *timeseries.PanelBuilder {
	return q.highest("locks", q.overruns(), q.barPanel(about{
		id: panel.Overruns, title: "Near and past the end of the lease",
		description: "Runs and renewals that used more than 80 % of a lease and, in red, terms that ran past its end. Such a term " +
			"worked without protection for some time: shorten the work, lengthen the lease, or renew earlier.",
		unit: units.Short, noValue: "no lease known", width: 12, height: 8,
		steps: plain(),
		targets: []target{
			{ref: "Near", expr: q.most(q.facts.NearLeaseWithin(rateInterval)), legend: "near: " + q.legend},
			{ref: "Past", expr: q.most(q.overruns()), legend: "past: " + q.legend},
		},
	}).
		OverrideByQuery("Near", []dashboard.DynamicConfigValue{fixed(orange)}).
		OverrideByQuery("Past", []dashboard.DynamicConfigValue{fixed(red)}))
}

func (q queries) renewals() *timeseries.PanelBuilder {
	return colored(linePanel(about{
		id: panel.Renewals, title: "Renewals by result",
		description: "Lease renewals over all locks shown. Single errors reduce the headroom; several in a row lose the lock. lost means that the " +
			"replica no longer owned the lock. After errors or timeouts, check the backend, the network, and pauses of the process. Electors whose library hides its renewals are not shown.",
		unit: "cpm", noValue: "no elector reports renewals", width: 12, height: 8,
		steps:   plain(),
		targets: []target{{expr: q.perMinute(catalog.Renewals, "result"), legend: "{{result}}"}},
	}),
		series{name: catalog.RenewalOK.String(), color: green}, series{name: catalog.RenewalError.String(), color: red},
		series{name: catalog.RenewalTimeout.String(), color: orange}, series{name: catalog.RenewalCanceled.String(), color: "light-blue"},
		series{name: catalog.RenewalLost.String(), color: darkRed},
	)
}

func (q queries) renewalDuration() *timeseries.PanelBuilder {
	return linePanel(about{
		id: panel.RenewalDuration, title: "Time that renewals took",
		description: "Average duration of a renewal. A renewal that takes longer than the lease has left loses the lock: check " +
			"the backend, and pauses of the process." + q.whyNoQuantile(),
		unit: units.Seconds, noValue: "no elector reports the duration of renewals", width: 8, height: 8,
		steps:   plain(),
		targets: q.durations(catalog.RenewalDuration),
	}).
		Min(0)
}
