package lower

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/generics"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

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
