package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// A type that contains itself other than through a named struct, such as type T []T, is one of a compiled package for yaegi: see run.Recursive. It is made of an
// alias of its underlying type, which is what is declared.

// refuseRecursive refuses such a type where yaegi does not work on it as on others: slices, arrays and channels, and types with methods.
func (l *facts) refuseRecursive(pos token.Pos, t types.Type) {
	l.refuse(pos, "the type "+check.TypeName(t)+" contains itself other than as a field of a struct; make it a struct with one field")
}

// isRecursive reports whether a type is such a type of a cell, not an instance of a generic one.
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

// recursiveSymbol is what such a type is called in the package of hidden symbols.
func (l *namer) recursiveSymbol(obj *types.TypeName) string { return "T" + l.name(obj) }

// refuseRecursiveMethod refuses a method of such a type.
func (l *namer) refuseRecursiveMethod(d *ast.FuncDecl, recv types.Type) {
	if p, ok := types.Unalias(recv).(*types.Pointer); ok {
		recv = p.Elem()
	}
	if l.isRecursive(recv) {
		l.refuse(d.Name.Pos(), "a method of the type "+check.TypeName(recv)+", which contains itself other than as a field of a struct; make it a struct with one field")
	}
}
