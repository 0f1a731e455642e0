package otelsetup_test

import (
	"context"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// aggregations makes one point of each kind of data, with these attributes.
var aggregations = map[string]func(metricdata.Temporality, attribute.Set) metricdata.Aggregation{
	"sum": func(temporality metricdata.Temporality, set attribute.Set) metricdata.Aggregation {
		return metricdata.Sum[float64]{Temporality: temporality, DataPoints: []metricdata.DataPoint[float64]{{Attributes: set}}}
	},
	"gauge": func(_ metricdata.Temporality, set attribute.Set) metricdata.Aggregation {
		return metricdata.Gauge[float64]{DataPoints: []metricdata.DataPoint[float64]{{Attributes: set}}}
	},
	"histogram": func(temporality metricdata.Temporality, set attribute.Set) metricdata.Aggregation {
		return metricdata.Histogram[float64]{Temporality: temporality, DataPoints: []metricdata.HistogramDataPoint[float64]{{Attributes: set}}}
	},
	"exponential histogram": func(temporality metricdata.Temporality, set attribute.Set) metricdata.Aggregation {
		return metricdata.ExponentialHistogram[float64]{Temporality: temporality, DataPoints: []metricdata.ExponentialHistogramDataPoint[float64]{{Attributes: set}}}
	},
}

func TestEachKindOfDataIsChecked(t *testing.T) {
	const delta, cumulative = metricdata.DeltaTemporality, metricdata.CumulativeTemporality
	named := attribute.NewSet(attribute.String("lock.name", "x"))
	for kind, make := range aggregations {
		for name, c := range map[string]struct {
			metric      *catalog.Metric
			temporality metricdata.Temporality
			set         attribute.Set
			want        []error
		}{
			"well":              {catalog.Attempts, cumulative, named, nil},
			"delta":             {catalog.Attempts, delta, named, []error{otelsetup.ErrDelta}},
			"no name":           {catalog.Attempts, cumulative, *attribute.EmptySet(), []error{otelsetup.ErrUnnamed}},
			"no name is needed": {catalog.RedactionOverflows, cumulative, *attribute.EmptySet(), nil},
			"folded":            {catalog.Attempts, cumulative, attribute.NewSet(attribute.Bool("otel.metric.overflow", true)), []error{otelsetup.ErrFolded}},
			"delta and no name": {catalog.Attempts, delta, *attribute.EmptySet(), []error{otelsetup.ErrDelta, otelsetup.ErrUnnamed}},
		} {
			t.Run(kind+", "+name, func(t *testing.T) {
				want := c.want
				if kind == "gauge" { // which has no temporality
					want = slices.DeleteFunc(slices.Clone(want), func(err error) bool { return err == otelsetup.ErrDelta })
				}
				errs := handled(t)
				exporter := otelsetup.Checked(&pushed{})
				data := metricdata.ResourceMetrics{
					Resource: resource.NewSchemaless(attribute.String("service.instance.id", "pod-1")),
					ScopeMetrics: []metricdata.ScopeMetrics{
						{Scope: instrumentation.Scope{Name: "other"}, Metrics: []metricdata.Metrics{{Name: c.metric.OTel(), Data: aggregations["sum"](delta, *attribute.EmptySet())}}},
						{Scope: instrumentation.Scope{Name: otelmetric.ScopeName}, Metrics: []metricdata.Metrics{
							{Name: c.metric.OTel(), Data: make(c.temporality, c.set)}, {Name: c.metric.OTel(), Data: make(c.temporality, c.set)},
						}},
					},
				}
				for range 2 {
					if err := exporter.Export(context.Background(), &data); err != nil {
						t.Fatal(err)
					}
				}
				if got := errs(); !slices.Equal(got, want) {
					t.Errorf("handled %v, want %v", got, want)
				}
			})
		}
	}
}
