package otelmetric_test

import (
	"context"
	"fmt"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/instrument"
	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/redact"
)

// A MeterProvider of your own: the exporter only needs its API.
func ExampleNew() {
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))

	m, err := instrument.New(instrument.WithRedactor(redact.Constant(redact.Exact("nightly-report"))))
	if err != nil {
		panic(err)
	}
	exporter, err := otelmetric.New(m, otelmetric.WithMeterProvider(provider))
	if err != nil {
		panic(err)
	}
	defer exporter.Close()

	nightly := m.Election("nightly-report")
	term, err := nightly.Acquire(context.Background(), instrument.AcquirerFunc(func(context.Context) (instrument.Lease, error) {
		return instrument.NewLease(nil), nil
	}))
	if err != nil {
		panic(err)
	}
	defer term.Release(context.Background())

	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		panic(err)
	}
	for _, x := range data.ScopeMetrics[0].Metrics {
		if x.Name == catalog.Active.OTel() {
			point := x.Data.(metricdata.Sum[float64]).DataPoints[0]
			fmt.Println(x.Name, point.Attributes.ToSlice()[0].Value.AsString(), point.Value)
		}
	}
	// Output: leader.active nightly-report 1
}
