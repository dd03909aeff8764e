package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

// root returns the variable that contains an operand.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// keeps reports whether code in a loop may use one of vars after the iteration: in a function
// literal or through a pointer.
func (l *facts) keeps(loop ast.Node, vars []*types.Var) bool {
	is := map[types.Object]bool{}
	for _, v := range vars {
		is[v] = true
	}
	found := false
	depth := 0
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			depth++
			ast.Inspect(n.Body, visit)
			depth--
			return false
		case *ast.Ident:
			found = found || depth > 0 && is[l.info.Uses[n]]
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && is[l.info.Uses[root(n.X)]]
		case *ast.SliceExpr:
			found = found || is[l.info.Uses[root(n.X)]]
		case *ast.SelectorExpr:
			if sel := l.info.Selections[n]; sel != nil && sel.Kind() == types.MethodVal {
				_, byPointer := sel.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
				found = found || byPointer && is[l.info.Uses[root(n.X)]]
			}
		}
		return !found
	}
	ast.Inspect(loop, visit)
	return found
}

// assigns reports whether body may change one of vars.
func (l *facts) assigns(body ast.Node, vars []*types.Var) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		var lhs []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			lhs = n.Lhs
		case *ast.IncDecStmt:
			lhs = []ast.Expr{n.X}
		case *ast.RangeStmt:
			lhs = []ast.Expr{n.Key, n.Value}
		}
		for _, e := range lhs {
			for _, v := range vars {
				found = found || e != nil && l.info.Uses[root(e)] == v
			}
		}
		return !found
	})
	return found
}

// loopVars returns the variables that a loop declares.
func (l *facts) loopVars(s ast.Stmt) []*types.Var {
	var ids []ast.Expr
	switch s := s.(type) {
	case *ast.ForStmt:
		if a, ok := s.Init.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			ids = a.Lhs
		}
	case *ast.RangeStmt:
		if s.Tok == token.DEFINE {
			ids = []ast.Expr{s.Key, s.Value}
		}
	}
	var vars []*types.Var
	for _, e := range ids {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
			if v, ok := l.info.Defs[id].(*types.Var); ok {
				vars = append(vars, v)
			}
		}
	}
	return vars
}
