package otelsetup

import (
	"context"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/leaderscope/leaderscope/exporter/otelmetric"
	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// The size and resolution of native histograms in exporter/prom: schema 3, at
// most 160 buckets. The SDK would begin at 20 and come down later, with
// boundaries that differ from replica to replica.
const (
	maxSize  = 160
	maxScale = 3
)

// NativeHistograms is a View that makes the histograms of leaderscope
// exponential, and leaves every other instrument alone.
func NativeHistograms(i metric.Instrument) (metric.Stream, bool) {
	if i.Scope.Name != otelmetric.ScopeName || i.Kind != metric.InstrumentKindHistogram {
		return metric.Stream{}, false
	}
	return metric.Stream{
		Name: i.Name, Description: i.Description, Unit: i.Unit,
		Aggregation: metric.AggregationBase2ExponentialHistogram{MaxSize: maxSize, MaxScale: maxScale},
	}, true
}

// Zeros is a Producer of what a synchronous histogram lacks until its first
// observation: its zero. Without it the first observation of a lock is
// invisible to every rate. The zero value of Zeros is ready to use.
type Zeros struct {
	native   bool
	exporter atomic.Pointer[otelmetric.Exporter]
	start    atomic.Pointer[time.Time]
}

// NativeZeros makes Zeros for a provider with the view NativeHistograms.
func NativeZeros() *Zeros { return &Zeros{native: true} }

// Of says whose histograms they are. Until then nothing is produced: a reader
// wants its producers before there is a provider.
func (z *Zeros) Of(e *otelmetric.Exporter) {
	now := time.Now()
	z.start.Store(&now)
	z.exporter.Store(e)
}

// Produce implements metric.Producer.
func (z *Zeros) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	e := z.exporter.Load()
	if e == nil {
		return nil, nil
	}
	at := points{start: *z.start.Load(), now: time.Now()}
	missing := map[*catalog.Metric][]attribute.Set{}
	e.Unobserved(func(m *catalog.Metric, lock string) {
		missing[m] = append(missing[m], attribute.NewSet(attribute.String(catalog.LockName.Attribute, lock)))
	})
	scope := metricdata.ScopeMetrics{Scope: instrumentation.Scope{Name: otelmetric.ScopeName}}
	for _, m := range catalog.All() {
		if sets := missing[m]; len(sets) > 0 {
			scope.Metrics = append(scope.Metrics, metricdata.Metrics{Name: m.OTel, Description: m.Help, Unit: m.Unit, Data: z.data(m, at, sets)})
		}
	}
	if len(scope.Metrics) == 0 {
		return nil, nil
	}
	return []metricdata.ScopeMetrics{scope}, nil
}

// points are the times of a data point.
type points struct{ start, now time.Time }

func (z *Zeros) data(m *catalog.Metric, at points, sets []attribute.Set) metricdata.Aggregation {
	if z.native {
		return at.exponential(sets)
	}
	return at.explicit(m, sets)
}

func (at points) explicit(m *catalog.Metric, sets []attribute.Set) metricdata.Aggregation {
	h := metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality}
	empty := make([]uint64, len(m.Bounds)+1)
	for _, set := range sets {
		h.DataPoints = append(h.DataPoints, metricdata.HistogramDataPoint[float64]{
			Attributes: set, StartTime: at.start, Time: at.now, Bounds: m.Bounds, BucketCounts: empty,
		})
	}
	return h
}

func (at points) exponential(sets []attribute.Set) metricdata.Aggregation {
	h := metricdata.ExponentialHistogram[float64]{Temporality: metricdata.CumulativeTemporality}
	for _, set := range sets {
		h.DataPoints = append(h.DataPoints, metricdata.ExponentialHistogramDataPoint[float64]{
			Attributes: set, StartTime: at.start, Time: at.now, Scale: maxScale,
		})
	}
	return h
}
