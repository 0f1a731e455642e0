package catalog

// Names of the spans and of their outcome attribute; the lock is named by
// LockName.Attribute.
const (
	SpanAcquire = "leader.acquire"
	SpanRun     = "leader.run"
	SpanRenew   = "leader.renew"
	SpanOutcome = "leader.outcome"
)
