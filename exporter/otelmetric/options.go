package otelmetric

import (
	"reflect"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// DefaultCardinalityLimit is the number of attribute sets that the
// OpenTelemetry SDK keeps for one instrument by default.
const DefaultCardinalityLimit = 2000

// Option configures an Exporter. Nil options are ignored.
type Option func(*config)

type config struct {
	provider   metric.MeterProvider
	histograms bool
	limit      int // 0 or less: none
}

// WithMeterProvider sets the provider of the instruments. Nil and the default
// are the global provider, which may be set before or after New.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(c *config) {
		if !isNil(p) {
			c.provider = p
		}
	}
}

// WithoutHistograms excludes the histograms. It is for a provider whose
// readers have otelsetup.Histograms, which exports them without the limits of
// synchronous instruments.
func WithoutHistograms() Option { return func(c *config) { c.histograms = false } }

// WithCardinalityLimit declares the provider's limit on attribute sets, if it is
// not DefaultCardinalityLimit; below 1 means no limit. The API does not expose
// it. The option changes only when ErrCardinality is reported.
func WithCardinalityLimit(n int) Option { return func(c *config) { c.limit = n } }

func newConfig(opts []Option) config {
	c := config{provider: otel.GetMeterProvider(), histograms: true, limit: DefaultCardinalityLimit}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// isNil reports whether there is no provider, not even behind the interface.
func isNil(p metric.MeterProvider) bool {
	v := reflect.ValueOf(p)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
