package instrument

import "github.com/leaderscope/leaderscope/instrument/catalog"

// Exports reports whether the metric's series are handed out, that is, whether
// WithoutSeries left its group in. Exporters that keep distributions of their
// own ask before they make one: observers are told of every observation.
func (m *Middleware) Exports(metric *catalog.Metric) bool { return !m.left[metric.Group] }
