package interp

import (
	"go/ast"
	"go/types"
	"slices"
)

// dotObjects are what the packages export that cells imported by a dot, this cell included: their names mean that until a cell defines them.
func (k *checker) dotObjects() map[string]types.Object {
	out := map[string]types.Object{}
	for _, path := range slices.Concat(k.in.scope.dots, k.c.dots) {
		pkg, err := k.in.pkgs.Import(path)
		if err != nil {
			continue // the import itself reported it
		}
		for _, name := range pkg.Scope().Names() {
			if obj := pkg.Scope().Lookup(name); obj.Exported() {
				out[name] = obj
			}
		}
	}
	return out
}

// qualified writes the package before a name that is known by a dot import; other expressions stay.
func (l *lowerer) qualified(e ast.Expr) ast.Expr {
	id, ok := e.(*ast.Ident)
	if !ok || l.silent { // packages use their own names
		return e
	}
	obj := l.info.Uses[id]
	if obj == nil || obj.Pkg() == nil || l.params[obj] || obj.Parent() != obj.Pkg().Scope() {
		return e
	}
	if path := obj.Pkg().Path(); !slices.Contains(l.in.scope.dots, path) && !slices.Contains(l.c.dots, path) {
		return e
	}
	pkg := l.ident(id.Pos(), obj.Pkg().Name())
	l.info.Uses[pkg] = types.NewPkgName(id.Pos(), l.in.pkg, pkg.Name, obj.Pkg())
	sel := &ast.SelectorExpr{X: pkg, Sel: id}
	l.info.Types[sel] = l.info.Types[id]
	return sel
}
