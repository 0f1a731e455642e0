package main

import (
	"go/ast"
	"reflect"
	"slices"
	"strings"
)

// replace makes a mutant in which the current node, or a part of it, is
// another one; without another one a statement is dropped.
//
// What is dropped stays in the source, in a branch that is never taken, so
// that the variables and packages it mentions are not unused.
func (w *walker) replace(k kind, old, other ast.Node) {
	m := &mutant{
		change: change{folder: w.s.rel, in: w.in.name, kind: k},
		pkg:    w.s.pkg, file: w.in.file,
		start: w.s.offset(old.Pos()), end: w.s.offset(old.End()),
		line:    w.s.fset.Position(old.Pos()).Line,
		covered: w.s.fset.Position(w.reached().Pos()),
	}
	context, parent := w.context(), w.parent()
	m.old = header(context)
	switch n := other.(type) {
	case nil:
		m.new = dropped
		m.text = never(printNode(old))
	case *ast.ReturnStmt:
		m.new = oneLine(printNode(n))
		m.text = never(printNode(old)) + "; " + printNode(n)
	case ast.Expr:
		m.new = replaced(context, parent, old, n)
		m.text = printNode(n)
		if _, binary := n.(*ast.BinaryExpr); binary {
			m.text = "(" + m.text + ")"
		}
	default:
		m.new = replaced(context, parent, old, n)
		m.text = printNode(n)
	}
	w.made = append(w.made, m)
}

// never puts statements into a branch that is not taken.
func never(statements string) string { return "if false {\n" + statements + "\n}" }

// reached is the node whose coverage is that of the current node. The
// expressions of a case belong to no block of the coverage profile; they are
// evaluated when the switch is.
func (w *walker) reached() ast.Node {
	for i := len(w.stack) - 1; i > 1; i-- {
		switch n := w.stack[i].(type) {
		case *ast.CaseClause, *ast.CommClause:
			if i < len(w.stack)-1 {
				return w.stack[i-2] // beyond the block of the switch
			}
		case ast.Stmt:
			if isListed(w.stack[i-1], n) {
				return w.stack[len(w.stack)-1]
			}
		}
	}
	return w.stack[len(w.stack)-1]
}

// maxContext is how long a context may be for a report that is read by people.
const maxContext = 120

// context is the node that names a change: the statement around it, or, where
// that is long, an element of a composite literal.
func (w *walker) context() ast.Node {
	current := w.stack[len(w.stack)-1]
	var element ast.Node
	for i := len(w.stack) - 1; i >= 0; i-- {
		switch n := w.stack[i].(type) {
		case ast.Stmt, *ast.ValueSpec:
			if n == current || element == nil || isHeader(n) || len(header(n)) <= maxContext {
				return n
			}
			return element
		case ast.Expr:
			if i > 0 && isElement(w.stack[i-1], n) && len(header(n)) <= maxContext {
				element = n
			}
		}
	}
	return current
}

// isHeader reports whether a node is shown without its body.
func isHeader(n ast.Node) bool {
	switch n.(type) {
	case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

func isElement(parent ast.Node, e ast.Expr) bool {
	literal, ok := parent.(*ast.CompositeLit)
	return ok && slices.Contains(literal.Elts, e)
}

// header prints a node on one line, without the statements in its body.
func header(n ast.Node) string {
	empty := &ast.BlockStmt{}
	switch s := n.(type) {
	case *ast.IfStmt:
		n = &ast.IfStmt{Init: s.Init, Cond: s.Cond, Body: empty}
	case *ast.ForStmt:
		n = &ast.ForStmt{Init: s.Init, Cond: s.Cond, Post: s.Post, Body: empty}
	case *ast.RangeStmt:
		copied := *s
		copied.Body = empty
		n = &copied
	case *ast.SwitchStmt:
		n = &ast.SwitchStmt{Init: s.Init, Tag: s.Tag, Body: empty}
	case *ast.TypeSwitchStmt:
		n = &ast.TypeSwitchStmt{Init: s.Init, Assign: s.Assign, Body: empty}
	case *ast.SelectStmt:
		return "select"
	case *ast.CaseClause:
		n = &ast.CaseClause{List: s.List}
	case *ast.CommClause:
		n = &ast.CommClause{Comm: s.Comm}
	default:
		return oneLine(printNode(n))
	}
	return strings.TrimSpace(strings.TrimSuffix(oneLine(printNode(n)), "{ }"))
}

// replaced is the header of a context in which one node is another.
func replaced(context, parent, old, other ast.Node) string {
	if context == old {
		return oneLine(printNode(other))
	}
	undo := put(parent, old, other)
	defer undo()
	return header(context)
}

// put replaces a child of a node and returns what puts it back.
func put(parent, old, other ast.Node) (undo func()) {
	v := reflect.ValueOf(parent).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		if field.Kind() == reflect.Slice {
			for j := range field.Len() {
				if undo, ok := set(field.Index(j), old, other); ok {
					return undo
				}
			}
		} else if undo, ok := set(field, old, other); ok {
			return undo
		}
	}
	return func() {}
}

func set(slot reflect.Value, old, other ast.Node) (undo func(), ok bool) {
	if !slot.CanInterface() || slot.Kind() != reflect.Interface || slot.IsNil() || slot.Interface() != any(old) {
		return nil, false
	}
	before := reflect.ValueOf(slot.Interface())
	slot.Set(reflect.ValueOf(other))
	return func() { slot.Set(before) }, true
}
