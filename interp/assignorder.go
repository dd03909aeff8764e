package interp

import (
	"go/ast"
	"go/token"
	"go/types"
)

// interferes reports whether an assignment of several values is one that yaegi, which assigns them one after the other, may do wrongly:
// what one of them sets is used to find where another goes, one is nil, one becomes an interface in a field or element, or one is the result of a call,
// which it may take for those of all.
func (l *lowerer) interferes(s *ast.AssignStmt) bool {
	if s.Tok != token.ASSIGN || len(s.Lhs) < 2 || len(s.Lhs) != len(s.Rhs) {
		return false
	}
	set := map[types.Object]bool{}
	found := false
	deep := 0 // operands other than names
	for i, e := range s.Lhs {
		if l.info.Types[s.Rhs[i]].IsNil() || l.calls(s.Rhs[i]) {
			return true
		}
		if id, ok := ast.Unparen(e).(*ast.Ident); ok {
			set[l.info.Uses[id]] = true
		} else {
			deep++
			found = found || types.IsInterface(l.lhsType(e))
		}
	}
	for _, e := range s.Lhs {
		if _, ok := ast.Unparen(e).(*ast.Ident); ok {
			continue
		}
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				found = found || set[l.info.Uses[n]]
			case *ast.CallExpr:
				found = found || !l.info.Types[n.Fun].IsType() && l.info.Types[n].Value == nil
			case *ast.IndexExpr, *ast.StarExpr, *ast.SelectorExpr:
				found = found || deep > 1 && n != ast.Unparen(e) && l.info.Types[n.(ast.Expr)].IsValue() && l.mayPanic(n)
			}
			return !found
		})
	}
	return found
}

// mayDelete reports whether s is m[k] = *p, by which yaegi deletes the element where p is nil.
func (l *lowerer) mayDelete(s *ast.AssignStmt) bool {
	if s.Tok != token.ASSIGN || len(s.Lhs) != 1 {
		return false
	}
	e, isIndex := ast.Unparen(s.Lhs[0]).(*ast.IndexExpr)
	_, isStar := ast.Unparen(s.Rhs[0]).(*ast.StarExpr)
	return isIndex && isStar && !l.hasLength(e.X)
}

// calls reports whether e is a call of a function that is evaluated as the program runs.
func (l *lowerer) calls(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && !l.info.Types[call.Fun].IsType() && l.info.Types[call].Value == nil
}

// assignInOrder lowers such an assignment in Go's two phases: the operands of indices and pointers on the left and the values are evaluated into
// variables, then they are assigned.
func (l *lowerer) assignInOrder(s *ast.AssignStmt) (out []ast.Stmt) {
	lhs := make([]ast.Expr, len(s.Lhs))
	for i, e := range s.Lhs {
		lhs[i] = l.place(e, &out)
	}
	var set []ast.Stmt
	for i, e := range s.Rhs {
		t := l.lhsType(s.Lhs[i])
		if id, ok := s.Lhs[i].(*ast.Ident); ok && id.Name == "_" {
			t = types.Default(l.info.TypeOf(e))
			if l.info.Types[e].IsNil() {
				continue
			}
		}
		if _, ok := e.(*ast.CompositeLit); ok {
			e = l.paren(e)
		}
		set = append(set, assign(token.ASSIGN, lhs[i], l.hold(e, t, &out)))
	}
	return append(out, set...)
}

// place lowers the left side of an assignment; all in it that is evaluated is so by out.
func (l *lowerer) place(e ast.Expr, out *[]ast.Stmt) ast.Expr {
	operand := func(x ast.Expr) ast.Expr { // x, or the address of what is not reached through a pointer
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

// hold evaluates e, as a value of type t, into a variable.
func (l *lowerer) hold(e ast.Expr, t types.Type, out *[]ast.Stmt) ast.Expr {
	v := l.temp("v")
	*out = append(*out, l.varDecl(e.Pos(), v, t), assign(token.ASSIGN, l.ident(e.Pos(), v), l.convert(e, t)))
	return l.ident(e.Pos(), v)
}
