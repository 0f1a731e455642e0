package catalog

// Reason says why an attempt did not win.
type Reason uint8

// The reasons, in the order in which series are written.
const (
	// Contended: another holder has the lock.
	Contended Reason = iota
	// AlreadyHeld: this caller holds it already, and the library says so.
	AlreadyHeld
	// TimedOut: the caller's own deadline passed.
	TimedOut
	// CanceledAttempt: the caller gave up.
	CanceledAttempt
	// SessionLost: the session behind the attempt had ended before it won.
	SessionLost
	// BackendError: the backend could not be asked, or failed.
	BackendError
	// Panicked: the elector panicked or ended its goroutine.
	Panicked
	// UnknownReason: the elector cannot tell.
	UnknownReason

	reasons
)

// EndCause says how a term ended.
type EndCause uint8

// The causes of a term's end.
const (
	// Released: released while held.
	Released EndCause = iota
	// Lost: the backend or the library said that the lock is gone.
	Lost
	// Expired: the lease had run out when the term was closed.
	Expired
	// CanceledTerm: the elector stopped without releasing the lock.
	CanceledTerm
	// Abandoned: the handle was forgotten or closed while the term was open.
	Abandoned
	// GaveUp: the elector stopped trying while its lease still ran.
	GaveUp
	// ReleaseFailed: the call that should release the lock failed; the lock
	// is held until its lease ends or a later release succeeds.
	ReleaseFailed

	endCauses
)

// RenewalResult is the result of a renewal.
type RenewalResult uint8

// The results of a renewal.
const (
	RenewalOK RenewalResult = iota
	RenewalError
	RenewalTimeout
	RenewalCanceled
	RenewalLost

	renewalResults
)

// ReleaseResult is the result of a release.
type ReleaseResult uint8

// The results of a release.
const (
	ReleaseOK ReleaseResult = iota
	ReleaseError
	ReleaseNotOwner

	releaseResults
)

// FailureCause says how a guarded body failed.
type FailureCause uint8

// The causes of a failed body.
const (
	FailedWithError FailureCause = iota
	FailedWithPanic

	failureCauses
)

// FencingResult is the decision of a store's guard about a write.
type FencingResult uint8

// The results of a fencing check.
const (
	// FencingAdmitted: the token was not lower than the highest seen.
	FencingAdmitted FencingResult = iota
	// FencingStale: the guard had seen a higher token.
	FencingStale
	// FencingMissing: the write carried no token.
	FencingMissing

	fencingResults
)

// Mode distinguishes a held leadership from a lock around one run.
type Mode uint8

// The modes.
const (
	// ModeRun: acquire, run one body, release.
	ModeRun Mode = iota
	// ModeHold: campaign, and hold while the process lives.
	ModeHold

	modes
)

// Sizes of the closed sets, for arrays indexed by their values.
const (
	Reasons        = int(reasons)
	EndCauses      = int(endCauses)
	RenewalResults = int(renewalResults)
	ReleaseResults = int(releaseResults)
	FailureCauses  = int(failureCauses)
	FencingResults = int(fencingResults)
	Modes          = int(modes)
)

var (
	reasonLabel  = Label{name: "reason", attribute: "reason", values: []string{"contended", "already_held", "timeout", "canceled", "session_lost", "backend_error", "panic", "unknown"}}
	endLabel     = Label{name: "cause", attribute: "cause", values: []string{"released", "lost", "expired", "canceled", "abandoned", "gave_up", "release_failed"}}
	renewalLabel = Label{name: "result", attribute: "result", values: []string{"ok", "error", "timeout", "canceled", "lost"}}
	releaseLabel = Label{name: "result", attribute: "result", values: []string{"ok", "error", "not_owner"}}
	failureLabel = Label{name: "cause", attribute: "cause", values: []string{"error", "panic"}}
	fencingLabel = Label{name: "result", attribute: "result", values: []string{"admitted", "stale", "missing"}}
	modeLabel    = Label{name: "mode", attribute: "mode", values: []string{"run", "hold"}}

	backendLabel  = Label{name: "backend", attribute: "backend"}
	familyLabel   = Label{name: "family", attribute: "family"}
	policyLabel   = Label{name: "policy", attribute: "policy", values: []string{"constant", "hash", "raw", "custom"}}
	keyIDLabel    = Label{name: "key_id", attribute: "key_id"}
	keyCheckLabel = Label{name: "key_check", attribute: "key_check"}
	holderLabel   = Label{name: "holder", attribute: "holder"}
)

// invalid is what a value outside of its closed set is printed as.
const invalid = "invalid"

func word[V ~uint8](l Label, v V) string {
	if int(v) >= len(l.values) {
		return invalid
	}
	return l.values[v]
}

// String is the value of the reason label; "invalid" outside of the set.
func (r Reason) String() string { return word(reasonLabel, r) }

// String is the value of the cause label; "invalid" outside of the set.
func (c EndCause) String() string { return word(endLabel, c) }

// String is the value of the result label; "invalid" outside of the set.
func (r RenewalResult) String() string { return word(renewalLabel, r) }

// String is the value of the result label; "invalid" outside of the set.
func (r ReleaseResult) String() string { return word(releaseLabel, r) }

// String is the value of the cause label; "invalid" outside of the set.
func (c FailureCause) String() string { return word(failureLabel, c) }

// String is the value of the result label; "invalid" outside of the set.
func (r FencingResult) String() string { return word(fencingLabel, r) }

// String is the value of the mode label; "invalid" outside of the set.
func (m Mode) String() string { return word(modeLabel, m) }

// Labels that lock names share, so that one label is not one lock. Rules that
// judge a single lock leave them out.
const (
	// RedactedLabel stands for every name that no rule covers.
	RedactedLabel = "redacted"
	// OverflowLabel stands for every name beyond the cap on labels.
	OverflowLabel = "overflow"
	// FamilyWildcard stands for the variable part of a family such as
	// tenant-*/orders; no label of a single lock contains it.
	FamilyWildcard = "*"
)
