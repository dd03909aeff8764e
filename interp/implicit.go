package interp

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Yaegi puts the last field of a struct into an interface of a compiled package, error for instance, in place of the struct. Where a struct of a cell
// becomes such an interface, a function is called instead that does it rightly.

// convert lowers e, a value that becomes one of type to.
func (l *lowerer) convert(e ast.Expr, to types.Type) ast.Expr {
	from := l.info.TypeOf(e)
	low := l.expr(e)
	if from == nil || to == nil || !l.mistaken(from, to) {
		return low
	}
	pos := e.Pos()
	v, i := l.temp("v"), l.temp("i")
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos,
			Params:  &ast.FieldList{Opening: pos, List: []*ast.Field{{Names: []*ast.Ident{l.ident(pos, v)}, Type: l.typeExpr(from, pos)}}},
			Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.typeExpr(to, pos)}}},
		},
		Body: block(pos,
			l.varDecl(pos, i, to),
			assign(token.ASSIGN, l.ident(pos, i), l.ident(pos, v)),
			&ast.ExprStmt{X: l.helper(pos, "Hold", l.address(l.ident(pos, i)), l.address(l.ident(pos, v)))},
			&ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.ident(pos, i)}}),
	}
	return &ast.CallExpr{Fun: lit, Lparen: pos, Args: []ast.Expr{low}, Rparen: pos}
}

// mistaken reports whether yaegi converts from to to wrongly.
func (l *lowerer) mistaken(from, to types.Type) bool {
	n, ok := types.Unalias(from).(*types.Named)
	if !ok || n.Obj().Pkg() != l.in.pkg {
		return false
	}
	if _, isStruct := n.Underlying().(*types.Struct); !isStruct {
		return false
	}
	i, ok := types.Unalias(to).(*types.Named)
	return ok && types.IsInterface(i) && i.Obj().Pkg() != l.in.pkg
}

// arguments lowers the arguments of a call.
func (l *lowerer) arguments(sig *types.Signature, e *ast.CallExpr) {
	for i, a := range e.Args {
		if sig == nil {
			e.Args[i] = l.expr(a)
			continue
		}
		to := paramAt(sig, i, e.Ellipsis.IsValid())
		if printed := l.printedAs(e, a, to); printed != nil {
			to = printed
		}
		e.Args[i] = l.convert(a, to)
	}
}

// paramAt is the type of what the i-th argument becomes, nil when there is no such parameter.
func paramAt(sig *types.Signature, i int, spread bool) types.Type {
	n := sig.Params().Len()
	if sig.Variadic() && i >= n-1 {
		t := sig.Params().At(n - 1).Type()
		if s, ok := t.(*types.Slice); ok && !spread {
			return s.Elem()
		}
		return t
	}
	if i >= n {
		return nil
	}
	return sig.Params().At(i).Type()
}

// printedAs returns the interface by which a printing function would ask the argument a for its text, nil when there is none.
func (l *lowerer) printedAs(call *ast.CallExpr, a ast.Expr, param types.Type) types.Type {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || param == nil || !types.IsInterface(param) {
		return nil
	}
	fn, ok := l.info.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "fmt" && fn.Pkg().Path() != "log" {
		return nil
	}
	t := l.info.TypeOf(a)
	switch l.describing(t) {
	case "Error":
		return types.Universe.Lookup("error").Type()
	case "String":
		if pkg, err := l.in.pkgs.Import("fmt"); err == nil {
			return pkg.Scope().Lookup("Stringer").Type()
		}
	}
	return nil
}
