// Package promcheck checks expressions of rules and panels for errors that the parser
// accepts: unknown metrics and labels, counters without a rate, aggregations that
// merge locks, joins that can never match, and texts that use a label that the
// result lacks. It evaluates no expression.
package promcheck

import (
	"fmt"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
	"github.com/leaderscope/leaderscope/internal/query"
)

// Option changes what is checked.
type Option func(*checker)

// TargetLabels are the labels that scrape targets give to every series. The
// default is cluster, namespace, job, instance and pod.
func TargetLabels(names ...string) Option {
	return func(c *checker) { c.target = names }
}

// AcrossLocks allows an expression to aggregate several locks, such as the number of
// locks.
func AcrossLocks() Option {
	return func(c *checker) { c.acrossLocks = true }
}

// Foreign allows metrics that are not in the catalogue, with any label. up and the
// series of alerts are always allowed.
func Foreign(names ...string) Option {
	return func(c *checker) { c.foreign = append(c.foreign, names...) }
}

// Cumulative allows the expression to be a counter itself, as in recording rules.
func Cumulative() Option {
	return func(c *checker) { c.cumulative = true }
}

// Recorded allows series of recording rules, by name, with all their labels. Series
// whose names end in :count are counters.
func Recorded(series map[string][]string) Option {
	return func(c *checker) { c.recorded = series }
}

// Expr checks one expression, in which Grafana's interval variables may stand
// for durations. It returns every problem found, nil if there is none.
func Expr(expr string, opts ...Option) []error {
	_, problems := check(expr, opts)
	return problems
}

type checker struct {
	target      []string
	foreign     []string
	recorded    map[string][]string
	acrossLocks bool
	cumulative  bool
	problems    []error
}

func check(expr string, opts []Option) (parser.Expr, []error) {
	c := newChecker(opts)
	parsed, err := query.Parse(query.Expr(expr))
	if err != nil {
		return nil, []error{err}
	}
	parser.Inspect(parsed, func(n parser.Node, path []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			c.selector(n, path)
		case *parser.AggregateExpr:
			c.aggregation(n)
		case *parser.BinaryExpr:
			c.join(n)
		}
		return nil
	})
	return parsed, c.problems
}

func newChecker(opts []Option) *checker {
	c := &checker{
		target:  []string{"cluster", "namespace", "job", "instance", "pod"},
		foreign: []string{"up", "ALERTS", "ALERTS_FOR_STATE"},
	}
	for _, o := range opts {
		if o != nil {
			o(c)
		}
	}
	return c
}

func (c *checker) report(format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf(format, args...))
}

// aggregation refuses to merge locks.
func (c *checker) aggregation(a *parser.AggregateExpr) {
	if c.acrossLocks || !c.perLock(a.Expr) || selects(a.Op) {
		return
	}
	if slices.Contains(a.Grouping, catalog.LockName.Name()) == a.Without {
		c.report("%s merges locks: keep %s", a, catalog.LockName.Name())
	}
}

// selects reports whether an aggregation keeps the labels of its input.
func selects(op parser.ItemType) bool {
	return op == parser.TOPK || op == parser.BOTTOMK || op == parser.LIMITK || op == parser.LIMIT_RATIO
}

// join refuses to match one lock with another, and sides that cannot match.
func (c *checker) join(b *parser.BinaryExpr) {
	m := b.VectorMatching
	if m == nil || b.LHS.Type() != parser.ValueTypeVector || b.RHS.Type() != parser.ValueTypeVector {
		return
	}
	keeps := slices.Contains(m.MatchingLabels, catalog.LockName.Name()) == m.On
	// A target carries no lock, so a join with one cannot keep it.
	if !c.acrossLocks && !keeps && c.perLock(b.LHS) && c.perLock(b.RHS) {
		c.report("%s matches different locks: keep %s", b, catalog.LockName.Name())
	}
	if b.Op == parser.LOR {
		return
	}
	left, right := c.output(b.LHS), c.output(b.RHS)
	if !left.exact || !right.exact {
		return
	}
	if missing := differing(left.names, right.names, m); len(missing) > 0 {
		c.report("%s can never match: one side alone has %v", b, missing)
	}
}

// differing returns the labels that are compared and that one side lacks.
func differing(left, right []string, m *parser.VectorMatching) []string {
	var out []string
	for _, name := range union(left, right) {
		compared := slices.Contains(m.MatchingLabels, name) == m.On
		if compared && slices.Contains(left, name) != slices.Contains(right, name) {
			out = append(out, name)
		}
	}
	return out
}

// perLock reports whether an expression reads a metric of locks.
func (c *checker) perLock(e parser.Expr) bool {
	found := false
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			m, known := catalog.ByName(metricName(s))
			if known && m.PerLock() || slices.Contains(c.recorded[metricName(s)], catalog.LockName.Name()) {
				found = true
			}
		}
		return nil
	})
	return found
}
