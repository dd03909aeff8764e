package lower

import (
	"go/ast"
	"go/token"

	"github.com/symmrepl/symmrepl/interp/run"
)

// finishFunction puts what a function needs around its lowered statements and leaves it.
func (l *marker) finishFunction(of *ast.BlockStmt, body []ast.Stmt) []ast.Stmt {
	f, pos := l.fn, of.Pos()
	if f.deferred != "" {
		body = l.withDefers(pos, f, append(body, l.endMark(of.Rbrace)...))
	}
	l.fn = f.outer
	return append(l.enter(pos, f, of.Rbrace), body...)
}

// Deferred calls are made by the runtime instead of yaegi: yaegi evaluates some arguments late, shows closures the last value of
// a loop's variables, and waits for ever when the deferred function is a variable. The body of a function that defers becomes
//
//	defers := runtime.NewDefers()
//	defers.Do(func() { body })
//	return results
//
// where each deferred call is defers.PushCall(func() { call }), its function and arguments evaluated before, and each return sets the
// results, which all have names, first.
func (l *marker) withDefers(pos token.Pos, f *function, body []ast.Stmt) []ast.Stmt {
	if l.program.stacks && !l.silent {
		body = append([]ast.Stmt{l.enterAs(pos, "", pos, false)}, body...)
	}
	do := &ast.CallExpr{
		Fun:  &ast.SelectorExpr{X: l.ident(pos, f.deferred), Sel: l.ident(pos, run.DefersDo)},
		Args: []ast.Expr{l.closure(pos, body...)},
	}
	out := []ast.Stmt{
		assign(token.DEFINE, l.ident(pos, f.deferred), l.helper(pos, run.NewDefers)),
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

// endMark records that a function ends at a position, if it has deferred calls: there they are made.
func (l *marker) endMark(pos token.Pos) []ast.Stmt {
	if l.fn.deferred == "" || l.fn.top() {
		return nil
	}
	return append(l.markAt(pos), l.leave(pos)...)
}
