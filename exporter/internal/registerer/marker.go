package registerer

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/instrument"
)

// Marker describes a series that is never collected. With it a registry refuses
// a second exporter of one middleware, with any constant labels: every
// count would appear twice.
func Marker(m *instrument.Middleware) *prometheus.Desc {
	return prometheus.NewDesc("leaderscope_collector", "Never collected: marks a registry that has a middleware.", nil,
		prometheus.Labels{"middleware": fmt.Sprintf("%p", m)})
}
