package otelsetup

import (
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
)

// The size and resolution of native histograms in exporter/prom: schema 3, at
// most 160 buckets. The SDK would begin at 20 and come down later, with
// boundaries that differ from replica to replica.
const (
	maxSize  = 160
	maxScale = 3
)

// NativeHistograms is a View that makes the histograms of otelmetric
// exponential and does not change other instruments. It is for your own
// provider; for Setup use WithNativeHistograms.
func NativeHistograms(i metric.Instrument) (metric.Stream, bool) {
	if i.Scope.Name != otelmetric.ScopeName || i.Kind != metric.InstrumentKindHistogram {
		return metric.Stream{}, false
	}
	return metric.Stream{
		Name: i.Name, Description: i.Description, Unit: i.Unit,
		Aggregation: metric.AggregationBase2ExponentialHistogram{MaxSize: maxSize, MaxScale: maxScale},
	}, true
}
