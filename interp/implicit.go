package interp

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Yaegi's interfaces do not hold a copy of a cell's value but refer to the variable it came from, or to the place in a frame that the next iteration of a
// loop uses again; and interfaces of compiled packages, error for instance, get the last field of a struct in place of the struct. So wherever a value
// of a session's type, or a pointer to one, becomes an interface, a function does it, in a frame of its own:
//
//	func convert(v T) (i I) { i = v; runtime.Hold(&i, &v); return i }

// convert lowers e, a value that becomes one of type to.
func (l *lowerer) convert(e ast.Expr, to types.Type) ast.Expr {
	from := l.info.TypeOf(e)
	low := l.expr(e)
	if from == nil || to == nil || !types.IsInterface(to) || types.IsInterface(from) || l.identity(from) == "" {
		return low
	}
	pos := e.Pos()
	if lit, ok := ast.Unparen(low).(*ast.CompositeLit); ok && lit.Type == nil { // an element of a literal
		return low
	}
	return &ast.CallExpr{Fun: l.converter(from, to, pos), Lparen: pos, Args: []ast.Expr{low}, Rparen: pos}
}

// converter returns the function that converts from to to, which is declared where the first cell needs it.
func (l *lowerer) converter(from, to types.Type, pos token.Pos) ast.Expr {
	key := l.typeKey(from) + "\x00" + l.typeKey(to)
	name := l.in.scope.converters[key]
	if name == "" {
		name = l.converters[key]
	}
	if name != "" {
		return l.ident(pos, name)
	}
	name = l.in.scope.newName("convert")
	l.converters[key] = name
	v, i := "v#", "i#"
	body := []ast.Stmt{
		l.varDecl(pos, i, to),
		assign(token.ASSIGN, l.ident(pos, i), l.ident(pos, v)),
	}
	if _, isStruct := from.Underlying().(*types.Struct); isStruct {
		body = append(body, &ast.ExprStmt{X: l.helper(pos, "Hold", l.address(l.ident(pos, i)), l.address(l.ident(pos, v)))})
	}
	l.declarations = append(l.declarations, &ast.FuncDecl{
		Name: l.ident(pos, name),
		Type: &ast.FuncType{Func: pos,
			Params:  &ast.FieldList{Opening: pos, List: []*ast.Field{{Names: []*ast.Ident{l.ident(pos, v)}, Type: l.typeExpr(from, pos)}}},
			Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.typeExpr(to, pos)}}},
		},
		Body: block(pos, append(body, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.ident(pos, i)}})...),
	})
	return l.ident(pos, name)
}

// typeKey tells types apart, those of cells by their names in yaegi.
func (l *lowerer) typeKey(t types.Type) string {
	if id := l.identity(t); id != "" {
		return id
	}
	return types.TypeString(t, nil)
}

// arguments lowers the arguments of a call.
func (l *lowerer) arguments(sig *types.Signature, e *ast.CallExpr) {
	compiled := l.isCompiledFunc(ast.Unparen(e.Fun))
	for i, a := range e.Args {
		if sig == nil {
			e.Args[i] = l.expr(a)
			continue
		}
		to := paramAt(sig, i, e.Ellipsis.IsValid())
		if printed := l.printedAs(e, a, to); printed != nil {
			to = printed
		} else if to != nil && types.IsInterface(to) && compiled && to.Underlying().(*types.Interface).NumMethods() == 0 {
			to = nil // compiled code gets copies
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
