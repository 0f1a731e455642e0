package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// mutants makes every change of the package that the program knows.
func (s *syntax) mutants() []*mutant {
	w := walker{s: s}
	for _, d := range s.declarations() {
		w.in = d
		ast.Inspect(d.node, w.step)
	}
	number(w.made)
	return w.made
}

// walker goes through one declaration after another and makes mutants.
type walker struct {
	s     *syntax
	in    declaration
	stack []ast.Node // from the declaration to the current node
	made  []*mutant
}

func (w *walker) step(n ast.Node) bool {
	if n == nil {
		w.stack = w.stack[:len(w.stack)-1]
		return true
	}
	w.stack = append(w.stack, n)
	if w.parent() != nil {
		w.mutate(n)
	}
	return true
}

func (w *walker) parent() ast.Node {
	if len(w.stack) < 2 {
		return nil
	}
	return w.stack[len(w.stack)-2]
}

func (w *walker) mutate(n ast.Node) {
	if e, ok := n.(ast.Expr); ok && isCondition(w.parent(), e) {
		w.negate(e)
	}
	if stmt, ok := n.(ast.Stmt); ok && isListed(w.parent(), stmt) {
		w.drop(stmt)
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		w.swapOperator(n)
	case *ast.Ident:
		w.swapName(n)
	case *ast.BasicLit:
		w.changeLiteral(n)
	case *ast.SelectorExpr:
		w.changeDuration(n)
	case *ast.AssignStmt:
		w.swapAssignment(n)
	case *ast.IncDecStmt:
		if isListed(w.parent(), n) { // the step of a loop would only make it endless
			other := *n
			other.Tok = map[token.Token]token.Token{token.INC: token.DEC, token.DEC: token.INC}[n.Tok]
			w.replace(swapArithmetic, n, &other)
		}
	case *ast.ReturnStmt:
		w.zeroResults(n)
	}
}

// function is the innermost function around the current node.
func (w *walker) function() ast.Node {
	for _, n := range slices.Backward(w.stack) {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return n
		}
	}
	return nil
}

func (w *walker) body() *ast.BlockStmt {
	switch f := w.function().(type) {
	case *ast.FuncDecl:
		return f.Body
	case *ast.FuncLit:
		return f.Body
	}
	return nil
}

// signature is that of the innermost function around the current node, and its
// results as they are written.
func (w *walker) signature() (signature *types.Signature, results *ast.FieldList) {
	switch f := w.function().(type) {
	case *ast.FuncDecl:
		signature, _ = w.s.info.Defs[f.Name].Type().(*types.Signature)
		return signature, f.Type.Results
	case *ast.FuncLit:
		signature, _ = w.s.info.TypeOf(f).(*types.Signature)
		return signature, f.Type.Results
	}
	return nil, nil
}
