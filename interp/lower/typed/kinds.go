package typed

import "go/types"

// IsArray reports whether a type is an array type. Like the following functions, it considers the
// underlying type.
func IsArray(t types.Type) bool {
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// IsStruct reports whether a type is a struct type.
func IsStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// HasFunction reports whether one of several variables has a function type.
func HasFunction(list *types.Tuple) bool {
	for v := range list.Variables() {
		if IsFunction(v.Type()) {
			return true
		}
	}
	return false
}

// IsFunction reports whether a type is a function type.
func IsFunction(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// IsBasic reports whether a type is a basic type.
func IsBasic(t types.Type) bool {
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

// IsInteger reports whether a type is an integer type.
func IsInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// IsSlice reports whether a type, which may be nil, is a slice type.
func IsSlice(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// IsChan reports whether a type is a channel type.
func IsChan(t types.Type) bool {
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// IsDirected reports whether t is a channel type with a direction; reflection cannot make such
// channels.
func IsDirected(t types.Type) bool {
	c, ok := t.Underlying().(*types.Chan)
	return ok && c.Dir() != types.SendRecv
}

// StructOf returns the struct type that t is or points to, or nil if there is none.
func StructOf(t types.Type) *types.Struct {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, _ := t.Underlying().(*types.Struct)
	return st
}

// ArrayOf returns the array type that t is or points to, or nil if there is none.
func ArrayOf(t types.Type) *types.Array {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	a, _ := t.Underlying().(*types.Array)
	return a
}

// IsEmptyInterface reports whether a type is an interface type without methods.
func IsEmptyInterface(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.Empty()
}

// IsAliasOfOther reports whether a type, or the type it points to, is an alias of an unnamed type.
// An embedded field of such a type is treated like an ordinary field.
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
