package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// finishFunction adds statements at the beginning and the end of a lowered function, and makes the
// function around it the current one again.
func (l *marker) finishFunction(of *ast.BlockStmt, body []ast.Stmt) []ast.Stmt {
	f, pos := l.fn, of.Pos()
	if f.deferred != "" {
		body = l.withDefers(pos, f, append(body, l.endMark(of.Rbrace)...))
	}
	l.fn = f.outer
	return append(l.enter(pos, f, of.Rbrace), body...)
}

// withDefers makes the runtime execute a function's deferred calls instead of yaegi. Yaegi
// evaluates some arguments late, gives closures the last value of a loop's variables, and waits for
// ever if the deferred function is a variable. The body of a function that defers becomes
//
//	defers := runtime.NewDefers()
//	defers.Do(func() { body })
//	return results
//
// Each defer statement in it evaluates the function and the arguments and then calls
// defers.PushCall(func() { call }). Each return statement first sets the results, which all have
// names.
func (l *marker) withDefers(pos token.Pos, f *function, body []ast.Stmt) []ast.Stmt {
	if l.tracesCalls() {
		body = append([]ast.Stmt{l.enterAs(pos, "", pos, false)}, body...)
	}
	do := &ast.CallExpr{
		Fun:  &ast.SelectorExpr{X: l.ident(pos, f.deferred), Sel: l.ident(pos, contract.DefersDo)},
		Args: []ast.Expr{l.closure(pos, body...)},
	}
	out := []ast.Stmt{
		assign(token.DEFINE, l.ident(pos, f.deferred), l.helper(pos, contract.NewDefers)),
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

// endMark stores the position of a function's end if the function has deferred calls, because they
// are made there.
func (l *marker) endMark(pos token.Pos) []ast.Stmt {
	if l.fn.deferred == "" || l.fn.top() {
		return nil
	}
	return append(l.markAt(pos), l.leave(pos)...)
}

// usesResults reports whether one of several returned expressions may use a named result that yaegi
// has set already. Yaegi reads constants and variables only when it sets the results, that is,
// after it has computed other expressions.
func (l *marker) usesResults(list []ast.Expr) bool {
	variables, others := 0, 0
	for i, e := range list {
		tv := l.info.Types[e]
		if tv.Value != nil || tv.IsNil() {
			continue
		}
		id, _ := ast.Unparen(e).(*ast.Ident)
		v, _ := l.info.Uses[id].(*types.Var)
		switch {
		case v == nil:
			others++
		case l.isResultBut(i, v):
			return true
		default:
			variables++
		}
	}
	return others > 1 || others == 1 && variables > 0
}

// isResultBut reports whether v is a result of the function other than result i. The signature and
// the body may come from different checks, so positions are compared.
func (l *marker) isResultBut(i int, v *types.Var) bool {
	for j := range l.fn.sig.Results().Len() {
		if j != i && l.fn.sig.Results().At(j).Pos() == v.Pos() {
			return true
		}
	}
	return false
}
