package native

import (
	"go/types"
	"reflect"
	"runtime"

	"github.com/symmrepl/symmrepl/interp/internal/named"
	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/contract"
	"github.com/symmrepl/symmrepl/interp/run/faults"
)

// dynamicType returns the concrete value that an interface variable holds. If the value's type is
// one of the session's, it also returns the type's name in yaegi, with "*" in front if the value is
// a pointer to that type.
func (n *Types) dynamicType(v reflect.Value) (reflect.Value, string) {
	v, name := n.yaegi.Concrete(v)
	if !v.IsValid() {
		return v, ""
	}
	t, star := v.Type(), ""
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		t, star = t.Elem(), "*"
	}
	if t.Kind() == reflect.Struct && t.NumField() > 0 {
		if tagged, ok := t.Field(0).Tag.Lookup(contract.TypeTag); ok {
			return v, star + tagged
		}
	}
	if name == "" || types.Universe.Lookup(name) != nil {
		return v, ""
	}
	return v, star + name
}

// Assert reports whether the interface variable *x holds a value of the type of *v. If so, it
// stores the value in *v. If a cell declares the type, key is the type's key.
func (n *Types) Assert(x, v any, key string) bool {
	held := n.Held(reflect.ValueOf(x).Elem())
	target := reflect.ValueOf(v).Elem()
	if !held.IsValid() {
		return false
	}
	t := n.noted(key)
	switch {
	case held.Type() == target.Type() && (t == nil || tagged(held.Type())):
	case t == nil:
		return false
	case held.Type() != n.typeOfKey(key):
		if was := n.cellType(held.Type()); was == nil || !types.Identical(t, unnamed(was)) {
			return false
		}
	}
	target.Set(seenAs(held, target.Type()))
	return true
}

// tagged reports whether yaegi's type t belongs to exactly one type of cells: it contains a struct,
// whose tag names that type.
func tagged(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		return tagged(t.Elem())
	case reflect.Map:
		return tagged(t.Key()) || tagged(t.Elem())
	}
	return false
}

// Implements reports whether the interface variable *x holds a value that implements the interface
// type of *v. If so, it stores the value in *v. If a cell declares the interface type, key is its
// key.
func (n *Types) Implements(x, v any, key string, methods ...string) bool {
	source := reflect.ValueOf(x).Elem()
	held := n.Held(source)
	target := reflect.ValueOf(v).Elem()
	switch {
	case !held.IsValid():
		return false
	case target.Kind() == reflect.Interface:
		for source.Kind() == reflect.Interface {
			source = source.Elem()
		}
		if !held.Type().Implements(target.Type()) {
			if !source.IsValid() || !yaegi.IsWrapper(source) || !source.Type().Implements(target.Type()) {
				return false
			}
			held = source
		}
		target.Set(held)
		return true
	}
	if t := n.cellType(held.Type()); t != nil {
		into := n.implementation(t, key)
		if into.IsValid() {
			target.Set(into.Call([]reflect.Value{seenAs(held, into.Type().In(0))})[0])
		}
		return into.IsValid()
	}
	for _, m := range methods {
		if !held.MethodByName(m).IsValid() {
			return false
		}
	}
	return n.yaegi.Box(target, held)
}

// Equal is the operator == for the interface variables *a and *b.
func (n *Types) Equal(a, b any) bool {
	x := n.Held(reflect.ValueOf(a).Elem())
	y := n.Held(reflect.ValueOf(b).Elem())
	if !x.IsValid() || !y.IsValid() {
		return x.IsValid() == y.IsValid()
	}
	if x.Type() != y.Type() { // the type got a method in between, and so another native type
		t, u := n.CellType(x), n.CellType(y)
		if t == nil || u == nil || !types.Identical(t, u) {
			return false
		}
		y = seenAs(y, x.Type())
	}
	return x.Interface() == y.Interface()
}

// Holds reports whether the interface variable *a holds v.
func (n *Types) Holds(a, v any) bool { return n.Equal(a, &v) }

// Hold stores a copy of the struct *v in the wrapper that the interface variable *i holds.
func (n *Types) Hold(i, v any) {
	target := reflect.ValueOf(i).Elem()
	if target.Kind() != reflect.Interface || !yaegi.IsWrapper(target.Elem()) {
		return
	}
	w := reflect.New(target.Elem().Type()).Elem()
	w.Set(target.Elem())
	w.Field(0).Set(reflect.ValueOf(v).Elem())
	target.Set(w)
}

// IsNil reports whether the interface variable *x is nil.
func (n *Types) IsNil(x any) bool {
	v, _ := n.yaegi.Concrete(reflect.ValueOf(x).Elem())
	return !v.IsValid()
}

// ReceiverHeld panics as Go does if the interface variable *x is nil when one of its methods is
// used as a value.
func (n *Types) ReceiverHeld(x any) {
	if n.IsNil(x) {
		panic(faults.NilDereference)
	}
}

// hasMethod reports whether v has a method.
func (n *Types) hasMethod(v reflect.Value, method string) bool {
	if !v.IsValid() {
		return false
	}
	t := n.cellType(v.Type())
	if t == nil {
		return v.MethodByName(method).IsValid()
	}
	m, _, indirect := types.LookupFieldOrMethod(t, false, n.checker().Package(), method)
	_, isFunc := m.(*types.Func)
	return isFunc && !indirect
}

// FailAssert panics as a failed x.(T) does. From and to are the keys of the two types; methods are
// those of T if T is an interface.
func (n *Types) FailAssert(x any, from, to string, methods ...string) {
	held := n.Held(reflect.ValueOf(x).Elem())
	what, missing := "", ""
	for _, m := range methods {
		if missing == "" && !n.hasMethod(held, m) {
			missing = m
		}
	}
	if held.IsValid() {
		what = contract.PlainNames(held.Type().String())
	}
	inter := ""
	if len(methods) == 0 {
		inter = n.textOf(from)
	}
	panic(named.AssertionError(inter, what, n.textOf(to), missing))
}

// NotNil panics if the interface variable *x, the argument of a cell's panic, is nil.
func (n *Types) NotNil(x any) {
	if n.IsNil(x) {
		panic(new(runtime.PanicNilError))
	}
}
