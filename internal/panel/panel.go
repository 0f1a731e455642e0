// Package panel has the identifiers that alerts and dashboards share: the uids of the
// dashboards and the ids of their panels. Alerts link to panels by id, so an id is
// never reused or changed.
package panel

// The default uids of the dashboards: of all locks, of one lock, and of the
// backends, and of what other projects export.
const (
	OverviewUID = "leaderscope-overview"
	LockUID     = "leaderscope-lock"
	BackendsUID = "leaderscope-backends"
	ClientGoUID = "leaderscope-client-go"

	KubeStateMetricsUID = "leaderscope-leases"
)

// AlertPrefix is the prefix of all alert names.
const AlertPrefix = "LeaderElection"

// Panels, by what they show: a panel that several dashboards have has one number,
// also where one of them reads the series of another project.
const (
	Leaders         = 1  // leaders now
	Holders         = 2  // replicas that claim each lock
	HolderTimeline  = 3  // who led when
	Outcomes        = 4  // attempts by outcome
	BackendErrors   = 5  // share of attempts that met a backend error
	Transitions     = 6  // terms gained and ended
	Waiting         = 7  // age of the oldest attempt in flight
	Execution       = 8  // duration of runs against the lease
	LeaseUsage      = 9  // lease usage at renewal and release
	Headroom        = 10 // least lease headroom
	Renewals        = 11 // renewals by result
	WorkAfterLoss   = 12 // work after loss
	Locks           = 13 // table of locks
	Overruns        = 14 // terms past their lease
	Instrumentation = 15 // targets, label policy, overflow
	Leaderless      = 16 // how many held locks no replica holds
	Crowded         = 17 // how many locks have too many leaders
	NearLease       = 18 // how many locks came near or past their lease
	BackendTrouble  = 19 // how many locks meet backend errors
	Failures        = 20 // guarded bodies that failed

	Holder          = 21 // who holds the lock now
	State           = 22 // the worst state of the lock
	LeaseLeft       = 23 // share of the lease that is left now
	LastAcquired    = 24 // time since the last term was gained
	Declared        = 25 // lease, cadence and leaders, as declared
	Replicas        = 26 // table of replicas
	FencingToken    = 27 // fencing token and when it went back
	AcquireDuration = 28 // time until an attempt ended
	RenewalDuration = 29 // time that renewals took
	Cadence         = 30 // time since the last term against the declared cadence
	Working         = 31 // replicas that hold the lock, and replicas that work
	Scraped         = 32 // which replicas are scraped
	Failover        = 33 // time between two terms, negative where they overlapped
	Unseen          = 34 // targets that cannot be scraped
	Unprotected     = 35 // replicas that work without the lock
	Alerts          = 36 // alerts that fire
	AlertTimeline   = 37 // which alerts fired when
	Endings         = 38 // why terms ended, and when

	BackendUp        = 39 // whether each backend can be queried
	BackendWatched   = 40 // how many locks are watched
	BackendFree      = 41 // how many watched locks no process holds
	BackendLocks     = 42 // table of watched locks
	BackendTimeline  = 43 // which holder the backend named when
	BackendVacancies = 44 // time without a holder
	BackendHandover  = 45 // duration of handovers
	BackendTerms     = 46 // terms that began
	BackendRenewAge  = 47 // age of the last renewal against the lease
	BackendPolling   = 48 // poll interval of a backend without events
	BackendImpostors = 49 // processes that lead while the backend names another
	BackendReporters = 50 // reporting processes, and gaps in their reports

	FencingChecks = 51 // writes that stores checked, and refused
)
