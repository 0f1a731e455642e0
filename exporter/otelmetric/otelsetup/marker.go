package otelsetup

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// marker is a collector of nothing. OpenTelemetry's exporter describes none of
// its series, so a registry takes it twice and fails every scrape from then
// on; the marker is described, and refused.
type marker struct{ registerer prometheus.Registerer }

var markerDesc = prometheus.NewDesc("leaderscope_otel_pipeline", "Never collected: marks a registry that has an OpenTelemetry pipeline.", nil, nil)

// Describe implements prometheus.Collector.
func (*marker) Describe(descs chan<- *prometheus.Desc) { descs <- markerDesc }

// Collect implements prometheus.Collector.
func (*marker) Collect(chan<- prometheus.Metric) {}

func (p *Pipeline) mark(r prometheus.Registerer) error {
	m := &marker{r}
	if err := r.Register(m); err != nil {
		return fmt.Errorf("leaderscope: otelsetup: this registerer has a pipeline already; share that one, or shut it down first: %w", err)
	}
	p.markers = append(p.markers, m)
	return nil
}
