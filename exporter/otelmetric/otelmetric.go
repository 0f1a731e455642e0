// Package otelmetric exports a Middleware through the OpenTelemetry metric
// API: the caller's MeterProvider, and nothing of an SDK. Counters and gauges
// are asynchronous and read the core when they are collected; histograms are
// synchronous, so that views, exponential buckets and exemplars work as they
// do everywhere. Names, units and descriptions are the catalogue's.
//
// A program that has no MeterProvider yet gets one from package otelsetup,
// which also keeps the series equal to those of exporter/prom.
package otelmetric

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// ScopeName is the instrumentation scope of all instruments.
const ScopeName = "github.com/leaderscope/leaderscope/exporter/otelmetric"

// Option configures an Exporter. Nil options are ignored.
type Option func(*config)

type config struct{ provider metric.MeterProvider }

// WithMeterProvider sets where the instruments are made; nil and the default
// are the global provider. Histograms get bound instruments, where the SDK has
// them, only from a provider that is not the global one's stand-in, so set the
// global provider first or pass yours.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(c *config) {
		if p != nil {
			c.provider = p
		}
	}
}

// Exporter hands the series of one Middleware to one MeterProvider until it is
// closed. It is safe for concurrent use.
type Exporter struct {
	shared *export
	close  sync.Once
}

// New exports m. Make it before the first election: histograms count from
// here on, counters from the beginning.
//
// Exporting m again to the same provider shares what is there, since two
// callbacks would count everything twice; the last Close ends it. Another
// Middleware on the same provider is ErrOtherMiddleware. What the provider
// refuses goes to otel.Handle: telemetry does not stop an election.
func New(m *instrument.Middleware, opts ...Option) (*Exporter, error) {
	c := config{provider: otel.GetMeterProvider()}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	shared, err := join(m, c.provider)
	if err != nil {
		return nil, err
	}
	return &Exporter{shared: shared}, nil
}

// Close takes this exporter's share away; with the last share its series end
// and elections go on unmeasured by it. Closing again does nothing. It returns
// what the SDK says to the callback's end.
func (e *Exporter) Close() error {
	var err error
	e.close.Do(func() { err = leave(e.shared) })
	return err
}

// export is what all exporters of one middleware and one provider share.
type export struct {
	m            *instrument.Middleware
	provider     metric.MeterProvider
	shares       int // guarded by exports
	observables  map[*catalog.Metric]metric.Float64Observable
	locks        locks
	registration metric.Registration
	detach       func()
}

func start(m *instrument.Middleware, provider metric.MeterProvider) *export {
	e := &export{m: m, provider: provider, observables: map[*catalog.Metric]metric.Float64Observable{}}
	meter := provider.Meter(ScopeName)
	var all []metric.Observable
	for _, metric := range catalog.All() {
		if !m.Exports(metric) {
			continue
		}
		if metric.Kind == catalog.Histogram {
			if h, ok := newHistogram(meter, metric); ok {
				e.locks.histograms = append(e.locks.histograms, h)
			}
			continue
		}
		if o := observable(meter, metric); o != nil {
			e.observables[metric] = o
			all = append(all, o)
		}
	}
	e.detach = m.Attach(e.locks.observer)
	registration, err := meter.RegisterCallback(e.observe, all...)
	if err != nil {
		otel.Handle(err)
	}
	e.registration = registration
	return e
}

func (e *export) stop() error {
	e.detach()
	if e.registration == nil {
		return nil
	}
	return e.registration.Unregister()
}

// observe reports every series that is no histogram, as it is now.
func (e *export) observe(_ context.Context, o metric.Observer) error {
	labels := attributes{locks: &e.locks}
	e.m.Collect(func(s *instrument.Sample) {
		if instrument, ok := e.observables[s.Metric]; ok {
			o.ObserveFloat64(instrument, s.Value, labels.of(s)...)
		}
	})
	return nil
}

// observable makes the instrument of a metric; nil if the provider cannot.
func observable(meter metric.Meter, m *catalog.Metric) (o metric.Float64Observable) {
	var err error
	switch m.Kind {
	case catalog.Counter:
		o, err = meter.Float64ObservableCounter(m.OTel, metric.WithDescription(m.Help), metric.WithUnit(m.Unit))
	case catalog.UpDownCounter:
		o, err = meter.Float64ObservableUpDownCounter(m.OTel, metric.WithDescription(m.Help), metric.WithUnit(m.Unit))
	default:
		o, err = meter.Float64ObservableGauge(m.OTel, metric.WithDescription(m.Help), metric.WithUnit(m.Unit))
	}
	if err != nil {
		otel.Handle(err)
		return nil
	}
	return o
}
