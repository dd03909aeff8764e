package interp

import (
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/internal/values"
	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/native"
)

// mostReached bounds how many values mayReachCells looks at.
const mostReached = 64

// mayReachCells reports whether a method of v, a value of a compiled type, may call code of cells: it
// holds functions or values in interfaces that may be those of cells. Of errors, which do not change,
// it looks at the values that they hold, as in fmt.Errorf("…: %w", err); of others only at their
// types, because compiled code may use them meanwhile. in.mu is held.
func (in *Interp) mayReachCells(v reflect.Value) bool {
	if !in.mayHoldCode(v.Type()) {
		return false
	}
	if !v.Type().Implements(reflect.TypeFor[error]()) || native.IsWrapper(v) {
		return true
	}
	left := mostReached
	return in.holdsCode(v, &left)
}

// mayHoldCode reports whether values of type t may hold functions or values of cells' types.
func (in *Interp) mayHoldCode(t reflect.Type) bool {
	may, known := in.holders[t]
	if !known {
		may = holdsAny(t, map[reflect.Type]bool{})
		if in.isCompiled(values.Pointed(t)) { // types of cells come and go
			in.holders[t] = may
		}
	}
	return may
}

// holdsAny reports whether a function or an interface is part of t, or of a type to which values of
// t refer. Types of symmem and reflect count as if they had none: their methods call no code of
// cells.
func holdsAny(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || t.PkgPath() == "reflect" || strings.HasPrefix(t.PkgPath(), check.SymmemPath) {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Func, reflect.Interface:
		return true
	case reflect.Map:
		return holdsAny(t.Key(), seen) || holdsAny(t.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		return holdsAny(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if holdsAny(f.Type, seen) {
				return true
			}
		}
	}
	return false
}

// holdsCode reports whether v holds a function or a value of a cell's type, or more than left values.
func (in *Interp) holdsCode(v reflect.Value, left *int) bool {
	if *left--; *left < 0 {
		return true
	}
	t := v.Type()
	switch v.Kind() {
	case reflect.Interface:
		return !v.IsNil() && (!in.isForeign(v.Elem()) || in.holdsCode(v.Elem(), left))
	case reflect.Pointer:
		return !v.IsNil() && in.mayHoldCode(t) && in.holdsCode(v.Elem(), left)
	case reflect.Struct:
		for i := range v.NumField() {
			if in.holdsCode(v.Field(i), left) {
				return true
			}
		}
		return false
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !in.mayHoldCode(t.Elem()) {
				break
			}
			if in.holdsCode(v.Index(i), left) {
				return true
			}
		}
		return false
	}
	return in.mayHoldCode(t) && !values.IsNil(v)
}

// isForeign reports whether a value in an interface is of a compiled or a basic type.
func (in *Interp) isForeign(v reflect.Value) bool {
	t := values.Pointed(v.Type())
	return !native.IsWrapper(v) && (in.isCompiled(t) || t.PkgPath() == "" && values.IsBasic(t.Kind()))
}
