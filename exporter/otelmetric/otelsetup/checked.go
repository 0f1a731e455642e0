package otelsetup

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// What a checked exporter reports.
var (
	// ErrUnidentified means that a resource without service.instance.id is
	// pushed. All replicas then write to the same series: gauges alternate between
	// their values, counters reset continually, and no rule about leaders works.
	ErrUnidentified = errors.New("leaderscope: metrics are pushed without service.instance.id, so replicas cannot be distinguished; set it in OTEL_RESOURCE_ATTRIBUTES, or use the resource of otelsetup.Identify")

	// ErrUnnamed means that series of locks have no lock.name, for example because
	// a View drops it. All locks of a process are then one series.
	ErrUnnamed = errors.New("leaderscope: series of locks are pushed without lock.name, so locks cannot be distinguished; remove the View that drops it, and redact names with the policy of the middleware instead")

	// ErrFolded means that the SDK's limit on attribute sets is reached, so that
	// some locks have lost their lock.name.
	ErrFolded = errors.New("leaderscope: some locks are pushed as otel.metric.overflow, because the provider's limit on attribute sets is reached; raise it (metric.WithCardinalityLimit), or, where locks come and go, export histograms by otelsetup.Histograms")

	// ErrDelta means that delta values are pushed instead of totals. Prometheus
	// refuses them.
	ErrDelta = errors.New("leaderscope: delta values are pushed, which Prometheus refuses; unset OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, or give the exporter a selector of cumulative values")
)

// Checked returns an exporter that passes each fault of leaderscope's data to
// otel.Handle once: ErrUnidentified, ErrUnnamed, ErrFolded, ErrDelta. It is for
// push pipelines that the program builds itself; Setup uses it. A nil exporter
// stays nil.
func Checked(e metric.Exporter) metric.Exporter {
	if isNil(e) {
		return e
	}
	return &checked{Exporter: e, reported: map[error]bool{}}
}

// isNil reports whether there is no exporter, not even behind the interface.
func isNil(e metric.Exporter) bool {
	v := reflect.ValueOf(e)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

type checked struct {
	metric.Exporter
	mu       sync.Mutex
	reported map[error]bool
}

// Export implements metric.Exporter.
func (c *checked) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	for _, err := range faults(data) {
		c.mu.Lock()
		before := c.reported[err]
		c.reported[err] = true
		c.mu.Unlock()
		if !before {
			otel.Handle(err)
		}
	}
	return c.Exporter.Export(ctx, data)
}

// faults looks at what is ours.
func faults(data *metricdata.ResourceMetrics) []error {
	var found []error
	add := func(wrong bool, err error) {
		if wrong && !slices.Contains(found, err) {
			found = append(found, err)
		}
	}
	for _, s := range data.ScopeMetrics {
		if s.Scope.Name != otelmetric.ScopeName {
			continue
		}
		add(!hasIdentity(data.Resource), ErrUnidentified)
		for _, m := range s.Metrics {
			delta, sets := inspect(m.Data)
			add(delta, ErrDelta)
			for _, set := range sets {
				folded := set.HasValue("otel.metric.overflow")
				add(folded, ErrFolded)
				add(!folded && perLock[m.Name] && !set.HasValue(attribute.Key(catalog.LockName.Attribute())), ErrUnnamed)
			}
		}
	}
	return found
}

// perLock are the metrics that have a lock.name, by their OpenTelemetry names.
var perLock = func() map[string]bool {
	names := map[string]bool{}
	for _, m := range catalog.All() {
		names[m.OTel()] = m.PerLock()
	}
	return names
}()

// inspect returns whether values are deltas, and the attributes of each point.
func inspect(a metricdata.Aggregation) (delta bool, sets []attribute.Set) {
	switch d := a.(type) {
	case metricdata.Sum[float64]:
		delta = d.Temporality == metricdata.DeltaTemporality
		for _, p := range d.DataPoints {
			sets = append(sets, p.Attributes)
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			sets = append(sets, p.Attributes)
		}
	case metricdata.Histogram[float64]:
		delta = d.Temporality == metricdata.DeltaTemporality
		for _, p := range d.DataPoints {
			sets = append(sets, p.Attributes)
		}
	case metricdata.ExponentialHistogram[float64]:
		delta = d.Temporality == metricdata.DeltaTemporality
		for _, p := range d.DataPoints {
			sets = append(sets, p.Attributes)
		}
	}
	return delta, sets
}
