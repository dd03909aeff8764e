package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
)

// A type that contains itself other than through a named struct, such as type T []T, is one of a compiled package for yaegi: see run.Recursive. It is made of an
// alias of its underlying type, which is what is declared.

// refuseRecursive refuses such a type where yaegi does not work on it as on others: slices, arrays and channels, and types with methods.
func (l *facts) refuseRecursive(pos token.Pos, t types.Type) {
	l.refuse(pos, "the type "+check.TypeName(t)+" contains itself other than as a field of a struct; make it a struct with one field")
}

// hasStruct reports whether a type has structs without a name in it.
func hasStruct(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Struct:
		return true
	case *types.Pointer:
		return hasStruct(t.Elem())
	case *types.Slice:
		return hasStruct(t.Elem())
	case *types.Array:
		return hasStruct(t.Elem())
	case *types.Chan:
		return hasStruct(t.Elem())
	case *types.Map:
		return hasStruct(t.Key()) || hasStruct(t.Elem())
	}
	return false
}

// recursive reports whether a type that is no struct refers to itself, if not through a struct or interface with a name: yaegi has no such types, and its
// stack would overflow at some.
func recursive(t types.Type) bool {
	if isStruct(t) || types.IsInterface(t) {
		return false
	}
	return refersTo(t.Underlying(), t, map[types.Type]bool{})
}

// refersTo reports whether the type in refers to t as recursive counts it. It looks at each named type once.
func refersTo(in, t types.Type, seen map[types.Type]bool) bool {
	to := func(in types.Type) bool { return refersTo(in, t, seen) }
	switch u := types.Unalias(in).(type) {
	case *types.Named:
		if u == t || types.Identical(u, t) {
			return true
		}
		if seen[u] || isStruct(u) || types.IsInterface(u) {
			return false
		}
		seen[u] = true
		return to(u.Underlying())
	case *types.Pointer:
		return to(u.Elem())
	case *types.Slice:
		return to(u.Elem())
	case *types.Array:
		return to(u.Elem())
	case *types.Chan:
		return to(u.Elem())
	case *types.Map:
		return to(u.Key()) || to(u.Elem())
	case *types.Signature:
		return to(u.Params()) || to(u.Results())
	case *types.Tuple:
		for v := range u.Variables() {
			if to(v.Type()) {
				return true
			}
		}
	case *types.Struct:
		for v := range u.Fields() {
			if to(v.Type()) {
				return true
			}
		}
	}
	return false
}

// isRecursive reports whether a type is such a type of a cell, not an instance of a generic one.
func (l *namer) isRecursive(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() != l.checker.Package() || n.TypeArgs().Len() > 0 || n.TypeParams().Len() > 0 {
		return false
	}
	is, known := l.recursion[n]
	if !known {
		is = recursive(n)
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
