package main

import (
	"fmt"
	"go/ast"
	"go/constant"
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
	switch w.s.info.Types[e].Value {
	case nil:
		return w.s.info.Types[e].IsNil()
	default:
		return w.s.info.Types[e].Value.Kind() == constant.Bool
	}
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
