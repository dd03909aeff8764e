package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// isBlank reports whether e is the blank identifier.
func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// isDeep reports whether e is the left side of an assignment and is not the name of a variable.
func isDeep(e ast.Expr) bool {
	_, isName := ast.Unparen(e).(*ast.Ident)
	return !isName
}

// calls reports whether e calls a function when the program runs.
func (l *facts) calls(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && !l.info.Types[call.Fun].IsType() && l.info.Types[call].Value == nil
}

// evaluates reports whether evaluating e does anything.
func (l *facts) evaluates(e ast.Expr) bool {
	_, isName := ast.Unparen(e).(*ast.Ident)
	return !isName && l.info.Types[e].Value == nil
}

// interferes reports whether yaegi would execute an assignment of several values wrongly, because
// it assigns one after the other. That is so if
//
//   - the place of one value depends on a variable that the assignment sets, on a call, or on an
//     operand that may panic,
//   - a value is nil or the result of a call,
//   - one place is not just a variable, and another value is converted to an interface or
//     evaluated for the blank identifier, or
//   - the assignment panics late (see failsLate).
func (l *facts) interferes(s *ast.AssignStmt) bool {
	if s.Tok != token.ASSIGN || len(s.Lhs) < 2 || len(s.Lhs) != len(s.Rhs) {
		return false
	}
	set := map[types.Object]bool{}
	found := false
	// deep counts operands other than names; becomes: a value is converted to an interface, or an
	// evaluation for _ would come late
	deep, becomes := 0, false
	for i, e := range s.Lhs {
		if l.info.Types[s.Rhs[i]].IsNil() || l.calls(s.Rhs[i]) {
			return true
		}
		if id, ok := ast.Unparen(e).(*ast.Ident); ok {
			set[l.info.Uses[id]] = true
		} else {
			deep++
		}
		becomes = becomes || types.IsInterface(l.lhsType(e)) || isBlank(e) && l.evaluates(s.Rhs[i])
	}
	found = deep > 0 && becomes || l.failsLate(s)
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

// failsLate reports whether an assignment may panic after some of its values are assigned; yaegi
// would then have assigned none. A place that the right side also reads, or that is the operand of
// an earlier place, is known to exist and does not count.
func (l *facts) failsLate(s *ast.AssignStmt) bool {
	there := map[string]bool{}
	for _, e := range s.Rhs {
		if isDeep(e) {
			there[types.ExprString(ast.Unparen(e))] = true
		}
	}
	for i, e := range s.Lhs {
		base := ""
		e := ast.Unparen(e)
		switch e := e.(type) {
		case *ast.SelectorExpr:
			base = types.ExprString(e.X)
		case *ast.IndexExpr:
			if !l.hasLength(e.X) {
				base = types.ExprString(e.X)
			}
		}
		if i > 0 && l.mayPanic(e) && !there[types.ExprString(e)] && !there[base] {
			return true
		}
		there[base] = base != ""
	}
	return false
}

// receivesBefore reports whether s is x[<-c] = <-d or x[<-c] += <-d, where the right side would be
// received first: see received.
func (l *facts) receivesBefore(s *ast.AssignStmt) bool {
	if s.Tok == token.DEFINE || isShift(s.Tok) || len(s.Lhs) != len(s.Rhs) || !slices.ContainsFunc(s.Rhs, isReceive) {
		return false
	}
	return slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { return !l.isPlain(e) })
}

// mayDelete reports whether s is m[k] = *p. If p is nil, yaegi deletes the element.
func (l *facts) mayDelete(s *ast.AssignStmt) bool {
	if s.Tok != token.ASSIGN || len(s.Lhs) != 1 {
		return false
	}
	e, isIndex := ast.Unparen(s.Lhs[0]).(*ast.IndexExpr)
	_, isStar := ast.Unparen(s.Rhs[0]).(*ast.StarExpr)
	return isIndex && isStar && !l.hasLength(e.X)
}

// typesOf returns the types of the variables to which the results of a call are assigned. For the
// blank identifier it is the result's type.
func (l *facts) typesOf(lhs []ast.Expr, call ast.Expr) *types.Tuple {
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

// becomesOther reports whether the results of a call are converted to other types.
func (l *facts) becomesOther(e ast.Expr, to *types.Tuple) bool {
	call, isCall := ast.Unparen(e).(*ast.CallExpr)
	if !isCall {
		return false
	}
	results, ok := l.info.TypeOf(call).(*types.Tuple)
	if !ok || results.Len() != to.Len() {
		return false
	}
	for i := range results.Len() {
		if !types.Identical(results.At(i).Type(), to.At(i).Type()) {
			return true
		}
	}
	return false
}

// needsConversion reports whether a value of type from is assignable to another type that is not an
// interface, but yaegi needs a conversion: in yaegi, struct types differ by name and channel types
// by direction, and arrays are compared only with arrays of the same type.
func (l *facts) needsConversion(from, to types.Type) bool {
	if from == nil || to == nil || types.Identical(from, to) {
		return false
	}
	switch to.Underlying().(type) {
	case *types.Struct:
		_, ok := from.Underlying().(*types.Struct)
		return ok
	case *types.Array:
		_, ok := from.Underlying().(*types.Array)
		return ok
	case *types.Chan:
		_, ok := from.Underlying().(*types.Chan)
		return ok
	}
	return false
}

// callsCell reports whether e calls a function of a cell.
func (l *facts) callsCell(e *ast.CallExpr) bool {
	tv := l.info.Types[e.Fun]
	return tv.IsValue() && !tv.IsBuiltin() && !l.isCompiledFunc(ast.Unparen(e.Fun))
}

// hasCellCall reports whether a statement calls a function of a cell, not counting function
// literals. It is faster than panicsAfterCall, and most statements have no such call.
func (l *facts) hasCellCall(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			found = found || l.callsCell(n)
		}
		return !found
	})
	return found
}

// panicsAfterCall reports whether a statement calls a function of a cell and does something
// afterwards that may panic.
func (l *facts) panicsAfterCall(s ast.Stmt) bool {
	called, found := false, false
	var visit func(n ast.Node)
	visit = func(n ast.Node) {
		if isNilNode(n) || found {
			return
		}
		if e, ok := n.(ast.Expr); ok {
			if tv, ok := l.info.Types[e]; ok && (tv.IsType() || tv.Value != nil) {
				return
			}
		}
		if a, ok := n.(*ast.AssignStmt); ok { // the left side is evaluated last
			for _, e := range append(append([]ast.Expr{}, a.Rhs...), a.Lhs...) {
				visit(e)
			}
			return
		}
		ast.Inspect(n, func(c ast.Node) bool {
			if c == n {
				return true
			}
			if _, isLit := c.(*ast.FuncLit); !isLit && c != nil {
				visit(c)
			}
			return false
		})
		if e, ok := n.(*ast.CallExpr); ok && l.callsCell(e) {
			called = true
			return
		}
		found = found || called && l.mayPanic(n)
	}
	visit(s)
	return found
}

// ordersMore reports whether a statement contains more than calls whose order must stay.
func (l *facts) ordersMore(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.BinaryExpr:
			found = found || (n.Op == token.LAND || n.Op == token.LOR) && !l.isPlain(n)
		case *ast.CallExpr:
			id, ok := ast.Unparen(n.Fun).(*ast.Ident)
			found = found || ok && l.info.Types[n.Fun].IsBuiltin() && (id.Name == "copy" || id.Name == "recover")
		}
		return !found
	})
	return found
}

// headOf returns the expression that a statement evaluates first and exactly once, or nil if there
// is none. Simple statements are not handled.
func headOf(s ast.Stmt) *ast.Expr {
	switch s := s.(type) {
	case *ast.IfStmt:
		if s.Init == nil {
			return &s.Cond
		}
	case *ast.SwitchStmt:
		if s.Init == nil && s.Tag != nil {
			return &s.Tag
		}
	case *ast.RangeStmt:
		return &s.X
	}
	return nil
}
