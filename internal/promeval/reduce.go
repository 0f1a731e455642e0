package promeval

import (
	"slices"
	"sync"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
)

// parsed are expressions as a version answers them: rules are asked in many stores.
// They are shared, so nothing changes them.
var parsed sync.Map

type asked struct {
	version Version
	expr    string
}

// parse writes an expression so that the engine answers as the version does.
func (v Version) parse(expr string) (parser.Expr, error) {
	key := asked{v, expr}
	if known, ok := parsed.Load(key); ok {
		return known.(parser.Expr), nil
	}
	e, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return nil, err
	}
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.MatrixSelector:
			n.Range += v.margin()
		case *parser.SubqueryExpr:
			n.Range += v.margin()
		}
		return nil
	})
	parsed.Store(key, e)
	return e, nil
}

// reduced leaves out of an expression what has no series in the store, and is empty
// if nothing is left. The engine evaluates both sides of an operator at each step,
// and most rules name many metrics of which a test has a few. What does not parse
// is left for the engine to refuse.
func (s *Store) reduced(expr string) string {
	e, err := s.version.parse(expr)
	if err != nil {
		return expr
	}
	if e = s.reduce(e); e == nil {
		return ""
	}
	return e.String()
}

// reduce returns an expression with the same values, or nil if it has none at any
// time. It changes no node that it is given.
func (s *Store) reduce(e parser.Expr) parser.Expr {
	switch n := e.(type) {
	case *parser.ParenExpr:
		return s.within(n.Expr, func(inner parser.Expr) parser.Expr {
			c := *n
			c.Expr = inner
			return &c
		})
	case *parser.VectorSelector:
		if !s.has(n.LabelMatchers) {
			return nil
		}
	case *parser.MatrixSelector:
		if s.reduce(n.VectorSelector) == nil {
			return nil
		}
	case *parser.SubqueryExpr:
		return s.within(n.Expr, func(inner parser.Expr) parser.Expr {
			c := *n
			c.Expr = inner
			return &c
		})
	case *parser.AggregateExpr:
		return s.within(n.Expr, func(inner parser.Expr) parser.Expr {
			c := *n
			c.Expr = inner
			return &c
		})
	case *parser.Call:
		return s.call(n)
	case *parser.BinaryExpr:
		return s.binary(n)
	}
	return e
}

func (s *Store) within(inner parser.Expr, around func(parser.Expr) parser.Expr) parser.Expr {
	if inner = s.reduce(inner); inner == nil {
		return nil
	}
	return around(inner)
}

func (s *Store) has(matchers []*labels.Matcher) bool {
	return slices.ContainsFunc(s.series, func(series storage.Series) bool { return matches(series, matchers) })
}

// call reduces the arguments of functions that find nothing in nothing.
func (s *Store) call(n *parser.Call) parser.Expr {
	switch n.Func.Name {
	case "absent", "absent_over_time", "scalar", "info":
		return n
	case "timestamp": // of a selector it is that of the sample, of all else that of the evaluation
		if s.reduce(n.Args[0]) == nil {
			return nil
		}
		return n
	}
	c := *n
	c.Args = slices.Clone(n.Args)
	for i, arg := range c.Args {
		if t := arg.Type(); t != parser.ValueTypeVector && t != parser.ValueTypeMatrix {
			continue
		}
		if c.Args[i] = s.reduce(arg); c.Args[i] == nil {
			return nil
		}
	}
	return &c
}

// binary follows the engine's operators on vectors.
func (s *Store) binary(n *parser.BinaryExpr) parser.Expr {
	if m := n.VectorMatching; m != nil && (m.FillValues.LHS != nil || m.FillValues.RHS != nil) {
		return n
	}
	c := *n
	for _, side := range []*parser.Expr{&c.LHS, &c.RHS} {
		if (*side).Type() == parser.ValueTypeVector {
			*side = s.reduce(*side)
		}
	}
	switch {
	case c.LHS != nil && c.RHS != nil:
		return &c
	case n.Op == parser.LOR && c.LHS == nil:
		return c.RHS
	case n.Op == parser.LOR, n.Op == parser.LUNLESS:
		return c.LHS
	}
	return nil
}
