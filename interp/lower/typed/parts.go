package typed

import (
	"go/ast"
	"go/types"
	"runtime"
)

// Sizes has Go's sizes of types.
var Sizes = types.SizesFor("gc", runtime.GOARCH)

// ElementSize returns the size in bytes of an element of a slice, map or channel.
func ElementSize(t types.Type) int64 {
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return Sizes.Sizeof(t.Elem())
	case *types.Chan:
		return Sizes.Sizeof(t.Elem())
	case *types.Map:
		return Sizes.Sizeof(t.Key()) + Sizes.Sizeof(t.Elem())
	}
	return 0
}

// ReturnsParam reports whether the type of one of a generic function's results is a type parameter.
func ReturnsParam(fn *types.Func) bool {
	for v := range fn.Signature().Results().Variables() {
		if _, ok := v.Type().(*types.TypeParam); ok {
			return true
		}
	}
	return false
}

// ParamAt returns the type to which the i-th argument is converted, or nil if there is no such
// parameter.
func ParamAt(sig *types.Signature, i int, spread bool) types.Type {
	n := sig.Params().Len()
	if sig.Variadic() && i >= n-1 {
		t := sig.Params().At(n - 1).Type()
		if s, ok := t.(*types.Slice); ok && !spread {
			return s.Elem()
		}
		return t
	}
	if i >= n {
		return nil
	}
	return sig.Params().At(i).Type()
}

// ElementType returns the type of an element of a composite literal of type t: the i-th element, or
// the field that key names.
func ElementType(t types.Type, st *types.Struct, i int, key ast.Expr) types.Type {
	if st == nil {
		if e, ok := t.Underlying().(interface{ Elem() types.Type }); ok {
			return e.Elem()
		}
		return nil
	}
	id, named := key.(*ast.Ident)
	for j := range st.NumFields() {
		if f := st.Field(j); named && f.Name() == id.Name || !named && j == i {
			return f.Type()
		}
	}
	return nil
}
