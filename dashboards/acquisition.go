package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/panel"
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
	return colored(linePanel(about{
		id: panel.Outcomes, title: "Attempts by outcome",
		description: "Attempts that started, that won, and that failed by reason, over all locks shown. contended means that another replica holds the lock, " +
			"which is not an error. If attempts exceeds the sum of the others, the difference is still in flight. After " +
			"backend_error, timeout or session_lost, check the backend, the network and permissions.",
		unit: "cpm", noValue: "no data", width: 8, height: 8,
		steps: plain(),
		targets: []target{
			{ref: "Attempts", expr: q.perMinute(catalog.Attempts, ""), legend: "attempts"},
			{ref: "Acquired", expr: q.perMinute(catalog.Acquired, ""), legend: "acquired"},
			{ref: "NotAcquired", expr: q.perMinute(catalog.NotAcquired, "reason"), legend: "{{reason}}"},
		},
	}),
		series{name: "attempts", color: grey}, series{name: "acquired", color: green},
		series{name: catalog.Contended.String(), color: blue}, series{name: catalog.AlreadyHeld.String(), color: "light-blue"},
		series{name: catalog.TimedOut.String(), color: orange}, series{name: catalog.CanceledAttempt.String(), color: "super-light-blue"},
		series{name: catalog.SessionLost.String(), color: "dark-orange"}, series{name: catalog.BackendError.String(), color: red},
		series{name: catalog.Panicked.String(), color: "purple"}, series{name: catalog.UnknownReason.String(), color: "yellow"},
	)
}

func (q queries) backendErrors() *timeseries.PanelBuilder {
	t := q.cfg.Thresholds
	window := duration(t.ErrorWindow)
	return q.highest("locks", q.facts.ErrorShare(), ranking(limitPanel(about{
		id: panel.BackendErrors, title: "Attempts that met a backend error, last " + window,
		description: "Share of the attempts of each lock that failed because of a backend error. The dashed lines are " +
			"the thresholds of the alert. If all locks are affected, check the backend and the network; if one is, check its configuration and permissions.",
		unit: units.PercentUnit, noValue: "no attempts", width: 8, height: 8,
		steps:   []dashboard.Threshold{base(green), from(t.ErrorShare, orange), from(t.ErrorShareCritical, red)},
		targets: []target{{expr: q.most(q.facts.ErrorShare()), legend: q.legend}},
	}), "max").
		Min(0).AxisSoftMax(1))
}

func (q queries) waiting() *timeseries.PanelBuilder {
	return q.highest("locks", q.facts.Waiting(), ranking(linePanel(about{
		id: panel.Waiting, title: "Waiting for a lock",
		description: "Age of the oldest attempt in flight. Standbys of a held lock with a leader are left out, because they wait as long as it " +
			"leads. A rising line is a lock that no replica gets: its holder or the backend hangs. " +
			"Ask the backend who holds it, and look at the log of that replica.",
		unit: units.Seconds, noValue: "no replica waits", width: 8, height: 8,
		steps:   plain(),
		targets: []target{{expr: q.most(q.facts.Waiting()), legend: q.legend}},
	}), "max").
		Min(0))
}

func (q queries) acquireDuration() *timeseries.PanelBuilder {
	return linePanel(about{
		id: panel.AcquireDuration, title: "Time until an attempt ended",
		description: "The average time from the start of an attempt to its end, for all outcomes. Standbys of a held lock wait as " +
			"long as another replica leads. Points link to traces, if the service records them." + q.whyNoQuantile(),
		unit: units.Seconds, noValue: "no attempt ended", width: 12, height: 8,
		steps:   plain(),
		targets: q.durations(catalog.AcquireDuration),
	}).
		// A lock that is held has an attempt now and then: no line joins them.
		ShowPoints(common.VisibilityModeAlways).
		Min(0)
}
