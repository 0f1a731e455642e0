package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// zeroResults returns the zero value for one result after another, or for all
// of them where one call gives them all.
func (w *walker) zeroResults(stmt *ast.ReturnStmt) {
	signature, results := w.signature()
	if signature == nil || len(stmt.Results) == 0 {
		return
	}
	zeros := zeroValues(signature.Results(), results)
	if len(stmt.Results) == 1 && len(zeros) > 1 {
		w.replace(zeroResult, stmt, &ast.ReturnStmt{Results: zeros})
		return
	}
	failing, last := w.fails(stmt, signature), len(stmt.Results)-1
	for i, result := range stmt.Results {
		if w.isConstantZero(result) || failing && i < last {
			continue // what stands beside an error is not looked at
		}
		changed := slices.Clone(stmt.Results)
		changed[i] = zeros[i]
		w.replace(zeroResult, stmt, &ast.ReturnStmt{Results: changed})
	}
}

// fails reports whether a statement returns an error last.
func (w *walker) fails(stmt *ast.ReturnStmt, signature *types.Signature) bool {
	last := len(stmt.Results) - 1
	return isError(signature.Results().At(last).Type()) && !w.s.info.Types[stmt.Results[last]].IsNil()
}

// isBesideError reports whether an expression is returned beside an error, so
// that it is not looked at.
func (w *walker) isBesideError(e ast.Expr) bool {
	stmt, ok := w.parent().(*ast.ReturnStmt)
	if !ok || len(stmt.Results) < 2 || stmt.Results[len(stmt.Results)-1] == e {
		return false
	}
	signature, _ := w.signature()
	return w.fails(stmt, signature)
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// isConstantZero leaves out what is zero already, and the literals that other
// kinds of change turn into zero.
func (w *walker) isConstantZero(e ast.Expr) bool {
	if signed, ok := e.(*ast.UnaryExpr); ok {
		e = signed.X
	}
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Value == "0" || e.Value == "1" || e.Value == `""`
	case *ast.CompositeLit:
		_, isStruct := w.s.info.TypeOf(e).Underlying().(*types.Struct)
		return isStruct && len(e.Elts) == 0
	}
	value := w.s.info.Types[e].Value
	if value == nil {
		return w.s.info.Types[e].IsNil()
	}
	switch value.Kind() {
	case constant.Bool:
		return true
	case constant.String:
		return constant.StringVal(value) == ""
	case constant.Int, constant.Float:
		return constant.Sign(value) == 0
	}
	return false
}

func zeroValues(results *types.Tuple, fields *ast.FieldList) (zeros []ast.Expr) {
	for _, field := range fields.List {
		for range max(1, len(field.Names)) {
			zeros = append(zeros, zeroValue(results.At(len(zeros)).Type(), field.Type))
		}
	}
	return zeros
}

func zeroValue(t types.Type, written ast.Expr) ast.Expr {
	if _, generic := types.Unalias(t).(*types.TypeParam); !generic {
		switch u := t.Underlying().(type) {
		case *types.Basic:
			switch {
			case u.Info()&types.IsBoolean != 0:
				return ast.NewIdent("false")
			case u.Info()&types.IsString != 0:
				return &ast.BasicLit{Kind: token.STRING, Value: `""`}
			case u.Info()&types.IsNumeric != 0:
				return &ast.BasicLit{Kind: token.INT, Value: "0"}
			}
			return ast.NewIdent("nil")
		case *types.Struct, *types.Array:
			return &ast.CompositeLit{Type: written}
		default:
			return ast.NewIdent("nil")
		}
	}
	return &ast.StarExpr{X: &ast.CallExpr{Fun: ast.NewIdent("new"), Args: []ast.Expr{written}}}
}
