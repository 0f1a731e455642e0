package promcheck

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/leaderscope/leaderscope/instrument/catalog"
)

// Alert is what is checked of an alerting rule.
type Alert struct {
	Expr string
	// Labels are the static ones; Annotations are templates.
	Labels, Annotations map[string]string
}

// Rule checks the expression of an alert: it must filter, its texts must use labels
// of the result, and its identity must be stable. Rule returns every problem found,
// nil if there is none.
func Rule(a Alert, opts ...Option) []error {
	parsed, problems := check(a.Expr, opts)
	if parsed == nil {
		return problems
	}
	c := newChecker(opts)
	c.problems = problems
	if !filters(parsed) {
		c.report("the alert would fire for every series: compare with a threshold")
	}
	out := c.output(parsed)
	if !slices.Contains(out.names, catalog.LockName.Name()) && c.perLock(parsed) && !c.acrossLocks {
		c.report("the alert does not say which lock it is about: keep %s", catalog.LockName.Name())
	}
	for _, name := range slices.Sorted(maps.Keys(a.Labels)) {
		if value := a.Labels[name]; strings.Contains(value, "$value") || strings.Contains(value, ".Value") {
			c.report("label %s: a value in a label makes each evaluation a new alert", name)
		}
		if slices.Contains(c.either(parsed), name) {
			c.report("label %s hides the label of the result", name)
		}
	}
	for _, texts := range []map[string]string{a.Labels, a.Annotations} {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			for _, used := range usedLabel.FindAllStringSubmatch(texts[name], -1) {
				// A text that asks first can do without.
				known := out.names
				if used[1] != "" {
					known = c.either(parsed)
				}
				if !slices.Contains(known, used[2]) {
					c.report("%s names the label %s, which the result does not have", name, used[2])
				}
			}
		}
	}
	return c.problems
}

var usedLabel = regexp.MustCompile(`(with )?(?:\$labels|\.Labels)\.([a-zA-Z_][a-zA-Z0-9_]*)`)

// either returns the labels that some elements of a result have: or takes its
// two sides as they are.
func (c *checker) either(e parser.Expr) []string {
	switch e := e.(type) {
	case *parser.ParenExpr:
		return c.either(e.Expr)
	case *parser.BinaryExpr:
		if e.Op == parser.LOR {
			return union(c.either(e.LHS), c.either(e.RHS))
		}
	}
	return c.output(e).names
}

// filters reports whether an expression is empty when all is well.
func filters(e parser.Expr) bool {
	switch e := e.(type) {
	case *parser.ParenExpr:
		return filters(e.Expr)
	case *parser.AggregateExpr: // of nothing is nothing
		return filters(e.Expr)
	case *parser.Call:
		return e.Func.Name == "absent" || e.Func.Name == "absent_over_time"
	case *parser.BinaryExpr:
		switch e.Op {
		case parser.LUNLESS:
			return true
		case parser.LAND:
			return filters(e.LHS) || filters(e.RHS)
		case parser.LOR:
			return filters(e.LHS) && filters(e.RHS)
		default:
			return e.Op.IsComparisonOperator() && !e.ReturnBool
		}
	default:
		return false
	}
}
