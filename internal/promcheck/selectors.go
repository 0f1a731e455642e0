package promcheck

import (
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/query"
)

// What may be done with a counter, and with a gauge alone.
var (
	rates = []string{"rate", "irate", "increase"}
	// Functions that ask whether, when or how often a series was there.
	presence = []string{
		"absent", "absent_over_time", "present_over_time", "count_over_time",
		"last_over_time", "min_over_time", "max_over_time", "timestamp", "resets",
	}
	gaugeOnly = []string{"delta", "idelta", "deriv", "predict_linear"}
)

func metricName(s *parser.VectorSelector) string {
	if s.Name != "" {
		return s.Name
	}
	for _, m := range s.LabelMatchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			return m.Value
		}
	}
	return ""
}

func (c *checker) selector(s *parser.VectorSelector, path []parser.Node) {
	name := metricName(s)
	if slices.Contains(c.foreign, name) {
		return
	}
	if has, ok := c.recorded[name]; ok {
		for _, m := range s.LabelMatchers {
			// With All, a choice of locks matches series that name none.
			chosen := m.Name == catalog.LockName.Name() && strings.HasPrefix(m.Value, "$")
			if m.Name != model.MetricNameLabel && !slices.Contains(has, m.Name) && !chosen {
				c.report("%s has no label %s", name, m.Name)
			}
		}
		if strings.HasSuffix(name, ":count") && !below(rates, path) {
			c.report("%s is a counter: put it below rate or increase", name)
		}
		return
	}
	metric, known := catalog.ByName(name)
	if !known {
		c.report("%s is not a metric of the catalogue", s)
		return
	}
	for _, m := range s.LabelMatchers {
		c.matcher(metric, name, m)
	}
	c.use(s, metric, path)
}

// matcher checks that the label exists and can have the value.
func (c *checker) matcher(metric *catalog.Metric, name string, m *labels.Matcher) {
	if m.Name == model.MetricNameLabel || m.Name == query.NoLabel || slices.Contains(c.target, m.Name) || metric.PerLock() && m.Name == catalog.LockName.Name() {
		return
	}
	if m.Name == labels.BucketLabel && name == metric.Bucket() {
		c.bound(metric, m)
		return
	}
	label, ok := metric.Label(m.Name)
	if !ok {
		c.report("%s has no label %s", name, m.Name)
		return
	}
	variable := strings.HasPrefix(m.Value, "$")
	if label.Values() != nil && !variable && !slices.ContainsFunc(label.Values(), m.Matches) {
		c.report("%s: no value of %s matches %s", name, m.Name, m)
	}
}

// bound checks that a bucket exists, in the one form that all ways of
// collecting agree on.
func (c *checker) bound(metric *catalog.Metric, m *labels.Matcher) {
	if m.Type == labels.MatchEqual && m.Value == "+Inf" {
		return
	}
	v, err := strconv.ParseFloat(m.Value, 64)
	switch {
	case m.Type != labels.MatchEqual || err != nil:
		c.report("%s: compare le with one bound", m)
	case !slices.Contains(metric.Bounds(), v):
		c.report("%s has no bucket %s", metric.Name(), m)
	case v == float64(int64(v)):
		c.report("%s: an integer bound is written differently by scrape and push", m)
	}
}

// use checks that counters are below a rate and gauges are not.
func (c *checker) use(s *parser.VectorSelector, metric *catalog.Metric, path []parser.Node) {
	name := metricName(s)
	cumulative := metric.Kind() == catalog.Counter || metric.Kind() == catalog.Histogram
	switch {
	case cumulative && !c.cumulative && below(gaugeOnly, path):
		c.report("%s is a counter: use rate or increase", name)
	case cumulative && !c.cumulative && !below(rates, path) && !below(presence, path) && !excludes(s, path):
		c.report("%s is a counter: put it below rate or increase", name)
	case !cumulative && below(rates, path):
		c.report("%s is a gauge: it has no rate", name)
	}
}

// below reports whether a call of one of the functions is on the path.
func below(functions []string, path []parser.Node) bool {
	return slices.ContainsFunc(path, func(n parser.Node) bool {
		call, ok := n.(*parser.Call)
		return ok && slices.Contains(functions, call.Func.Name)
	})
}

// excludes reports whether the selector only says which series to leave out.
func excludes(s *parser.VectorSelector, path []parser.Node) bool {
	chain := append(slices.Clone(path), s)
	for i, n := range chain[:len(chain)-1] {
		if b, ok := n.(*parser.BinaryExpr); ok && b.Op == parser.LUNLESS && chain[i+1] == parser.Node(b.RHS) {
			return true
		}
	}
	return false
}
