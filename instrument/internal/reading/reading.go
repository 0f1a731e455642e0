// Package reading turns what is known of the locks of a label into samples of
// the catalogue: which series exist, and what value each has. Labels of a
// metric's closed set all exist from construction; what cannot be known is
// absent.
//
// Counting and summing up do not belong here.
package reading

import (
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/internal/lock"
	"github.com/leaderscope/leaderscope/instrument/internal/registry"
	"github.com/leaderscope/leaderscope/redact"
)

// Values are the values of a metric's labels, in their order.
type Values [3]string

// Writer takes samples. Distribution is nil for metrics that are no histogram.
type Writer func(m *catalog.Metric, values *Values, v float64, d *lock.Distribution)

// Process is what is known of the process itself.
type Process struct {
	Redaction redact.Info
	Overflows uint64
	Faults    uint64
	Backends  Backends
}

// Write writes the samples that belong to no lock.
func (p *Process) Write(w Writer) {
	p.Backends.write(w)
	w(catalog.RedactionInfo, &Values{p.Redaction.Policy, p.Redaction.KeyID, p.Redaction.KeyCheck}, 1, nil)
	w(catalog.RedactionOverflows, &Values{}, float64(p.Overflows), nil)
	w(catalog.TelemetryFaults, &Values{}, float64(p.Faults), nil)
}

// Lock writes the samples of one label.
func Lock(r *registry.Reading, w Writer) {
	out := output{w: w}
	if !r.WatchOnly {
		out.attempts(r)
		out.work(r)
		out.terms(r)
		out.renewals(r)
		out.lease(r)
		out.declared(r)
	}
	out.guarding(&r.Guarding)
	out.views(r)
}

type output struct {
	w      Writer
	values Values
}

func (o *output) value(m *catalog.Metric, v float64) { o.w(m, &o.values, v, nil) }

// set writes one series for each value of the metric's closed label.
func (o *output) set(m *catalog.Metric, counts []uint64) {
	label := m.LabelAt(0)
	for i, n := range counts {
		o.values[0] = label.Value(i)
		o.value(m, float64(n))
	}
	o.values[0] = ""
}

// histogram writes a histogram from its first observation on.
func (o *output) histogram(m *catalog.Metric, d *lock.Distribution) {
	for i := range m.NumBuckets() {
		if d.Bucket(i) != 0 {
			o.w(m, &o.values, 0, d)
			return
		}
	}
}

// attempts counts an attempt from its beginning: those that ended and those in
// flight are all there were.
func (o *output) attempts(r *registry.Reading) {
	notAcquired := r.NotAcquired()
	attempts := r.Acquired + uint64(r.Pending)
	for _, n := range notAcquired {
		attempts += n
	}
	o.value(catalog.Attempts, float64(attempts))
	o.value(catalog.Acquired, float64(r.Acquired))
	o.set(catalog.NotAcquired, notAcquired[:])
	o.value(catalog.Pending, float64(r.Pending))
	o.value(catalog.PendingAge, r.PendingAge.Seconds())
	o.histogram(catalog.AcquireDuration, &r.Acquire)
}

func (o *output) work(r *registry.Reading) {
	o.value(catalog.Running, float64(r.Running))
	o.histogram(catalog.ExecutionDuration, &r.Execution)
	failures := r.Failures()
	o.set(catalog.ExecutionFailures, failures[:])
	o.value(catalog.WorkAfterLoss, r.WorkAfterLoss().Seconds())
}

func (o *output) terms(r *registry.Reading) {
	o.value(catalog.Active, float64(r.Active))
	ended, releases := r.Ended(), r.Releases()
	o.set(catalog.TermsEnded, ended[:])
	o.set(catalog.Releases, releases[:])
	if r.LastWon != 0 {
		o.value(catalog.LastAcquired, r.LastWon)
	}
	if r.LastEnded != 0 {
		o.value(catalog.LastEnded, r.LastEnded)
	}
	if r.Fenced {
		o.value(catalog.FencingToken, float64(r.Token))
		o.value(catalog.FencingTokenRegressions, float64(r.Regressions()))
	}
}

// guarding writes the store's side, which needs no campaign of this process.
func (o *output) guarding(g *lock.Guarding) {
	if !g.Guards {
		return
	}
	o.set(catalog.FencingChecks, g.Checks[:])
	if g.Seen {
		o.value(catalog.FencingHighestToken, float64(g.Highest))
	}
}

func (o *output) renewals(r *registry.Reading) {
	if !r.RenewalsSeen {
		return
	}
	renewals := r.Renewals()
	o.set(catalog.Renewals, renewals[:])
	o.histogram(catalog.RenewalDuration, r.RenewalDuration())
}

func (o *output) lease(r *registry.Reading) {
	if r.LeftKnown {
		o.value(catalog.LeaseHeadroom, r.Left.Seconds())
	}
	if r.Expiry != 0 {
		o.value(catalog.LeaseExpiry, r.Expiry)
	}
	if r.Lease > 0 {
		o.value(catalog.LeaseDuration, r.Lease.Seconds())
	}
	if r.LeaseSeen {
		o.histogram(catalog.LeaseUsageRatio, &r.Usage)
		o.value(catalog.LeaseOverruns, float64(r.Overruns()))
	}
}

func (o *output) declared(r *registry.Reading) {
	if r.Every > 0 {
		o.value(catalog.ExpectedInterval, r.Every.Seconds())
	}
	o.value(catalog.MaxLeaders, float64(r.MaxLeaders))
	for _, u := range r.Uses {
		o.values = Values{u.Mode.String(), u.Backend, u.Family}
		o.value(catalog.ElectorInfo, 1)
	}
	o.values = Values{}
}
