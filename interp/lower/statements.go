package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// stmts lowers a list of statements.
func (l *lowerer) stmts(list []ast.Stmt) []ast.Stmt {
	out := make([]ast.Stmt, 0, len(list))
	for _, s := range list {
		out = append(append(out, l.stopBefore(s)...), l.stmt(s)...)
	}
	return out
}

// block lowers a block in place.
func (l *lowerer) block(b *ast.BlockStmt) *ast.BlockStmt {
	if b != nil {
		b.List = l.stmts(b.List)
	}
	return b
}

// stmt lowers a statement to one or several statements.
func (l *lowerer) stmt(s ast.Stmt) []ast.Stmt {
	return append(l.callsFirst(s), l.lowered(s)...)
}

// lowered lowers a statement without the calls that callsFirst puts before it.
func (l *lowerer) lowered(s ast.Stmt) []ast.Stmt {
	switch s := s.(type) {
	case *ast.AssignStmt:
		m := l.mark(s)
		return append(m, l.assign(s)...)
	case *ast.DeclStmt:
		return l.declStmt(s)
	case *ast.ExprStmt:
		m := l.mark(s)
		if call, ok := ast.Unparen(s.X).(*ast.CallExpr); ok && l.isBuiltin(call, "panic") {
			return append(m, l.panicCall(call)...)
		}
		s.X = l.expr(s.X)
		return append(m, s)
	case *ast.IncDecStmt:
		m := l.mark(s)
		return append(m, l.incDec(s))
	case *ast.SendStmt:
		m := l.mark(s)
		elem := l.info.TypeOf(s.Chan).Underlying().(*types.Chan).Elem()
		s.Chan, s.Value = l.expr(s.Chan), l.convert(s.Value, elem)
		return append(m, s)
	case *ast.BlockStmt:
		return []ast.Stmt{l.block(s)}
	case *ast.IfStmt:
		return l.ifStmt(s)
	case *ast.ForStmt:
		return l.forStmt(s, nil)
	case *ast.RangeStmt:
		return l.rangeStmt(s, nil)
	case *ast.LabeledStmt:
		return l.labeled(s)
	case *ast.ReturnStmt:
		return l.returnStmt(s)
	case *ast.GoStmt:
		return l.goStmt(s)
	case *ast.DeferStmt:
		return l.deferStmt(s)
	case *ast.SwitchStmt:
		return l.switchStmt(s, nil)
	case *ast.TypeSwitchStmt:
		return l.typeSwitch(s, nil)
	case *ast.SelectStmt:
		return l.selectStmt(s, nil)
	}
	if b, ok := s.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
		b.Label = l.ident(b.Label.Pos(), b.Label.Name+gotoSuffix)
	}
	return []ast.Stmt{s} // branch, empty
}

func (l *lowerer) ifStmt(s *ast.IfStmt) (out []ast.Stmt) {
	m := l.mark(s.Init, s.Cond)
	if s.Init != nil {
		init, before := l.head(s.Init)
		s.Init = init
		if before != nil {
			m = append(m, before...)
			defer func() { out = []ast.Stmt{block(s.Pos(), out...)} }()
		}
	}
	s.Cond = l.condition(s.Cond)
	l.block(s.Body)
	if s.Else != nil {
		alt := l.stmt(s.Else)
		if len(alt) == 1 {
			s.Else = alt[0]
		} else {
			s.Else = &ast.BlockStmt{Lbrace: s.Else.Pos(), List: alt}
		}
	}
	return append(m, s)
}

// head lowers the statement in the head of another. If it is lowered to several, they precede the
// other statement, in a block with it.
func (l *lowerer) head(s ast.Stmt) (init ast.Stmt, before []ast.Stmt) {
	if a, ok := s.(*ast.AssignStmt); ok {
		if list := l.assign(a); len(list) > 1 {
			return nil, list
		}
		return a, nil
	}
	return l.simple(s), nil
}

// simple lowers a statement that must remain a single one.
func (l *lowerer) simple(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if u, ok := ast.Unparen(s.Rhs[0]).(*ast.UnaryExpr); ok && u.Op == token.ARROW { // in a select
			u.X = l.expr(u.X)
			l.exprs(s.Lhs)
			return s
		}
		list := l.assign(s)
		if len(list) > 1 {
			l.refuse(s.Pos(), "a type assertion with two results in the head of this statement; put it into a statement before this one")
		}
		return list[0]
	case *ast.ExprStmt:
		s.X = l.expr(s.X)
	case *ast.IncDecStmt:
		return l.incDec(s)
	case *ast.SendStmt:
		s.Chan, s.Value = l.expr(s.Chan), l.expr(s.Value)
	}
	return s
}

// incDec lowers x++ and x--. For a uintptr it makes x += 1, because yaegi would leave the
// function after x++.
func (l *lowerer) incDec(s *ast.IncDecStmt) ast.Stmt {
	b, ok := l.info.TypeOf(s.X).Underlying().(*types.Basic)
	s.X = l.expr(s.X)
	if !ok || b.Kind() != types.Uintptr {
		return s
	}
	tok := token.ADD_ASSIGN
	if s.Tok == token.DEC {
		tok = token.SUB_ASSIGN
	}
	return &ast.AssignStmt{Lhs: []ast.Expr{s.X}, TokPos: s.TokPos, Tok: tok, Rhs: []ast.Expr{l.number(s.TokPos, 1)}}
}

// stopBefore returns the call of contract.StopAt that precedes a statement or the cell's last
// expression. It returns none for statements that do nothing themselves, and in code that is not
// debugged.
func (l *lowerer) stopBefore(n ast.Node) []ast.Stmt {
	if !l.isDebugged() {
		return nil
	}
	for labeled, is := n.(*ast.LabeledStmt); is; labeled, is = n.(*ast.LabeledStmt) {
		n = labeled.Stmt
	}
	switch n := n.(type) {
	case *ast.BlockStmt, *ast.EmptyStmt:
		return nil
	case *ast.DeclStmt:
		if !check.DeclaresVariables(n) {
			return nil
		}
	}
	at := n.Pos()
	p := &contract.Point{Pos: at}
	args := []ast.Expr{l.number(at, l.points.next)}
	seen := map[string]bool{}
	for f := l.fn; f != nil; f = f.outer {
		for _, v := range f.locals {
			scope := v.Parent()
			if seen[v.Name()] || scope == nil || !scope.Contains(at) || l.hoisted[v] {
				continue
			}
			if _, visible := scope.LookupParent(v.Name(), at); visible != v {
				continue
			}
			id := l.ident(at, v.Name())
			l.info.Uses[id] = v
			place, ok := l.expr(id).(*ast.Ident)
			if !ok {
				continue
			}
			seen[v.Name()] = true
			p.Variables = append(p.Variables, contract.PointVariable{Name: v.Name(), Type: v.Type()})
			args = append(args, place)
		}
	}
	l.points.list = append(l.points.list, p)
	p.ID = l.points.next
	l.points.next++
	return []ast.Stmt{&ast.ExprStmt{X: l.helper(at, contract.StopAt, args...)}}
}
