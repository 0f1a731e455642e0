package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
	"github.com/leaderscope/leaderscope/internal/query"
)

// acquisition shows how attempts to win a lock end.
func (q queries) acquisition() row {
	return row{"Acquiring", []cog.Builder[dashboard.Panel]{
		q.outcomes(),
		q.backendErrors(),
		q.waiting(),
	}}
}

func (q queries) outcomes() *timeseries.PanelBuilder {
	return linePanel(about{
		id: panel.Outcomes, title: "Attempts by outcome",
		description: "Attempts started, won, and not won by reason, over all locks shown. contended is somebody else's turn and no " +
			"error. attempts above the sum of the rest are still in flight.",
		unit: "cpm", noValue: "no data", width: 8, height: 8,
		steps: plain(),
		targets: []target{
			{ref: "Attempts", expr: q.perMinute(catalog.Attempts), legend: "attempts"},
			{ref: "Acquired", expr: q.perMinute(catalog.Acquired), legend: "acquired"},
			{ref: "NotAcquired", expr: q.perMinute(catalog.NotAcquired, "reason"), legend: "{{reason}}"},
		},
	}).
		OverrideByName("attempts", []dashboard.DynamicConfigValue{fixed(grey)}).
		OverrideByName("acquired", []dashboard.DynamicConfigValue{fixed(green)}).
		OverrideByName(catalog.Contended.String(), []dashboard.DynamicConfigValue{fixed(blue)}).
		OverrideByName(catalog.BackendError.String(), []dashboard.DynamicConfigValue{fixed(red)})
}

func (q queries) backendErrors() *timeseries.PanelBuilder {
	t := q.cfg.Thresholds
	window := duration(t.ErrorWindow)
	return limitPanel(about{
		id: panel.BackendErrors, title: "Attempts that met a backend error, last " + window,
		description: "Share of the attempts of each lock that failed because the backend could not be asked. The dashed lines are " +
			"the alert's. All locks at once: the backend or the network. One lock: its settings or rights.",
		unit: units.PercentUnit, noValue: "no attempts", width: 8, height: 8,
		steps:   []dashboard.Threshold{base(green), from(t.ErrorShare, orange), from(t.ErrorShareCritical, red)},
		targets: []target{{expr: q.errorShare(), legend: q.cfg.legend()}},
	}).
		Min(0).AxisSoftMax(1)
}

func (q queries) waiting() *timeseries.PanelBuilder {
	led := q.held(query.Op(q.active(), ">", query.Number(0)))
	oldest := q.locks.By("max", q.locks.Metric(catalog.PendingAge))
	return linePanel(about{
		id: panel.Waiting, title: "Waiting for a lock",
		description: "Age of the oldest attempt in flight. Standbys of a held lock that has a leader wait for as long as it leads and " +
			"are left out. A line that climbs is a lock that nobody gets: its holder hangs, or the backend does.",
		unit: units.Seconds, noValue: "nobody waits", width: 8, height: 8,
		steps:   plain(),
		targets: []target{{expr: query.Op(oldest, "unless", led), legend: q.cfg.legend()}},
	}).
		Min(0)
}
