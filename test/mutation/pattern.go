package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"regexp"
	"strconv"
)

// pattern is a piece of Go that is looked for in a function: an expression,
// or statements that follow each other. Layout and comments do not count.
//
//	_        any expression; as a statement of its own, any number of statements
//	_1, _2   any expression, which the replacement can mention; the same
//	         expression each time
type pattern struct {
	expression ast.Expr // nil for statements
	statements []ast.Stmt
}

// found is where a pattern matches: the nodes from first to last.
type found struct {
	first, last ast.Node
	captures    map[string]string
}

func parsePattern(text string) (p pattern, err error) {
	if p.expression, err = parser.ParseExpr(text); err == nil {
		return p, nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p; func _() { "+text+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return pattern{}, fmt.Errorf("%q is neither an expression nor statements: %w", text, err)
	}
	p.expression, p.statements = nil, f.Decls[0].(*ast.FuncDecl).Body.List
	if len(f.Decls) != 1 || len(p.statements) == 0 {
		return pattern{}, fmt.Errorf("%q is neither an expression nor statements", text)
	}
	return p, nil
}

// find returns every place below a node where the pattern matches.
func (p pattern) find(in ast.Node) (all []found) {
	ast.Inspect(in, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && p.expression != nil {
			captures := map[string]string{}
			if matchesExpression(captures, p.expression, e) {
				all = append(all, found{e, e, captures})
			}
		}
		if p.expression == nil {
			all = append(all, p.findIn(statementsOf(n))...)
		}
		return true
	})
	return all
}

func statementsOf(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// findIn returns the shortest match that begins at each statement of a list.
func (p pattern) findIn(list []ast.Stmt) (all []found) {
	for from := range list {
		for to := from + 1; to <= len(list); to++ {
			captures := map[string]string{}
			if matchesStatements(captures, p.statements, list[from:to]) {
				all = append(all, found{list[from], list[to-1], captures})
				break
			}
		}
	}
	return all
}

var captureName = regexp.MustCompile(`\b_[1-9]\b`)

func isWildcard(e ast.Expr) (name string, ok bool) {
	id, ok := e.(*ast.Ident)
	if !ok || id.Name != "_" && captureName.FindString(id.Name) != id.Name {
		return "", false
	}
	return id.Name, true
}

func matchesExpression(captures map[string]string, pattern, e ast.Expr) bool {
	name, ok := isWildcard(pattern)
	if !ok {
		return matches(captures, reflect.ValueOf(pattern), reflect.ValueOf(e))
	}
	if name == "_" {
		return true
	}
	text := printNode(e)
	if before, again := captures[name]; again {
		return before == text
	}
	captures[name] = text
	return true
}

func matchesStatements(captures map[string]string, pattern, list []ast.Stmt) bool {
	if len(pattern) == 0 {
		return len(list) == 0
	}
	if s, ok := pattern[0].(*ast.ExprStmt); ok {
		if name, any := isWildcard(s.X); any && name == "_" {
			for skipped := 0; skipped <= len(list); skipped++ {
				attempt := maps.Clone(captures)
				if matchesStatements(attempt, pattern[1:], list[skipped:]) {
					maps.Copy(captures, attempt)
					return true
				}
			}
			return false
		}
	}
	return len(list) > 0 &&
		matches(captures, reflect.ValueOf(pattern[0]), reflect.ValueOf(list[0])) &&
		matchesStatements(captures, pattern[1:], list[1:])
}

// matches compares two values of a syntax tree. Positions count only where
// they say that something is there at all, as in f(x...).
func matches(captures map[string]string, pattern, value reflect.Value) bool {
	if !pattern.IsValid() || !value.IsValid() {
		return pattern.IsValid() == value.IsValid()
	}
	if pattern.Type() != value.Type() {
		return false
	}
	switch p := pattern.Interface().(type) {
	case token.Pos, *ast.CommentGroup:
		return true
	case ast.Ident:
		return p.Name == value.Interface().(ast.Ident).Name
	case []ast.Stmt:
		return matchesStatements(captures, p, value.Interface().([]ast.Stmt))
	case ast.CallExpr:
		if p.Ellipsis.IsValid() != value.Interface().(ast.CallExpr).Ellipsis.IsValid() {
			return false
		}
	}
	switch pattern.Kind() {
	case reflect.Interface:
		return matchesInterface(captures, pattern, value)
	case reflect.Pointer:
		if pattern.IsNil() || value.IsNil() {
			return pattern.IsNil() == value.IsNil()
		}
		return matches(captures, pattern.Elem(), value.Elem())
	case reflect.Slice:
		if pattern.Len() != value.Len() {
			return false
		}
		for i := range pattern.Len() {
			if !matches(captures, pattern.Index(i), value.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range pattern.NumField() {
			if !matches(captures, pattern.Field(i), value.Field(i)) {
				return false
			}
		}
		return true
	default:
		return pattern.Interface() == value.Interface()
	}
}

func matchesInterface(captures map[string]string, pattern, value reflect.Value) bool {
	if pattern.IsNil() || value.IsNil() {
		return pattern.IsNil() == value.IsNil()
	}
	p, expression := pattern.Interface().(ast.Expr)
	if v, ok := value.Interface().(ast.Expr); ok && expression {
		return matchesExpression(captures, p, v)
	}
	return matches(captures, pattern.Elem(), value.Elem())
}

// fill puts what was captured into a replacement.
func (f found) fill(replacement string) (string, error) {
	missing := ""
	text := captureName.ReplaceAllStringFunc(replacement, func(name string) string {
		captured, ok := f.captures[name]
		if !ok {
			missing = name
		}
		return captured
	})
	if missing != "" {
		return "", fmt.Errorf("the replacement mentions %s, which the pattern does not", strconv.Quote(missing))
	}
	return text, nil
}
