package lower

import (
	"go/ast"
	"go/types"
)

// element lowers an element of a list, of type t, in a composite literal. Yaegi asks for the types
// of such elements before it knows the types of their parts, and does not find the type of an
// element of a compiled slice or map, as in []any{strings.Fields(s)[0] == "a"}; the value is then
// passed through a function.
func (l *lowerer) element(e ast.Expr, t types.Type) ast.Expr {
	low := l.convert(e, t)
	switch low.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.IndexExpr: // yaegi does not ask
		return low
	}
	if t == nil || !typedByIndex(low) {
		return low
	}
	return l.passOne(low.Pos(), low, t, t)
}

// typedByIndex reports whether the type of a lowered expression depends on the type of an element
// of a slice, array or map.
func typedByIndex(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.IndexExpr:
		return true
	case *ast.ParenExpr:
		return typedByIndex(e.X)
	case *ast.StarExpr:
		return typedByIndex(e.X)
	case *ast.UnaryExpr:
		return typedByIndex(e.X)
	case *ast.SelectorExpr:
		return typedByIndex(e.X)
	case *ast.SliceExpr:
		return typedByIndex(e.X)
	case *ast.BinaryExpr:
		return typedByIndex(e.X) || typedByIndex(e.Y)
	case *ast.CallExpr:
		return typedByIndex(e.Fun)
	}
	return false
}
