package promcheck

import (
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// names is what is known of the labels of a result.
type names struct {
	names []string
	// exact: the result has these labels and no others.
	exact bool
}

// output works out the labels of a result.
func (c *checker) output(e parser.Expr) names {
	switch e := e.(type) {
	case *parser.ParenExpr:
		return c.output(e.Expr)
	case *parser.UnaryExpr:
		return c.output(e.Expr)
	case *parser.SubqueryExpr:
		return c.output(e.Expr)
	case *parser.MatrixSelector:
		return c.output(e.VectorSelector)
	case *parser.VectorSelector:
		return c.ofSelector(e)
	case *parser.AggregateExpr:
		return c.ofAggregation(e)
	case *parser.Call:
		return c.ofCall(e)
	case *parser.BinaryExpr:
		return c.ofBinary(e)
	default:
		return names{exact: true}
	}
}

// ofSelector returns the labels that the series may have.
func (c *checker) ofSelector(s *parser.VectorSelector) names {
	if labels, ok := c.recorded[metricName(s)]; ok {
		// A label that the source lacks is missing here too.
		return names{names: labels}
	}
	out := slices.Clone(c.target)
	metric, known := catalog.ByName(metricName(s))
	if !known {
		return names{names: out}
	}
	if metric.PerLock() {
		out = append(out, catalog.LockName.Name())
	}
	for _, l := range metric.Labels() {
		out = append(out, l.Name())
	}
	if metricName(s) == metric.Bucket() {
		out = append(out, labels.BucketLabel)
	}
	return names{names: out}
}

func (c *checker) ofAggregation(a *parser.AggregateExpr) names {
	if selects(a.Op) {
		return c.output(a.Expr)
	}
	if a.Without {
		in := c.output(a.Expr)
		return names{names: without(in.names, a.Grouping), exact: in.exact}
	}
	return names{names: a.Grouping, exact: true}
}

func (c *checker) ofCall(call *parser.Call) names {
	switch call.Func.Name {
	case "absent", "absent_over_time":
		return ofAbsent(call.Args[0])
	case "label_replace", "label_join":
		in := c.output(call.Args[0])
		return names{names: union(in.names, []string{call.Args[1].(*parser.StringLiteral).Val}), exact: in.exact}
	case "histogram_quantile":
		in := c.output(call.Args[1])
		return names{names: without(in.names, []string{labels.BucketLabel}), exact: in.exact}
	}
	for _, arg := range call.Args {
		if t := arg.Type(); t == parser.ValueTypeVector || t == parser.ValueTypeMatrix {
			return c.output(arg)
		}
	}
	return names{exact: true}
}

// ofAbsent has the labels that the selector fixes.
func ofAbsent(arg parser.Expr) names {
	out := names{exact: true}
	parser.Inspect(arg, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			for _, m := range s.LabelMatchers {
				if m.Type == labels.MatchEqual && m.Name != model.MetricNameLabel {
					out.names = append(out.names, m.Name)
				}
			}
		}
		return nil
	})
	return out
}

func (c *checker) ofBinary(b *parser.BinaryExpr) names {
	if b.LHS.Type() != parser.ValueTypeVector {
		return c.output(b.RHS)
	}
	left := c.output(b.LHS)
	if b.RHS.Type() != parser.ValueTypeVector || b.Op == parser.LAND || b.Op == parser.LUNLESS {
		return left
	}
	right, m := c.output(b.RHS), b.VectorMatching
	switch {
	case b.Op == parser.LOR:
		// What every element has.
		both := slices.DeleteFunc(slices.Clone(left.names), func(n string) bool { return !slices.Contains(right.names, n) })
		return names{names: both, exact: left.exact && right.exact && len(both) == len(left.names) && len(both) == len(right.names)}
	case m.Card == parser.CardManyToOne:
		return names{names: union(left.names, m.Include), exact: left.exact}
	case m.Card == parser.CardOneToMany:
		return names{names: union(right.names, m.Include), exact: right.exact}
	case m.On:
		return names{names: m.MatchingLabels, exact: true}
	default:
		return names{names: without(left.names, m.MatchingLabels), exact: left.exact}
	}
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, n := range b {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(n string) bool { return slices.Contains(b, n) })
}
