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
// classic schema: what the backends say of the locks, as leader-observer or a
// standby reads it. It needs nothing of the processes that campaign. One
// configuration always gives the same bytes. The error is a [*KeyError] where
// the configuration is to blame. Backends is safe for concurrent use.
func Backends(cfg Config) ([]byte, error) {
	q, err := queries{cfg: cfg, legend: "{{" + backendLabel + "}} {{" + catalog.LockName.Name() + "}}", listed: catalog.BackendLastEvent, drill: cfg.Backends}.scoped()
	if err != nil {
		return nil, err
	}
	return q.build(
		page{
			Identity: cfg.Backends, others: []Identity{{cfg.UID, cfg.Title}, cfg.Lock},
			description: "What the backends say of the locks, as leader-observer or a standby reads it: who holds what, for how long nobody did, " +
				"how old the last renewal is. Namespace, job and instance are those of the process that reports.",
		},
		q.viewNow(),
		q.viewOverTime(),
		q.viewReporters(),
	)
}

// viewNow says which locks are held, by whom, and whether that can be known.
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
	return row{"Can this be believed?", []cog.Builder[dashboard.Panel]{q.reporters()}}
}

// free counts the locks that were held in the time shown, and are not now.
func (q queries) free() *stat.PanelBuilder {
	held := query.Op(q.locks.Free(), "and "+query.On(q.locks.BackendLabels()), q.locks.HeldWithin(shownRange))
	return q.firingOrNow(about{
		id: panel.BackendFree, title: "Without a holder",
		description: "Locks that were held in the time shown and for which the backend names no live holder now. In orange: a lock around single " +
			"runs is free most of the time, and a handover takes seconds. In red: the alert fires, the work of a leader is not being done.",
		unit: units.Short, noValue: "no lock is watched", width: 5, height: 4,
	}, condition.Vacant, q.locks.By("group", held), q.locks.Metric(catalog.BackendHeld))
}

func (q queries) watched() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.BackendWatched, title: "Watched",
		description: "Locks of which a reporter has seen a record. Those that are not held and were not in the time shown may be of programs " +
			"that are gone.",
		unit: units.Short, noValue: "no lock is watched: does leader-observer run, and is it scraped?", width: 4, height: 4,
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
		id: panel.BackendImpostors, title: "Leads, and is not the holder",
		description: "Processes that lead while the backend names another holder: two may do the same work. Stop the one that is shown here. " +
			"For the length of a scrape a handover looks the same. Only processes with leaderscope inside say as whom they campaign.",
		unit: units.Short, noValue: "no process, or none says as whom it campaigns", width: 5, height: 4,
		steps:   []dashboard.Threshold{base(red)},
		targets: []target{{expr: q.locks.Impostors(shownRange, still), legend: "{{" + q.cfg.Scope.Holder + "}}: {{" + catalog.LockName.Name() + "}}"}},
	}).
		TextMode(common.BigValueTextModeName)
}

func (q queries) backendsUp() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.BackendUp, title: "Backends",
		description: "Whether a reporter can ask the backend. While none can, who holds what is not known, and nothing is said of its locks. " +
			"That is no vacancy.",
		unit: units.Short, noValue: "no reporter", width: 6, height: 4,
		steps:   []dashboard.Threshold{base(red), from(1, green)},
		targets: []target{{expr: query.By("max", []string{backendLabel}, q.locks.Metric(catalog.BackendUp)), legend: "{{" + backendLabel + "}}"}},
	}).
		Mappings([]dashboard.ValueMapping{words(says{0, "cannot be asked", red}, says{1, "up", green})}).
		TextMode(common.BigValueTextModeValueAndName)
}

func (q queries) polling() *stat.PanelBuilder {
	return statPanel(about{
		id: panel.BackendPolling, title: "Time between two looks",
		description: "Backends that tell of no changes are asked at this interval: what lies between two looks is not seen. Where there is no " +
			"value, each change is seen as it happens, also between two scrapes.",
		unit: units.Seconds, noValue: "each change is seen", width: 4, height: 4,
		steps:   plain(),
		targets: []target{{expr: query.By("max", []string{backendLabel}, q.locks.Metric(catalog.BackendPollInterval)), legend: "{{" + backendLabel + "}}"}},
	}).
		TextMode(common.BigValueTextModeValueAndName)
}

// reporters shows who looks, and when it could not.
func (q queries) reporters() cog.Builder[dashboard.Panel] {
	by := append(q.locks.TargetLabels(), q.cfg.Scope.Holder, backendLabel)
	return timelinePanel(about{
		id: panel.BackendReporters, title: "Reporters",
		description: "The processes that report what a backend says: an observer, or standbys that are told anyway. Red: it cannot ask. A gap: it " +
			"does not report, because it is not scraped, or because it leads and looks no more.",
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
