package lock

import (
	"time"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Totals are the counters and distributions of a lock. They only grow, and
// those of several locks add up.
type Totals struct {
	Acquired uint64

	// The outcomes that healthy locks have; the others are rare.
	contended, released, returned uint64

	Acquire, Execution, Usage Distribution

	rare *rare // nil until needed
}

// rare are the counters that most locks never need; apart, they keep the
// others small.
type rare struct {
	notAcquired     [catalog.Reasons]uint64
	ended           [catalog.EndCauses]uint64
	releases        [catalog.ReleaseResults]uint64
	renewals        [catalog.RenewalResults]uint64
	failures        [catalog.FailureCauses]uint64
	renewalDuration Distribution
	overruns        uint64
	regressions     uint64
	workAfterLoss   time.Duration
}

// none stands for rare counters that have counted nothing.
var none rare

// rareCounters returns the rare counters, to be added to.
func (t *Totals) rareCounters() *rare {
	if t.rare == nil {
		t.rare = &rare{}
	}
	return t.rare
}

func (t *Totals) seen() *rare {
	if t.rare == nil {
		return &none
	}
	return t.rare
}

func (t *Totals) countNotAcquired(reason catalog.Reason) {
	if reason == catalog.Contended {
		t.contended++
		return
	}
	t.rareCounters().notAcquired[reason]++
}

func (t *Totals) countEnd(cause catalog.EndCause) {
	if cause == catalog.Released {
		t.released++
		return
	}
	t.rareCounters().ended[cause]++
}

func (t *Totals) countRelease(result catalog.ReleaseResult) {
	if result == catalog.ReleaseOK {
		t.returned++
		return
	}
	t.rareCounters().releases[result]++
}

// NotAcquired are the attempts that did not win, by reason.
func (t *Totals) NotAcquired() [catalog.Reasons]uint64 {
	all := t.seen().notAcquired
	all[catalog.Contended] += t.contended
	return all
}

// Ended are the terms that ended, by cause.
func (t *Totals) Ended() [catalog.EndCauses]uint64 {
	all := t.seen().ended
	all[catalog.Released] += t.released
	return all
}

// Releases are the calls that released the lock, by result.
func (t *Totals) Releases() [catalog.ReleaseResults]uint64 {
	all := t.seen().releases
	all[catalog.ReleaseOK] += t.returned
	return all
}

// Renewals are the renewals, by result.
func (t *Totals) Renewals() [catalog.RenewalResults]uint64 { return t.seen().renewals }

// Failures are the bodies that failed, by cause.
func (t *Totals) Failures() [catalog.FailureCauses]uint64 { return t.seen().failures }

// RenewalDuration is how long renewals took.
func (t *Totals) RenewalDuration() *Distribution { return &t.seen().renewalDuration }

// Overruns are the terms that ran past their lease.
func (t *Totals) Overruns() uint64 { return t.seen().overruns }

// Regressions are the terms whose fencing token went back.
func (t *Totals) Regressions() uint64 { return t.seen().regressions }

// WorkAfterLoss is the time that bodies ran unprotected.
func (t *Totals) WorkAfterLoss() time.Duration { return t.seen().workAfterLoss }

// Add adds the totals of another lock.
func (t *Totals) Add(o *Totals) {
	t.Acquired += o.Acquired
	t.contended += o.contended
	t.released += o.released
	t.returned += o.returned
	t.Acquire.add(&o.Acquire)
	t.Execution.add(&o.Execution)
	t.Usage.add(&o.Usage)
	if o.rare != nil {
		t.rareCounters().add(o.rare)
	}
}

func (r *rare) add(o *rare) {
	add(r.notAcquired[:], o.notAcquired[:])
	add(r.ended[:], o.ended[:])
	add(r.releases[:], o.releases[:])
	add(r.renewals[:], o.renewals[:])
	add(r.failures[:], o.failures[:])
	r.renewalDuration.add(&o.renewalDuration)
	r.overruns += o.overruns
	r.regressions += o.regressions
	r.workAfterLoss += o.workAfterLoss
}

func add(to, from []uint64) {
	for i, n := range from {
		to[i] += n
	}
}
