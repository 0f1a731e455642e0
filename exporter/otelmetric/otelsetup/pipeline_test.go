package otelsetup_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
	"github.com/leaderscope/leaderscope/exporter/prom"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

func set(t *testing.T, m *instrument.Middleware, opts ...otelsetup.Option) *otelsetup.Pipeline {
	t.Helper()
	p, err := otelsetup.Setup(m, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestARegistererThatChangesNamesIsRefused(t *testing.T) {
	r := prometheus.NewRegistry()
	cases := map[string]struct {
		registerer prometheus.Registerer
		names      string
	}{
		"a prefix":             {prometheus.WrapRegistererWithPrefix("app_", r), `"app_"`},
		"a label that we have": {prometheus.WrapRegistererWith(prometheus.Labels{"lock_name": "x"}, r), `"lock_name"`},
		"le":                   {prometheus.WrapRegistererWith(prometheus.Labels{"le": "x"}, r), `"le"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t)
			_, err := otelsetup.Setup(m, otelsetup.WithPrometheus(prometheus.NewRegistry()), otelsetup.WithPrometheus(c.registerer))
			if err == nil || !strings.Contains(err.Error(), c.names) {
				t.Errorf("%v does not name %s", err, c.names)
			}
			shutdown(t, set(t, m, otelsetup.WithPrometheus(r))) // nothing was left behind
		})
	}
}

func TestOneRegistryTakesAMiddlewareOnce(t *testing.T) {
	m, r := newMiddleware(t), prometheus.NewRegistry()
	p := set(t, m, otelsetup.WithPrometheus(r))
	if _, err := prom.Register(r, m); !errors.Is(err, prom.ErrRegistered) {
		t.Errorf("exporter/prom beside a pipeline: %v", err)
	}
	shutdown(t, p)
	e, err := prom.Register(r, m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := otelsetup.Setup(m, otelsetup.WithPrometheus(r)); err == nil {
		t.Error("a pipeline beside exporter/prom must be refused")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	shutdown(t, set(t, m, otelsetup.WithPrometheus(r)))
}

func TestThePipelineOfANilMiddlewareExportsEverythingElse(t *testing.T) {
	r := prometheus.NewRegistry()
	p := set(t, nil, otelsetup.WithPrometheus(r), otelsetup.WithExemplars(), nil)
	other, err := p.MeterProvider().Meter("other").Float64Counter("other")
	if err != nil {
		t.Fatal(err)
	}
	other.Add(context.Background(), 1)
	if found := gather(t, r); len(found) != 1 || found["other_total"] == nil {
		t.Errorf("%v", found)
	}
	shutdown(t, p)
	shutdown(t, p)   // again is harmless
	shutdown(t, nil) // as after an error
}

func TestThePipelineIsOnePlaceWithTheGlobalProvider(t *testing.T) {
	m, r := newMiddleware(t), prometheus.NewRegistry()
	before, err := otelmetric.New(m) // as a library may do at its start
	if err != nil {
		t.Fatal(err)
	}
	p := set(t, m, otelsetup.WithPrometheus(r))
	otel.SetMeterProvider(p.MeterProvider())
	after, err := otelmetric.New(m)
	if err != nil {
		t.Fatal(err)
	}
	contend(context.Background(), m, "x")
	families := gather(t, r)
	for _, metric := range []*catalog.Metric{catalog.Attempts, catalog.AcquireDuration} {
		x := families[metric.Name()].GetMetric()
		if len(x) != 1 || x[0].GetCounter().GetValue()+float64(x[0].GetHistogram().GetSampleCount()) != 1 {
			t.Errorf("%v", x)
		}
	}
	for _, e := range []*otelmetric.Exporter{before, after} {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	shutdown(t, p)
}

func TestAnExporterGetsHistogramsInTheFormThatItAsksFor(t *testing.T) {
	exponential := metric.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}
	cases := map[string]struct {
		aggregation metric.Aggregation
		options     []otelsetup.Option
		want        string
	}{
		"explicit by default":                  {want: "metricdata.Histogram[float64]"},
		"exponential when set up so":           {options: []otelsetup.Option{otelsetup.WithNativeHistograms()}, want: "metricdata.ExponentialHistogram[float64]"},
		"exponential when the exporter asks":   {aggregation: exponential, want: "metricdata.ExponentialHistogram[float64]"},
		"with exemplars too":                   {aggregation: exponential, options: []otelsetup.Option{otelsetup.WithExemplars()}, want: "metricdata.ExponentialHistogram[float64]"},
		"none when the exporter wants none":    {aggregation: metric.AggregationDrop{}},
		"explicit when it asks for other sums": {aggregation: metric.AggregationSum{}, want: "metricdata.Histogram[float64]"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m, out, r := newMiddleware(t), &pushed{}, prometheus.NewRegistry()
			p := set(t, m, append(c.options, otelsetup.WithPrometheus(r), otelsetup.WithPush(asking{pushed: out, aggregation: c.aggregation}, time.Hour))...)
			contend(context.Background(), m, "x")
			scraped := gather(t, r)[catalog.AcquireDuration.Name()].GetMetric()[0].GetHistogram()
			if native := scraped.Schema != nil; scraped.GetSampleCount() != 1 || native != (name == "exponential when set up so") {
				t.Errorf("scraped %v", scraped)
			}
			shutdown(t, p)
			if got := out.forms[catalog.AcquireDuration.OTel()]; got != c.want {
				t.Errorf("pushed %s, want %s", got, c.want)
			}
		})
	}
}

func TestHistogramsInAProviderOfOnesOwn(t *testing.T) {
	for name, options := range map[string][]otelsetup.HistogramOption{
		"explicit":                   nil,
		"explicit, with exemplars":   {otelsetup.WithExemplars()},
		"exponential":                {otelsetup.WithNativeHistograms()},
		"exponential, and exemplars": {otelsetup.WithNativeHistograms(), otelsetup.WithExemplars(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMiddleware(t)
			h := otelsetup.NewHistograms(m, options...)
			read := metric.NewManualReader(metric.WithProducer(h))
			provider := metric.NewMeterProvider(metric.WithReader(read))
			e, err := otelmetric.New(m, otelmetric.WithMeterProvider(provider), otelmetric.WithoutHistograms())
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			m.Election("idle")
			contend(context.Background(), m, "x")
			if got, want := counts(t, read), "x:1"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
			for range 2 {
				if err := h.Close(); err != nil {
					t.Error(err)
				}
			}
			contend(context.Background(), m, "y")
			if got := counts(t, read); got != "" {
				t.Errorf("after Close: %s", got)
			}
		})
	}
	none := otelsetup.NewHistograms(nil, otelsetup.WithNativeHistograms())
	if data, err := none.Produce(context.Background()); len(data) > 0 || err != nil {
		t.Errorf("of a nil middleware: %v, %v", data, err)
	}
	if err := none.Close(); err != nil {
		t.Error(err)
	}
}

func TestExponentialHistogramsThatCameLateBeginWithTheirOwnFirstObservation(t *testing.T) {
	m := newMiddleware(t)
	contend(context.Background(), m, "x")
	h := otelsetup.NewHistograms(m, otelsetup.WithNativeHistograms())
	defer h.Close()
	read := metric.NewManualReader(metric.WithProducer(h))
	metric.NewMeterProvider(metric.WithReader(read))
	if got := counts(t, read); got != "" {
		t.Errorf("before an observation: %s", got)
	}
	contend(context.Background(), m, "x")
	if got, want := counts(t, read), "x:1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// counts are the locks with their observations of the acquire duration.
func counts(t *testing.T, r metric.Reader) string {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &data); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			if m.Name != catalog.AcquireDuration.OTel() {
				continue
			}
			switch d := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					lock, _ := p.Attributes.Value("lock.name")
					found = append(found, fmt.Sprintf("%s:%d", lock.AsString(), p.Count))
				}
			case metricdata.ExponentialHistogram[float64]:
				for _, p := range d.DataPoints {
					lock, _ := p.Attributes.Value("lock.name")
					found = append(found, fmt.Sprintf("%s:%d", lock.AsString(), p.Count))
				}
			}
		}
	}
	return strings.Join(found, " ")
}

func TestNothingKeepsAPipelineAliveThatWasShutDown(t *testing.T) {
	m, r := newMiddleware(t), prometheus.NewRegistry()
	provider, histograms := func() (weak.Pointer[metric.MeterProvider], weak.Pointer[otelsetup.Histograms]) {
		p := set(t, m, otelsetup.WithPrometheus(r), otelsetup.WithPush(&pushed{}, time.Hour), otelsetup.WithNativeHistograms())
		contend(context.Background(), m, "x")
		gather(t, r)
		shutdown(t, p)
		return weak.Make(p.MeterProvider()), weak.Make(p.Histograms())
	}()
	for range 50 {
		if runtime.GC(); provider.Value() == nil && histograms.Value() == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if provider.Value() != nil {
		t.Error("the provider is still there")
	}
	if histograms.Value() != nil {
		t.Error("the histograms are still there")
	}
	if families := gather(t, r); len(families) > 0 {
		t.Errorf("the registry still has %d families", len(families))
	}
	runtime.KeepAlive(m)
}
