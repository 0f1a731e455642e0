package otelmetric

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// histogram is a synchronous instrument.
type histogram struct {
	metric     *catalog.Metric
	instrument metric.Float64Histogram
}

// newHistogram makes the instrument; the API gives one that does nothing when
// the provider cannot.
func newHistogram(meter metric.Meter, m *catalog.Metric) (histogram, bool) {
	i, err := meter.Float64Histogram(m.OTel(), metric.WithDescription(m.Help()), metric.WithUnit(m.Unit()), metric.WithExplicitBucketBoundaries(m.Bounds()...))
	if err != nil {
		otel.Handle(err)
		return histogram{}, false
	}
	return histogram{m, i}, true
}

// binder and finisher are what go.opentelemetry.io/otel/metric/x proposes for
// instruments. With the first, recording skips the search for the attributes;
// with the second, the SDK forgets a lock that is gone.
type (
	binder interface {
		Bind(attrs ...attribute.KeyValue) metric.Float64Histogram
	}
	finisher interface {
		Finish(ctx context.Context, attrs ...attribute.KeyValue)
	}
)

// bind returns the instruments of one lock; nil where the SDK binds none.
func bind(all []histogram, name attribute.KeyValue) []metric.Float64Histogram {
	var bound []metric.Float64Histogram
	for _, h := range all {
		b, ok := h.instrument.(binder)
		if !ok {
			return nil
		}
		bound = append(bound, b.Bind(name))
	}
	return bound
}

// finishes reports whether the SDK can forget a lock.
func (h histogram) finishes() bool {
	_, ok := h.instrument.(finisher)
	return ok
}

// finish has the SDK forget a lock, if it can.
func (h histogram) finish(attrs ...attribute.KeyValue) {
	if f, ok := h.instrument.(finisher); ok {
		f.Finish(context.Background(), attrs...)
	}
}
