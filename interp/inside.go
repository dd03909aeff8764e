package interp

import (
	"fmt"
	"go/types"
	"reflect"

	"github.com/traefik/yaegi/interp"
)

// inside reaches the few fields of yaegi and go/types that have no exported way to them. Every use is by name and type, checked once when
// an interpreter is made, so that another version of either is an error at the start and never a corrupted session.
type inside struct {
	runID *uint64       // the number that live frames carry
	roots reflect.Value // every tree ever compiled, kept for a debugger
	scope reflect.Value // of package main; invalid until something was compiled
	yaegi *interp.Interpreter
}

// field returns a struct's field by name as a value that can be set.
func field(v reflect.Value, name string, kind reflect.Kind) (reflect.Value, error) {
	f := v.FieldByName(name)
	if !f.IsValid() || f.Kind() != kind {
		return f, fmt.Errorf("interp: %s has no field %s of kind %s", v.Type(), name, kind)
	}
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem(), nil
}

func lookInside(y *interp.Interpreter) (*inside, error) {
	v := reflect.ValueOf(y).Elem()
	id, err := field(v, "id", reflect.Uint64)
	if err != nil {
		return nil, err
	}
	roots, err := field(v, "roots", reflect.Slice)
	if err != nil {
		return nil, err
	}
	if _, err := field(v, "scopes", reflect.Map); err != nil {
		return nil, err
	}
	if _, err := methodsOf(&types.Named{}); err != nil {
		return nil, err
	}
	return &inside{runID: (*uint64)(id.Addr().UnsafePointer()), roots: roots, yaegi: y}, nil
}

// forget drops what yaegi keeps of compiled trees but never uses: without it every cell's tree would stay for ever.
func (s *inside) forget() error {
	s.roots.SetZero()
	scopes, err := field(reflect.ValueOf(s.yaegi).Elem(), "scopes", reflect.Map)
	if err != nil {
		return err
	}
	main := scopes.MapIndex(reflect.ValueOf(cellPackage))
	if !main.IsValid() {
		return nil
	}
	children, err := field(main.Elem(), "child", reflect.Slice)
	if err != nil {
		return err
	}
	children.SetZero()
	return nil
}

// methodsOf returns the list of a type's methods.
func methodsOf(n *types.Named) (*[]*types.Func, error) {
	f, err := field(reflect.ValueOf(n).Elem(), "methods", reflect.Slice)
	if err != nil {
		return nil, err
	}
	methods, ok := f.Addr().Interface().(*[]*types.Func)
	if !ok {
		return nil, fmt.Errorf("interp: the methods of a type are %s", f.Type())
	}
	return methods, nil
}

// replaceMethod gives a type a method, in place of one of the same name, and returns how to undo that.
func replaceMethod(n *types.Named, fn *types.Func) (undo func()) {
	n.NumMethods() // completes the type
	methods, err := methodsOf(n)
	if err != nil {
		panic(err) // New looked
	}
	old := *methods
	list := make([]*types.Func, 0, len(old)+1)
	for _, m := range old {
		if m.Name() != fn.Name() {
			list = append(list, m)
		}
	}
	*methods = append(list, fn)
	return func() { *methods = old }
}
