package typed

import "go/types"

// IsArray reports whether a type is one of arrays, by its underlying type, as those that follow do.
func IsArray(t types.Type) bool {
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// IsStruct reports whether a type is one of structs.
func IsStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// HasFunction reports whether one of several variables is of a function type.
func HasFunction(list *types.Tuple) bool {
	for v := range list.Variables() {
		if IsFunction(v.Type()) {
			return true
		}
	}
	return false
}

// IsFunction reports whether a type is one of functions.
func IsFunction(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// IsBasic reports whether a type is a predeclared one.
func IsBasic(t types.Type) bool {
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

// IsInteger reports whether a type is one of integers.
func IsInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// IsSlice reports whether a type, which may be nil, is one of slices.
func IsSlice(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// IsChan reports whether a type is one of channels.
func IsChan(t types.Type) bool {
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// IsDirected reports whether t is a type of channels that only send or only receive: reflection makes none.
func IsDirected(t types.Type) bool {
	c, ok := t.Underlying().(*types.Chan)
	return ok && c.Dir() != types.SendRecv
}

// StructOf returns the struct type that t is or points to, nil if it is neither.
func StructOf(t types.Type) *types.Struct {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, _ := t.Underlying().(*types.Struct)
	return st
}

// ArrayOf returns the array type that t is or points to, nil if it is neither.
func ArrayOf(t types.Type) *types.Array {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	a, _ := t.Underlying().(*types.Array)
	return a
}

// IsEmptyInterface reports whether a type is one of interfaces without methods.
func IsEmptyInterface(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.Empty()
}

// IsAliasOfOther reports whether a type, or what it points to, is an alias of one that has no name of its own: embedded, it is a field like others.
func IsAliasOfOther(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if _, ok := t.(*types.Alias); !ok {
		return false
	}
	_, named := types.Unalias(t).(*types.Named)
	return !named
}

// IsUnsafe reports whether a type is unsafe.Pointer.
func IsUnsafe(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}
