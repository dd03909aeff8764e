package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// selectStmt lowers a select: yaegi cannot leave a loop from inside of one, and what it receives there has no address. So the select
// only notes which case it is and what was received, and the bodies are those of a switch after it.
func (l *lowerer) selectStmt(s *ast.SelectStmt, label *ast.LabeledStmt) []ast.Stmt {
	out := l.mark(s)
	pos := s.Pos()
	if len(s.Body.List) == 0 {
		return append(out, withLabel(label, s))
	}
	which := l.temp("case")
	out = append(out, assign(token.DEFINE, l.ident(pos, which), &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: "0"}))
	sw := &ast.SwitchStmt{Switch: pos, Tag: l.ident(pos, which), Body: block(pos)}
	for i, cc := range s.Body.List {
		clause := cc.(*ast.CommClause)
		number := func() ast.Expr { return &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.Itoa(i + 1)} }
		var first, received []ast.Stmt
		if a, ok := clause.Comm.(*ast.AssignStmt); ok {
			first, received = l.receive(a, &out)
		} else if clause.Comm != nil {
			clause.Comm = l.simple(clause.Comm)
		}
		body := append(first, l.stmts(clause.Body)...)
		clause.Body = append(received, assign(token.ASSIGN, l.ident(pos, which), number()))
		sw.Body.List = append(sw.Body.List, &ast.CaseClause{Case: pos, List: []ast.Expr{number()}, Body: body})
	}
	return []ast.Stmt{block(pos, append(out, s, withLabel(label, sw))...)}
}

// receive lowers `v, ok := <-c` of a select's case. It returns what sets or defines the user's variables in the body, and what the case itself does:
// it keeps the values in variables that it declares by out.
func (l *lowerer) receive(a *ast.AssignStmt, out *[]ast.Stmt) (first, received []ast.Stmt) {
	pos := a.Pos()
	u := ast.Unparen(a.Rhs[0]).(*ast.UnaryExpr)
	elem := l.info.TypeOf(u.X).Underlying().(*types.Chan).Elem()
	u.X = l.expr(u.X)
	set := &ast.AssignStmt{TokPos: pos, Tok: a.Tok}
	for i, e := range a.Lhs {
		t := elem
		if i == 1 {
			t = types.Typ[types.Bool]
		}
		inner, kept := l.temp("v"), l.temp("received")
		*out = append(*out, l.varDecl(pos, kept, t))
		received = append(received, assign(token.ASSIGN, l.ident(pos, kept), l.ident(pos, inner)))
		set.Lhs = append(set.Lhs, l.expr(e))
		set.Rhs = append(set.Rhs, l.ident(pos, kept))
		a.Lhs[i] = l.ident(pos, inner)
	}
	a.Tok = token.DEFINE
	return []ast.Stmt{set}, received
}
