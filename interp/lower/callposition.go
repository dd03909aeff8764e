package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run"
)

// The stack of a goroutine that runs code of cells is one of functions of the interpreter. What package runtime tells of it is not what cells ask for: lowered
// code knows the position of a call of runtime.Caller itself, and of the statement that ran when its function began; all else is refused.

// caller lowers runtime.Caller(0) and runtime.Caller(1). It returns nil for other calls.
func (l *lowerer) caller(sel *ast.SelectorExpr, e *ast.CallExpr) ast.Expr {
	if !l.isRuntime(sel, "Caller") || l.silent {
		return nil
	}
	skip := int64(-1)
	if v := l.info.Types[e.Args[0]].Value; v != nil {
		skip, _ = constant.Int64Val(constant.ToInt(v))
	}
	switch {
	case skip == 0:
		return l.helper(e.Pos(), run.Caller, l.number(e.Pos(), int(sel.Sel.Pos())))
	case skip == 1 && !l.fn.top():
		if l.fn.caller == "" {
			l.fn.caller = l.temp("caller")
		}
		return l.helper(e.Pos(), run.Caller, l.ident(e.Pos(), l.fn.caller))
	}
	return nil
}

// noteCaller puts the statement in front of a function's body that keeps the position of its caller, if the function asks for it.
func (l *lowerer) noteCaller(pos token.Pos, f *function, body []ast.Stmt) []ast.Stmt {
	if f.caller == "" {
		return body
	}
	return append([]ast.Stmt{assign(token.DEFINE, l.ident(pos, f.caller), l.ident(pos, run.MarkVar))}, body...)
}

// refuseStack refuses the functions of package runtime that tell of the stack.
func (l *lowerer) refuseStack(sel *ast.SelectorExpr) {
	if l.silent {
		return
	}
	switch {
	case l.isRuntime(sel, "Caller"):
		l.refuse(sel.Pos(), "runtime.Caller of more than the call itself, Caller(0), and the call of the function that it is in, Caller(1): a session does not keep who called that")
	case l.isRuntime(sel, "Callers"):
		l.refuse(sel.Pos(), "runtime.Callers, whose stack is the interpreter's; use runtime.Caller(0) or runtime.Caller(1)")
	case l.isRuntime(sel, "FuncForPC"):
		l.refuse(sel.Pos(), "runtime.FuncForPC, as functions of cells have no program counters; keep the name beside the function")
	}
}

// isRuntime reports whether sel is a function of package runtime.
func (l *lowerer) isRuntime(sel *ast.SelectorExpr, name string) bool {
	if sel.Sel.Name != name {
		return false
	}
	fn, ok := l.info.Uses[sel.Sel].(*types.Func)
	return ok && fn.Pkg() != nil && fn.Pkg().Path() == "runtime" && fn.Signature().Recv() == nil
}
