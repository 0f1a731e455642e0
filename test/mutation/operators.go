package main

import (
	"go/ast"
	"go/token"
	"go/types"
)

// isCondition reports whether an expression decides which way the program
// takes. A comparison by == or != is not among them: swapping its operator
// gives the same mutant.
func isCondition(parent ast.Node, e ast.Expr) bool {
	if b, ok := e.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return false
	}
	switch p := parent.(type) {
	case *ast.IfStmt:
		return p.Cond == e
	case *ast.ForStmt:
		return p.Cond == e
	}
	return false
}

func (w *walker) negate(e ast.Expr) {
	if not, ok := e.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		w.replace(negateCondition, e, not.X)
		return
	}
	w.replace(negateCondition, e, &ast.UnaryExpr{Op: token.NOT, X: &ast.ParenExpr{X: e}})
}

var swaps = map[token.Token]struct {
	kind  kind
	other token.Token
}{
	token.LSS: {swapComparison, token.LEQ}, token.LEQ: {swapComparison, token.LSS},
	token.GTR: {swapComparison, token.GEQ}, token.GEQ: {swapComparison, token.GTR},
	token.EQL: {swapComparison, token.NEQ}, token.NEQ: {swapComparison, token.EQL},
	token.LAND: {swapLogic, token.LOR}, token.LOR: {swapLogic, token.LAND},
	token.ADD: {swapArithmetic, token.SUB}, token.SUB: {swapArithmetic, token.ADD},
	token.MUL: {swapArithmetic, token.QUO}, token.QUO: {swapArithmetic, token.MUL},
	token.ADD_ASSIGN: {swapArithmetic, token.SUB_ASSIGN}, token.SUB_ASSIGN: {swapArithmetic, token.ADD_ASSIGN},
	token.MUL_ASSIGN: {swapArithmetic, token.QUO_ASSIGN}, token.QUO_ASSIGN: {swapArithmetic, token.MUL_ASSIGN},
}

func (w *walker) swapOperator(e *ast.BinaryExpr) {
	swap, ok := swaps[e.Op]
	if !ok || swap.kind == swapArithmetic && w.isText(e) {
		return
	}
	if isDuration(w.s.info.TypeOf(e)) && w.s.info.Types[e].Value != nil {
		return // 5 * time.Second: the factor is changed instead
	}
	other := *e
	other.Op = swap.other
	w.replace(swap.kind, e, &other)
}

func (w *walker) swapAssignment(stmt *ast.AssignStmt) {
	swap, ok := swaps[stmt.Tok]
	if !ok || w.isText(stmt.Lhs[0]) {
		return
	}
	other := *stmt
	other.Tok = swap.other
	w.replace(swap.kind, stmt, &other)
}

func (w *walker) isText(e ast.Expr) bool {
	basic, ok := w.s.info.TypeOf(e).Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

// swapName changes true, false, min and max where they are Go's own.
func (w *walker) swapName(id *ast.Ident) {
	other, ok := map[string]string{"true": "false", "false": "true", "min": "max", "max": "min"}[id.Name]
	if !ok || w.s.info.Uses[id] != types.Universe.Lookup(id.Name) || w.isBesideError(id) {
		return
	}
	k := flipBoolean
	if id.Name == "min" || id.Name == "max" {
		k = swapMinMax
	}
	w.replace(k, id, ast.NewIdent(other))
}
