package catalog

// Presence texts used more than once.
const (
	always    = "from construction, at 0"
	leaseSeen = "once a lease length is declared or seen"
	endKnown  = "while a term with a known lease end is open"
)

// Bounds grow by fives over long ranges, so that 30 ms and three days both
// fall into a bucket of their own and no bound is an integer.
var (
	waitBounds    = []float64{0.0025, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 2.5, 12.5, 62.5, 1562.5, 39062.5}
	runBounds     = []float64{0.1, 0.5, 2.5, 12.5, 62.5, 312.5, 1562.5, 7812.5, 39062.5, 195312.5, 976562.5}
	renewalBounds = []float64{0.0025, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 2.5, 12.5, 62.5}
	usageBounds   = []float64{0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 1.05, 1.5, 2.5}
)

// NearLeaseBound is the bound of LeaseUsageRatio above which a run counts as
// close to the end of its lease.
const NearLeaseBound = 0.8

// The metrics. Order and meaning follow the reference in docs/metrics.md.
var (
	Attempts = &Metric{Name: "leader_attempts_total", OTel: "leader.attempts", Kind: Counter, Unit: "{attempt}", PerLock: true,
		Help: "Acquisition attempts started.", Present: always, Group: GroupCore}
	Acquired = &Metric{Name: "leader_acquired_total", OTel: "leader.acquired", Kind: Counter, Unit: "{acquisition}", PerLock: true,
		Help: "Attempts that won: terms gained.", Present: always, Group: GroupCore}
	NotAcquired = &Metric{Name: "leader_not_acquired_total", OTel: "leader.not_acquired", Kind: Counter, Unit: "{attempt}", PerLock: true,
		Labels: []Label{reasonLabel},
		Help:   "Attempts that ended without winning, by reason.", Present: always, Group: GroupCore}
	Active = &Metric{Name: "leader_active", OTel: "leader.active", Kind: UpDownCounter, Unit: "{lock}", PerLock: true,
		Help: "Locks under this label whose unexpired lease this process holds, computed at collection.", Present: always, Group: GroupCore}
	Running = &Metric{Name: "leader_running", OTel: "leader.running", Kind: UpDownCounter, Unit: "{run}", PerLock: true,
		Help: "Guarded bodies executing now, whether or not the lock is still held.", Present: always, Group: GroupExecution}
	Pending = &Metric{Name: "leader_pending", OTel: "leader.pending", Kind: UpDownCounter, Unit: "{attempt}", PerLock: true,
		Help: "Attempts in flight.", Present: always, Group: GroupWaiting}
	PendingAge = &Metric{Name: "leader_pending_age_seconds", OTel: "leader.pending.age", Kind: Gauge, Unit: "s", PerLock: true,
		Help: "Age of the oldest attempt in flight; 0 when there is none.", Present: always, Group: GroupWaiting, Stability: Experimental}
	AcquireDuration = &Metric{Name: "leader_acquire_duration_seconds", OTel: "leader.acquire.duration", Kind: Histogram, Unit: "s", PerLock: true,
		Bounds: waitBounds,
		Help:   "Waiting time of finished attempts, whatever their outcome.", Present: always, Group: GroupWaiting}
	ExecutionDuration = &Metric{Name: "leader_execution_duration_seconds", OTel: "leader.execution.duration", Kind: Histogram, Unit: "s", PerLock: true,
		Bounds: runBounds,
		Help:   "Duration of guarded bodies; of the term where it guarded none.", Present: always, Group: GroupExecution}
	ExecutionFailures = &Metric{Name: "leader_execution_failures_total", OTel: "leader.execution.failures", Kind: Counter, Unit: "{run}", PerLock: true,
		Labels: []Label{failureLabel},
		Help:   "Guarded bodies that failed, by cause.", Present: always, Group: GroupExecution}
	WorkAfterLoss = &Metric{Name: "leader_work_after_loss_seconds_total", OTel: "leader.work_after_loss", Kind: Counter, Unit: "s", PerLock: true,
		Help: "Time that guarded bodies ran after their term or its lease had ended.", Present: always, Group: GroupExecution}
	TermsEnded = &Metric{Name: "leader_terms_ended_total", OTel: "leader.terms.ended", Kind: Counter, Unit: "{term}", PerLock: true,
		Labels: []Label{endLabel},
		Help:   "Terms ended, by cause.", Present: always, Group: GroupCore}
	Releases = &Metric{Name: "leader_releases_total", OTel: "leader.releases", Kind: Counter, Unit: "{release}", PerLock: true,
		Labels: []Label{releaseLabel},
		Help:   "Calls that gave the lock back, by result.", Present: always, Group: GroupCore}
	Renewals = &Metric{Name: "leader_renewals_total", OTel: "leader.renewals", Kind: Counter, Unit: "{renewal}", PerLock: true,
		Labels: []Label{renewalLabel},
		Help:   "Lease renewals, by result.", Present: "from construction, at 0, unless the library hides its renewals", Group: GroupRenewal}
	RenewalDuration = &Metric{Name: "leader_renewal_duration_seconds", OTel: "leader.renewal.duration", Kind: Histogram, Unit: "s", PerLock: true,
		Bounds: renewalBounds,
		Help:   "Duration of lease renewals, whatever their result.", Present: "from construction, at 0, unless the library hides its renewals", Group: GroupRenewal}
	LeaseHeadroom = &Metric{Name: "leader_lease_headroom_seconds", OTel: "leader.lease.headroom", Kind: Gauge, Unit: "s", PerLock: true,
		Help: "Lease end minus now, negative once it has passed; the least of the terms under this label.", Present: endKnown, Group: GroupLease}
	LeaseExpiry = &Metric{Name: "leader_lease_expiry_timestamp_seconds", OTel: "leader.lease.expiry.timestamp", Kind: Gauge, Unit: "s", PerLock: true,
		Help: "Unix time of the lease end; the earliest of the terms under this label.", Present: endKnown, Group: GroupLease}
	LeaseDuration = &Metric{Name: "leader_lease_duration_seconds", OTel: "leader.lease.duration", Kind: Gauge, Unit: "s", PerLock: true,
		Help: "Length of the lease asked for or granted.", Present: leaseSeen, Group: GroupLease}
	LeaseUsageRatio = &Metric{Name: "leader_lease_usage_ratio", OTel: "leader.lease.usage.ratio", Kind: Histogram, Unit: "1", PerLock: true,
		Bounds: usageBounds,
		Help:   "Share of the lease gone when it was renewed or released; above 1 it had run out.", Present: leaseSeen, Group: GroupLease}
	LeaseOverruns = &Metric{Name: "leader_lease_overruns_total", OTel: "leader.lease.overruns", Kind: Counter, Unit: "{overrun}", PerLock: true,
		Help: "Terms that ran past the end of their lease.", Present: leaseSeen, Group: GroupLease}
	LastAcquired = &Metric{Name: "leader_last_acquired_timestamp_seconds", OTel: "leader.last_acquired.timestamp", Kind: Gauge, Unit: "s", PerLock: true,
		Help: "Unix time of the last term gained.", Present: "after the first term", Group: GroupCore}
	ExpectedInterval = &Metric{Name: "leader_expected_interval_seconds", OTel: "leader.expected_interval", Kind: Gauge, Unit: "s", PerLock: true,
		Help: "Declared time between acquisitions.", Present: "when declared", Group: GroupCore}
	MaxLeaders = &Metric{Name: "leader_max_leaders", OTel: "leader.max_leaders", Kind: Gauge, Unit: "{leader}", PerLock: true,
		Help: "Leaders that the elector allows at once.", Present: "from construction", Group: GroupCore}
	FencingToken = &Metric{Name: "leader_fencing_token", OTel: "leader.fencing_token", Kind: Gauge, PerLock: true,
		Help: "Fencing token of the last term; exact up to 2^53.", Present: "after the first term of an elector that has a monotonic token", Group: GroupFencing, Stability: Experimental}
	FencingTokenRegressions = &Metric{Name: "leader_fencing_token_regressions_total", OTel: "leader.fencing_token.regressions", Kind: Counter, Unit: "{regression}", PerLock: true,
		Help: "Terms whose fencing token was lower than an earlier one.", Present: "after the first term of an elector that has a monotonic token", Group: GroupFencing}
	ElectorInfo = &Metric{Name: "leader_elector_info", OTel: "leader.elector.info", Kind: Gauge, PerLock: true,
		Labels: []Label{modeLabel, backendLabel, familyLabel},
		Help:   "Always 1; how the lock is used, on which backend, and the family of its name.", Present: "from construction", Group: GroupCore}
	RedactionInfo = &Metric{Name: "leader_redaction_info", OTel: "leader.redaction.info", Kind: Gauge,
		Labels: []Label{policyLabel, keyIDLabel, keyCheckLabel},
		Help:   "Always 1; how lock names become labels. Replicas must agree.", Present: "from construction", Group: GroupRedaction}
	RedactionOverflows = &Metric{Name: "leader_redaction_overflows_total", OTel: "leader.redaction.overflows", Kind: Counter, Unit: "{name}",
		Help: "Lock names folded into the overflow label.", Present: always, Group: GroupRedaction}
)

var all = []*Metric{
	Attempts, Acquired, NotAcquired, Active, Running, Pending, PendingAge,
	AcquireDuration, ExecutionDuration, ExecutionFailures, WorkAfterLoss,
	TermsEnded, Releases, Renewals, RenewalDuration,
	LeaseHeadroom, LeaseExpiry, LeaseDuration, LeaseUsageRatio, LeaseOverruns,
	LastAcquired, ExpectedInterval, MaxLeaders,
	FencingToken, FencingTokenRegressions,
	ElectorInfo, RedactionInfo, RedactionOverflows,
}
