package otelmetric_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/instrument/electtest"
	"github.com/leaderscope/leaderscope/instrument/electtest/scenario"
	"github.com/leaderscope/leaderscope/redact"
)

func newMiddleware(t *testing.T, opts ...instrument.Option) *instrument.Middleware {
	t.Helper()
	m, err := instrument.New(append([]instrument.Option{instrument.WithRedactor(redact.Raw())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// named is the handle of a name that is made at run time.
func named(m *instrument.Middleware, name string, opts ...instrument.ElectionOption) *instrument.Election {
	return m.Named(name, opts...)
}

// export makes a provider that is read by hand, and exports m to it.
func export(t *testing.T, m *instrument.Middleware, opts ...sdk.Option) (*otelmetric.Exporter, *sdk.MeterProvider, sdk.Reader) {
	t.Helper()
	r := sdk.NewManualReader()
	p := sdk.NewMeterProvider(append([]sdk.Option{sdk.WithReader(r)}, opts...)...)
	e, err := otelmetric.New(m, otelmetric.WithMeterProvider(p))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, p, r
}

func collect(t *testing.T, r sdk.Reader) []metricdata.Metrics {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &data); err != nil {
		t.Fatal(err)
	}
	var all []metricdata.Metrics
	for _, s := range data.ScopeMetrics {
		all = append(all, s.Metrics...)
	}
	return all
}

// numbers writes the points of one metric as attributes and value; the value
// of a histogram is its count.
func numbers(t *testing.T, r sdk.Reader, m *catalog.Metric) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	for _, x := range collect(t, r) {
		if x.Name == m.OTel() {
			points(x, func(set string, v float64) { found[set] = v })
		}
	}
	return found
}

// series writes everything that is collected in the same way.
func series(t *testing.T, r sdk.Reader) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	for _, x := range collect(t, r) {
		points(x, func(set string, v float64) {
			if _, twice := found[x.Name+" "+set]; twice {
				t.Errorf("%s %s is there twice", x.Name, set)
			}
			found[x.Name+" "+set] = v
		})
	}
	return found
}

func points(x metricdata.Metrics, visit func(set string, v float64)) {
	switch data := x.Data.(type) {
	case metricdata.Sum[float64]:
		for _, p := range data.DataPoints {
			visit(attributes(p.Attributes), p.Value)
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			visit(attributes(p.Attributes), p.Value)
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			visit(attributes(p.Attributes), float64(p.Count))
		}
	}
}

// recorded is what series should find: all that the core has.
func recorded(m *instrument.Middleware) map[string]float64 {
	all := map[string]float64{}
	m.Collect(func(s *instrument.Sample) {
		var set []attribute.KeyValue
		if s.Metric.PerLock() {
			set = append(set, attribute.String("lock.name", s.Lock))
		}
		for i, l := range s.Metric.Labels() {
			if s.Values[i] != "" {
				set = append(set, attribute.String(l.Attribute(), s.Values[i]))
			}
		}
		v := s.Value
		if s.Histogram != nil {
			if v = float64(s.Histogram.Count()); v == 0 {
				return // begins with its first observation
			}
		}
		all[s.Metric.OTel()+" "+attributes(attribute.NewSet(set...))] = v
	})
	return all
}

// equal checks that a reader gets everything, once.
func equal(t *testing.T, m *instrument.Middleware, r sdk.Reader) {
	t.Helper()
	if diff := cmp.Diff(recorded(m), series(t, r)); diff != "" {
		t.Errorf("(-core +collected):\n%s", diff)
	}
}

func attributes(s attribute.Set) string { return s.Encoded(attribute.DefaultEncoder()) }

func contend(e *instrument.Election, times int) {
	for range times {
		_, _ = e.Acquire(context.Background(), electtest.Fails(instrument.ErrContended))
	}
}

func TestEveryMetricOfTheCatalogueHasItsInstrument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMiddleware(t)
		_, _, r := export(t, m)
		if err := scenario.Play(m); err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, m := range catalog.All() {
			want = append(want, fmt.Sprintf("%s %s %s %s", m.OTel(), m.Kind(), m.Unit(), m.Help()))
		}
		for _, x := range collect(t, r) {
			got = append(got, fmt.Sprintf("%s %s %s %s", x.Name, kind(x.Data), x.Unit, x.Description))
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-catalogue +collected):\n%s", diff)
		}
		time.Sleep(scenario.Length)
	})
}

func TestTheScopeCarriesTheVersion(t *testing.T) {
	m := newMiddleware(t)
	_, _, r := export(t, m)
	m.Election("x")
	var got metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &got); err != nil {
		t.Fatal(err)
	}
	want := instrumentation.Scope{Name: otelmetric.ScopeName, Version: instrument.Version}
	if len(got.ScopeMetrics) != 1 || got.ScopeMetrics[0].Scope != want {
		t.Errorf("%d scopes, the first %+v, want %+v alone", len(got.ScopeMetrics), got.ScopeMetrics[0].Scope, want)
	}
}

func kind(a metricdata.Aggregation) catalog.Kind {
	switch data := a.(type) {
	case metricdata.Sum[float64]:
		if data.IsMonotonic {
			return catalog.Counter
		}
		return catalog.UpDownCounter
	case metricdata.Gauge[float64]:
		return catalog.Gauge
	default:
		return catalog.Histogram
	}
}

func TestC55ExportingTwiceToOneProviderSharesAndCountsOnce(t *testing.T) {
	m := newMiddleware(t)
	first, p, r := export(t, m)
	second, err := otelmetric.New(m, otelmetric.WithMeterProvider(p))
	if err != nil {
		t.Fatal(err)
	}
	contend(m.Election("x"), 5)
	contend(m.Election("x"), 5)
	ten := map[string]float64{"lock.name=x": 10}
	for _, metric := range []*catalog.Metric{catalog.Attempts, catalog.AcquireDuration} {
		if diff := cmp.Diff(ten, numbers(t, r, metric)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", metric.OTel(), diff)
		}
	}
	if _, err := otelmetric.New(newMiddleware(t), otelmetric.WithMeterProvider(p)); !errors.Is(err, otelmetric.ErrOtherMiddleware) {
		t.Errorf("another middleware: %v", err)
	}

	for range 2 { // closing again is no second share
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(ten, numbers(t, r, catalog.Attempts)); diff != "" {
		t.Errorf("after one of two is closed (-want +got):\n%s", diff)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if got := numbers(t, r, catalog.Attempts); len(got) > 0 {
		t.Errorf("after both are closed: %v", got)
	}

	rebuilt, err := otelmetric.New(m, otelmetric.WithMeterProvider(p))
	if err != nil {
		t.Fatal(err)
	}
	defer rebuilt.Close()
	contend(m.Election("x"), 1)
	if diff := cmp.Diff(map[string]float64{"lock.name=x": 11}, numbers(t, r, catalog.Attempts)); diff != "" {
		t.Errorf("built again (-want +got):\n%s", diff)
	}
}

func TestEachLockHasItsOwnSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMiddleware(t)
		_, _, r := export(t, m)
		for i := range 4 {
			e := m.Named(fmt.Sprint("lock-", i), instrument.LeaseDuration(time.Duration(i+1)*time.Minute))
			contend(e, i+1)
			if i%2 == 0 {
				if _, err := e.Acquire(context.Background(), electtest.Wins(instrument.NewLease(nil))); err != nil {
					t.Fatal(err)
				}
			}
		}
		time.Sleep(time.Second)
		equal(t, m, r)
	})
}

func TestAfterCloseElectionsGoOn(t *testing.T) {
	m := newMiddleware(t)
	e, _, r := export(t, m)
	lock := m.Election("x")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	term, err := lock.Acquire(context.Background(), electtest.Wins(instrument.NewLease(nil)))
	if err != nil || term.Release(context.Background()) != nil {
		t.Errorf("acquire after close: %v", err)
	}
	if got := collect(t, r); len(got) > 0 {
		t.Errorf("%d metrics after close", len(got))
	}
}

func TestAForgottenLockHasNoCountersAndGaugesAnyMore(t *testing.T) {
	m := newMiddleware(t)
	e, _, r := export(t, m)
	kept, gone, idle := m.Election("kept"), m.Election("gone"), m.Election("idle")
	contend(kept, 1)
	contend(gone, 1)
	gone.Forget()
	idle.Forget()
	if diff := cmp.Diff(map[string]float64{"lock.name=kept": 1}, numbers(t, r, catalog.Attempts)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := e.Locks(); n != 1 {
		t.Errorf("%d locks kept, want the one that is left", n)
	}
}

func TestGroupsThatAreLeftOutHaveNoInstrument(t *testing.T) {
	m := newMiddleware(t, instrument.WithoutSeries(catalog.GroupWaiting))
	_, _, r := export(t, m)
	contend(m.Election("x"), 1)
	for _, x := range collect(t, r) {
		if metric := byOTel(x.Name); metric.Group() == catalog.GroupWaiting {
			t.Errorf("%s is there", x.Name)
		}
	}
}

func byOTel(name string) *catalog.Metric {
	all := catalog.All()
	return all[slices.IndexFunc(all, func(m *catalog.Metric) bool { return m.OTel() == name })]
}

func TestC53TheOwnCapActsBeforeTheSDKs(t *testing.T) {
	const sdkLimit = 2000 // the SDK's default
	widest := catalog.Reasons
	m := newMiddleware(t, instrument.WithMaxLabels(sdkLimit/widest-2))
	_, _, r := export(t, m)
	reasons := []error{instrument.ErrContended, instrument.ErrBackend, errors.New("refused"), instrument.ErrUnknown}
	for i := range 10_000 {
		e := named(m, fmt.Sprintf("tenant-%d", i))
		for _, err := range reasons {
			_, _ = e.Acquire(context.Background(), electtest.Fails(err))
		}
	}
	total := 0.0
	byReason := map[string]float64{}
	for set, n := range numbers(t, r, catalog.NotAcquired) {
		if strings.Contains(set, "otel.metric.overflow") || !strings.Contains(set, "reason=") {
			t.Errorf("lock and reason are gone: %s", set)
		}
		total += n
		byReason[set[strings.Index(set, "reason="):]] += n
	}
	if total != 40_000 {
		t.Errorf("%v attempts in all, want 40000", total)
	}
	for reason, n := range byReason {
		if n != 0 && n != 10_000 && n != 20_000 {
			t.Errorf("%s: %v", reason, n)
		}
	}
	if got := numbers(t, r, catalog.RedactionOverflows)[""]; got != float64(10_000-(sdkLimit/widest-2)) {
		t.Errorf("%v names folded", got)
	}
}

func TestRecordingAllocatesNothingBeyondTheTerm(t *testing.T) {
	m := newMiddleware(t)
	export(t, m, sdk.WithExemplarFilter(func(context.Context) bool { return false }))
	e, ctx := m.Election("x", instrument.LeaseDuration(time.Minute)), context.Background()
	lease := instrument.NewLease(nil)
	wins := instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) { return lease, nil })
	allocs := testing.AllocsPerRun(1000, func() {
		term, err := e.Acquire(ctx, wins)
		if err != nil {
			t.Fatal(err)
		}
		if err := term.Release(ctx); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 1 {
		t.Errorf("%v allocations, want the term alone", allocs)
	}
}

func TestCollectingWhileRecordingAndForgettingIsSafe(t *testing.T) {
	m := newMiddleware(t)
	_, p, r := export(t, m)
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := range 200 {
				e := named(m, fmt.Sprint("lock-", (w+i)%5))
				contend(e, 2)
				e.Forget()
			}
		})
	}
	workers.Go(func() {
		for range 50 {
			e, err := otelmetric.New(m, otelmetric.WithMeterProvider(p))
			if err != nil {
				t.Error(err)
				return
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	for range 50 {
		var data metricdata.ResourceMetrics
		if err := r.Collect(context.Background(), &data); err != nil {
			t.Error(err)
		}
	}
	workers.Wait()
}
