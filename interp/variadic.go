package interp

import (
	"go/ast"
	"go/types"
	"slices"
)

// spread makes one slice of the arguments of a variadic parameter where yaegi would not: an argument that is a slice itself may be taken for all of
// them, and functions in fields of structs get none. A nil in the place of all arguments gets its type.
func (l *lowerer) spread(sig *types.Signature, e *ast.CallExpr) {
	n := sig.Params().Len() - 1
	slice, ok := sig.Params().At(n).Type().(*types.Slice)
	if !ok || len(e.Args) < n || len(e.Args) == 1 && l.isTuple(e.Args[0]) {
		return
	}
	if e.Ellipsis.IsValid() {
		if last := e.Args[n]; l.info.Types[last].IsNil() {
			e.Args[n] = l.typed(&ast.CallExpr{Fun: l.paren(l.typeExpr(slice, last.Pos())), Lparen: last.Pos(), Args: []ast.Expr{last}, Rparen: last.End()}, slice)
		}
		return
	}
	all := types.IsInterface(slice.Elem()) && slices.ContainsFunc(e.Args[n:], func(a ast.Expr) bool { return isSlice(l.info.TypeOf(a)) })
	sel, isSelector := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	inField := isSelector && l.info.Selections[sel] != nil && l.info.Selections[sel].Kind() == types.FieldVal
	if !all && !inField {
		return
	}
	pos := e.Rparen
	list := &ast.CompositeLit{Type: l.typeExpr(slice, pos), Lbrace: pos, Elts: append([]ast.Expr{}, e.Args[n:]...), Rbrace: pos}
	e.Args = append(e.Args[:n:n], l.typed(list, slice))
	e.Ellipsis = pos
}

// typed notes the type of an expression of ours.
func (l *lowerer) typed(e ast.Expr, t types.Type) ast.Expr {
	l.info.Types[e] = types.TypeAndValue{Type: t}
	return e
}

func (l *lowerer) isTuple(e ast.Expr) bool {
	_, ok := l.info.TypeOf(e).(*types.Tuple)
	return ok
}

func isSlice(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Slice)
	return ok
}
