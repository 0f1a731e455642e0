package otelsetup_test

import (
	"crypto/rand"
	"errors"
	"regexp"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/leaderscope/leaderscope/exporter/otelmetric/otelsetup"
)

func TestAnIdentityIsAddedOnlyWhereThereIsNone(t *testing.T) {
	random := regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	const schema = "https://opentelemetry.io/schemas/1.26.0"
	service := attribute.String("service.name", "orders")
	for name, c := range map[string]struct {
		in   *resource.Resource
		id   string // "" is a random one
		rest int    // attributes beside it
	}{
		"nothing":             {},
		"a service":           {in: resource.NewSchemaless(service), rest: 1},
		"a service of schema": {in: resource.NewWithAttributes(schema, service), rest: 1},
		"an empty identity":   {in: resource.NewSchemaless(service, attribute.String("service.instance.id", "")), rest: 1},
		"an identity":         {in: resource.NewWithAttributes(schema, service, attribute.String("service.instance.id", "pod-7")), id: "pod-7", rest: 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := otelsetup.Identify(c.in)
			if err != nil {
				t.Fatal(err)
			}
			id, _ := got.Set().Value("service.instance.id")
			if c.id != "" && (id.AsString() != c.id || got != c.in) || c.id == "" && !random.MatchString(id.AsString()) {
				t.Errorf("the identity is %q", id.AsString())
			}
			if got.Len() != c.rest+1 || c.in.SchemaURL() != got.SchemaURL() {
				t.Errorf("%v of schema %q", got, got.SchemaURL())
			}
		})
	}
}

// The SDK takes a random identifier from package uuid.
func TestWithoutRandomBytesThereIsNoIdentity(t *testing.T) {
	broken := errors.New("no entropy")
	uuid.SetRand(iotest.ErrReader(broken))
	t.Cleanup(func() { uuid.SetRand(rand.Reader) })
	const want = "leaderscope: make a service.instance.id: "
	if r, err := otelsetup.Identify(resource.Empty()); r != nil || !errors.Is(err, broken) || err.Error()[:len(want)] != want {
		t.Errorf("resource %v, error %v", r, err)
	}
	m, registry := newMiddleware(t), prometheus.NewRegistry()
	if _, err := otelsetup.Setup(m, otelsetup.WithPrometheus(registry), otelsetup.WithResource(resource.Empty())); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	out := &pushed{}
	p := set(t, m, otelsetup.WithPrometheus(registry), otelsetup.WithResource(resource.Empty()), otelsetup.WithInstance("pod-3"), otelsetup.WithPush(out, time.Hour))
	shutdown(t, p)
	if !slices.Equal(out.instances, []string{"pod-3"}) {
		t.Errorf("pushed by %q", out.instances)
	}
}
