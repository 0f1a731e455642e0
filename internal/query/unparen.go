package query

import "github.com/prometheus/prometheus/promql/parser"

// unparen drops parentheses that change nothing, so that builders can put
// them everywhere and the printed rule still reads well.
func unparen(e parser.Expr) parser.Expr {
	switch n := e.(type) {
	case *parser.ParenExpr:
		return unparen(n.Expr)
	case *parser.AggregateExpr:
		n.Expr = unparen(n.Expr)
		if n.Param != nil {
			n.Param = unparen(n.Param)
		}
	case *parser.Call:
		for i, a := range n.Args {
			n.Args[i] = unparen(a)
		}
	case *parser.SubqueryExpr:
		n.Expr = operand(n.Expr, func(parser.Expr) bool { return true })
	case *parser.UnaryExpr:
		n.Expr = operand(n.Expr, func(parser.Expr) bool { return true })
	case *parser.BinaryExpr:
		n.LHS = operand(n.LHS, func(e parser.Expr) bool { return needsParens(n.Op, e, false) })
		n.RHS = operand(n.RHS, func(e parser.Expr) bool { return needsParens(n.Op, e, true) })
	}
	return e
}

// operand strips parentheses and puts one pair back where a binary expression
// needs them.
func operand(e parser.Expr, needed func(parser.Expr) bool) parser.Expr {
	inner := unparen(e)
	if _, binary := inner.(*parser.BinaryExpr); binary && needed(inner) {
		return &parser.ParenExpr{Expr: inner}
	}
	return inner
}

// needsParens reports whether a binary operand must keep its parentheses.
// Operators of one precedence associate to the left, ^ to the right; a
// comparison inside set operators keeps none.
func needsParens(outer parser.ItemType, operand parser.Expr, right bool) bool {
	inner := operand.(*parser.BinaryExpr)
	po, pi := precedence(outer), precedence(inner.Op)
	if pi != po {
		return pi < po
	}
	return right || outer == parser.POW
}

func precedence(op parser.ItemType) int {
	switch op {
	case parser.LOR:
		return 1
	case parser.LAND, parser.LUNLESS:
		return 2
	case parser.EQLC, parser.NEQ, parser.GTR, parser.GTE, parser.LSS, parser.LTE:
		return 3
	case parser.ADD, parser.SUB:
		return 4
	case parser.MUL, parser.DIV, parser.MOD, parser.ATAN2:
		return 5
	default:
		return 6
	}
}
