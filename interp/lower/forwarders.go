package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/lower/typed"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// forwarder returns a function literal with the given signature and no body yet, and its parameters
// as arguments of a call.
func (l *builder) forwarder(pos token.Pos, sig *types.Signature) (lit *ast.FuncLit, args []ast.Expr) {
	t := l.signatureExpr(sig, pos)
	for _, f := range t.Params.List {
		p := l.temp("p")
		f.Names = []*ast.Ident{l.ident(pos, p)}
		args = append(args, l.ident(pos, p))
	}
	return &ast.FuncLit{Type: t, Body: block(pos)}, args
}

// forward adds the body of a forwarder: a call of fun. If the forwarder is the deferred function of
// a panic, fun takes over that role.
func (l *builder) forward(lit *ast.FuncLit, sig *types.Signature, fun ast.Expr, args []ast.Expr) *ast.FuncLit {
	pos := lit.Body.Lbrace
	call := &ast.CallExpr{Fun: fun, Lparen: pos, Args: args, Rparen: pos}
	if sig.Variadic() {
		call.Ellipsis = pos
	}
	panics := &ast.BinaryExpr{X: l.ident(pos, contract.PanickingVar), OpPos: pos, Op: token.GTR, Y: l.number(pos, 0)}
	lit.Body.List = []ast.Stmt{&ast.IfStmt{If: pos, Cond: panics, Body: block(pos, &ast.ExprStmt{X: l.helper(pos, contract.Forward)})}}
	lit.Body.List = append(lit.Body.List, l.passOn(sig, call)...)
	return lit
}

// passOn returns statements that end a function with a call that has the same results. Results that
// are functions go through variables: see mistakesType.
func (l *builder) passOn(sig *types.Signature, call *ast.CallExpr) []ast.Stmt {
	pos := call.Lparen
	switch {
	case sig.Results().Len() == 0:
		return []ast.Stmt{&ast.ExprStmt{X: call}}
	case !typed.HasFunction(sig.Results()):
		return []ast.Stmt{&ast.ReturnStmt{Return: pos, Results: []ast.Expr{call}}}
	}
	set, end := &ast.AssignStmt{TokPos: pos, Tok: token.DEFINE, Rhs: []ast.Expr{call}}, &ast.ReturnStmt{Return: pos}
	for range sig.Results().Len() {
		v := l.temp("result")
		set.Lhs = append(set.Lhs, l.ident(pos, v))
		end.Results = append(end.Results, l.ident(pos, v))
	}
	return []ast.Stmt{set, end}
}
