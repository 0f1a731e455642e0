//go:build mutation

package alerts

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// equivalents are mutants that no course of events of the product can show, by
// the beginnings of their names, with the reason.
var equivalents = map[string]string{
	"NoLeader/critical: window 2h0m0s doubled in leader_":                                                                                        endTogether,
	"NoLeader/warning: window 2h0m0s doubled in leader_":                                                                                         endTogether,
	"MetricsAbsent/critical: window 3h0m0s doubled in leader_":                                                                                   endTogether,
	"JobOverdue/warning: window 48h0m0s doubled in leader_expected_interval_seconds":                                                             endTogether,
	"Flapping/warning: window 15m0s doubled in leader_last_acquired_timestamp_seconds":                                                           noLater,
	"TaskFailing/warning: window 1h0m0s doubled in leader_last_acquired_timestamp_secon":                                                         noLater,
	"LockVanished/warning: window 1h0m0s doubled in max by":                                                                                      "a lock of which a replica spoke within the hour was there within it",
	"NoLeader/critical: matcher mode=\"hold\" dropped in leader_elector_info{mode=":                                                              modeMatched,
	"NoLeader/warning: matcher mode=\"hold\" dropped in leader_elector_info{":                                                                    modeMatched,
	"Flapping/warning: * becomes / in -1 * group":                                                                                                "a group is 1",
	"Flapping/warningslow: * becomes / in -1 * group":                                                                                            "a group is 1",
	"Overlap/warning: window 6m0s doubled in leader_last_ended_timestamp_seconds{":                                                               "no term ends later than the sample that shows it",
	"Overlap/warning: window 6m0s doubled in leader_last_ended_timestamp_seconds[6m]":                                                            endTogether,
	"Overlap/warning: max becomes min in max by (cluster, namespace, job, lock_name) (last_over_time(leader_last_ended_timestamp_seconds[6m]) >": "one replica won last, and copies of its series agree",
	"Impostor/critical: count becomes sum in count by (cluster, namespace, job, lock_name) (leader_identity_info":                                "an info metric is 1",
	"LabelOverflow/warning: max becomes sum":                                                                                                     "one folded name is enough, and there are no parts of one",
}

const (
	endTogether = "the series of a replica end together, so the shorter window counts"
	modeMatched = "the other side has the mode, which is matched"
	noLater     = "no win is later than the sample that shows it"
)

func equivalentByName(name string) string {
	for beginning, reason := range equivalents {
		if strings.HasPrefix(name, beginning) {
			return reason
		}
	}
	return ""
}

// productOfZero: what is multiplied by 0 may be divided into it.
func productOfZero(n *parser.BinaryExpr) string {
	if timesZero(n) {
		return "0 times is 0 by"
	}
	if inner, ok := bare(n.RHS).(*parser.BinaryExpr); ok && n.Op == parser.ADD && (timesZero(inner) || equalsZero(inner)) {
		return "0 is added or taken away"
	}
	return ""
}

func bare(e parser.Expr) parser.Expr {
	for {
		p, ok := e.(*parser.ParenExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

func equalsZero(n *parser.BinaryExpr) bool {
	zero, ok := n.RHS.(*parser.NumberLiteral)
	return ok && zero.Val == 0 && n.Op == parser.EQLC
}

func timesZero(n *parser.BinaryExpr) bool {
	zero, ok := n.LHS.(*parser.NumberLiteral)
	return ok && zero.Val == 0 && n.Op == parser.MUL
}

// sameAggregate: copies of the series of one replica, which two Prometheus
// servers make, agree; info metrics are always 1; and a set operator looks at
// labels, not at values.
func sameAggregate(n *parser.AggregateExpr, to parser.ItemType, path []parser.Node) string {
	inner := n.Expr.String()
	switch {
	case slices.Contains(n.Grouping, "instance") && to == parser.MIN:
		return "copies of the series of a replica agree"
	case strings.Contains(inner, "_info{") && !strings.Contains(inner, " and ") && to == parser.MIN:
		return "an info metric is 1"
	case slices.Contains(n.Grouping, "instance") && to == parser.SUM && strings.HasPrefix(inner, "leader_elector_info"):
		return "only its presence counts"
	case onlyPresence(n, path):
		return "only its presence counts"
	case to == parser.SUM && isZeroOrNot(path):
		return "a sum of counts is 0 where the greatest is, and 1 where it is cut at 1"
	case n.Op == parser.COUNT && isOne(n.Expr):
		return "a group is 1"
	}
	return ""
}

// isZeroOrNot: what is above asks whether a value is 0, or cuts it at 1.
func isZeroOrNot(path []parser.Node) bool {
	for i := len(path) - 1; i >= 0; i-- {
		switch above := path[i].(type) {
		case *parser.ParenExpr, parser.Expressions, *parser.StepInvariantExpr:
		case *parser.SubqueryExpr:
		case *parser.BinaryExpr:
			return equalsZero(above)
		case *parser.Call:
			if above.Func.Name == "last_over_time" {
				continue
			}
			one, ok := above.Args[len(above.Args)-1].(*parser.NumberLiteral)
			return strings.HasPrefix(above.Func.Name, "clamp") && above.Func.Name != "clamp_min" && ok && one.Val == 1
		default:
			return false
		}
	}
	return false
}

// isOne: the value of every series of e is 1.
func isOne(e parser.Expr) bool {
	a, ok := bare(e).(*parser.AggregateExpr)
	return ok && (a.Op == parser.GROUP || a.Op == parser.MAX && strings.HasPrefix(a.Expr.String(), "leader_elector_info"))
}

// onlyPresence: the value is on the right of a set operator, or of a
// group, with nothing between that looks at it.
func onlyPresence(n parser.Node, path []parser.Node) bool {
	for i := len(path) - 1; i >= 0; i-- {
		switch above := path[i].(type) {
		case *parser.ParenExpr:
		case *parser.BinaryExpr:
			if (above.Op == parser.LAND || above.Op == parser.LUNLESS) && above.RHS == n || timesZero(above) {
				return true
			}
			if !above.Op.IsSetOperator() {
				return false
			}
		case *parser.AggregateExpr:
			if above.Op == parser.GROUP || above.Op == parser.COUNT {
				return true
			}
			return false
		default:
			return false
		}
		n = path[i]
	}
	return false
}

// heldElsewhere: the other side of an operator that matches lock_name has the
// matcher too, so that nothing more can meet it.
func heldElsewhere(matcher string, n parser.Node, path []parser.Node) string {
	if !strings.HasPrefix(matcher, "lock_name") {
		return ""
	}
	for i := len(path) - 1; i >= 0; i-- {
		above, ok := path[i].(*parser.BinaryExpr)
		if !ok || above.Op == parser.LOR || !onLock(above) {
			continue
		}
		other := above.LHS
		if contains(above.LHS, n) {
			other = above.RHS
			if above.Op == parser.LUNLESS {
				continue // what is taken away does not hold the rest
			}
		}
		if holds(other, matcher) {
			return "the other side of " + above.Op.String() + " has the matcher"
		}
	}
	return ""
}

// onLock: the operator compares the label of the lock.
func onLock(n *parser.BinaryExpr) bool {
	return n.VectorMatching == nil || !n.VectorMatching.On || slices.Contains(n.VectorMatching.MatchingLabels, "lock_name")
}

// holds: every result of e has a label that the matcher lets pass.
func holds(e parser.Expr, matcher string) bool {
	switch e := e.(type) {
	case *parser.VectorSelector:
		return slices.ContainsFunc(e.LabelMatchers, func(m *labels.Matcher) bool { return m.String() == matcher })
	case *parser.MatrixSelector:
		return holds(e.VectorSelector, matcher)
	case *parser.SubqueryExpr:
		return holds(e.Expr, matcher)
	case *parser.ParenExpr:
		return holds(e.Expr, matcher)
	case *parser.AggregateExpr:
		return holds(e.Expr, matcher)
	case *parser.Call:
		return slices.ContainsFunc(e.Args, func(a parser.Expr) bool { return holds(a, matcher) })
	case *parser.BinaryExpr:
		left, right := holds(e.LHS, matcher), holds(e.RHS, matcher)
		switch {
		case e.Op == parser.LOR:
			return left && right
		case e.Op == parser.LUNLESS:
			return left
		}
		return left || right && onLock(e)
	}
	return false
}

func contains(root, n parser.Node) (found bool) {
	parser.Inspect(root, func(o parser.Node, _ []parser.Node) error {
		found = found || o == n
		return nil
	})
	return found
}
