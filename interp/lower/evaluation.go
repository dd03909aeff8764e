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

// isDeep reports whether e is the left side of an assignment other than to a variable by its name.
func isDeep(e ast.Expr) bool {
	_, isName := ast.Unparen(e).(*ast.Ident)
	return !isName
}

// calls reports whether e is a call of a function that is evaluated as the program runs.
func (l *facts) calls(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && !l.info.Types[call.Fun].IsType() && l.info.Types[call].Value == nil
}

// evaluates reports whether there is anything to do for the value of e.
func (l *facts) evaluates(e ast.Expr) bool {
	_, isName := ast.Unparen(e).(*ast.Ident)
	return !isName && l.info.Types[e].Value == nil
}

// interferes reports whether an assignment of several values is one that yaegi, which assigns them one after the other, may do wrongly:
// what one of them sets is used to find where another goes, one is nil, one becomes an interface or has no place and another is in a field or element, or one
// is the result of a call, which it may take for those of all.
func (l *facts) interferes(s *ast.AssignStmt) bool {
	if s.Tok != token.ASSIGN || len(s.Lhs) < 2 || len(s.Lhs) != len(s.Rhs) {
		return false
	}
	set := map[types.Object]bool{}
	found := false
	deep, becomes := 0, false // operands other than names; one becomes an interface, or one that does not count is evaluated late
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

// failsLate reports whether an assignment may panic when some of its values are assigned: yaegi would assign none. An element that the right side reads, too, is
// there, and so is what one before it is a part of.
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

// receivesBefore reports whether s is x[<-c] = <-d or x[<-c] += <-d, of which the right side would be received first: see received.
func (l *facts) receivesBefore(s *ast.AssignStmt) bool {
	if s.Tok == token.DEFINE || isShift(s.Tok) || len(s.Lhs) != len(s.Rhs) || !slices.ContainsFunc(s.Rhs, isReceive) {
		return false
	}
	return slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { return !l.isPlain(e) })
}

// mayDelete reports whether s is m[k] = *p, by which yaegi deletes the element where p is nil.
func (l *facts) mayDelete(s *ast.AssignStmt) bool {
	if s.Tok != token.ASSIGN || len(s.Lhs) != 1 {
		return false
	}
	e, isIndex := ast.Unparen(s.Lhs[0]).(*ast.IndexExpr)
	_, isStar := ast.Unparen(s.Rhs[0]).(*ast.StarExpr)
	return isIndex && isStar && !l.hasLength(e.X)
}

// typesOf are the types of the variables that an assignment of the results of a call sets; the blank identifier has that of its result.
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

// becomesOther reports whether the several results of a call become values of other types.
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

// needsConversion reports whether a value of type from is assignable to another type without an interface, and yaegi does not know it: structs carry their
// names with them and channels their direction, and arrays are compared with those of their own type only.
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

// hasCellCall reports whether a function of a cell is called in a statement, function literals not counted. It takes less time than panicsAfterCall, and most have none.
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

// panicsAfterCall reports whether a statement calls a function of a cell and then does something else that may panic.
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
		if a, ok := n.(*ast.AssignStmt); ok { // what is assigned to is reached last
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

// ordersMore reports whether there is more than calls in a statement that must stay in its order.
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

// headOf returns the expression that a statement evaluates first and once, other than the simple statements; nil if there is none.
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
