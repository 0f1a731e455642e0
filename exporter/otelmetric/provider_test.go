package otelmetric_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// handled collects what goes to otel.Handle during a test.
func handled(t *testing.T) func() []error {
	t.Helper()
	var mu sync.Mutex
	var errs []error
	before := otel.GetErrorHandler()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
	}))
	t.Cleanup(func() { otel.SetErrorHandler(before) })
	return func() []error {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(errs)
	}
}

var errRefused = errors.New("refused")

// refusing is a provider whose instruments all fail.
type refusing struct{ noop.MeterProvider }

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }

type refusingMeter struct{ noop.Meter }

func (refusingMeter) Float64ObservableCounter(string, ...metric.Float64ObservableCounterOption) (metric.Float64ObservableCounter, error) {
	return nil, errRefused
}

func (refusingMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return nil, errRefused
}

func (refusingMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	return nil, errRefused
}

func TestWhatTheProviderRefusesGoesToTheHandlerAndElectionsGoOn(t *testing.T) {
	errs := handled(t)
	m := newMiddleware(t)
	e, err := otelmetric.New(m, otelmetric.WithMeterProvider(refusing{}))
	if err != nil {
		t.Fatal(err)
	}
	contend(m.Election("x"), 1)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	refused := 1 // the callback
	for _, m := range catalog.All() {
		if m.Kind() == catalog.Counter || m.Kind() == catalog.Histogram {
			refused++
		}
	}
	if m.Faults() != 0 {
		t.Errorf("%d faults", m.Faults())
	}
	if got := errs(); len(got) != refused || !errors.Is(got[0], errRefused) {
		t.Errorf("%d errors handled, want %d: %v", len(got), refused, got)
	}
}

// binding is a provider whose histograms can be bound and finished, as the
// API's extensions propose; it writes down what is called.
type binding struct {
	noop.MeterProvider
	calls *[]string
}

func (b binding) Meter(string, ...metric.MeterOption) metric.Meter {
	return bindingMeter{calls: b.calls}
}

type bindingMeter struct {
	noop.Meter
	calls *[]string
}

func (m bindingMeter) Float64Histogram(name string, _ ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return bindable{name: name, calls: m.calls}, nil
}

type bindable struct {
	noop.Float64Histogram
	name  string
	calls *[]string
}

func (b bindable) Bind(attrs ...attribute.KeyValue) metric.Float64Histogram {
	b.name += "{" + attributes(attribute.NewSet(attrs...)) + "}"
	return b
}

func (b bindable) Record(_ context.Context, _ float64, opts ...metric.RecordOption) {
	*b.calls = append(*b.calls, fmt.Sprintf("record %s with %d options", b.name, len(opts)))
}

func (b bindable) Finish(_ context.Context, attrs ...attribute.KeyValue) {
	if b.name == catalog.AcquireDuration.OTel() || b.name == catalog.BackendHandover.OTel() {
		*b.calls = append(*b.calls, fmt.Sprintf("finish %s %s", b.name, attributes(attribute.NewSet(attrs...))))
	}
}

func TestBoundInstrumentsAreUsedAndFinishedWhereTheSDKHasThem(t *testing.T) {
	var calls []string
	errs := handled(t)
	m := newMiddleware(t)
	e, err := otelmetric.New(m, otelmetric.WithMeterProvider(binding{calls: &calls}), otelmetric.WithCardinalityLimit(1))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	lock := m.Election("x")
	contend(lock, 1)
	lock.Forget()
	want := []string{
		"record leader.acquire.duration{lock.name=x} with 0 options",
		"finish leader.acquire.duration lock.name=x", "finish leader.backend.handover lock.name=x",
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := e.Locks(); n != 0 {
		t.Errorf("%d locks kept", n)
	}
	if got := errs(); len(got) != 0 { // what is finished is below any limit
		t.Errorf("handled %v", got)
	}
}

func TestAHistogramWithALabelOfItsOwnIsFinishedWithTheLock(t *testing.T) {
	var calls []string
	m := newMiddleware(t)
	e, err := otelmetric.New(m, otelmetric.WithMeterProvider(binding{calls: &calls}))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	lock := m.Election("x", instrument.Backend("nats"))
	for _, holder := range []string{"a", "b", "a"} { // two hand it over
		lock.ObserveBackend(instrument.BackendView{State: instrument.BackendHeld, Holder: holder})
		lock.ObserveBackend(instrument.BackendView{State: instrument.BackendVacant})
	}
	lock.Forget()
	want := []string{
		"record leader.backend.handover with 1 options", "record leader.backend.handover with 1 options",
		"finish leader.acquire.duration lock.name=x", "finish leader.backend.handover lock.name=x",
		"finish leader.backend.handover backend=nats,lock.name=x",
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
