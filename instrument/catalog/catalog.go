// Package catalog is the only list of the metrics of leaderscope: names, kinds,
// units, labels, closed value sets, histogram bounds and help texts.
//
//	for _, metric := range catalog.All() {
//		fmt.Println(metric.Name(), metric.Help())
//	}
//
// Exporters, alert rules, dashboards and docs/metrics.md read it. Nothing is
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

// Group names series that a user can exclude together.
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
	GroupBackend   Group = "backend"
)

// Stability says how a metric may change in later versions.
type Stability string

// The levels of stability. A metric that says nothing is Stable.
const (
	// Stable metrics keep name, unit, labels and meaning within a major
	// version; rules and dashboards may depend on them.
	Stable Stability = "stable"
	// Experimental metrics may change with any version; the changelog says so.
	Experimental Stability = "experimental"
)

// Label is a label beside lock_name. It cannot be changed.
type Label struct {
	name, attribute string
	values          []string
}

// Name is the Prometheus label name.
func (l Label) Name() string { return l.name }

// Attribute is the OpenTelemetry attribute key.
func (l Label) Attribute() string { return l.attribute }

// Values is a copy of the closed set of values; nil for an open label.
func (l Label) Values() []string { return slices.Clone(l.values) }

// Size is the number of values of a closed set; 0 for an open label.
func (l Label) Size() int { return len(l.values) }

// Value is one value of a closed set.
func (l Label) Value(i int) string { return l.values[i] }

// Metric describes one metric of the catalogue. It cannot be changed: what its
// methods return is a copy.
type Metric struct {
	name, otel    string
	kind          Kind
	unit          string
	labels        []Label
	perLock       bool
	bounds        []float64
	help, present string
	group         Group
	stability     Stability
}

// Name is the Prometheus name; it equals OpenTelemetry's Prometheus translation of
// OTel and Unit.
func (m *Metric) Name() string { return m.name }

// OTel is the OpenTelemetry instrument name.
func (m *Metric) OTel() string { return m.otel }

// Kind is the OpenTelemetry instrument kind.
func (m *Metric) Kind() Kind { return m.kind }

// Unit is the UCUM unit: s for seconds, an annotation such as {attempt} for
// counts, 1 for a ratio, empty where there is none.
func (m *Metric) Unit() string { return m.unit }

// Labels is a copy of the labels beside lock_name.
func (m *Metric) Labels() []Label { return slices.Clone(m.labels) }

// NumLabels is the number of labels beside lock_name.
func (m *Metric) NumLabels() int { return len(m.labels) }

// LabelAt is one of the labels beside lock_name, in their order.
func (m *Metric) LabelAt(i int) Label { return m.labels[i] }

// PerLock reports whether series carry lock_name.
func (m *Metric) PerLock() bool { return m.perLock }

// Bounds is a copy of the upper bounds of the classic buckets, without +Inf;
// nil if the metric is not a histogram. None is an integer: a scrape and an
// OTLP push write integer bounds differently ("1.0" and "1").
func (m *Metric) Bounds() []float64 { return slices.Clone(m.bounds) }

// NumBuckets is the number of classic buckets, including +Inf; 0 if the metric is
// not a histogram.
func (m *Metric) NumBuckets() int {
	if m.bounds == nil {
		return 0
	}
	return len(m.bounds) + 1
}

// BucketOf is the index of the classic bucket of a value.
func (m *Metric) BucketOf(v float64) int {
	for i, bound := range m.bounds {
		if !(v > bound) { // so that what is no number is in the first
			return i
		}
	}
	return len(m.bounds)
}

// Help is the one-line description, the same for every exporter.
func (m *Metric) Help() string { return m.help }

// Present says when the series exists.
func (m *Metric) Present() string { return m.present }

// Group is the group with which the series can be excluded.
func (m *Metric) Group() Group { return m.group }

// Stability says how the metric may change in later versions; empty is Stable.
func (m *Metric) Stability() Stability { return m.stability }

// Bucket, Count and Sum are the series names of a classic histogram.
func (m *Metric) Bucket() string { return m.name + "_bucket" }

// Count is the name of the series that counts a histogram's observations.
func (m *Metric) Count() string { return m.name + "_count" }

// Sum is the name of the series with the sum of a histogram's observations.
func (m *Metric) Sum() string { return m.name + "_sum" }

// Label returns the label of that Prometheus name.
func (m *Metric) Label(name string) (Label, bool) {
	i := slices.IndexFunc(m.labels, func(l Label) bool { return l.name == name })
	if i < 0 {
		return Label{}, false
	}
	return m.labels[i], true
}

// Series is the largest number of series that one lock (or, without
// lock_name, one process) adds in the Prometheus text format.
func (m *Metric) Series() int {
	n := 1
	for _, l := range m.labels {
		if l.values != nil {
			n *= len(l.values)
		}
	}
	if m.kind == Histogram {
		n *= m.NumBuckets() + 2 // _sum, _count
	}
	return n
}

// Labels of more than one metric.
var (
	// LockName names the lock, redacted.
	LockName = Label{name: "lock_name", attribute: "lock.name"}
	// UpperBound is the upper bound of a classic bucket.
	UpperBound = Label{name: "le", attribute: "le"}
)

// All returns every metric in the order of the reference. The slice is new,
// the metrics are shared.
func All() []*Metric { return slices.Clone(all) }

// ByName finds a metric by its Prometheus name, histogram suffixes allowed.
func ByName(name string) (*Metric, bool) {
	for _, m := range all {
		if m.name == name {
			return m, true
		}
		if m.kind == Histogram && (name == m.Bucket() || name == m.Count() || name == m.Sum()) {
			return m, true
		}
	}
	return nil, false
}
