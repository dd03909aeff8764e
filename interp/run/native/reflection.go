package native

import (
	"errors"
	"go/types"
	"reflect"

	"github.com/symmrepl/symmrepl/interp/run/faults"
)

// Package reflect sees a cell's interface with methods as a struct. So its functions panic for a
// value that contains such an interface.

// seesInterface panics if values of type t, or values that they point to, contain an interface of
// cells.
func (n *Types) seesInterface(t reflect.Type) {
	seen := map[reflect.Type]bool{}
	var look func(t reflect.Type)
	look = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		of := n.cellType(t)
		switch {
		case of != nil && types.IsInterface(of) && t.Kind() == reflect.Struct:
			panic(faults.Unsupported("package reflect cannot handle the interface type " + t.String() + " of a cell; use any instead"))
		case of == nil && t.PkgPath() != "":
			return
		}
		switch t.Kind() {
		case reflect.Struct:
			for f := range t.Fields() {
				look(f.Type)
			}
		case reflect.Map:
			look(t.Key())
			look(t.Elem())
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
			look(t.Elem())
		}
	}
	if t != nil {
		look(t)
	}
}

// seesInterfaceIn panics if a value, or a value in one of its interfaces, contains an interface of
// cells.
func (n *Types) seesInterfaceIn(v reflect.Value) {
	seen := map[any]bool{}
	var look func(v reflect.Value)
	look = func(v reflect.Value) {
		if !v.IsValid() {
			return
		}
		t := v.Type()
		n.seesInterface(t)
		switch {
		case v.Kind() == reflect.Interface:
			look(v.Elem())
			return
		case !n.mayHold(t):
			return
		}
		switch v.Kind() {
		case reflect.Pointer:
			if key := (any)([2]any{t, v.Pointer()}); !v.IsNil() && !seen[key] {
				seen[key] = true
				look(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				look(v.Field(i))
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				look(v.Index(i))
			}
		case reflect.Map:
			for k, e := range v.Seq2() {
				look(k)
				look(e)
			}
		}
	}
	if n.boxed.Load() {
		look(v)
	}
}

// mayHold reports whether the elements of type t have to be searched: t is a type of cells, or has
// no name.
func (n *Types) mayHold(t reflect.Type) bool { return t.PkgPath() == "" || n.cellType(t) != nil }

// Exports returns the functions of package reflect that take any value, and errors.As.
func (n *Types) Exports() (inReflect, inErrors map[string]reflect.Value) {
	return map[string]reflect.Value{
			"ValueOf": reflect.ValueOf(func(x any) reflect.Value {
				v := reflect.ValueOf(x)
				n.seesInterfaceIn(v)
				return v
			}),
			"TypeOf": reflect.ValueOf(func(x any) reflect.Type {
				t := reflect.TypeOf(x)
				if n.boxed.Load() {
					n.seesInterface(t)
				}
				return t
			}),
			"DeepEqual": reflect.ValueOf(func(x, y any) bool {
				n.seesInterfaceIn(reflect.ValueOf(x))
				n.seesInterfaceIn(reflect.ValueOf(y))
				return reflect.DeepEqual(x, y)
			}),
		}, map[string]reflect.Value{
			"As": reflect.ValueOf(n.errorsAs),
		}
}

// errorsAs is errors.As, extended to targets whose interface types cells declare.
func (n *Types) errorsAs(err error, target any) bool {
	v := reflect.ValueOf(target)
	if err == nil || v.Kind() != reflect.Pointer || v.IsNil() {
		return errors.As(err, target)
	}
	t := n.cellType(v.Type().Elem())
	if t == nil || !types.IsInterface(t) || v.Elem().Kind() != reflect.Struct {
		return errors.As(err, target)
	}
	return n.errorAs(err, target, t.Underlying().(*types.Interface))
}

func (n *Types) errorAs(err error, target any, iface *types.Interface) bool {
	if held := n.Held(reflect.ValueOf(err)); hasMethods(held, iface) {
		return n.yaegi.Box(seenAs(reflect.ValueOf(target).Elem(), n.yaegi.Boxes()), held)
	}
	if x, ok := err.(interface{ As(any) bool }); ok && x.As(target) {
		return true
	}
	var inner []error
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		inner = []error{x.Unwrap()}
	case interface{ Unwrap() []error }:
		inner = x.Unwrap()
	}
	for _, err := range inner {
		if err != nil && n.errorAs(err, target, iface) {
			return true
		}
	}
	return false
}

// hasMethods reports whether v has the methods of an interface, by name.
func hasMethods(v reflect.Value, iface *types.Interface) bool {
	for m := range iface.Methods() {
		if !v.MethodByName(m.Name()).IsValid() {
			return false
		}
	}
	return true
}
