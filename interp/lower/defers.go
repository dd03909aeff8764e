package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/lower/typed"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

func (l *lowerer) deferStmt(s *ast.DeferStmt) []ast.Stmt {
	push := func(method string, args ...ast.Expr) ast.Stmt {
		fun := &ast.SelectorExpr{X: l.ident(s.Pos(), l.fn.deferred), Sel: l.ident(s.Pos(), method)}
		return &ast.ExprStmt{X: &ast.CallExpr{Fun: fun, Args: args}}
	}
	if l.isBuiltin(s.Call, "recover") {
		return append(l.mark(s.Call), push(contract.DefersPushRecover))
	}
	out, call, itself := l.suspend(s.Call)
	if itself {
		return append(out, push(contract.DefersPush, call))
	}
	return append(out, push(contract.DefersPushCall, call))
}

func (l *lowerer) goStmt(s *ast.GoStmt) []ast.Stmt {
	out, call, _ := l.suspend(s.Call)
	return append(out, &ast.ExprStmt{X: l.helper(s.Pos(), contract.Go, call)})
}

// suspend lowers a call that happens later. It returns statements that evaluate the call's function
// and arguments now, and a func() that makes the call. Itself reports whether that func() is the
// called function itself.
func (l *lowerer) suspend(call *ast.CallExpr) (out []ast.Stmt, later ast.Expr, itself bool) {
	pos := call.Pos()
	out = l.mark(call)
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok && len(call.Args) == 0 && l.noResults(lit) {
		return out, l.expr(lit), true
	}
	if l.info.Types[call.Fun].IsBuiltin() {
		before, call := l.suspendBuiltin(call)
		return append(out, before...), l.kept(l.closure(pos, call...)), false
	}
	before, call := l.suspended(call)
	return append(out, before...), l.kept(l.closure(pos, &ast.ExprStmt{X: call})), false
}

// suspendBuiltin lowers a call of a builtin function that happens later.
func (l *lowerer) suspendBuiltin(call *ast.CallExpr) (before, later []ast.Stmt) {
	if len(call.Args) == 1 && l.isTuple(call.Args[0]) {
		before, call.Args = l.spreadTuple(call.Args[0])
		return before, l.stmt(&ast.ExprStmt{X: call})
	}
	for i, a := range call.Args {
		tv := l.info.Types[a]
		if tv.Value != nil || tv.IsNil() {
			continue
		}
		arg := l.ident(a.Pos(), l.temp("arg"))
		before = append(before, l.declare(arg.Name, tv.Type, a)...)
		l.info.Types[arg] = tv
		call.Args[i] = arg
	}
	return before, l.stmt(&ast.ExprStmt{X: call})
}

// suspended evaluates the function and the arguments of a call that happens later.
func (l *lowerer) suspended(call *ast.CallExpr) (out []ast.Stmt, _ *ast.CallExpr) {
	pos := call.Pos()
	later := func(e ast.Expr, to types.Type) ast.Expr {
		tv := l.info.Types[e]
		if tv.Value != nil || tv.IsNil() || tv.IsType() || tv.IsBuiltin() {
			return l.convert(e, to)
		}
		if id, ok := e.(*ast.Ident); ok {
			if _, isFunc := l.info.Uses[id].(*types.Func); isFunc {
				return l.callee(e)
			}
		}
		if sel, ok := e.(*ast.SelectorExpr); ok {
			if _, isFunc := l.info.Uses[sel.Sel].(*types.Func); isFunc && l.info.Selections[sel] == nil {
				return l.expr(e)
			}
		}
		v := l.temp("arg")
		if l.losesParams(e) {
			out = append(out, assign(token.DEFINE, l.ident(pos, v), l.functionIn(e)))
			return l.ident(pos, v)
		}
		out = append(out, assign(token.DEFINE, l.ident(pos, v), l.paren(l.convert(e, to)))) // see protect
		return l.ident(pos, v)
	}
	sig, _ := l.info.TypeOf(call.Fun).Underlying().(*types.Signature)
	fun := l.qualified(ast.Unparen(call.Fun))
	sel, isMethod := fun.(*ast.SelectorExpr)
	switch {
	case isMethod && l.info.Selections[sel] != nil && l.info.Selections[sel].Kind() == types.MethodVal:
		call.Fun = l.receiver(sel, later, &out)
	default:
		call.Fun = later(fun, nil)
	}
	if len(call.Args) == 1 {
		if results, ok := l.info.TypeOf(call.Args[0]).(*types.Tuple); ok {
			set := &ast.AssignStmt{TokPos: pos, Tok: token.ASSIGN, Rhs: []ast.Expr{l.expr(call.Args[0])}}
			call.Args = nil
			for v := range results.Variables() {
				arg := l.temp("arg")
				out = append(out, l.varDecl(pos, arg, v.Type()))
				set.Lhs = append(set.Lhs, l.ident(pos, arg))
				call.Args = append(call.Args, l.converted(l.ident(pos, arg), v.Type(), typed.ParamAt(sig, len(call.Args), false)))
			}
			return append(out, set), call
		}
	}
	if sig.Variadic() {
		l.spread(sig, call)
	}
	for i, a := range call.Args {
		call.Args[i] = later(a, typed.ParamAt(sig, i, call.Ellipsis.IsValid()))
	}
	return out, call
}

// receiver evaluates the receiver of a method that is called later.
func (l *lowerer) receiver(sel *ast.SelectorExpr, later func(ast.Expr, types.Type) ast.Expr, out *[]ast.Stmt) ast.Expr {
	s := l.info.Selections[sel]
	sig := s.Obj().(*types.Func).Signature()
	if l.isLogger(sel) {
		v := l.temp("recv")
		*out = append(*out, assign(token.DEFINE, l.ident(sel.Pos(), v), l.loggerAt(sel, l.loggerReceiver(sel))))
		return &ast.SelectorExpr{X: l.ident(sel.Pos(), v), Sel: sel.Sel}
	}
	_, wantsPointer := sig.Recv().Type().(*types.Pointer)
	_, isPointer := s.Recv().Underlying().(*types.Pointer)
	if wantsPointer && !isPointer && !types.IsInterface(s.Recv()) {
		// The method works on the variable itself.
		v := l.temp("recv")
		*out = append(*out, assign(token.DEFINE, l.ident(sel.Pos(), v), l.address(l.expr(sel.X))))
		return &ast.SelectorExpr{X: l.ident(sel.Pos(), v), Sel: sel.Sel}
	}
	x := later(sel.X, nil)
	if types.IsInterface(s.Recv()) {
		*out = append(*out, &ast.ExprStmt{X: l.helper(sel.Pos(), contract.ReceiverHeld, l.address(x))})
	}
	return &ast.SelectorExpr{X: x, Sel: sel.Sel}
}
