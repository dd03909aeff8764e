package lower

import (
	"go/ast"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// A type that contains itself other than through a named struct, such as type T []T, becomes a type
// of a compiled package for yaegi: see contract.Recursive. It is built from an alias of its
// underlying type, which is the only declaration that yaegi gets.

// isRecursive reports whether t is such a type, declared by a cell, and not an instance of a
// generic type.
func (l *namer) isRecursive(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() != l.checker.Package() || n.TypeArgs().Len() > 0 || n.TypeParams().Len() > 0 {
		return false
	}
	is, known := l.recursion[n]
	if !known {
		is = typed.Recursive(n)
		l.recursion[n] = is
	}
	return is
}

// recursiveSymbol returns the name of such a type in the package of hidden symbols.
func (l *namer) recursiveSymbol(obj *types.TypeName) string { return "T" + l.name(obj) }

// refuseRecursiveMethod refuses a method of such a type.
func (l *namer) refuseRecursiveMethod(d *ast.FuncDecl, recv types.Type) {
	if p, ok := types.Unalias(recv).(*types.Pointer); ok {
		recv = p.Elem()
	}
	if l.isRecursive(recv) {
		l.refuse(d.Name.Pos(), "a method of the type "+check.TypeName(recv)+
			", which contains itself other than as a field of a struct; make it a struct with one field")
	}
}
