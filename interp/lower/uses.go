package lower

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/generics"
	"github.com/symmrepl/symmrepl/interp/run/contract"
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

// declaresPredeclared reports whether the cell declares something under a predeclared name.
func (l *facts) declaresPredeclared() bool {
	for id := range l.info.Defs {
		if types.Universe.Lookup(id.Name) != nil {
			return true
		}
	}
	return false
}

// renamePredeclared renames the local variables and constants of a function that have predeclared
// names, because yaegi would treat nil and iota as the predeclared ones.
func (l *builder) renamePredeclared(n ast.Node) {
	if !l.predeclared {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSwitchStmt); ok {
			l.renameBound(s)
		}
		id, ok := n.(*ast.Ident)
		if !ok || types.Universe.Lookup(id.Name) == nil {
			return true
		}
		obj := l.info.Defs[id]
		if obj == nil || obj.Parent() == nil || l.hoisted[obj] {
			return true
		}
		switch obj.(type) {
		case *types.Var, *types.Const:
			id.Name = l.temp(id.Name)
			l.renamed[obj] = id.Name
		}
		return true
	})
}

// renameBound renames the symbol that a type switch binds, which is a variable of each clause.
func (l *builder) renameBound(s *ast.TypeSwitchStmt) {
	a, ok := s.Assign.(*ast.AssignStmt)
	if !ok {
		return
	}
	id := a.Lhs[0].(*ast.Ident)
	if types.Universe.Lookup(id.Name) == nil {
		return
	}
	id.Name = l.temp(id.Name)
	for _, clause := range s.Body.List {
		if obj := l.info.Implicits[clause]; obj != nil {
			l.renamed[obj] = id.Name
		}
	}
}

// instance lowers the use id of a function, which may be an instance of a generic one. If it is
// not, the result is e.
func (l *builder) instance(id *ast.Ident, e ast.Expr) ast.Expr {
	fn, ok := l.info.Uses[id].(*types.Func)
	if !ok || l.generic(fn.Origin()) == nil {
		return e
	}
	var args []types.Type
	if inst, ok := l.info.Instances[id]; ok {
		args = slices.Collect(inst.TypeArgs.Types())
	}
	if v, ok := generics.Native(l.nativeKey(fn, args)); ok {
		return l.hiddenSymbol(id.Pos(), l.nativeKey(fn, args), v)
	}
	return l.ident(id.Pos(), l.instanceOf(fn, args).name)
}

// instantiate checks f, a copy of g's declaration, with g's type parameters bound to types.
func (l *builder) instantiate(g *check.Generic, f *ast.FuncDecl, args []types.Type) *types.Func {
	fn, params, err := l.checker.Instantiate(l.info, g, f, args)
	if err != nil {
		l.refuse(f.Pos(), "with these type arguments "+contract.PlainNames(f.Name.Name)+" cannot be compiled: "+err.Error())
	}
	for _, p := range params {
		l.params[p] = true
	}
	l.predeclared = true // it may declare such names
	l.unqualify(f)
	return fn
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
