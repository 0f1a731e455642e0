package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

func (w *walker) changeLiteral(lit *ast.BasicLit) {
	if lit.Kind != token.INT && lit.Kind != token.FLOAT || w.isBesideError(lit) {
		return
	}
	if array, ok := w.parent().(*ast.ArrayType); ok && array.Len == lit {
		return
	}
	value, one := constant.MakeFromLiteral(lit.Value, lit.Kind, 0), constant.MakeInt64(1)
	others := []constant.Value{constant.BinaryOp(value, token.ADD, one), constant.BinaryOp(value, token.SUB, one)}
	switch {
	case constant.Sign(value) == 0:
		others = []constant.Value{one}
	case isDuration(w.s.info.TypeOf(lit)), lit.Kind == token.FLOAT:
		others = []constant.Value{constant.BinaryOp(value, token.ADD, value), constant.MakeInt64(0)}
	}
	for _, other := range others {
		if !w.swapsComparison(lit, other) {
			w.literal(lit, other)
		}
	}
}

// swapsComparison reports whether another value of a literal gives the same
// mutant as another operator: n < 2 is n <= 1.
func (w *walker) swapsComparison(lit *ast.BasicLit, value constant.Value) bool {
	b, ok := w.parent().(*ast.BinaryExpr)
	if !ok || lit.Kind != token.INT || isDuration(w.s.info.TypeOf(lit)) {
		return false
	}
	isMore := constant.Compare(value, token.GTR, constant.MakeFromLiteral(lit.Value, lit.Kind, 0))
	if b.X == lit {
		isMore = !isMore
	}
	switch b.Op {
	case token.LSS, token.GEQ:
		return isMore
	case token.LEQ, token.GTR:
		return !isMore
	}
	return false
}

func (w *walker) literal(old *ast.BasicLit, value constant.Value) {
	other := &ast.BasicLit{Kind: old.Kind, Value: value.ExactString()}
	if f, exact := constant.Float64Val(value); old.Kind == token.FLOAT && exact {
		other.Value = fmt.Sprint(f)
	} else if old.Kind == token.FLOAT {
		other.Value = value.String()
	}
	w.replace(changeConstant, old, other)
}

// changeDuration doubles and cancels a unit of time that stands alone.
func (w *walker) changeDuration(e *ast.SelectorExpr) {
	c, ok := w.s.info.Uses[e.Sel].(*types.Const)
	if !ok || c.Pkg() == nil || c.Pkg().Path() != "time" || !isDuration(c.Type()) {
		return
	}
	if product, ok := w.parent().(*ast.BinaryExpr); ok && product.Op == token.MUL {
		return
	}
	for _, factor := range []string{"2", "0"} {
		w.replace(changeConstant, e, &ast.BinaryExpr{X: &ast.BasicLit{Kind: token.INT, Value: factor}, Op: token.MUL, Y: e})
	}
}

func isDuration(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == "Duration" && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "time"
}
