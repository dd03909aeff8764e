package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// assign lowers an assignment; at the cell's top level a definition becomes an assignment to a
// variable that outlives the cell.
func (l *lowerer) assign(s *ast.AssignStmt) []ast.Stmt {
	if s.Tok == token.DEFINE && l.defines(s.Lhs) {
		s.Tok = token.ASSIGN
	}
	if len(s.Lhs) > 1 && len(s.Rhs) == 1 && s.Tok == token.ASSIGN && slices.ContainsFunc(s.Lhs, isDeep) {
		return l.assignResults(s)
	}
	if len(s.Lhs) > 1 && len(s.Rhs) == 1 &&
		(l.becomesOther(s.Rhs[0], l.typesOf(s.Lhs, s.Rhs[0])) || l.mayBeLate(s.Rhs[0]) && slices.ContainsFunc(s.Lhs, l.outlives)) {
		out, vars := l.spreadTuple(s.Rhs[0])
		s.Rhs = vars
		return append(out, l.assign(s)...)
	}
	if len(s.Lhs) == 1 && isBlank(s.Lhs[0]) && s.Tok == token.ASSIGN && l.evaluates(s.Rhs[0]) && !l.calls(s.Rhs[0]) {
		var out []ast.Stmt
		// yaegi would not evaluate it
		l.hold(s.Rhs[0], types.Default(l.info.TypeOf(s.Rhs[0])), &out)
		return out
	}
	if len(s.Lhs) == 2 && len(s.Rhs) == 1 {
		if out := l.commaOK(s); out != nil {
			return out
		}
	}
	if l.interferes(s) || l.mayDelete(s) || l.receivesBefore(s) {
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
		} else if l.losesParams(e) {
			s.Rhs[i] = l.functionIn(e)
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

// separate lowers an assignment of several values, some of which are converted to interfaces (yaegi
// would not convert them) or are composite literals (yaegi would lose other values). It evaluates
// all values into variables of the target types, and then assigns these one by one. It returns nil
// for other assignments.
func (l *lowerer) separate(s *ast.AssignStmt) (out []ast.Stmt) {
	if len(s.Lhs) != len(s.Rhs) || len(s.Lhs) < 2 {
		return nil
	}
	found := false
	for i, e := range s.Lhs {
		if _, isName := e.(*ast.Ident); !isName {
			return nil
		}
		found = found || types.IsInterface(l.lhsType(e)) || isLiteral(s.Rhs[i]) || isBlank(e) && l.evaluates(s.Rhs[i])
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

// received replaces receive operations on the right side by variables with their results, because
// yaegi stores a received value in a variable without an address.
func (l *lowerer) received(s *ast.AssignStmt) (out []ast.Stmt) {
	for i, e := range s.Rhs {
		if !isReceive(e) {
			continue
		}
		u := ast.Unparen(e).(*ast.UnaryExpr)
		u.X = l.expr(u.X)
		v := l.temp("received")
		out = append(out, assign(token.DEFINE, l.ident(e.Pos(), v), u))
		s.Rhs[i] = l.ident(e.Pos(), v)
	}
	return out
}

// commaOK lowers assignments of the form v, ok = x. It returns nil for other assignments.
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
		// Yaegi can store these two results only in variables of the function itself, and it stores
		// a received value without an address.
		v, ok := l.temp("v"), l.temp("ok")
		set := &ast.AssignStmt{Lhs: []ast.Expr{l.ident(pos, v), l.ident(pos, ok)}, TokPos: pos, Tok: token.DEFINE,
			Rhs: []ast.Expr{l.expr(e)}}
		return append([]ast.Stmt{set}, l.assignNames(s, v, ok)...)
	}
	return nil
}

// assignNames returns s, a commaOK assignment, with the variables v and ok on its right side.
func (l *lowerer) assignNames(s *ast.AssignStmt, v, ok string) []ast.Stmt {
	pos := s.Pos()
	x, second := l.ident(pos, v), l.ident(pos, ok)
	if from := l.info.TypeOf(s.Rhs[0]).(*types.Tuple).At(0).Type(); l.converts(from, l.lhsType(s.Lhs[0])) {
		return l.assign(&ast.AssignStmt{Lhs: s.Lhs, TokPos: pos, Tok: s.Tok,
			Rhs: []ast.Expr{l.typed(x, from), l.typed(second, types.Typ[types.Bool])}})
	}
	l.exprs(s.Lhs)
	return []ast.Stmt{&ast.AssignStmt{Lhs: s.Lhs, TokPos: pos, Tok: s.Tok, Rhs: []ast.Expr{x, second}}}
}

// assignInOrder lowers an assignment for which interferes is true in Go's two phases: it evaluates
// the operands of indices and pointers on the left, and the values, into variables, and then
// assigns.
func (l *lowerer) assignInOrder(s *ast.AssignStmt) (out []ast.Stmt) {
	lhs := make([]ast.Expr, len(s.Lhs))
	for i, e := range s.Lhs {
		lhs[i] = l.place(e, &out)
	}
	var set []ast.Stmt
	for i, e := range s.Rhs {
		t := l.lhsType(s.Lhs[i])
		if s.Tok != token.ASSIGN {
			t = l.info.TypeOf(e)
		}
		if id, ok := s.Lhs[i].(*ast.Ident); ok && id.Name == "_" {
			t = types.Default(l.info.TypeOf(e))
			if l.info.Types[e].IsNil() {
				continue
			}
		}
		if _, ok := e.(*ast.CompositeLit); ok {
			e = l.paren(e)
		}
		set = append(set, assign(s.Tok, lhs[i], l.hold(e, t, &out)))
	}
	return append(out, set...)
}

// assignResults lowers an assignment of the results of one expression. It evaluates the operands on
// the left first. Yaegi would not set elements of maps.
func (l *lowerer) assignResults(s *ast.AssignStmt) (out []ast.Stmt) {
	pos := s.Pos()
	var set []ast.Stmt
	values := &ast.AssignStmt{TokPos: s.TokPos, Tok: token.DEFINE, Rhs: s.Rhs}
	results := l.info.TypeOf(s.Rhs[0]).(*types.Tuple)
	for i, e := range s.Lhs {
		t := results.At(i).Type()
		v := l.typed(l.ident(pos, l.temp("v")), types.Default(t))
		values.Lhs = append(values.Lhs, v)
		if !isBlank(e) {
			to := l.lhsType(e)
			set = append(set, assign(token.ASSIGN, l.place(e, &out), l.converted(v, t, to)))
		}
	}
	out = append(out, l.mark(values)...)
	return append(append(out, l.assign(values)...), set...)
}

// place lowers the left side of an assignment. It evaluates operands in it into variables, by
// statements that it appends to out.
func (l *lowerer) place(e ast.Expr, out *[]ast.Stmt) ast.Expr {
	operand := func(x ast.Expr) ast.Expr { // x, or its address if it is a struct or an array
		t := l.info.TypeOf(x)
		switch t.Underlying().(type) {
		case *types.Struct, *types.Array:
			l.captureOperand(x)
			p := l.temp("p")
			*out = append(*out, assign(token.DEFINE, l.ident(x.Pos(), p), l.address(l.expr(x))))
			return l.ident(x.Pos(), p)
		}
		return l.hold(x, t, out)
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		_, isArray := l.info.TypeOf(e.X).Underlying().(*types.Array)
		t := types.Default(l.info.TypeOf(e.Index))
		if m, ok := l.info.TypeOf(e.X).Underlying().(*types.Map); ok {
			t = m.Key()
		}
		e.X = operand(e.X)
		if isArray {
			e.X = &ast.ParenExpr{Lparen: e.X.Pos(), X: &ast.StarExpr{Star: e.X.Pos(), X: e.X}, Rparen: e.X.Pos()}
		}
		e.Index = l.hold(e.Index, t, out)
		return e
	case *ast.StarExpr:
		e.X = operand(e.X)
		return e
	case *ast.SelectorExpr:
		if l.info.Selections[e] == nil {
			return l.expr(e)
		}
		x := operand(e.X)
		l.info.Types[x] = types.TypeAndValue{Type: l.info.TypeOf(e.X)}
		e.X = x
		return l.selector(e)
	}
	return l.expr(e)
}
