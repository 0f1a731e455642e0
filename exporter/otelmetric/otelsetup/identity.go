package otelsetup

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
)

// Identify returns r with a random service.instance.id if it has none. The
// SDK adds none by itself. A nil resource is an empty one.
func Identify(r *resource.Resource) (*resource.Resource, error) {
	if hasIdentity(r) {
		return r, nil
	}
	detected, err := resource.New(context.Background(), resource.WithService())
	if err != nil {
		return nil, fmt.Errorf("leaderscope: make a service.instance.id: %w", err)
	}
	id, _ := detected.Set().Value(semconv.ServiceInstanceIDKey)
	return withInstance(r, id.AsString()), nil
}

func hasIdentity(r *resource.Resource) bool {
	id, ok := r.Set().Value(semconv.ServiceInstanceIDKey)
	return ok && id.AsString() != ""
}

// withInstance cannot fail: only two schemas that differ do not merge.
func withInstance(r *resource.Resource, id string) *resource.Resource {
	merged, _ := resource.Merge(r, resource.NewSchemaless(attribute.KeyValue{Key: semconv.ServiceInstanceIDKey, Value: attribute.StringValue(id)}))
	return merged
}

// identified is the resource of a pipeline.
func identified(c config) (*resource.Resource, error) {
	r := c.resource
	if r == nil {
		r = resource.Default()
	}
	if c.instance != "" && !hasIdentity(r) {
		return withInstance(r, c.instance), nil
	}
	return Identify(r)
}
