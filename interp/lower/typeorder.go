package lower

import (
	"go/ast"
	"go/types"
)

// containersFirst orders type declarations so that a struct comes before those that it contains and that refer back to it: of the others first, yaegi would
// compute the memory layout without the contents.
func (l *declarer) containersFirst(specs []ast.Spec) []ast.Spec {
	of := func(s ast.Spec) types.Type {
		if obj := l.types[s.(*ast.TypeSpec)]; obj != nil {
			return obj.Type()
		}
		return types.Typ[types.Invalid]
	}
	var out []ast.Spec
	for _, s := range specs {
		at := len(out)
		for i, before := range out {
			if t, inner := of(s), of(before); contains(t.Underlying(), inner) && refers(inner, t, map[types.Type]bool{}) {
				at = i
				break
			}
		}
		out = append(out[:at:at], append([]ast.Spec{s}, out[at:]...)...)
	}
	return out
}

// contains reports whether values of type t have values of type inner in them.
func contains(t, inner types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if types.Identical(f.Type(), inner) || contains(f.Type(), inner) {
				return true
			}
		}
	case *types.Array:
		return types.Identical(u.Elem(), inner) || contains(u.Elem(), inner)
	}
	return false
}

// refers reports whether type to is used in type t, in whatever way.
func refers(t, to types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	any := func(list ...types.Type) bool {
		for _, t := range list {
			if types.Identical(t, to) || refers(t, to, seen) {
				return true
			}
		}
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if any(f.Type()) {
				return true
			}
		}
	case *types.Map:
		return any(u.Key(), u.Elem())
	case *types.Signature:
		return any(u.Params(), u.Results())
	case *types.Tuple:
		for v := range u.Variables() {
			if any(v.Type()) {
				return true
			}
		}
	case interface{ Elem() types.Type }:
		return any(u.Elem())
	}
	return false
}
