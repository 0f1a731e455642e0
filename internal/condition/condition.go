// Package condition is the table of problems that a lock or the replicas of a job can
// have: the alert for each, its name in dashboards, its severity and its panel.
// Alerts and dashboards both use it, so that no panel shows a lock as healthy while
// its alert fires.
package condition

import "github.com/leaderscope/leaderscope/internal/panel"

// Condition is one row of the table.
type Condition struct {
	// Alert is the name of the alert without [panel.AlertPrefix]. It is empty for
	// conditions without an alert, which may be temporary.
	Alert string
	// Warns: the condition is that of the alert with the severity warning, of an alert
	// that another condition has with a severity that pages.
	Warns bool
	// Text is the name of the state in dashboards.
	Text string
	// Pages: the alert pages by default, or has a severity that does.
	Pages bool
	// Panel is the panel for the condition: on the dashboard of one lock or, for a
	// condition of a job, on the overview.
	Panel int
	// Tile is the panel of the first row of a dashboard that counts or lists what has
	// the condition; 0 if none does.
	Tile int
	// PerJob: the alert is about the replicas of a job, not about a lock.
	PerJob bool
	// Backends: Panel is on the dashboard of the backends.
	Backends bool
}

// Conditions that an alert reports.
var (
	NoLeader       = &Condition{Alert: "NoLeader", Text: "no leader", Pages: true, Panel: panel.HolderTimeline, Tile: panel.Leaderless}
	SplitBrain     = &Condition{Alert: "SplitBrain", Text: "too many leaders", Pages: true, Panel: panel.HolderTimeline, Tile: panel.Crowded}
	WorkAfterLoss  = &Condition{Alert: "WorkAfterLoss", Text: "works without lock", Pages: true, Panel: panel.WorkAfterLoss, Tile: panel.Unprotected}
	TokenRegressed = &Condition{Alert: "TokenRegressed", Text: "token went back", Pages: true, Panel: panel.FencingToken}
	LeaseExceeded  = &Condition{Alert: "LeaseExceeded", Text: "past its lease", Pages: true, Panel: panel.Overruns, Tile: panel.NearLease}
	BackendErrors  = &Condition{Alert: "BackendErrors", Text: "backend errors", Pages: true, Panel: panel.BackendErrors, Tile: panel.BackendTrouble}
	// The warnings of two alerts that page too say less than the pages do.
	NoVisibleLeader   = &Condition{Alert: "NoLeader", Warns: true, Text: "no visible leader", Panel: panel.HolderTimeline}
	SomeBackendErrors = &Condition{Alert: "BackendErrors", Warns: true, Text: "some backend errors", Panel: panel.BackendErrors}

	LockVanished    = &Condition{Alert: "LockVanished", Text: "vanished", Panel: panel.Scraped}
	JobOverdue      = &Condition{Alert: "JobOverdue", Text: "overdue", Panel: panel.Cadence}
	TaskFailing     = &Condition{Alert: "TaskFailing", Text: "work fails", Panel: panel.Failures}
	NoAcquisition   = &Condition{Alert: "NoAcquisition", Text: "never acquired", Panel: panel.Outcomes}
	AttemptStuck    = &Condition{Alert: "AttemptStuck", Text: "attempt stuck", Panel: panel.Waiting}
	RenewalFailures = &Condition{Alert: "RenewalFailures", Text: "renewals fail", Panel: panel.Renewals}
	Overlap         = &Condition{Alert: "Overlap", Text: "terms overlapped", Panel: panel.Failover}
	StaleWrite      = &Condition{Alert: "StaleWrite", Text: "late write refused", Panel: panel.FencingChecks}
	Flapping        = &Condition{Alert: "Flapping", Text: "flapping", Panel: panel.Transitions}
	NearLease       = &Condition{Alert: "NearLease", Text: "near its lease", Panel: panel.LeaseUsage, Tile: panel.NearLease}
	LowHeadroom     = &Condition{Alert: "LowHeadroom", Text: "little lease left", Panel: panel.Headroom}
	NoStandby       = &Condition{Alert: "NoStandby", Text: "no standby", Panel: panel.Replicas}
	Vacant          = &Condition{Alert: "Vacant", Text: "no holder", Pages: true, Panel: panel.BackendTimeline, Tile: panel.BackendFree, Backends: true}
	Impostor        = &Condition{Alert: "Impostor", Text: "not the holder", Pages: true, Panel: panel.BackendImpostors, Backends: true}

	MetricsAbsent        = &Condition{Alert: "MetricsAbsent", Pages: true, Panel: panel.Instrumentation, Tile: panel.Unseen, PerJob: true}
	ScrapeFailing        = &Condition{Alert: "ScrapeFailing", Panel: panel.Instrumentation, Tile: panel.Unseen, PerJob: true}
	RedactionKeyMismatch = &Condition{Alert: "RedactionKeyMismatch", Panel: panel.Instrumentation, PerJob: true}
	LabelOverflow        = &Condition{Alert: "LabelOverflow", Panel: panel.Instrumentation, PerJob: true}
	ObserverBlind        = &Condition{Alert: "ObserverBlind", Panel: panel.BackendUp, PerJob: true, Backends: true}
)

// Conditions that dashboards show before an alert fires, or that have no alert.
var (
	// NotSeen: the replica that led last cannot be scraped.
	NotSeen = &Condition{Text: "leader not scraped"}
	// NoLeaderNow: no replica leads at this moment, as in a failover.
	NoLeaderNow = &Condition{Text: "no leader yet"}
	// UnprotectedNow: a replica works although it does not hold the lock.
	UnprotectedNow = &Condition{Text: "works without lock"}
	// ManyNow: more replicas lead at this moment than the elector allows, as one scrape
	// can show during a handover.
	ManyNow = &Condition{Text: "handover"}
)

// Conditions in which nothing is wrong.
var (
	Idle = &Condition{Text: "idle"}
	// LedElsewhere: no replica of this job leads, and one of another job does.
	LedElsewhere = &Condition{Text: "led by another job"}
	Running      = &Condition{Text: "running"}
	Led          = &Condition{Text: "led"}
)

// states are the states of a lock; later ones are worse.
var states = []*Condition{
	Idle, LedElsewhere, Running, Led,
	ManyNow, NoLeaderNow, NoStandby, LowHeadroom, NearLease, Flapping, RenewalFailures, AttemptStuck, UnprotectedNow,
	NoAcquisition, TaskFailing, JobOverdue, LockVanished, StaleWrite, Overlap, SomeBackendErrors, NoVisibleLeader, NotSeen,
	BackendErrors, LeaseExceeded, TokenRegressed, WorkAfterLoss, Impostor, SplitBrain, Vacant, NoLeader,
}

// States are the states of a lock; later ones are worse. A state has the number
// [Condition.State].
func States() []*Condition { return append([]*Condition(nil), states...) }

// jobs are the conditions of the replicas of a job or of a reporter, in no order.
var jobs = []*Condition{MetricsAbsent, ScrapeFailing, RedactionKeyMismatch, LabelOverflow, ObserverBlind}

// All are the conditions of locks and of jobs, with and without an alert.
func All() []*Condition { return append(States(), jobs...) }

// Trouble is the first state with a problem, or a possible problem.
const Trouble = 4

// State is the number of a lock's state; -1 for a condition that is not a state.
func (c *Condition) State() int {
	for i, s := range states {
		if s == c {
			return i
		}
	}
	return -1
}
