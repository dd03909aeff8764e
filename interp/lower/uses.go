package lower

import (
	"go/ast"
	"go/types"
)

// qualified adds the package to a name that is visible through a dot import; it returns other
// expressions unchanged.
func (l *marker) qualified(e ast.Expr) ast.Expr {
	id, ok := e.(*ast.Ident)
	if !ok || l.silent { // code of packages uses plain names
		return e
	}
	obj := l.info.Uses[id]
	if obj == nil || obj.Pkg() == nil || l.checker.Interprets(obj.Pkg()) || l.params[obj] || obj.Parent() != obj.Pkg().Scope() {
		return e
	}
	pkg := l.ident(id.Pos(), obj.Pkg().Name())
	l.info.Uses[pkg] = types.NewPkgName(id.Pos(), l.checker.Package(), pkg.Name, obj.Pkg())
	sel := &ast.SelectorExpr{X: pkg, Sel: id}
	l.info.Types[sel] = l.info.Types[id]
	return sel
}

// identifier lowers the use of a name.
func (l *marker) identifier(id *ast.Ident) ast.Expr {
	obj := l.info.Uses[id]
	if obj == nil {
		obj = l.info.Defs[id]
	}
	if obj == nil {
		return id
	}
	if s := l.storage(obj); s != nil && l.fn != nil && !l.fn.top() {
		s.users[l.c.Text] = s.users[l.c.Text] || l.fn.declared()
	}
	if t, ok := obj.(*types.TypeName); ok && (l.params[t] || l.isRecursive(t.Type())) {
		return l.typeExpr(t.Type(), id.Pos())
	}
	return l.ident(id.Pos(), l.name(obj))
}

// isLogger reports whether e selects such a function or method.
func (l *marker) isLogger(e *ast.SelectorExpr) bool {
	fn, ok := l.info.Uses[e.Sel].(*types.Func)
	return ok && fn.Pkg() != nil && fn.Pkg().Path() == "log" && loggerMethods[fn.Name()] && !l.silent
}

// functionValue lowers a function of the session that is used as a value to a closure that calls
// it. So if the function is defined again, the closure calls the new definition.
func (l *marker) functionValue(id *ast.Ident, fn *types.Func) ast.Expr {
	lit, args := l.forwarder(id.Pos(), fn.Signature())
	return l.ofFunction(l.forward(lit, fn.Signature(), l.identifier(id), args), fn, "")
}

// instanceValue is functionValue for an instance of a generic function.
func (l *marker) instanceValue(id *ast.Ident, fn *types.Func) ast.Expr {
	sig, _ := l.info.Instances[id].Type.(*types.Signature)
	low := l.instance(id, nil)
	if _, native := low.(*ast.SelectorExpr); native || sig == nil {
		return low
	}
	lit, args := l.forwarder(id.Pos(), sig)
	return l.ofFunction(l.forward(lit, sig, low, args), fn, "")
}

// methodExpr lowers T.Method: func(r T, args) results { return r.Method(args) }.
func (l *marker) methodExpr(sel *ast.SelectorExpr, s *types.Selection) ast.Expr {
	sig := s.Type().(*types.Signature)
	lit, args := l.forwarder(sel.Pos(), sig)
	recv := args[0]
	return l.ofFunction(l.forward(lit, sig, &ast.SelectorExpr{X: recv, Sel: l.ident(sel.Pos(), sel.Sel.Name)}, args[1:]),
		s.Obj().(*types.Func), "")
}
