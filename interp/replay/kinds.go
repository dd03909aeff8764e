package replay

import (
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/recorded"
)

func isHandle(t types.Type) bool { return check.IsPointer(t) && check.SymmType(t) == "Handle" }

// isPlain reports whether a value is all in itself, and JSON carries it: a number but no complex
// one, a string, a boolean, or a slice or array of them, or a map of them by strings or integers.
func isPlain(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Map:
		return isBasic(u.Key()) && isBasic(u.Elem()) && u.Key().Underlying().(*types.Basic).Info()&(types.IsString|types.IsInteger) != 0
	case *types.Slice:
		return isPlainElement(u.Elem())
	case *types.Array:
		return isPlainElement(u.Elem())
	}
	return isBasic(t)
}

func isPlainElement(t types.Type) bool {
	_, isMap := t.Underlying().(*types.Map)
	return !isMap && isPlain(t)
}

func isBasic(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat|types.IsString|types.IsBoolean) != 0
}

// reaches reports whether a value may use variables of the session that it does not contain: it is
// or holds a function, a handle, a graph or the like.
func reaches(t types.Type) bool {
	return !check.IsTensor(t) && anyPart(t, func(t types.Type) bool {
		_, isPointer := t.Underlying().(*types.Pointer)
		return isFunc(t) || isPointer && !check.IsTensor(t)
	})
}

func isFunc(t types.Type) bool { _, ok := t.Underlying().(*types.Signature); return ok }

// holdsValues reports whether a value of a type, or a part of it, is sent.
func holdsValues(t types.Type) bool {
	return anyPart(t, func(t types.Type) bool {
		return check.IsTensor(t) || isHandle(t) || check.SymmType(t) == "" && isPlain(t)
	})
}

// anyPart reports whether so is true for a type, or for the type of a part of its values. It does
// not look into types of other packages.
func anyPart(t types.Type, so func(types.Type) bool) bool {
	known := map[types.Type]bool{}
	var find func(t types.Type) bool
	find = func(t types.Type) bool {
		t = types.Unalias(t)
		if known[t] {
			return false
		}
		known[t] = true
		if so(t) {
			return true
		}
		if isForeign(t) || check.SymmType(t) != "" {
			return false
		}
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			return find(u.Elem())
		case *types.Slice:
			return find(u.Elem())
		case *types.Array:
			return find(u.Elem())
		case *types.Map:
			return find(u.Key()) || find(u.Elem())
		case *types.Struct:
			for i := range u.NumFields() {
				if find(u.Field(i).Type()) {
					return true
				}
			}
		}
		return false
	}
	return find(t)
}

// isForeign reports whether a type is declared by a package that is neither the session's nor symm.
func isForeign(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Name() != check.PackageName && check.SymmType(t) == ""
}

// sendable returns an error if the value of a variable can be neither sent nor made by a replay.
func sendable(v variable) error {
	refuse := func(why, hint string) error {
		return &recorded.Error{Msg: "the variable " + v.name + " of type " + check.TypeName(v.typ) + " cannot be sent: " + why, Hint: hint}
	}
	switch {
	case isPlain(v.typ) || check.IsTensor(v.typ):
		return nil
	case anyPart(v.typ, func(t types.Type) bool { _, ok := t.Underlying().(*types.Chan); return ok }):
		return refuse("a channel connects parts of one process", "")
	case anyPart(v.typ, func(t types.Type) bool { return isForeign(t) && !isPlain(t) }):
		return refuse("it holds state of a package", "declare it in the code itself")
	case anyPart(v.typ, func(t types.Type) bool { return types.IsInterface(t) }):
		return refuse("the value in an interface is not known before the code runs", "give it a type of its own")
	case anyPart(v.typ, func(t types.Type) bool {
		b, ok := t.Underlying().(*types.Basic)
		return ok && (b.Kind() == types.Uintptr || b.Kind() == types.UnsafePointer || b.Info()&types.IsComplex != 0)
	}):
		return refuse("addresses and complex numbers are not carried over", "")
	case anyPart(v.typ, func(t types.Type) bool {
		_, ok := t.Underlying().(*types.Map)
		return ok && !isPlain(t) && holdsValues(t)
	}):
		return refuse("the values in its map have no address", "hold it in a slice or a structure")
	case anyPart(v.typ, func(t types.Type) bool { return recursive(t) }):
		return refuse("it is of a type that holds itself", "hold its parts in a slice")
	case !isFunc(v.typ) && anyPart(v.typ, isFunc):
		return refuse("it holds a function, which may have captured anything", "make it a variable of its own, or a method")
	}
	return nil
}

// recursive reports whether values of a type hold values of the same type.
func recursive(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || isForeign(t) || check.SymmType(t) != "" {
		return false
	}
	s, ok := named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range s.NumFields() {
		if anyPart(s.Field(i).Type(), func(of types.Type) bool { return types.Identical(of, named) }) {
			return true
		}
	}
	return false
}
