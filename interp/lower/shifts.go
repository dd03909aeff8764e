package lower

import (
	"go/ast"
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
