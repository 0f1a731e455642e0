package otelsetup

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/exporter/internal/registerer"
	"github.com/leaderscope/leaderscope/instrument"
)

// marker is a collector of nothing. OpenTelemetry's exporter describes none of
// its series, so a registry takes it twice, or beside exporter/prom, and fails
// every scrape from then on; the marker is described, and refused.
type marker struct {
	registerer prometheus.Registerer
	middleware *prometheus.Desc
}

var pipelineDesc = prometheus.NewDesc("leaderscope_otel_pipeline", "Never collected: marks a registry that has an OpenTelemetry pipeline.", nil, nil)

// Describe implements prometheus.Collector.
func (m *marker) Describe(descs chan<- *prometheus.Desc) {
	descs <- pipelineDesc
	descs <- m.middleware
}

// Collect implements prometheus.Collector.
func (*marker) Collect(chan<- prometheus.Metric) {}

func (p *Pipeline) mark(r prometheus.Registerer, m *instrument.Middleware) error {
	if err := registerer.Check(r, nil); err != nil {
		return err
	}
	mark := &marker{r, registerer.Marker(m)}
	if err := r.Register(mark); err != nil {
		return fmt.Errorf("leaderscope: otelsetup: this registerer already has a pipeline or this middleware; share that one, or shut it down first: %w", err)
	}
	p.markers = append(p.markers, mark)
	return nil
}
