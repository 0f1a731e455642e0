package registerer

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/leaderscope/leaderscope/instrument"
)

// Marker describes a series that is never collected. By it a registry refuses
// a second exporter of one middleware, whatever its constant labels: every
// count would be there twice.
func Marker(m *instrument.Middleware) *prometheus.Desc {
	return prometheus.NewDesc("leaderscope_collector", "Never collected: marks a registry that has a middleware.", nil,
		prometheus.Labels{"middleware": fmt.Sprintf("%p", m)})
}
