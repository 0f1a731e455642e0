package otelsetup

import (
	"fmt"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// checkTemporality reports that an exporter asks for something else than
// cumulative values, be it for one kind only, as the preference lowmemory
// does. Gauges have no temporality.
func checkTemporality(e metric.Exporter) error {
	for _, kind := range []metric.InstrumentKind{
		metric.InstrumentKindObservableCounter, metric.InstrumentKindObservableUpDownCounter, metric.InstrumentKindHistogram,
	} {
		if got := e.Temporality(kind); got != metricdata.CumulativeTemporality {
			return fmt.Errorf("leaderscope: otelsetup: exporter %T asks for %s of kind %s, and Prometheus refuses all but cumulative values: unset OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, or give the exporter WithTemporalitySelector(metric.CumulativeTemporalitySelector)", e, got, kind)
		}
	}
	return nil
}
