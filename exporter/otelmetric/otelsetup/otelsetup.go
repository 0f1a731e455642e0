// Package otelsetup creates an OpenTelemetry pipeline whose series equal those of
// exporter/prom: same names, same labels, same buckets, for scraping and for push,
// even if locks come and go.
//
//	pipeline, err := otelsetup.Setup(m, otelsetup.WithPrometheus(prometheus.DefaultRegisterer))
//	defer pipeline.Shutdown(ctx)
//
// It is a module of its own, because it links the SDK. A program that has a
// MeterProvider needs only package otelmetric, and can use single parts of this
// package: Histograms, NativeHistograms, Identify, Checked.
package otelsetup

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/prometheus/otlptranslator"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Pipeline is a MeterProvider that exports one Middleware. It is safe for
// concurrent use.
type Pipeline struct {
	provider   *metric.MeterProvider
	exporter   *otelmetric.Exporter
	histograms *Histograms
	markers    []*marker
	shutdown   sync.Once
}

// Setup makes a pipeline for m. It needs at least one of WithPrometheus and
// WithPush. Call it before the first election, and shut the pipeline down at the
// end, so that the last values are pushed. The pipeline of a nil Middleware
// exports only other instruments of its MeterProvider.
func Setup(m *instrument.Middleware, opts ...Option) (*Pipeline, error) {
	c := newConfig(opts)
	if len(c.registerers)+len(c.pushes) == 0 {
		return nil, errors.New("leaderscope: otelsetup: no exporter configured: pass WithPrometheus or WithPush")
	}
	p := &Pipeline{}
	if err := p.start(m, c); err != nil {
		return nil, errors.Join(err, p.Shutdown(context.Background()))
	}
	return p, nil
}

func (p *Pipeline) start(m *instrument.Middleware, c config) error {
	// A reader cannot be taken back, so what may fail comes first.
	for _, x := range c.pushes {
		if isNil(x.exporter) {
			return fmt.Errorf("leaderscope: otelsetup: WithPush: the exporter is a nil %T; pass the one that its New returned", x.exporter)
		}
		if err := checkTemporality(x.exporter); err != nil {
			return err
		}
	}
	for _, r := range c.registerers {
		if err := p.mark(r, m); err != nil {
			return err
		}
	}
	identity, err := identified(c)
	if err != nil {
		return err
	}
	options, err := p.readers(m, c)
	if err != nil {
		return err
	}
	limit := attributeSets(m)
	p.provider = metric.NewMeterProvider(append(options,
		metric.WithResource(identity),
		metric.WithCardinalityLimit(limit),
		metric.WithExemplarFilter(exemplars(c)))...)
	p.exporter, err = otelmetric.New(m, otelmetric.WithMeterProvider(p.provider), otelmetric.WithoutHistograms(), otelmetric.WithCardinalityLimit(limit))
	return err
}

// readers makes a reader for each exporter.
func (p *Pipeline) readers(m *instrument.Middleware, c config) ([]metric.Option, error) {
	forms := make([]histogramForm, len(c.pushes))
	kept, classic := c.histograms, len(c.registerers) > 0 && !c.histograms.native
	for i, x := range c.pushes {
		forms[i] = formFor(x.exporter, c.histograms)
		kept.native = kept.native || forms[i] == exponential
		classic = classic || forms[i] == explicit
	}
	p.histograms = newHistograms(m, kept, classic)

	var options []metric.Option
	for _, r := range c.registerers {
		e, err := otelprom.New(otelprom.WithRegisterer(r), otelprom.WithProducer(p.histograms.as(c.histograms.native)),
			otelprom.WithoutScopeInfo(), otelprom.WithoutTargetInfo(),
			otelprom.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
		if err != nil {
			return nil, fmt.Errorf("leaderscope: otelsetup: %w", err)
		}
		options = append(options, metric.WithReader(e))
	}
	for i, x := range c.pushes {
		var periodic []metric.PeriodicReaderOption
		if forms[i] != none {
			periodic = append(periodic, metric.WithProducer(p.histograms.as(forms[i] == exponential)))
		}
		if x.interval > 0 {
			periodic = append(periodic, metric.WithInterval(x.interval))
		}
		options = append(options, metric.WithReader(metric.NewPeriodicReader(Checked(x.exporter), periodic...)))
	}
	return options, nil
}

// histogramForm is how an exporter wants histograms.
type histogramForm int

const (
	explicit histogramForm = iota
	exponential
	none
)

// formFor asks an exporter, which may have been told by its own options or by
// OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION.
func formFor(e metric.Exporter, c histogramConfig) histogramForm {
	switch e.Aggregation(metric.InstrumentKindHistogram).(type) {
	case metric.AggregationDrop:
		return none
	case metric.AggregationBase2ExponentialHistogram:
		return exponential
	}
	if c.native {
		return exponential
	}
	return explicit
}

// exemplars is the SDK's filter: its default would keep reservoirs for every
// series although nothing is traced.
func exemplars(c config) exemplar.Filter {
	if c.histograms.exemplars {
		return exemplar.TraceBasedFilter
	}
	return exemplar.AlwaysOffFilter
}

// attributeSets is the largest number of attribute sets of one instrument, one
// more for the overflow label and one that the SDK keeps for itself.
func attributeSets(m *instrument.Middleware) int {
	if m == nil {
		return otelmetric.DefaultCardinalityLimit
	}
	widest := 1
	for _, metric := range catalog.All() {
		n := 1
		for _, l := range metric.Labels() {
			n *= max(1, l.Size())
		}
		widest = max(widest, n)
	}
	return max(otelmetric.DefaultCardinalityLimit, (m.MaxLabels()+1)*widest+1)
}

// MeterProvider is the pipeline's provider. It can be used for other instruments,
// or set as the global provider. That of a nil Pipeline exports nothing.
func (p *Pipeline) MeterProvider() *metric.MeterProvider {
	if p == nil {
		return metric.NewMeterProvider()
	}
	return p.provider
}

// Shutdown pushes a last time and ends the pipeline; elections continue. It
// returns the errors of the exporters, and returns at the latest when ctx ends.
// Calling it again, or on nil, does nothing.
func (p *Pipeline) Shutdown(ctx context.Context) (err error) {
	if p == nil {
		return nil
	}
	p.shutdown.Do(func() { err = p.end(ctx) })
	return err
}

func (p *Pipeline) end(ctx context.Context) error {
	var errs []error
	if p.provider != nil {
		errs = append(errs, p.provider.Shutdown(ctx))
	}
	if p.exporter != nil {
		errs = append(errs, p.exporter.Close())
	}
	if p.histograms != nil {
		errs = append(errs, p.histograms.Close())
	}
	for _, m := range p.markers {
		m.registerer.Unregister(m)
	}
	return errors.Join(errs...)
}
