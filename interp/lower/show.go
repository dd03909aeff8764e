package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// show lowers the cell's last expression. The runtime gets pointers to its values, so that it sees
// them as they are stored.
func (l *lowerer) show(e ast.Expr) []ast.Stmt {
	pos := e.Pos()
	if len(l.c.Values) == 1 && types.Identical(l.c.Values[0], types.Typ[types.UntypedNil]) {
		if l.c.Quiet {
			return nil
		}
		return []ast.Stmt{&ast.ExprStmt{X: l.helper(pos, contract.Show)}}
	}
	s := &ast.ExprStmt{X: e}
	out := l.callsFirst(s)
	e = s.X
	out = append(out, l.mark(e)...)
	var lhs []ast.Expr
	for _, t := range l.c.Values {
		v := l.temp("value")
		out = append(out, l.varDecl(pos, v, t))
		lhs = append(lhs, l.ident(pos, v))
	}
	set := &ast.AssignStmt{Lhs: lhs, TokPos: pos, Tok: token.ASSIGN, Rhs: []ast.Expr{e}}
	out = append(out, l.received(set)...)
	l.protect(set)
	l.exprs(set.Rhs)
	return append(append(out, set), l.showVars(pos, lhs)...)
}

// showList lowers an expression list that the cell shows.
func (l *lowerer) showList(list []ast.Expr) []ast.Stmt {
	out := l.mark(&ast.AssignStmt{Rhs: list})
	var vars []ast.Expr
	for i, e := range list {
		vars = append(vars, l.hold(e, l.c.Values[i], &out))
	}
	return append(out, l.showVars(list[0].Pos(), vars)...)
}
