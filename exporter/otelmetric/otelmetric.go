// Package otelmetric exports a Middleware through the OpenTelemetry metric
// API. It needs only the caller's MeterProvider, and no SDK:
//
//	m, err := instrument.New()
//	exporter, err := otelmetric.New(m, otelmetric.WithMeterProvider(provider))
//	defer exporter.Close()
//
// Counters and gauges are asynchronous and read the core when they are collected;
// histograms are synchronous, so that views, exponential buckets and exemplars
// work as usual. Names, units and descriptions are those of the catalogue.
//
// A program without a MeterProvider gets one from package otelsetup, whose series
// equal those of exporter/prom. With another provider the series depend on its
// configuration: docs/telemetry.md lists the options that make them equal, and
// what a View must not change.
//
// An SDK cannot remove an attribute set of a synchronous instrument. If locks come
// and go, the histograms of new locks are merged into the SDK's overflow set once
// the SDK has reached its limit; ErrCardinality is then passed to otel.Handle.
// WithoutHistograms and otelsetup.Histograms have no such limit.
package otelmetric

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// ScopeName is the instrumentation scope of all instruments; its version is
// instrument.Version.
const ScopeName = "github.com/leaderscope/leaderscope/exporter/otelmetric"

func meterOf(p metric.MeterProvider) metric.Meter {
	return p.Meter(ScopeName, metric.WithInstrumentationVersion(instrument.Version))
}

// Exporter exports the series of one Middleware to one MeterProvider until it is
// closed. It is safe for concurrent use.
type Exporter struct {
	mu     sync.Mutex
	shared *export // nil once closed
}

// New exports m. Call it before the first election: histograms count from
// this call on, counters from the start of m. A nil Middleware exports nothing.
//
// If m is already exported to the same destination, the exporter is shared,
// since two callbacks would count everything twice; the last Close ends it. Two
// providers are the same destination if they return the same instruments, such
// as a provider and a wrapper around it, or the global provider before and after
// otel.SetMeterProvider. A wrapper that makes its own instruments, or changes
// their scope, is another destination.
//
// Another Middleware at the same destination is ErrOtherMiddleware. If this is
// detected only when the global provider is set, the error is passed to
// otel.Handle and the second Middleware is not exported. Errors of the provider
// are passed to otel.Handle as well: telemetry does not stop an election.
func New(m *instrument.Middleware, opts ...Option) (*Exporter, error) {
	if m == nil {
		return &Exporter{}, nil
	}
	shared, err := join(m, newConfig(opts))
	if err != nil {
		return nil, err
	}
	return &Exporter{shared: shared}, nil
}

// Close ends this exporter's share. With the last share its counters and gauges
// end, and nothing is observed afterwards; histograms remain at their last values
// in an SDK that cannot remove them. Elections continue. Closing again, or closing
// nil, does nothing. It returns the SDK's error of unregistering the callback.
//
// An Exporter whose provider was shut down ends at the latest when the next
// one is made.
func (e *Exporter) Close() error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	shared := e.shared
	e.shared = nil
	e.mu.Unlock()
	if shared == nil {
		return nil
	}
	return leave(shared)
}

// export is what all exporters of one middleware to one place share.
type export struct {
	m            *instrument.Middleware
	observables  map[*catalog.Metric]metric.Float64Observable
	locks        locks
	limit        limit
	registration metric.Registration
	detach       func()
	destination
}

func newExport(m *instrument.Middleware, c config) *export {
	e := &export{m: m, limit: limit{sets: c.limit}, observables: map[*catalog.Metric]metric.Float64Observable{}}
	e.locks = locks{of: e, wanted: c.histograms}
	e.locate(c.provider)
	return e
}

// start makes the instruments and has them observed.
func (e *export) start() {
	meter := meterOf(e.provider)
	var all []metric.Observable
	for _, metric := range catalog.All() {
		if !e.m.Exports(metric) {
			continue
		}
		if metric.Kind() == catalog.Histogram {
			e.locks.add(meter, metric)
			continue
		}
		if o := observable(meter, metric); o != nil {
			e.observables[metric] = o
			all = append(all, o)
		}
	}
	e.detach = e.m.Attach(e.locks.observer)
	registration, err := meter.RegisterCallback(e.observe, all...)
	if err != nil {
		otel.Handle(err)
	}
	e.registration = registration
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
	if !e.reports() {
		return nil
	}
	labels := attributes{locks: &e.locks}
	sets, most := map[*catalog.Metric]int{}, 0
	e.m.Collect(func(s *instrument.Sample) {
		if instrument, ok := e.observables[s.Metric]; ok {
			o.ObserveFloat64(instrument, s.Value, labels.of(s)...)
			sets[s.Metric]++
			most = max(most, sets[s.Metric])
		}
	})
	e.limit.check(most)
	return nil
}

// observable makes the instrument of a metric; nil if the provider cannot.
func observable(meter metric.Meter, m *catalog.Metric) metric.Float64Observable {
	o, err := newObservable(meter, m)
	if err != nil {
		otel.Handle(err)
		return nil
	}
	return o
}

func newObservable(meter metric.Meter, m *catalog.Metric) (metric.Float64Observable, error) {
	switch m.Kind() {
	case catalog.Counter:
		return meter.Float64ObservableCounter(m.OTel(), metric.WithDescription(m.Help()), metric.WithUnit(m.Unit()))
	case catalog.UpDownCounter:
		return meter.Float64ObservableUpDownCounter(m.OTel(), metric.WithDescription(m.Help()), metric.WithUnit(m.Unit()))
	default:
		return meter.Float64ObservableGauge(m.OTel(), metric.WithDescription(m.Help()), metric.WithUnit(m.Unit()))
	}
}
