package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// shiftCount lowers the count of a shift. A negative count panics, which yaegi does not check.
// Yaegi may require that the count has the type of the shifted operand, except if the latter is the
// result of a conversion.
func (l *lowerer) shiftCount(e ast.Expr) ast.Expr {
	if l.info.Types[e].Value != nil { // not negative: the checker has rejected negative constants
		return l.integer(e)
	}
	b, ok := l.info.TypeOf(e).Underlying().(*types.Basic)
	low := l.expr(e)
	to := func(t string) ast.Expr {
		return &ast.CallExpr{Fun: l.ident(e.Pos(), t), Lparen: e.Pos(), Args: []ast.Expr{low}, Rparen: e.Pos()}
	}
	if !ok || b.Info()&types.IsUnsigned != 0 || l.notNegative(e) {
		if _, isBinary := ast.Unparen(low).(*ast.BinaryExpr); isBinary {
			return to("uint64")
		}
		return low
	}
	return l.helper(e.Pos(), contract.ShiftCount, to("int64"))
}

// shifted lowers the left operand of a shift. The type of a constant depends on the context, which
// yaegi ignores.
func (l *lowerer) shifted(e ast.Expr) ast.Expr {
	if tv := l.info.Types[e]; tv.Value != nil {
		return l.typedConstant(e, tv)
	}
	return l.expr(e)
}

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
