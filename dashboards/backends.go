package dashboards

import (
	"slices"

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

// Backends is the dashboard "Leader election / Backends" as JSON in Grafana's
// classic schema: the state of the locks in their backends, as leader-observer or a
// standby reads it. The processes that campaign need not be instrumented. The same
// configuration always gives the same bytes. The error is a [*KeyError] if the
// configuration is invalid. Backends is safe for concurrent use.
func Backends(cfg Config) ([]byte, error) {
	q, err := queries{cfg: cfg, legend: "{{" + backendLabel + "}} {{" + catalog.LockName.Name() + "}}", listed: cfg.metric(catalog.BackendLastEvent), drill: cfg.Backends}.scoped()
	if err != nil {
		return nil, err
	}
	return q.build(
		page{
			Identity: cfg.Backends, annotations: q.annotations(), others: []Identity{{cfg.UID, cfg.Title}, cfg.Lock},
			description: "The state of the locks in their backends, as leader-observer or a standby reads it: the holder of each lock, how long a lock had no holder, " +
				"and the age of the last renewal. Namespace, job and instance are those of the reporting process.",
		},
		q.viewNow(),
		q.viewOverTime(),
		q.viewReporters(),
	)
}

// viewNow shows which locks are held, their holders, and whether the data is current.
func (q queries) viewNow() row {
	return row{"Right now", []cog.Builder[dashboard.Panel]{
		q.firing(),
		q.free(),
		q.watched(),
		q.impostors(),
		q.backendsUp(),
		q.polling(),
		q.viewTable(),
	}}
}

func (q queries) viewOverTime() row {
	return row{"Over time", []cog.Builder[dashboard.Panel]{
		q.namedWhen(),
		q.vacancies(),
		q.terms(),
		q.handovers(),
		q.renewAge(),
	}}
}

func (q queries) viewReporters() row {
	return row{"Data quality", []cog.Builder[dashboard.Panel]{q.reporters()}}
}

// free counts the locks that were held in the time shown, and are not now.
func (q queries) free() *stat.PanelBuilder {
	held := query.Op(q.locks.Free(), "and "+query.On(q.locks.BackendLabels()), q.locks.HeldWithin(shownRange))
	return q.pagingOrNow(about{
		title: "Without a holder",
		description: "Locks that were held in the time range shown and for which the backend names no live holder now. Orange: a lock around single " +
			"runs is free most of the time, and a handover takes seconds. Red: the alert pages, and a leader's work is not being done.",
		unit: units.Short, noValue: "no lock is watched", width: 5, height: 4,
	}, condition.Vacant, q.locks.By("group", held), q.locks.Metric(catalog.BackendHeld))
}

func (q queries) watched() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.BackendWatched, title: "Watched",
		description: "Locks whose record a reporter has read. Locks that had no holder in the time range shown may belong to programs " +
			"that no longer run.",
		unit: units.Short, noValue: noneWatched, width: 4, height: 4,
		steps: plain(),
		targets: []target{
			{ref: "All", expr: countAll(query.By("group", q.locks.BackendLabels(), q.locks.Metric(catalog.BackendLastEvent))), legend: "locks"},
			{ref: "Held", expr: query.Expr("sum(" + query.By("max", q.locks.BackendLabels(), q.locks.Metric(catalog.BackendHeld)) + ")"), legend: "held"},
		},
	}).
		TextMode(common.BigValueTextModeValueAndName)
}

func (q queries) impostors() *stat.PanelBuilder {
	still := duration(2 * q.cfg.Scope.ScrapeInterval)
	return statPanel(about{
		id: panel.BackendImpostors, title: "Leads but is not the holder",
		description: "Processes that lead although the backend names another holder: two processes may do the same work. Stop the processes shown here. " +
			"During one scrape interval, a handover looks the same. Only processes that use leaderscope export their identity.",
		unit: units.Short, noValue: "no process, or none exports its identity", width: 5, height: 4,
		steps:   []dashboard.Threshold{base(red)},
		targets: []target{{expr: q.locks.Impostors(shownRange, still), legend: "{{" + q.cfg.Scope.Holder + "}}: {{" + catalog.LockName.Name() + "}}"}},
	}).
		TextMode(common.BigValueTextModeName)
}

func (q queries) backendsUp() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.BackendUp, title: "Backends",
		description: "Whether a reporter can query the backend. While none can, the holders of its locks are unknown; that does not mean that the locks " +
			"are free. Check the address and the credentials in the log of the reporter.",
		unit: units.Short, noValue: "no reporter", width: 6, height: 4,
		steps:   []dashboard.Threshold{base(red), from(1, green)},
		targets: []target{{expr: query.By("max", []string{backendLabel}, q.locks.Metric(catalog.BackendUp)), legend: "{{" + backendLabel + "}}"}},
	}).
		Mappings([]dashboard.ValueMapping{words(says{0, "unreachable", red}, says{1, "up", green})}).
		TextMode(common.BigValueTextModeValueAndName)
}

func (q queries) polling() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.BackendPolling, title: "Poll interval",
		description: "Backends that do not send changes are polled at this interval: changes between two polls are not detected. If there is no " +
			"value, each change is detected when it happens, even between two scrapes.",
		unit: units.Seconds, noValue: "no backend is polled", width: 4, height: 4,
		steps:   plain(),
		targets: []target{{expr: query.By("max", []string{backendLabel}, q.locks.Metric(catalog.BackendPollInterval)), legend: "{{" + backendLabel + "}}"}},
	}).
		TextMode(common.BigValueTextModeValueAndName)
}

// reporters shows the reporting processes, and when they could not query the backend.
func (q queries) reporters() cog.Builder[dashboard.Panel] {
	by := append(q.locks.TargetLabels(), q.cfg.Scope.Holder, backendLabel)
	return timelinePanel(about{
		id: panel.BackendReporters, title: "Reporters",
		description: "The processes that report the state of a backend: an observer, or standbys that receive it in any case. Red: the process cannot query the " +
			"backend; its log has the error. Gap: the process does not report, because it is not scraped, or because it leads and no longer reads the record.",
		unit: units.Short, noValue: "no reporter", width: 24, height: 6,
		steps: []dashboard.Threshold{base(red), from(1, green)},
		targets: []target{{
			expr:   sortedBy(query.By("max", by, q.replicas.Metric(catalog.BackendUp)), backendLabel, q.cfg.Scope.Holder),
			legend: "{{" + backendLabel + "}} {{" + q.cfg.Scope.Holder + "}}",
		}},
	}).
		Mappings([]dashboard.ValueMapping{words(says{0, "cannot ask", red}, says{1, "asks", green})}).
		PerPage(drawnReplicas)
}

// ofView are labels of a watched lock, and more.
func (q queries) ofView(more ...string) []string {
	return append(slices.Clone(q.locks.BackendLabels()), more...)
}
