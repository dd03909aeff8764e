package interp

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Deferred calls are made by the cell runtime instead of yaegi: yaegi evaluates some arguments late, shows closures the last value of
// a loop's variables, and waits for ever when the deferred function is a variable. The body of a function that defers becomes
//
//	defers := runtime.NewDefers()
//	defers.Do(func() { body })
//	return results
//
// where each deferred call is defers.Push(func() { call }), its function and arguments evaluated before, and each return sets the
// results, which all have names, first.
func (l *lowerer) withDefers(pos token.Pos, f *function, body []ast.Stmt) []ast.Stmt {
	do := &ast.CallExpr{
		Fun:  &ast.SelectorExpr{X: l.ident(pos, f.deferred), Sel: l.ident(pos, "Do")},
		Args: []ast.Expr{l.closure(pos, body...)},
	}
	out := []ast.Stmt{
		assign(token.DEFINE, l.ident(pos, f.deferred), l.helper(pos, "NewDefers")),
		&ast.ExprStmt{X: do},
	}
	if f.results == nil {
		return out
	}
	ret := &ast.ReturnStmt{Return: pos}
	for _, r := range f.results {
		ret.Results = append(ret.Results, l.ident(pos, r))
	}
	return append(out, ret)
}

// closure is func() { body }.
func (l *lowerer) closure(pos token.Pos, body ...ast.Stmt) *ast.FuncLit {
	return &ast.FuncLit{
		Type: &ast.FuncType{Func: pos, Params: &ast.FieldList{Opening: pos}},
		Body: &ast.BlockStmt{Lbrace: pos, List: body, Rbrace: pos},
	}
}

func (l *lowerer) deferStmt(s *ast.DeferStmt) []ast.Stmt {
	out, call := l.suspend(s.Call)
	push := &ast.CallExpr{
		Fun:  &ast.SelectorExpr{X: l.ident(s.Pos(), l.fn.deferred), Sel: l.ident(s.Pos(), "Push")},
		Args: []ast.Expr{call},
	}
	return append(out, &ast.ExprStmt{X: push})
}

func (l *lowerer) goStmt(s *ast.GoStmt) []ast.Stmt {
	out, call := l.suspend(s.Call)
	return append(out, &ast.ExprStmt{X: l.helper(s.Pos(), "Go", call)})
}

// suspend lowers a call that happens later: statements that evaluate its function and arguments now, and a func() that makes the call.
func (l *lowerer) suspend(call *ast.CallExpr) ([]ast.Stmt, ast.Expr) {
	pos := call.Pos()
	out := l.mark(call)
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok && len(call.Args) == 0 && l.noResults(lit) {
		return out, l.kept(l.expr(lit))
	}
	later := func(e ast.Expr) ast.Expr {
		tv := l.info.Types[e]
		if tv.Value != nil || tv.IsNil() || tv.IsType() || tv.IsBuiltin() {
			return l.expr(e)
		}
		if id, ok := e.(*ast.Ident); ok {
			if _, isFunc := l.info.Uses[id].(*types.Func); isFunc {
				return l.expr(e)
			}
		}
		if sel, ok := e.(*ast.SelectorExpr); ok {
			if _, isFunc := l.info.Uses[sel.Sel].(*types.Func); isFunc && l.info.Selections[sel] == nil {
				return l.expr(e)
			}
		}
		v := l.temp("arg")
		out = append(out, assign(token.DEFINE, l.ident(pos, v), l.expr(e)))
		return l.ident(pos, v)
	}
	fun := ast.Unparen(call.Fun)
	sel, isMethod := fun.(*ast.SelectorExpr)
	switch {
	case isMethod && l.info.Selections[sel] != nil && l.info.Selections[sel].Kind() == types.MethodVal:
		call.Fun = l.receiver(sel, later, &out)
	default:
		call.Fun = later(fun)
	}
	for i, a := range call.Args {
		if tuple, ok := l.info.TypeOf(a).(*types.Tuple); ok && tuple.Len() > 1 {
			l.refuse(a.Pos(), "go and defer of a call whose arguments are the results of another call; assign them to variables first")
		}
		call.Args[i] = later(a)
	}
	return out, l.kept(l.closure(pos, &ast.ExprStmt{X: l.suspended(call)}))
}

// receiver evaluates the receiver of a method that is called later.
func (l *lowerer) receiver(sel *ast.SelectorExpr, later func(ast.Expr) ast.Expr, out *[]ast.Stmt) ast.Expr {
	s := l.info.Selections[sel]
	sig := s.Obj().(*types.Func).Signature()
	_, wantsPointer := sig.Recv().Type().(*types.Pointer)
	_, isPointer := s.Recv().Underlying().(*types.Pointer)
	if wantsPointer && !isPointer && !types.IsInterface(s.Recv()) {
		// The method works on the variable itself.
		v := l.temp("recv")
		*out = append(*out, assign(token.DEFINE, l.ident(sel.Pos(), v), l.address(l.expr(sel.X))))
		return &ast.SelectorExpr{X: l.ident(sel.Pos(), v), Sel: sel.Sel}
	}
	return &ast.SelectorExpr{X: later(sel.X), Sel: sel.Sel}
}

// suspended lowers the rest of a call whose function and arguments are lowered.
func (l *lowerer) suspended(call *ast.CallExpr) ast.Expr {
	if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "recover" {
		return l.helper(call.Pos(), "Recover")
	}
	return call
}

func (l *lowerer) noResults(lit *ast.FuncLit) bool {
	return lit.Type.Results == nil || len(lit.Type.Results.List) == 0
}

// kept makes a function literal that compiled code may keep capture the variables as they are now. Yaegi gives compiled code the literal
// together with the frame itself, in which the next iteration of a loop puts new variables.
func (l *lowerer) kept(e ast.Expr) ast.Expr {
	lit, ok := e.(*ast.FuncLit)
	if !ok || l.fn.loops == 0 {
		return e
	}
	pos := lit.Pos()
	typ := *lit.Type
	outer := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos, Params: &ast.FieldList{Opening: pos}, Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: &typ}}}},
		Body: block(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{lit}}),
	}
	return &ast.CallExpr{Fun: outer, Lparen: pos, Rparen: pos}
}
