// Package catalog is the one list of what leaderscope measures: names, kinds,
// units, labels, closed value sets, histogram bounds and help texts.
// Exporters, alert rules, dashboards and docs/metrics.md read it; nothing is
// recorded here, and no metric name is written anywhere else.
package catalog

import "slices"

// Kind is the OpenTelemetry instrument kind of a metric.
type Kind string

// The kinds in use.
const (
	Counter       Kind = "Counter"
	UpDownCounter Kind = "UpDownCounter"
	Gauge         Kind = "Gauge"
	Histogram     Kind = "Histogram"
)

// Group names series that a user can leave out together.
type Group string

// The groups. GroupCore cannot be left out: the alerts rest on it.
const (
	GroupCore      Group = "core"
	GroupWaiting   Group = "waiting"
	GroupExecution Group = "execution"
	GroupRenewal   Group = "renewal"
	GroupLease     Group = "lease"
	GroupFencing   Group = "fencing"
	GroupRedaction Group = "redaction"
)

// Stability says what may become of a metric.
type Stability string

// The levels of stability. A metric that says nothing is Stable.
const (
	// Stable metrics keep name, unit, labels and meaning within a major
	// version; rules and dashboards may rest on them.
	Stable Stability = "stable"
	// Experimental metrics may change with any version; the changelog says so.
	Experimental Stability = "experimental"
)

// Label is a label beside lock_name.
type Label struct {
	// Name is the Prometheus label name.
	Name string
	// Attribute is the OpenTelemetry attribute key.
	Attribute string
	// Values is the closed set of values; nil for an open label.
	Values []string
}

// Metric describes one metric of the catalogue. Values are read-only.
type Metric struct {
	// Name is the Prometheus name; it is what OpenTelemetry's Prometheus
	// translation makes of OTel and Unit.
	Name string
	// OTel is the OpenTelemetry instrument name.
	OTel string
	Kind Kind
	// Unit is the UCUM unit: s for seconds, an annotation such as {attempt}
	// for counts, 1 for a ratio, empty where there is none.
	Unit string
	// Labels are the labels beside lock_name.
	Labels []Label
	// PerLock reports whether series carry lock_name.
	PerLock bool
	// Bounds are the upper bounds of the classic buckets, +Inf left out.
	// None is an integer: a scrape and an OTLP push write integer bounds
	// differently ("1.0" and "1").
	Bounds []float64
	// Help is the one-line description, the same for every exporter.
	Help string
	// Present says when the series exists.
	Present string
	Group   Group
	// Stability is Stable if empty.
	Stability Stability
}

// Bucket, Count and Sum are the series names of a classic histogram.
func (m *Metric) Bucket() string { return m.Name + "_bucket" }

// Count is the name of the series that counts a histogram's observations.
func (m *Metric) Count() string { return m.Name + "_count" }

// Sum is the name of the series that adds up a histogram's observations.
func (m *Metric) Sum() string { return m.Name + "_sum" }

// Label returns the label of that Prometheus name.
func (m *Metric) Label(name string) (Label, bool) {
	i := slices.IndexFunc(m.Labels, func(l Label) bool { return l.Name == name })
	if i < 0 {
		return Label{}, false
	}
	return m.Labels[i], true
}

// Series is the largest number of series that one lock (or, without
// lock_name, one process) adds in the Prometheus text format.
func (m *Metric) Series() int {
	n := 1
	for _, l := range m.Labels {
		if l.Values != nil {
			n *= len(l.Values)
		}
	}
	if m.Kind == Histogram {
		n *= len(m.Bounds) + 3 // +Inf, _sum, _count
	}
	return n
}

// LockName is the label that names the lock, redacted.
var LockName = Label{Name: "lock_name", Attribute: "lock.name"}

// All returns every metric in the order of the reference. The slice is new,
// the metrics are shared.
func All() []*Metric { return slices.Clone(all) }

// ByName finds a metric by its Prometheus name, histogram suffixes allowed.
func ByName(name string) (*Metric, bool) {
	for _, m := range all {
		if m.Name == name {
			return m, true
		}
		if m.Kind == Histogram && (name == m.Bucket() || name == m.Count() || name == m.Sum()) {
			return m, true
		}
	}
	return nil, false
}
