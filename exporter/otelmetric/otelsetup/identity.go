package otelsetup

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// ErrUnidentified says that a resource without service.instance.id is pushed.
// Replicas then write into one series: gauges jump between their values,
// counters reset all the time, and no rule on leaders can be right.
var ErrUnidentified = errors.New("leaderscope: metrics are pushed without service.instance.id, so replicas cannot be told apart; set it in OTEL_RESOURCE_ATTRIBUTES, or take the resource from otelsetup.Identify")

// Identify returns r with a random service.instance.id if it has none. The
// SDK adds none by itself.
func Identify(r *resource.Resource) (*resource.Resource, error) {
	if hasIdentity(r) {
		return r, nil
	}
	detected, err := resource.New(context.Background(), resource.WithService())
	if err != nil {
		return nil, fmt.Errorf("leaderscope: make a service.instance.id: %w", err)
	}
	id, _ := detected.Set().Value(semconv.ServiceInstanceIDKey)
	return withInstance(r, id.AsString())
}

func hasIdentity(r *resource.Resource) bool {
	id, ok := r.Set().Value(semconv.ServiceInstanceIDKey)
	return ok && id.AsString() != ""
}

func withInstance(r *resource.Resource, id string) (*resource.Resource, error) {
	merged, err := resource.Merge(r, resource.NewSchemaless(attribute.KeyValue{Key: semconv.ServiceInstanceIDKey, Value: attribute.StringValue(id)}))
	if err != nil {
		return nil, fmt.Errorf("leaderscope: add service.instance.id: %w", err)
	}
	return merged, nil
}

// identified is the resource of a pipeline.
func identified(c config) (*resource.Resource, error) {
	r := c.resource
	if r == nil {
		r = resource.Default()
	}
	if c.instance != "" && !hasIdentity(r) {
		return withInstance(r, c.instance)
	}
	return Identify(r)
}

// WarnUnidentified returns an exporter that tells otel.Handle, once, when it
// is given data of a resource without service.instance.id. It is for push
// pipelines that are made elsewhere; Setup has it.
func WarnUnidentified(e metric.Exporter) metric.Exporter { return &unidentified{Exporter: e} }

type unidentified struct {
	metric.Exporter
	once sync.Once
}

// Export implements metric.Exporter.
func (u *unidentified) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	u.once.Do(func() {
		if !hasIdentity(data.Resource) {
			otel.Handle(ErrUnidentified)
		}
	})
	return u.Exporter.Export(ctx, data)
}
