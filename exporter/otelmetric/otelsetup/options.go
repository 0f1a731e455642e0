package otelsetup

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
)

// Option configures Setup. Nil options are ignored.
type Option interface{ apply(*config) }

// HistogramOption configures histograms, for Setup and for NewHistograms. Nil
// options are ignored.
type HistogramOption func(*histogramConfig)

type option func(*config)

func (o option) apply(c *config) { o(c) }

func (o HistogramOption) apply(c *config) {
	if o != nil {
		o(&c.histograms)
	}
}

type config struct {
	registerers []prometheus.Registerer
	pushes      []push
	resource    *resource.Resource
	instance    string
	histograms  histogramConfig
}

type histogramConfig struct{ native, exemplars bool }

type push struct {
	exporter metric.Exporter
	interval time.Duration
}

// WithPrometheus exposes the series in r, through OpenTelemetry's Prometheus
// exporter. Setup fails if r already has a pipeline of this package, or
// exporter/prom of the same middleware, since every series would appear twice and
// fail the scrape. It also fails if r adds a prefix to names, because no rule would
// find them, or a label that the series have.
func WithPrometheus(r prometheus.Registerer) Option {
	return option(func(c *config) {
		if r != nil {
			c.registerers = append(c.registerers, r)
		}
	})
}

// WithPush sends the series to an exporter, such as otlpmetrichttp's, every
// interval; below 1 it is the SDK's default of a minute. The interval must not
// exceed the scrape interval of the rules. Setup returns an error for an exporter
// that requests delta values, because Prometheus refuses them.
func WithPush(e metric.Exporter, interval time.Duration) Option {
	return option(func(c *config) {
		if e != nil {
			c.pushes = append(c.pushes, push{e, interval})
		}
	})
}

// WithResource sets the resource of the process; nil and the default are
// resource.Default(), which reads OTEL_RESOURCE_ATTRIBUTES and
// OTEL_SERVICE_NAME. Setup passes it through Identify.
func WithResource(r *resource.Resource) Option {
	return option(func(c *config) { c.resource = r })
}

// WithInstance names this replica, as service.instance.id, if the resource does
// not: the name of a pod or a host is easier to read in an alert than the random
// identifier that is used otherwise. It must be unique among replicas.
func WithInstance(id string) Option { return option(func(c *config) { c.instance = id }) }

// WithNativeHistograms makes histograms exponential, which Prometheus stores
// as native ones; a scrape then needs scrape_native_histograms. Without it
// they have the catalogue's buckets, unless an exporter of WithPush asks for
// exponential ones.
func WithNativeHistograms() HistogramOption {
	return func(c *histogramConfig) { c.native = true }
}

// WithExemplars keeps, for histograms, the trace of sampled operations beside
// their values. It needs several times the memory of a series, and is therefore
// off by default.
func WithExemplars() HistogramOption { return func(c *histogramConfig) { c.exemplars = true } }

func newConfig(opts []Option) config {
	var c config
	for _, o := range opts {
		if o != nil {
			o.apply(&c)
		}
	}
	return c
}
