package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// notNegative reports whether an integer is known to be at least 0.
func (l *marker) notNegative(e ast.Expr) bool {
	if v := l.info.Types[e].Value; v != nil {
		return constant.Sign(constant.ToInt(v)) >= 0
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return l.counters[l.info.Uses[e]]
	case *ast.BinaryExpr:
		switch e.Op {
		case token.AND:
			return l.notNegative(e.X) || l.notNegative(e.Y)
		case token.REM, token.QUO, token.SHR, token.ADD:
			return l.notNegative(e.X) && l.notNegative(e.Y)
		}
	case *ast.CallExpr:
		if id, ok := ast.Unparen(e.Fun).(*ast.Ident); ok && l.info.Types[e.Fun].IsBuiltin() {
			return id.Name == "len" || id.Name == "cap"
		}
	}
	return false
}

// count records the variable of a loop that counts up from 0 or more, if nothing else changes the
// variable.
func (l *marker) count(loop ast.Stmt, vars []*types.Var) {
	if len(vars) == 0 || l.keeps(loop, vars[:1]) {
		return
	}
	switch s := loop.(type) {
	case *ast.ForStmt:
		inc, up := s.Post.(*ast.IncDecStmt)
		if init, ok := s.Init.(*ast.AssignStmt); ok && up && inc.Tok == token.INC && len(vars) == 1 &&
			l.notNegative(init.Rhs[0]) && !l.assigns(s.Body, vars) {
			l.counters[vars[0]] = true
		}
	case *ast.RangeStmt:
		if id, ok := s.Key.(*ast.Ident); ok && l.info.Defs[id] == vars[0] && !l.assigns(s.Body, vars[:1]) {
			switch l.info.TypeOf(s.X).Underlying().(type) {
			case *types.Basic, *types.Slice, *types.Array, *types.Pointer:
				l.counters[vars[0]] = true
			}
		}
	}
}
