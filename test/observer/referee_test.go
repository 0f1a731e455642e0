//go:build integration

package observer

import (
	"math"
	"testing"
	"time"
)

// referee records what happened to one lock. It is notified of each change when the
// server has answered.
type referee struct {
	t      *testing.T
	holder string
	held   bool // ever
	free   time.Time
	terms  float64
	gaps   float64
	vacant time.Duration
	gap    time.Duration
}

// holds notes a holder. What was before the first is not known: no gap.
func (r *referee) holds(holder string, at time.Time) {
	if !r.free.IsZero() {
		r.gap += at.Sub(r.free)
		r.vacant += at.Sub(r.free)
		r.free = time.Time{}
	}
	r.terms++
	if r.held {
		r.gaps++
	}
	r.holder, r.held = holder, true
}

// frees notes that the lock has been free since then.
func (r *referee) frees(at time.Time) { r.holder, r.free = "", at }

// tolerance is for answers that take long on a loaded machine.
const tolerance = 700 * time.Millisecond

// compare compares the referee's record with what is exported.
func (r *referee) compare(p *process, backend, lock string) {
	r.t.Helper()
	vacant := r.vacant
	if !r.free.IsZero() {
		vacant += time.Since(r.free)
	}
	got, holder := p.lock(r.t, backend, lock)
	held := 0.0
	if r.holder != "" {
		held = 1
	}
	near := func(what string, got float64, want time.Duration) {
		if math.Abs(got-want.Seconds()) > tolerance.Seconds() {
			r.t.Errorf("%s: %s is %v s, the referee has %v", lock, what, got, want)
		}
	}
	if got["held"] != held || holder != r.holder || got["terms_total"] != r.terms || got["handover_seconds_count"] != r.gaps {
		r.t.Errorf("%s: held %v by %q after %v terms and %v gaps, the referee has %v by %q after %v and %v", lock,
			got["held"], holder, got["terms_total"], got["handover_seconds_count"], held, r.holder, r.terms, r.gaps)
	}
	near("vacant_seconds_total", got["vacant_seconds_total"], vacant)
	near("handover_seconds_sum", got["handover_seconds_sum"], r.gap)
}
