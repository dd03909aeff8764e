package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// passOne passes a lowered value through such a function.
func (l *builder) passOne(pos token.Pos, low ast.Expr, from, t types.Type) ast.Expr {
	v := l.temp("v")
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos,
			Params:  &ast.FieldList{Opening: pos, List: []*ast.Field{{Names: []*ast.Ident{l.ident(pos, v)}, Type: l.typeExpr(from, pos)}}},
			Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.typeExpr(t, pos)}}},
		},
		Body: block(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.ident(pos, v)}}),
	}
	return &ast.CallExpr{Fun: lit, Lparen: pos, Args: []ast.Expr{low}, Rparen: pos}
}

// spread passes the arguments of a variadic parameter as one slice where yaegi would pass them
// wrongly: it may take a single slice argument for all the arguments, and passes none to functions
// in struct fields. A nil in place of all arguments gets the slice's type.
func (l *builder) spread(sig *types.Signature, e *ast.CallExpr) {
	n := sig.Params().Len() - 1
	slice, ok := sig.Params().At(n).Type().(*types.Slice)
	if !ok || len(e.Args) < n || len(e.Args) == 1 && l.isTuple(e.Args[0]) {
		return
	}
	if e.Ellipsis.IsValid() {
		if last := e.Args[n]; l.info.Types[last].IsNil() {
			e.Args[n] = l.typed(&ast.CallExpr{Fun: l.paren(l.typeExpr(slice, last.Pos())), Lparen: last.Pos(),
				Args: []ast.Expr{last}, Rparen: last.End()}, slice)
		}
		return
	}
	all := types.IsInterface(slice.Elem()) &&
		slices.ContainsFunc(e.Args[n:], func(a ast.Expr) bool { return typed.IsSlice(l.info.TypeOf(a)) })
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

// nameParams gives unnamed parameters of a function names, because yaegi allocates no space for
// unnamed ones.
func (l *builder) nameParams(params *ast.FieldList) {
	if params == nil {
		return
	}
	for _, f := range params.List {
		if len(f.Names) == 0 {
			f.Names = []*ast.Ident{l.ident(f.Type.Pos(), l.temp("p"))}
		}
		for i, id := range f.Names {
			if id.Name == "_" {
				f.Names[i] = l.ident(id.Pos(), l.temp("p"))
			}
		}
	}
}

// zeroResults sets named results to their zero values. In yaegi they would initially have the value
// of the variable to which the result is assigned.
func (l *builder) zeroResults(t *ast.FuncType, sig *types.Signature) (out []ast.Stmt) {
	if t.Results == nil {
		return nil
	}
	i := 0
	for _, f := range t.Results.List {
		for _, id := range f.Names {
			if id.Name == "_" {
				id.Name = l.temp("result") // it is returned like the other results
			}
			out = append(out, assign(token.ASSIGN, l.ident(id.Pos(), id.Name), l.zero(id.Pos(), sig.Results().At(i).Type())))
			i++
		}
	}
	return out
}
