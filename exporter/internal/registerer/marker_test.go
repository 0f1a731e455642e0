package registerer_test

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/internal/registerer"
	"github.com/leaderscope/leaderscope/instrument"
)

// marked describes a marker, and a label that two exporters may differ in.
type marked struct{ descriptions []*prometheus.Desc }

func (m marked) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range m.descriptions {
		ch <- d
	}
}

func (m marked) Collect(chan<- prometheus.Metric) {}

func TestARegistryTakesTheMarkerOfEachMiddlewareOnce(t *testing.T) {
	r := prometheus.NewRegistry()
	var pair [2]*instrument.Middleware
	for i := range pair {
		var err error
		if pair[i], err = instrument.New(); err != nil {
			t.Fatal(err)
		}
	}
	m, other := pair[0], pair[1]
	register := func(m *instrument.Middleware, pool string) error {
		return r.Register(marked{[]*prometheus.Desc{
			registerer.Marker(m), prometheus.NewDesc("app_series", "Of one pool.", nil, prometheus.Labels{"pool": pool}),
		}})
	}
	if err := register(m, "a"); err != nil {
		t.Fatal(err)
	}
	if err := register(m, "b"); err == nil || errors.As(err, &prometheus.AlreadyRegisteredError{}) {
		t.Errorf("the same middleware under another label: %v, want that a description is there twice", err)
	}
	if err := register(other, "c"); err != nil {
		t.Errorf("another middleware: %v", err)
	}
}
