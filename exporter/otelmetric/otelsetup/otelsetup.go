// Package otelsetup makes an OpenTelemetry pipeline whose series are those of
// exporter/prom: same names, same labels, same buckets, whether they are
// scraped or pushed. It is a module of its own, since it links the SDK; a
// program that has a MeterProvider needs only package otelmetric, and may take
// single pieces from here: NativeHistograms, Zeros, Identify, WarnUnidentified.
package otelsetup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/otlptranslator"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Option configures Setup. Nil options are ignored.
type Option func(*config)

type config struct {
	registerers []prometheus.Registerer
	pushes      []push
	resource    *resource.Resource
	instance    string
	native      bool
	exemplars   bool
	maxLabels   int
}

type push struct {
	exporter metric.Exporter
	interval time.Duration
}

// WithPrometheus has the series scraped from r, by OpenTelemetry's Prometheus
// exporter. Setup fails if r has a pipeline of this package already, since two
// would give every series twice and fail the scrape; for the same reason r
// must not have exporter/prom of the same middleware.
func WithPrometheus(r prometheus.Registerer) Option {
	return func(c *config) {
		if r != nil {
			c.registerers = append(c.registerers, r)
		}
	}
}

// WithPush sends the series to an exporter, such as otlpmetrichttp's, every
// interval; below 1 it is the SDK's default of a minute. Push no more seldom
// than the rules' scrape interval, and cumulative values: Prometheus refuses
// deltas.
func WithPush(e metric.Exporter, interval time.Duration) Option {
	return func(c *config) {
		if e != nil {
			c.pushes = append(c.pushes, push{e, interval})
		}
	}
}

// WithResource sets what the process is; nil and the default are
// resource.Default(), which reads OTEL_RESOURCE_ATTRIBUTES and
// OTEL_SERVICE_NAME. See Identify for what is added.
func WithResource(r *resource.Resource) Option { return func(c *config) { c.resource = r } }

// WithInstance names this replica, as service.instance.id, where the resource
// does not: a pod's or a host's name is kinder to read in an alert than the
// random identifier that it gets otherwise. It must be unique among replicas.
func WithInstance(id string) Option { return func(c *config) { c.instance = id } }

// WithNativeHistograms makes histograms exponential, which Prometheus stores
// as native ones; a scrape then needs scrape_native_histograms. Without it
// they have the catalogue's buckets.
func WithNativeHistograms() Option { return func(c *config) { c.native = true } }

// WithExemplars keeps, for histograms, the trace of sampled operations beside
// their values. It costs several times the memory of a series, so it is off
// unless tracing is wired.
func WithExemplars() Option { return func(c *config) { c.exemplars = true } }

// WithMaxLabels repeats what instrument.WithMaxLabels was given, the default
// if not set: the SDK's own limit on attribute sets is set above it, because
// beyond that limit the SDK drops lock and reason together.
func WithMaxLabels(n int) Option { return func(c *config) { c.maxLabels = n } }

// Pipeline is a MeterProvider that exports one Middleware. It is safe for
// concurrent use.
type Pipeline struct {
	provider *metric.MeterProvider
	exporter *otelmetric.Exporter
	markers  []*marker
}

// Setup makes a pipeline for m. It needs at least one of WithPrometheus and
// WithPush. Make it before the first election, and shut it down at the end: a
// pushed series is then not left at its last value.
func Setup(m *instrument.Middleware, opts ...Option) (*Pipeline, error) {
	c := config{maxLabels: instrument.DefaultMaxLabels}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	if len(c.registerers)+len(c.pushes) == 0 {
		return nil, errors.New("leaderscope: otelsetup: no way out: give WithPrometheus or WithPush")
	}
	p := &Pipeline{}
	zeros := &Zeros{native: c.native}
	if err := p.start(m, c, zeros); err != nil {
		return nil, errors.Join(err, p.Shutdown(context.Background()))
	}
	zeros.Of(p.exporter)
	return p, nil
}

func (p *Pipeline) start(m *instrument.Middleware, c config, zeros *Zeros) error {
	// A reader cannot be taken back, so what may fail comes first.
	for _, r := range c.registerers {
		if err := p.mark(r); err != nil {
			return err
		}
	}
	identity, err := identified(c)
	if err != nil {
		return err
	}
	options, err := readers(c, zeros)
	if err != nil {
		return err
	}
	options = append(options,
		metric.WithResource(identity),
		metric.WithCardinalityLimit(attributeSets(c.maxLabels)),
		metric.WithExemplarFilter(exemplars(c)))
	if c.native {
		options = append(options, metric.WithView(NativeHistograms))
	}
	p.provider = metric.NewMeterProvider(options...)
	p.exporter, err = otelmetric.New(m, otelmetric.WithMeterProvider(p.provider))
	return err
}

// readers makes a reader for each way out.
func readers(c config, zeros *Zeros) ([]metric.Option, error) {
	var options []metric.Option
	for _, r := range c.registerers {
		e, err := otelprom.New(otelprom.WithRegisterer(r), otelprom.WithProducer(zeros),
			otelprom.WithoutScopeInfo(), otelprom.WithoutTargetInfo(),
			otelprom.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
		if err != nil {
			return nil, fmt.Errorf("leaderscope: otelsetup: %w", err)
		}
		options = append(options, metric.WithReader(e))
	}
	for _, x := range c.pushes {
		periodic := []metric.PeriodicReaderOption{metric.WithProducer(zeros)}
		if x.interval > 0 {
			periodic = append(periodic, metric.WithInterval(x.interval))
		}
		options = append(options, metric.WithReader(metric.NewPeriodicReader(WarnUnidentified(x.exporter), periodic...)))
	}
	return options, nil
}

// exemplars is the SDK's filter: its default would keep reservoirs for every
// series although nothing is traced.
func exemplars(c config) exemplar.Filter {
	if c.exemplars {
		return exemplar.TraceBasedFilter
	}
	return exemplar.AlwaysOffFilter
}

// attributeSets is the largest number of attribute sets of one instrument, one
// more for the overflow label and one that the SDK keeps for itself.
func attributeSets(maxLabels int) int {
	widest := 1
	for _, m := range catalog.All() {
		n := 1
		for _, l := range m.Labels {
			n *= max(1, len(l.Values))
		}
		widest = max(widest, n)
	}
	return (maxLabels+1)*widest + 1
}

// MeterProvider is the pipeline's provider, to be used for other instruments
// too, or set as the global one.
func (p *Pipeline) MeterProvider() *metric.MeterProvider { return p.provider }

// Shutdown sends what is pushed a last time and ends the pipeline; elections
// go on. It returns what the exporters say, and gives up with ctx.
func (p *Pipeline) Shutdown(ctx context.Context) error {
	var errs []error
	if p.provider != nil {
		errs = append(errs, p.provider.Shutdown(ctx))
	}
	if p.exporter != nil {
		errs = append(errs, p.exporter.Close())
	}
	for _, m := range p.markers {
		m.registerer.Unregister(m)
	}
	p.markers = nil
	return errors.Join(errs...)
}
