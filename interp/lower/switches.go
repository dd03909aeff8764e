package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// switchStmt lowers a switch. The init statement precedes the switch, because yaegi would evaluate
// most tags before it.
func (l *lowerer) switchStmt(s *ast.SwitchStmt, label *ast.LabeledStmt) []ast.Stmt {
	m := l.mark(s.Init, s.Tag)
	var before []ast.Stmt
	if s.Init != nil {
		var init ast.Stmt
		init, before = l.head(s.Init)
		if s.Init = nil; init != nil {
			before = append(before, init)
		}
	}
	if l.needsChoice(s) {
		return []ast.Stmt{block(s.Pos(), append(append(m, before...), l.choose(s, label)...)...)}
	}
	s.Tag = l.expr(s.Tag)
	for _, cc := range s.Body.List {
		clause := cc.(*ast.CaseClause)
		for i, e := range clause.List {
			// yaegi compares it without converting it
			if tv := l.info.Types[e]; tv.Value != nil && s.Tag != nil {
				clause.List[i] = l.typedConstant(e, tv)
			} else {
				clause.List[i] = l.expr(e)
			}
		}
		clause.Body = l.clause(clause.Body)
	}
	if before != nil {
		return []ast.Stmt{block(s.Pos(), append(append(m, before...), withLabel(label, s))...)}
	}
	return append(m, withLabel(label, s))
}

// clause lowers the statements of a clause. Yaegi finds labels only in blocks.
func (l *lowerer) clause(list []ast.Stmt) []ast.Stmt {
	isLabeled := func(s ast.Stmt) bool { _, ok := s.(*ast.LabeledStmt); return ok }
	if !slices.ContainsFunc(list, isLabeled) {
		return l.stmts(list)
	}
	n := len(list)
	if b, ok := list[n-1].(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH {
		n--
	}
	return append([]ast.Stmt{block(list[0].Pos(), l.stmts(list[:n])...)}, list[n:]...)
}

// choose lowers a switch to statements that find the number of the clause, and a switch on that
// number.
//
//	tag := x
//	case := n (of the default clause)
//	if tag == a { case = 1 } else if tag == b { case = 1 } else if tag == c { case = 2 }
//	switch case { case 1: ... }
func (l *lowerer) choose(s *ast.SwitchStmt, label *ast.LabeledStmt) (out []ast.Stmt) {
	pos := s.Pos()
	var tag *ast.Ident
	if s.Tag != nil {
		tv := l.info.Types[s.Tag]
		tv.Type, tv.Value = types.Default(tv.Type), nil
		tag = l.ident(s.Tag.Pos(), l.temp("tag"))
		out = append(out, l.declare(tag.Name, tv.Type, s.Tag)...)
		l.info.Types[tag] = tv
	}
	which := l.temp("case")
	number := 0
	var tests []branch
	sw := &ast.SwitchStmt{Switch: pos, Tag: l.ident(pos, which), Body: block(pos)}
	for i, cc := range s.Body.List {
		clause := cc.(*ast.CaseClause)
		if clause.List == nil {
			number = i + 1
		}
		for _, e := range clause.List {
			tests = append(tests, branch{l.matches(tag, e), []ast.Stmt{assign(token.ASSIGN, l.ident(pos, which), l.number(pos, i+1))}})
		}
		clause.List, clause.Body = []ast.Expr{l.number(pos, i+1)}, l.clause(clause.Body)
		sw.Body.List = append(sw.Body.List, clause)
	}
	out = append(out, assign(token.DEFINE, l.ident(pos, which), l.number(pos, number)))
	if tests != nil {
		out = append(out, chain(pos, tests, func() []ast.Stmt { return nil }))
	}
	return append(out, withLabel(label, sw))
}

// matches lowers the test of a case.
func (l *lowerer) matches(tag *ast.Ident, e ast.Expr) ast.Expr {
	pos := e.Pos()
	if tag == nil && types.IsInterface(l.info.TypeOf(e)) {
		return l.expr(&ast.BinaryExpr{X: l.typed(l.ident(pos, "true"), types.Typ[types.Bool]), OpPos: pos, Op: token.EQL, Y: e})
	}
	if tag == nil {
		return l.condition(e)
	}
	x := l.ident(pos, tag.Name)
	l.info.Types[x] = l.info.Types[tag]
	if l.info.Types[e].IsNil() && types.IsInterface(l.info.TypeOf(tag)) {
		return l.helper(pos, contract.IsNil, l.address(x))
	}
	if _, isLiteral := e.(*ast.CompositeLit); isLiteral {
		e = l.paren(e)
	}
	return l.expr(&ast.BinaryExpr{X: x, OpPos: pos, Op: token.EQL, Y: e})
}
