package interp

import (
	"go/ast"
	"go/token"
	"go/types"
)

// stmts lowers a list of statements.
func (l *lowerer) stmts(list []ast.Stmt) []ast.Stmt {
	out := make([]ast.Stmt, 0, len(list))
	for _, s := range list {
		out = append(out, l.stmt(s)...)
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

// stmt lowers a statement, which may become several.
func (l *lowerer) stmt(s ast.Stmt) []ast.Stmt {
	out := append(l.callsFirst(s), l.boundsFirst(s)...)
	return append(out, l.alone(s)...)
}

// alone lowers a statement without those that come before it.
func (l *lowerer) alone(s ast.Stmt) []ast.Stmt {
	switch s := s.(type) {
	case *ast.AssignStmt:
		m := l.mark(s)
		return append(m, l.assign(s)...)
	case *ast.DeclStmt:
		return l.declStmt(s)
	case *ast.ExprStmt:
		m := l.mark(s)
		if call, ok := ast.Unparen(s.X).(*ast.CallExpr); ok && l.isPanic(call) {
			return append(m, l.panicCall(call)...)
		}
		s.X = l.expr(s.X)
		return append(m, s)
	case *ast.IncDecStmt:
		m := l.mark(s)
		s.X = l.expr(s.X)
		return append(m, s)
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

// assign lowers an assignment; at the cell's top level a definition becomes an assignment to a variable that outlives the cell.
func (l *lowerer) assign(s *ast.AssignStmt) []ast.Stmt {
	if s.Tok == token.DEFINE && l.defines(s.Lhs) {
		s.Tok = token.ASSIGN
	}
	if len(s.Lhs) > 1 && len(s.Rhs) == 1 && l.becomesOther(s.Rhs[0], l.typesOf(s.Lhs, s.Rhs[0])) {
		out, vars := l.spreadTuple(s.Rhs[0])
		s.Rhs = vars
		return append(out, l.assign(s)...)
	}
	if len(s.Lhs) == 2 && len(s.Rhs) == 1 {
		if out := l.commaOK(s); out != nil {
			return out
		}
	}
	if l.interferes(s) || l.mayDelete(s) {
		return l.assignInOrder(s)
	}
	out := l.received(s)
	if list := l.separate(s); list != nil {
		return append(out, list...)
	}
	l.protect(s)
	for i, e := range s.Rhs {
		if isShift(s.Tok) {
			s.Rhs[i] = l.shiftCount(e)
		} else if len(s.Rhs) > 1 && l.info.Types[e].IsNil() && l.info.TypeOf(s.Lhs[i]) != nil {
			s.Rhs[i] = l.zeroValue(e.Pos(), l.info.TypeOf(s.Lhs[i]))
		} else if len(s.Lhs) == len(s.Rhs) && s.Tok == token.ASSIGN {
			s.Rhs[i] = l.convert(e, l.lhsType(s.Lhs[i]))
		} else {
			s.Rhs[i] = l.expr(e)
		}
		if _, isCall := s.Rhs[i].(*ast.CallExpr); isCall && len(s.Rhs) > 1 {
			s.Rhs[i] = l.paren(s.Rhs[i]) // yaegi would lose the other values
		}
	}
	l.exprs(s.Lhs)
	return append(out, s)
}

// typesOf are the types of the variables that an assignment of the results of a call sets; the blank identifier has that of its result.
func (l *lowerer) typesOf(lhs []ast.Expr, call ast.Expr) *types.Tuple {
	results, ok := l.info.TypeOf(call).(*types.Tuple)
	if !ok {
		return nil
	}
	var vars []*types.Var
	for i, e := range lhs {
		t := l.info.TypeOf(e)
		if t == nil {
			t = results.At(i).Type()
		}
		vars = append(vars, types.NewParam(e.Pos(), nil, "", t))
	}
	return types.NewTuple(vars...)
}

// separate lowers an assignment of several values of which some become interfaces, which yaegi does not convert then, or some are composite
// literals, which make it lose others: all values are evaluated into variables of the types they become, and then assigned one by one. It
// returns nil for other assignments.
func (l *lowerer) separate(s *ast.AssignStmt) (out []ast.Stmt) {
	if len(s.Lhs) != len(s.Rhs) || len(s.Lhs) < 2 {
		return nil
	}
	found := false
	for i, e := range s.Lhs {
		if _, isName := e.(*ast.Ident); !isName {
			return nil
		}
		found = found || types.IsInterface(l.lhsType(e)) || isLiteral(s.Rhs[i])
	}
	if !found {
		return nil
	}
	var set []ast.Stmt
	for i, e := range s.Rhs {
		id := s.Lhs[i].(*ast.Ident)
		t := l.lhsType(id)
		if id.Name == "_" {
			t = types.Default(l.info.TypeOf(e))
		}
		v := l.temp("v")
		if _, ok := e.(*ast.CompositeLit); ok {
			e = l.paren(e)
		}
		out = append(out, l.varDecl(e.Pos(), v, t), assign(token.ASSIGN, l.ident(e.Pos(), v), l.convert(e, t)))
		tok := s.Tok
		if l.info.Defs[id] == nil {
			tok = token.ASSIGN
		}
		set = append(set, assign(tok, l.expr(id), l.ident(e.Pos(), v)))
	}
	return append(out, set...)
}

// isLiteral reports whether e is a composite literal, or the address of one.
func isLiteral(e ast.Expr) bool {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = ast.Unparen(u.X)
	}
	_, ok := e.(*ast.CompositeLit)
	return ok
}

// received replaces receive operations on the right side by variables that have the results: yaegi makes what it stores a received value in
// a variable without an address.
func (l *lowerer) received(s *ast.AssignStmt) (out []ast.Stmt) {
	for i, e := range s.Rhs {
		u, ok := ast.Unparen(e).(*ast.UnaryExpr)
		if !ok || u.Op != token.ARROW {
			continue
		}
		u.X = l.expr(u.X)
		v := l.temp("received")
		out = append(out, assign(token.DEFINE, l.ident(e.Pos(), v), u))
		s.Rhs[i] = l.ident(e.Pos(), v)
	}
	return out
}

// commaOK lowers the forms of assignment in which a second value says whether there is a first. It returns nil for other assignments.
func (l *lowerer) commaOK(s *ast.AssignStmt) []ast.Stmt {
	pos := s.Pos()
	switch e := ast.Unparen(s.Rhs[0]).(type) {
	case *ast.TypeAssertExpr:
		out, v, ok := l.assertOK(e)
		return append(out, l.assignNames(s, v, ok)...)
	case *ast.UnaryExpr, *ast.IndexExpr:
		u, isUnary := e.(*ast.UnaryExpr)
		if isUnary && u.Op != token.ARROW || !isUnary && s.Tok == token.DEFINE {
			return nil
		}
		// Yaegi can store these two only in variables of the function itself, and what it receives without an address.
		v, ok := l.temp("v"), l.temp("ok")
		set := &ast.AssignStmt{Lhs: []ast.Expr{l.ident(pos, v), l.ident(pos, ok)}, TokPos: pos, Tok: token.DEFINE, Rhs: []ast.Expr{l.expr(e)}}
		return append([]ast.Stmt{set}, l.assignNames(s, v, ok)...)
	}
	return nil
}

// assignNames is s, one of commaOK's, with the variables v and ok on its right side.
func (l *lowerer) assignNames(s *ast.AssignStmt, v, ok string) []ast.Stmt {
	pos := s.Pos()
	x, second := l.ident(pos, v), l.ident(pos, ok)
	if from := l.info.TypeOf(s.Rhs[0]).(*types.Tuple).At(0).Type(); l.converts(from, l.lhsType(s.Lhs[0])) {
		return l.assign(&ast.AssignStmt{Lhs: s.Lhs, TokPos: pos, Tok: s.Tok, Rhs: []ast.Expr{l.typed(x, from), l.typed(second, types.Typ[types.Bool])}})
	}
	l.exprs(s.Lhs)
	return []ast.Stmt{&ast.AssignStmt{Lhs: s.Lhs, TokPos: pos, Tok: s.Tok, Rhs: []ast.Expr{x, second}}}
}

// protect puts values that yaegi would build in the place of the variable itself in parentheses, which makes it assign them: a composite literal would take
// the place of a variable that pointers refer to, or of an interface, or the place that a closure has from the last time around; the results of a function would be
// the variable while it runs.
func (l *lowerer) protect(s *ast.AssignStmt) {
	if len(s.Lhs) != len(s.Rhs) {
		return
	}
	for i, e := range s.Rhs {
		switch e := e.(type) {
		case *ast.CompositeLit:
			if s.Tok == token.ASSIGN || l.fn.repeats() || types.IsInterface(l.lhsType(s.Lhs[i])) {
				s.Rhs[i] = l.paren(e)
			}
		case *ast.CallExpr:
			if tv := l.info.Types[e.Fun]; s.Tok == token.ASSIGN && tv.IsValue() && !tv.IsBuiltin() && !l.isCompiledFunc(ast.Unparen(e.Fun)) {
				s.Rhs[i] = l.paren(e)
			}
		}
	}
}

func (l *lowerer) paren(e ast.Expr) ast.Expr {
	p := &ast.ParenExpr{Lparen: e.Pos(), X: e, Rparen: e.End()}
	if tv, ok := l.info.Types[e]; ok {
		l.info.Types[p] = tv
	}
	return p
}

func (l *lowerer) lhsType(e ast.Expr) types.Type {
	if t := l.info.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid] // the blank identifier
}

// defines reports whether one of the names on the left is a variable of the cell's top level.
func (l *lowerer) defines(lhs []ast.Expr) bool {
	for _, e := range lhs {
		if id, ok := e.(*ast.Ident); ok && (l.hoisted[l.info.Defs[id]] || l.hoisted[l.info.Uses[id]] && l.fn.top()) {
			return true
		}
	}
	return false
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

// head lowers the statement in the head of another. If that makes several of it, they come before the other, in a block with it.
func (l *lowerer) head(s ast.Stmt) (init ast.Stmt, before []ast.Stmt) {
	if a, ok := s.(*ast.AssignStmt); ok {
		if list := l.assign(a); len(list) > 1 {
			return nil, list
		}
		return a, nil
	}
	return l.simple(s), nil
}

// simple lowers a statement that must stay one.
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
			l.refuse(s.Pos(), "a type assertion with two results in the head of this statement; make it a statement of its own before")
		}
		return list[0]
	case *ast.ExprStmt:
		s.X = l.expr(s.X)
	case *ast.IncDecStmt:
		s.X = l.expr(s.X)
	case *ast.SendStmt:
		s.Chan, s.Value = l.expr(s.Chan), l.expr(s.Value)
	}
	return s
}
