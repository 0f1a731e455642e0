package catalog

// Presence texts used more than once.
const (
	always    = "from construction, at 0"
	observed  = "from the first observation"
	leaseSeen = "once a lease length is declared or seen"
	endKnown  = "while a term with a known lease end is open"
	watched   = "from the first poll or event of the backend"
	believed  = "while the last view of the backend is valid"
	guarded   = "in a process that guards a store with the lock's tokens"
)

// Bounds grow by fives over long ranges, so that 30 ms and three days both
// fall into a bucket of their own and no bound is an integer.
var (
	waitBounds    = []float64{0.0025, 0.01, 0.025, 0.05, 0.25, 0.5, 2.5, 12.5, 62.5, 1562.5, 39062.5}
	runBounds     = []float64{0.1, 0.5, 2.5, 12.5, 62.5, 312.5, 1562.5, 7812.5, 39062.5, 195312.5, 976562.5}
	renewalBounds = []float64{0.0025, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 2.5, 12.5, 62.5}
	usageBounds   = []float64{0.25, 0.5, 0.7, 0.8, 0.9, 1.05, 1.5}
	gapBounds     = []float64{0.05, 0.25, 0.5, 1.5, 2.5, 7.5, 12.5, 30.5, 62.5, 312.5, 1562.5}
)

// NearLeaseBound is the bound of LeaseUsageRatio above which a run counts as
// close to the end of its lease.
const NearLeaseBound = 0.8

// The metrics. Order and meaning follow the reference in docs/metrics.md.
var (
	Attempts = &Metric{name: "leader_attempts_total", otel: "leader.attempts", kind: Counter, unit: "{attempt}", perLock: true,
		help: "Acquisition attempts started.", present: always, group: GroupCore}
	Acquired = &Metric{name: "leader_acquired_total", otel: "leader.acquired", kind: Counter, unit: "{acquisition}", perLock: true,
		help: "Attempts that won: terms gained.", present: always, group: GroupCore}
	NotAcquired = &Metric{name: "leader_not_acquired_total", otel: "leader.not_acquired", kind: Counter, unit: "{attempt}", perLock: true,
		labels: []Label{reasonLabel},
		help:   "Attempts that ended without winning, by reason.", present: always, group: GroupCore}
	Active = &Metric{name: "leader_active", otel: "leader.active", kind: UpDownCounter, unit: "{lock}", perLock: true,
		help: "Locks under this label whose unexpired lease this process holds, computed at collection.", present: always, group: GroupCore}
	Running = &Metric{name: "leader_running", otel: "leader.running", kind: UpDownCounter, unit: "{run}", perLock: true,
		help: "Guarded bodies executing now, whether or not the lock is still held.", present: always, group: GroupExecution}
	Pending = &Metric{name: "leader_pending", otel: "leader.pending", kind: UpDownCounter, unit: "{attempt}", perLock: true,
		help: "Attempts in flight.", present: always, group: GroupWaiting}
	PendingAge = &Metric{name: "leader_pending_age_seconds", otel: "leader.pending.age", kind: Gauge, unit: "s", perLock: true,
		help: "Age of the oldest attempt in flight; 0 when there is none.", present: always, group: GroupWaiting, stability: Experimental}
	AcquireDuration = &Metric{name: "leader_acquire_duration_seconds", otel: "leader.acquire.duration", kind: Histogram, unit: "s", perLock: true,
		bounds: waitBounds,
		help:   "Waiting time of finished attempts, with any outcome.", present: observed, group: GroupWaiting}
	ExecutionDuration = &Metric{name: "leader_execution_duration_seconds", otel: "leader.execution.duration", kind: Histogram, unit: "s", perLock: true,
		bounds: runBounds,
		help:   "Duration of guarded bodies, or of the term if it had none.", present: observed, group: GroupExecution}
	ExecutionFailures = &Metric{name: "leader_execution_failures_total", otel: "leader.execution.failures", kind: Counter, unit: "{run}", perLock: true,
		labels: []Label{failureLabel},
		help:   "Guarded bodies that failed, by cause.", present: always, group: GroupExecution}
	WorkAfterLoss = &Metric{name: "leader_work_after_loss_seconds_total", otel: "leader.work_after_loss", kind: Counter, unit: "s", perLock: true,
		help: "Time that guarded bodies ran after the moment from which another replica may lead: the lease end if it is known, otherwise the loss.", present: always, group: GroupExecution}
	TermsEnded = &Metric{name: "leader_terms_ended_total", otel: "leader.terms.ended", kind: Counter, unit: "{term}", perLock: true,
		labels: []Label{endLabel},
		help:   "Terms ended, by cause.", present: always, group: GroupCore}
	Releases = &Metric{name: "leader_releases_total", otel: "leader.releases", kind: Counter, unit: "{release}", perLock: true,
		labels: []Label{releaseLabel},
		help:   "Calls that released the lock, by result.", present: always, group: GroupCore}
	Renewals = &Metric{name: "leader_renewals_total", otel: "leader.renewals", kind: Counter, unit: "{renewal}", perLock: true,
		labels: []Label{renewalLabel},
		help:   "Lease renewals, by result.", present: "from construction, at 0, unless the library hides its renewals", group: GroupRenewal}
	RenewalDuration = &Metric{name: "leader_renewal_duration_seconds", otel: "leader.renewal.duration", kind: Histogram, unit: "s", perLock: true,
		bounds: renewalBounds,
		help:   "Duration of lease renewals, with any result.", present: observed, group: GroupRenewal}
	LeaseHeadroom = &Metric{name: "leader_lease_headroom_seconds", otel: "leader.lease.headroom", kind: Gauge, unit: "s", perLock: true,
		help: "Lease end minus now, negative after the lease end; the minimum of the terms under this label.", present: endKnown + ", unless the lock is left to its lease on purpose and no body runs", group: GroupLease}
	LeaseExpiry = &Metric{name: "leader_lease_expiry_timestamp_seconds", otel: "leader.lease.expiry.timestamp", kind: Gauge, unit: "s", perLock: true,
		help: "Unix time of the lease end; the earliest of the terms under this label.", present: endKnown, group: GroupLease}
	LeaseDuration = &Metric{name: "leader_lease_duration_seconds", otel: "leader.lease.duration", kind: Gauge, unit: "s", perLock: true,
		help: "Requested or granted length of the lease.", present: leaseSeen, group: GroupLease}
	LeaseUsageRatio = &Metric{name: "leader_lease_usage_ratio", otel: "leader.lease.usage.ratio", kind: Histogram, unit: "1", perLock: true,
		bounds: usageBounds,
		help:   "Share of the lease that was used when it was renewed or released; above 1 the lease had expired.", present: observed, group: GroupLease}
	LeaseOverruns = &Metric{name: "leader_lease_overruns_total", otel: "leader.lease.overruns", kind: Counter, unit: "{overrun}", perLock: true,
		help: "Terms that ran past the end of their lease.", present: leaseSeen, group: GroupLease}
	LastAcquired = &Metric{name: "leader_last_acquired_timestamp_seconds", otel: "leader.last_acquired.timestamp", kind: Gauge, unit: "s", perLock: true,
		help: "Unix time of the last term gained.", present: "after the first term", group: GroupCore}
	LastEnded = &Metric{name: "leader_last_ended_timestamp_seconds", otel: "leader.last_ended.timestamp", kind: Gauge, unit: "s", perLock: true,
		help: "Unix time at which the last term ended: the earliest of its release, its loss and the end of its lease.", present: "after the first term has ended", group: GroupCore}
	ExpectedInterval = &Metric{name: "leader_expected_interval_seconds", otel: "leader.expected_interval", kind: Gauge, unit: "s", perLock: true,
		help: "Declared time between acquisitions.", present: "when declared", group: GroupCore}
	MaxLeaders = &Metric{name: "leader_max_leaders", otel: "leader.max_leaders", kind: Gauge, unit: "{leader}", perLock: true,
		help: "Leaders that the elector allows at the same time.", present: "from construction", group: GroupCore}
	FencingToken = &Metric{name: "leader_fencing_token", otel: "leader.fencing_token", kind: Gauge, perLock: true,
		help: "Fencing token of the last term; exact up to 2^53.", present: "after the first term of an elector that has a monotonic token", group: GroupFencing, stability: Experimental}
	FencingTokenRegressions = &Metric{name: "leader_fencing_token_regressions_total", otel: "leader.fencing_token.regressions", kind: Counter, unit: "{regression}", perLock: true,
		help: "Terms whose fencing token was lower than an earlier one.", present: "after the first term of an elector that has a monotonic token", group: GroupFencing}
	FencingChecks = &Metric{name: "leader_fencing_checks_total", otel: "leader.fencing.checks", kind: Counter, unit: "{check}", perLock: true,
		labels: []Label{fencingLabel},
		help:   "Writes that a store's guard checked, by result: admitted token, stale token, or missing token.", present: guarded + ", at 0", group: GroupFencing}
	FencingHighestToken = &Metric{name: "leader_fencing_highest_token", otel: "leader.fencing.highest_token", kind: Gauge, perLock: true,
		help: "Highest fencing token that the store's guards have seen; exact up to 2^53.", present: guarded + ", from the first token, on a label of one lock", group: GroupFencing, stability: Experimental}
	ElectorInfo = &Metric{name: "leader_elector_info", otel: "leader.elector.info", kind: Gauge, perLock: true,
		labels: []Label{modeLabel, backendLabel, familyLabel},
		help:   "Always 1; the mode of the lock, its backend, and the family of its name.", present: "from construction", group: GroupCore}
	IdentityInfo = &Metric{name: "leader_identity_info", otel: "leader.identity.info", kind: Gauge, perLock: true,
		labels: []Label{holderLabel},
		help:   "Always 1; the identity with which this process campaigns, redacted like leader_backend_holder_info.", present: "while an elector campaigns whose identity is known, on a label of one lock", group: GroupBackend}
	BackendHeld = &Metric{name: "leader_backend_held", otel: "leader.backend.held", kind: Gauge, perLock: true,
		labels: []Label{backendLabel},
		help:   "Locks under this label for which the backend names a live holder, in any process.", present: believed, group: GroupBackend}
	BackendHolderInfo = &Metric{name: "leader_backend_holder_info", otel: "leader.backend.holder.info", kind: Gauge, perLock: true,
		labels: []Label{backendLabel, holderLabel},
		help:   "Always 1; the live holder that the backend names, redacted like lock names made at run time.", present: believed + " and names a live holder, on a label of one lock", group: GroupBackend}
	BackendLeaseExpiry = &Metric{name: "leader_backend_lease_expiry_timestamp_seconds", otel: "leader.backend.lease.expiry.timestamp", kind: Gauge, unit: "s", perLock: true,
		labels: []Label{backendLabel},
		help:   "Unix time of the lease end that the backend has recorded, also after it has passed; the earliest of the locks under this label.", present: believed + " and tells it", group: GroupBackend}
	BackendLeaseDuration = &Metric{name: "leader_backend_lease_duration_seconds", otel: "leader.backend.lease.duration", kind: Gauge, unit: "s", perLock: true,
		labels: []Label{backendLabel},
		help:   "Length of the lease that the backend has recorded.", present: believed + " and tells it", group: GroupBackend}
	BackendTerms = &Metric{name: "leader_backend_terms_total", otel: "leader.backend.terms", kind: Counter, unit: "{term}", perLock: true,
		labels: []Label{backendLabel},
		help:   "Terms that began while the backend was watched, of any process; a term that the first reading found is not counted.", present: watched, group: GroupBackend}
	BackendVacant = &Metric{name: "leader_backend_vacant_seconds_total", otel: "leader.backend.vacant", kind: Counter, unit: "s", perLock: true,
		labels: []Label{backendLabel},
		help:   "Time during which the backend named no live holder. Time during which it did not answer is not counted.", present: watched, group: GroupBackend}
	BackendHandover = &Metric{name: "leader_backend_handover_seconds", otel: "leader.backend.handover", kind: Histogram, unit: "s", perLock: true,
		labels: []Label{backendLabel}, bounds: gapBounds,
		help: "Time without a live holder before each term; 0 if the next holder followed immediately. Gaps with an unobserved beginning are excluded.", present: observed, group: GroupBackend}
	BackendToken = &Metric{name: "leader_backend_token", otel: "leader.backend.token", kind: Gauge, perLock: true,
		labels: []Label{backendLabel},
		help:   "Number by which the backend counts terms, such as transitions or a revision; exact up to 2^53.", present: believed + " and counts terms, on a label of one lock", group: GroupBackend, stability: Experimental}
	BackendLastEvent = &Metric{name: "leader_backend_last_event_timestamp_seconds", otel: "leader.backend.last_event.timestamp", kind: Gauge, unit: "s", perLock: true,
		labels: []Label{backendLabel},
		help:   "Unix time of the last report of the backend about the lock.", present: "while the backend is watched, from its first answer", group: GroupBackend}
	BackendUp = &Metric{name: "leader_backend_up", otel: "leader.backend.up", kind: Gauge,
		labels: []Label{backendLabel},
		help:   "1 while the last reading of every watched lock is valid, 0 while the backend does not answer.", present: "while the backend is watched", group: GroupBackend}
	BackendPollInterval = &Metric{name: "leader_backend_poll_interval_seconds", otel: "leader.backend.poll_interval", kind: Gauge, unit: "s",
		labels: []Label{backendLabel},
		help:   "Poll interval of a backend without events: changes between two polls are not detected.", present: "while the backend is polled", group: GroupBackend, stability: Experimental}
	RedactionInfo = &Metric{name: "leader_redaction_info", otel: "leader.redaction.info", kind: Gauge,
		labels: []Label{policyLabel, keyIDLabel, keyCheckLabel},
		help:   "Always 1; the policy by which lock names become labels. All replicas must use the same.", present: "from construction", group: GroupRedaction}
	RedactionOverflows = &Metric{name: "leader_redaction_overflows_total", otel: "leader.redaction.overflows", kind: Counter, unit: "{name}",
		help: "Lock names folded into the overflow label.", present: always, group: GroupRedaction}
	TelemetryFaults = &Metric{name: "leader_telemetry_faults_total", otel: "leader.telemetry.faults", kind: Counter, unit: "{fault}",
		help: "Faults of telemetry that did not reach the elections: panics of redactors, loggers, clocks, classifiers and optional methods of leases, dropped log records, contradicting options.", present: always, group: GroupCore}
)

var all = []*Metric{
	Attempts, Acquired, NotAcquired, Active, Running, Pending, PendingAge,
	AcquireDuration, ExecutionDuration, ExecutionFailures, WorkAfterLoss,
	TermsEnded, Releases, Renewals, RenewalDuration,
	LeaseHeadroom, LeaseExpiry, LeaseDuration, LeaseUsageRatio, LeaseOverruns,
	LastAcquired, LastEnded, ExpectedInterval, MaxLeaders,
	FencingToken, FencingTokenRegressions, FencingChecks, FencingHighestToken,
	ElectorInfo, IdentityInfo,
	BackendHeld, BackendHolderInfo, BackendLeaseExpiry, BackendLeaseDuration,
	BackendTerms, BackendVacant, BackendHandover, BackendToken, BackendLastEvent,
	BackendUp, BackendPollInterval,
	RedactionInfo, RedactionOverflows, TelemetryFaults,
}
