package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run"
)

// isPanic reports whether a call is one of the builtin panic.
func (l *lowerer) isPanic(call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	return ok && id.Name == "panic" && l.info.Types[call.Fun].IsBuiltin()
}

// panicCall lowers panic(x): recover never returns nil for a panic, so that a nil x panics with an error instead.
func (l *lowerer) panicCall(call *ast.CallExpr) []ast.Stmt {
	pos := call.Pos()
	t := l.info.TypeOf(call.Args[0])
	if l.info.Types[call.Args[0]].IsNil() {
		t = types.Universe.Lookup("any").Type()
	}
	if !types.IsInterface(t) {
		return []ast.Stmt{&ast.ExprStmt{X: l.call(call)}}
	}
	v := l.temp("v")
	x := l.convert(call.Args[0], t)
	call.Fun, call.Args = l.ident(pos, "panic"), []ast.Expr{l.ident(pos, v)}
	return []ast.Stmt{block(pos,
		l.varDecl(pos, v, t), assign(token.ASSIGN, l.ident(pos, v), x),
		&ast.ExprStmt{X: l.helper(pos, run.NotNil, l.address(l.ident(pos, v)))},
		&ast.ExprStmt{X: call})}
}
