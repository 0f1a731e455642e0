// Package electtest helps to test electors and their adapters: conformance
// suites, a scripted elector, an in-memory lock server, a clock that the test
// advances, and functions that read what a middleware would export.
//
//	electtest.Conformance(t, electtest.Suite{
//		New: func(_ testing.TB, lock string) instrument.Acquirer { return newElector(lock) },
//	})
//
// It belongs only in tests.
package electtest

import (
	"maps"
	"slices"
	"strings"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Series maps a series, written name{label="value"} without lock_name, to its
// value. A histogram is there as its _count and _sum, and as each bucket that
// counted something: name_bucket{le="0.5"}, not cumulated.
type Series map[string]float64

// Read returns the current series of one lock label, without those of the
// backend's state.
func Read(m *instrument.Middleware, label string) Series {
	return read(m, func(s *instrument.Sample) bool {
		return s.Metric.PerLock() && s.Lock == label && s.Metric.Group() != catalog.GroupBackend
	})
}

// ReadProcess returns the series that belong to no lock and no backend.
func ReadProcess(m *instrument.Middleware) Series {
	return read(m, func(s *instrument.Sample) bool {
		return !s.Metric.PerLock() && s.Metric.Group() != catalog.GroupBackend
	})
}

// ReadBackend returns the series of the backends' state of one lock label, and
// leader_backend_up.
func ReadBackend(m *instrument.Middleware, label string) Series {
	return read(m, func(s *instrument.Sample) bool {
		return s.Metric.Group() == catalog.GroupBackend && (!s.Metric.PerLock() || s.Lock == label)
	})
}

func read(m *instrument.Middleware, wanted func(*instrument.Sample) bool) Series {
	got := Series{}
	m.Collect(func(s *instrument.Sample) {
		if wanted(s) {
			got.add(s)
		}
	})
	return got
}

// Labels returns the lock labels that have series, sorted.
func Labels(m *instrument.Middleware) []string {
	seen := map[string]bool{}
	m.Collect(func(s *instrument.Sample) {
		if s.Metric.PerLock() {
			seen[s.Lock] = true
		}
	})
	return slices.Sorted(maps.Keys(seen))
}

func (r Series) add(s *instrument.Sample) {
	labels := s.Metric.Labels()
	if s.Histogram == nil {
		r[Key(s.Metric.Name(), labels, s.Values[:])] = s.Value
		return
	}
	values := s.Values[:len(labels)]
	r[Key(s.Metric.Count(), labels, values)] = float64(s.Histogram.Count())
	r[Key(s.Metric.Sum(), labels, values)] = s.Histogram.Sum
	for i, n := range s.Histogram.Counts {
		if n == 0 {
			continue
		}
		le := "+Inf"
		if i < len(s.Metric.Bounds()) {
			le = number(s.Metric.Bounds()[i])
		}
		r[Key(s.Metric.Bucket(), append(labels[:len(labels):len(labels)], catalog.UpperBound), append(values[:len(values):len(values)], le))] = float64(n)
	}
}

// Key writes a series the way Series names it; empty values are left out, as
// Prometheus does.
func Key(name string, labels []catalog.Label, values []string) string {
	var parts []string
	for i, l := range labels {
		if values[i] != "" {
			parts = append(parts, l.Name()+`="`+values[i]+`"`)
		}
	}
	if len(parts) == 0 {
		return name
	}
	return name + "{" + strings.Join(parts, ",") + "}"
}

// Of names a series of the catalogue as Series does; the values are those of
// the metric's labels, in their order.
func Of(m *catalog.Metric, values ...string) string {
	return Key(m.Name(), m.Labels()[:len(values)], values)
}

// With returns a copy with these values set, for comparing whole sets: series that
// a test does not name must be unchanged.
func (r Series) With(changes Series) Series {
	merged := maps.Clone(r)
	maps.Copy(merged, changes)
	return merged
}

// Without returns a copy that lacks these series.
func (r Series) Without(keys ...string) Series {
	rest := maps.Clone(r)
	for _, k := range keys {
		delete(rest, k)
	}
	return rest
}
