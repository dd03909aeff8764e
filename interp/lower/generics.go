package lower

import (
	"go/ast"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run"
)

// generic returns the declaration that instances of obj are made of; nil for what is not generic.
func (l *lowerer) generic(obj types.Object) *check.Generic {
	if g := l.c.Generics[obj]; g != nil {
		return g
	}
	return l.checker.Generic(obj)
}

// isOwn reports whether a function or method is interpreted: one of a cell, or of a package that has it in source.
func (l *lowerer) isOwn(fn *types.Func) bool {
	if fn.Pkg() == l.checker.Package() || l.generic(fn.Origin()) != nil {
		return true
	}
	if recv := fn.Signature().Recv(); recv != nil {
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		named, ok := t.(*types.Named)
		return ok && l.generic(named.Origin().Obj()) != nil
	}
	return false
}

// instantiate checks f, a copy of a declaration of g, with its type parameters bound to types.
func (l *lowerer) instantiate(g *check.Generic, f *ast.FuncDecl, args []types.Type) *types.Func {
	fn, params, err := l.checker.Instantiate(l.info, g, f, args)
	if err != nil {
		l.refuse(f.Pos(), "with these type arguments "+run.PlainNames(f.Name.Name)+" cannot be compiled: "+err.Error())
	}
	for _, p := range params {
		l.params[p] = true
	}
	return fn
}
