package typed

import "go/types"

// HasStruct reports whether a type contains unnamed struct types.
func HasStruct(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Struct:
		return true
	case *types.Pointer:
		return HasStruct(t.Elem())
	case *types.Slice:
		return HasStruct(t.Elem())
	case *types.Array:
		return HasStruct(t.Elem())
	case *types.Chan:
		return HasStruct(t.Elem())
	case *types.Map:
		return HasStruct(t.Key()) || HasStruct(t.Elem())
	}
	return false
}

// Recursive reports whether a type other than a struct refers to itself not only through named
// structs or interfaces. Yaegi has no such types, and overflows its stack on some.
func Recursive(t types.Type) bool {
	if IsStruct(t) || types.IsInterface(t) {
		return false
	}
	return refersTo(t.Underlying(), t, map[types.Type]bool{})
}

// refersTo reports whether the type in refers to t in the sense of Recursive. It visits each named
// type once.
func refersTo(in, t types.Type, seen map[types.Type]bool) bool {
	to := func(in types.Type) bool { return refersTo(in, t, seen) }
	switch u := types.Unalias(in).(type) {
	case *types.Named:
		if u == t || types.Identical(u, t) {
			return true
		}
		if seen[u] || IsStruct(u) || types.IsInterface(u) {
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

// Contains reports whether values of type t contain values of type inner.
func Contains(t, inner types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if types.Identical(f.Type(), inner) || Contains(f.Type(), inner) {
				return true
			}
		}
	case *types.Array:
		return types.Identical(u.Elem(), inner) || Contains(u.Elem(), inner)
	}
	return false
}

// Refers reports whether type t uses type to in any way.
func Refers(t, to types.Type) bool { return refers(t, to, map[types.Type]bool{}) }

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
