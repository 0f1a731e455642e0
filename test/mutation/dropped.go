package main

import (
	"go/ast"
	"go/token"
	"slices"
)

// isListed reports whether a statement can be dropped without changing the
// shape of what is around it.
func isListed(parent ast.Node, stmt ast.Stmt) bool {
	switch p := parent.(type) {
	case *ast.BlockStmt:
		return slices.Contains(p.List, stmt)
	case *ast.CaseClause:
		return slices.Contains(p.Body, stmt)
	case *ast.CommClause:
		return slices.Contains(p.Body, stmt)
	}
	return false
}

func (w *walker) drop(stmt ast.Stmt) {
	var k kind
	switch stmt := stmt.(type) {
	case *ast.ExprStmt:
		if isHelper(stmt) {
			return
		}
		k = dropCall
	case *ast.AssignStmt:
		if stmt.Tok == token.DEFINE || !slices.ContainsFunc(stmt.Lhs, isNamed) {
			return
		}
		k = dropAssignment
	case *ast.IncDecStmt:
		k = dropIncrement
	case *ast.DeferStmt:
		k = dropDefer
	case *ast.GoStmt:
		k = dropGo
	case *ast.SendStmt:
		k = dropSend
	case *ast.ReturnStmt:
		if body := w.body(); body != nil && body.List[len(body.List)-1] == stmt {
			return
		}
		k = dropReturn
	case *ast.BranchStmt:
		if stmt.Tok == token.FALLTHROUGH {
			return
		}
		k = dropBranch
	default:
		return
	}
	w.replace(k, stmt, nil)
}

// isHelper reports calls as t.Helper(), by which a failed test names another
// line, and fails all the same.
func isHelper(stmt *ast.ExprStmt) bool {
	call, ok := stmt.X.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && method.Sel.Name == "Helper"
}

func isNamed(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return !ok || id.Name != "_"
}
