package otelsetup_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
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

// asking is an exporter that asks for temporalities and aggregations.
type asking struct {
	*pushed
	temporality func(metric.InstrumentKind) metricdata.Temporality
	aggregation metric.Aggregation
}

func (a asking) Temporality(k metric.InstrumentKind) metricdata.Temporality {
	if a.temporality == nil {
		return metric.DefaultTemporalitySelector(k)
	}
	return a.temporality(k)
}

func (a asking) Aggregation(k metric.InstrumentKind) metric.Aggregation {
	if a.aggregation == nil || k != metric.InstrumentKindHistogram {
		return metric.DefaultAggregationSelector(k)
	}
	return a.aggregation
}

func TestAPushPipelineMadeElsewhereIsReportedOnceForEachFault(t *testing.T) {
	identified := resource.NewSchemaless(attribute.String("service.instance.id", "pod-1"))
	dropped := metric.NewView(metric.Instrument{Name: "leader.*"}, metric.Stream{AttributeFilter: attribute.NewDenyKeysFilter("lock.name")})
	elsewhere := metric.NewView(metric.Instrument{Name: "other.*"}, metric.Stream{AttributeFilter: attribute.NewDenyKeysFilter("lock.name")})
	cases := map[string]struct {
		resource    *resource.Resource
		temporality func(metric.InstrumentKind) metricdata.Temporality
		options     []metric.Option
		quiet       bool // nothing of leaderscope is exported
		want        []error
	}{
		"as it should be":             {resource: identified},
		"without identity":            {resource: resource.NewSchemaless(attribute.String("service.name", "orders")), want: []error{otelsetup.ErrUnidentified}},
		"with an empty one":           {resource: resource.NewSchemaless(attribute.String("service.instance.id", "")), want: []error{otelsetup.ErrUnidentified}},
		"a View that drops lock.name": {resource: identified, options: []metric.Option{metric.WithView(dropped)}, want: []error{otelsetup.ErrUnnamed}},
		"a View of other metrics":     {resource: identified, options: []metric.Option{metric.WithView(elsewhere)}},
		"a limit that is too low":     {resource: identified, options: []metric.Option{metric.WithCardinalityLimit(2)}, want: []error{otelsetup.ErrFolded}},
		"delta values":                {resource: identified, temporality: metric.DeltaTemporalitySelector, want: []error{otelsetup.ErrDelta}},
		"delta values of some kinds":  {resource: identified, temporality: metric.LowMemoryTemporalitySelector, want: []error{otelsetup.ErrDelta}},
		"other people's metrics":      {resource: resource.Empty(), temporality: metric.DeltaTemporalitySelector, quiet: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			errs := handled(t)
			reader := metric.NewPeriodicReader(otelsetup.Checked(asking{pushed: &pushed{}, temporality: c.temporality}), metric.WithInterval(time.Hour))
			provider := metric.NewMeterProvider(append(c.options, metric.WithReader(reader), metric.WithResource(c.resource))...)
			other, err := provider.Meter("other").Float64Counter("other.count")
			if err != nil {
				t.Fatal(err)
			}
			other.Add(context.Background(), 1)
			m := newMiddleware(t)
			if c.quiet {
				m = nil
			}
			e, err := otelmetric.New(m, otelmetric.WithMeterProvider(provider))
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if m != nil {
					contend(context.Background(), m, "x")
					contend(context.Background(), m, "y")
				}
				if err := provider.ForceFlush(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if err := provider.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
			if got := errs(); !slices.Equal(got, c.want) {
				t.Errorf("handled %v, want %v", got, c.want)
			}
		})
	}
	if otelsetup.Checked(nil) != nil {
		t.Error("a nil exporter stays nil")
	}
}

func TestAnExporterThatAsksForDeltaValuesIsRefusedAndNamed(t *testing.T) {
	only := func(kinds ...metric.InstrumentKind) func(metric.InstrumentKind) metricdata.Temporality {
		return func(k metric.InstrumentKind) metricdata.Temporality {
			if slices.Contains(kinds, k) {
				return metricdata.DeltaTemporality
			}
			return metricdata.CumulativeTemporality
		}
	}
	cases := map[string]struct {
		temporality func(metric.InstrumentKind) metricdata.Temporality
		kind        metric.InstrumentKind // the first that is refused; 0 is none
	}{
		"cumulative":              {temporality: metric.CumulativeTemporalitySelector},
		"delta":                   {temporality: metric.DeltaTemporalitySelector, kind: metric.InstrumentKindObservableCounter},
		"low memory":              {temporality: metric.LowMemoryTemporalitySelector, kind: metric.InstrumentKindHistogram},
		"histograms alone":        {temporality: only(metric.InstrumentKindHistogram), kind: metric.InstrumentKindHistogram},
		"up-down counters alone":  {temporality: only(metric.InstrumentKindObservableUpDownCounter), kind: metric.InstrumentKindObservableUpDownCounter},
		"gauges have none":        {temporality: only(metric.InstrumentKindObservableGauge, metric.InstrumentKindGauge)},
		"kinds that are not used": {temporality: only(metric.InstrumentKindCounter, metric.InstrumentKindUpDownCounter)},
		"no answer": {
			temporality: func(metric.InstrumentKind) metricdata.Temporality { return 0 },
			kind:        metric.InstrumentKindObservableCounter,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := otelsetup.Setup(newMiddleware(t), otelsetup.WithPush(&pushed{}, time.Hour), otelsetup.WithPush(asking{pushed: &pushed{}, temporality: c.temporality}, time.Hour))
			if (err != nil) != (c.kind != 0) {
				t.Fatalf("%v", err)
			}
			if err == nil {
				shutdown(t, p)
				return
			}
			for _, part := range []string{"otelsetup_test.asking", c.temporality(c.kind).String(), c.kind.String(), "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not name %s", err, part)
				}
			}
		})
	}
}
