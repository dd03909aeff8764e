package lower

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// forStmt lowers a for loop. Its variables are new in every iteration, which matters only if a
// function or a pointer refers to one. In that case, and if the post statement is lowered to
// several statements,
//
//	for i := 0; cond; post { body }
//
// becomes
//
//	{
//		i := 0
//		last, first := &i, true
//		for {
//			i := *last
//			last = &i
//			if first { first = false } else { post }
//			if cond { } else { break }
//			body
//		}
//	}
func (l *lowerer) forStmt(s *ast.ForStmt, label *ast.LabeledStmt) []ast.Stmt {
	if a, ok := s.Init.(*ast.AssignStmt); ok && len(a.Rhs) > 1 && slices.ContainsFunc(a.Rhs, isLiteral) { // see separate
		var before []ast.Stmt
		for i, e := range a.Rhs {
			if isLiteral(e) {
				a.Rhs[i] = l.hold(e, l.info.TypeOf(e), &before)
			}
		}
		return []ast.Stmt{block(s.Pos(), append(before, l.forStmt(s, label)...)...)}
	}
	if a, ok := s.Init.(*ast.AssignStmt); ok && l.needsStatements(a) {
		s.Init = nil
		return []ast.Stmt{block(s.Pos(), append(l.stmt(a), l.forStmt(s, label)...)...)}
	}
	vars := l.loopVars(s)
	kept := vars != nil && l.keeps(s, vars)
	l.count(s, vars)
	m, restore := l.loopMark(s)
	defer restore()
	m = append(m, l.mark(s.Init, s.Cond, s.Post)...)
	pos := s.Pos()
	if s.Init != nil {
		s.Init = l.simple(s.Init)
	}
	l.fn.loops++
	defer func(f *function) { f.loops-- }(l.fn)
	s.Cond = l.condition(s.Cond)
	var post []ast.Stmt
	if a, ok := s.Post.(*ast.AssignStmt); ok && l.needsStatements(a) {
		post, kept = l.stmt(a), true
	} else if s.Post != nil {
		s.Post = l.simple(s.Post)
		post = []ast.Stmt{s.Post}
	}
	l.block(s.Body)
	if len(s.Body.List) == 0 && s.Post == nil {
		// Yaegi cannot stop a loop with an empty body. As in Go, such a loop does not make way for others
		// by itself: it would move from thread to thread all the time.
		s.Body.List = []ast.Stmt{&ast.ExprStmt{X: l.helper(pos, contract.Spin)}}
	}
	if !kept {
		// yaegi would run the init statement in each iteration
		if s.Init != nil && s.Cond == nil && s.Post == nil {
			init := s.Init
			s.Init = nil
			return append(m, block(pos, init, withLabel(label, s)))
		}
		return append(m, withLabel(label, s))
	}
	var outer []ast.Stmt
	if s.Init != nil {
		outer = []ast.Stmt{s.Init}
	}
	var inner []ast.Stmt
	for _, v := range vars {
		last := l.temp("last")
		outer = append(outer, assign(token.DEFINE, l.ident(pos, last), l.address(l.ident(pos, v.Name()))))
		inner = append(inner,
			assign(token.DEFINE, l.ident(pos, v.Name()), &ast.StarExpr{Star: pos, X: l.ident(pos, last)}),
			assign(token.ASSIGN, l.ident(pos, last), l.address(l.ident(pos, v.Name()))))
	}
	if post != nil {
		first := l.temp("first")
		outer = append(outer, assign(token.DEFINE, l.ident(pos, first), l.ident(pos, "true")))
		inner = append(inner, &ast.IfStmt{
			If: pos, Cond: l.ident(pos, first),
			Body: block(pos, assign(token.ASSIGN, l.ident(pos, first), l.ident(pos, "false"))), Else: block(pos, post...),
		})
	}
	if s.Cond != nil {
		inner = append(inner, &ast.IfStmt{
			If: pos, Cond: s.Cond, Body: block(pos), Else: block(pos, &ast.BranchStmt{TokPos: pos, Tok: token.BREAK}),
		})
	}
	loop := &ast.ForStmt{For: pos, Body: block(pos, append(inner, s.Body)...)}
	return append(m, block(pos, append(outer, withLabel(label, loop))...))
}

func name(id *ast.Ident) string {
	if id == nil {
		return ""
	}
	return id.Name
}
