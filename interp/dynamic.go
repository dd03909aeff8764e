package interp

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"
)

// typeTag is the key of the tag by which the structs of cells carry the names of their types in yaegi.
const typeTag = "cell"

// dynamicType returns the concrete value that an interface variable holds, and the name of its type in yaegi if it is one of the session's; "*" precedes the
// name when the value is a pointer to that type.
func (s *inside) dynamicType(v reflect.Value) (reflect.Value, string) {
	v, name := s.concrete(v)
	if !v.IsValid() {
		return v, ""
	}
	t, star := v.Type(), ""
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		t, star = t.Elem(), "*"
	}
	if t.Kind() == reflect.Struct && t.NumField() > 0 {
		if tagged, ok := t.Field(0).Tag.Lookup(typeTag); ok {
			return v, star + tagged
		}
	}
	if name == "" || types.Universe.Lookup(name) != nil {
		return v, ""
	}
	return v, star + name
}

// assert reports whether the interface variable that x points to holds a value of the type of *v, called name if it is one of the session's, and then sets *v.
func (rt *cellRuntime) assert(x, v any, name string) bool {
	source := reflect.ValueOf(x).Elem()
	held, got := rt.in.inside.dynamicType(source)
	target := reflect.ValueOf(v).Elem()
	if !held.IsValid() || held.Type() != target.Type() {
		return false
	}
	for source.Kind() == reflect.Interface {
		source = source.Elem()
	}
	if got != name && !(got == "" && isWrapper(source)) { // wrappers do not tell
		return false
	}
	target.Set(held)
	return true
}

// implements does it for an interface type and values that are not of the session's types.
func (rt *cellRuntime) implements(x, v any, methods ...string) bool {
	source := reflect.ValueOf(x).Elem()
	held, name := rt.in.inside.dynamicType(source)
	target := reflect.ValueOf(v).Elem()
	switch {
	case !held.IsValid():
		return false
	case len(methods) == 0: // any
		target.Set(source)
		return true
	case target.Kind() == reflect.Interface:
		for source.Kind() == reflect.Interface {
			source = source.Elem()
		}
		if isWrapper(source) && source.Type().Implements(target.Type()) {
			held = source
		} else if name != "" || !held.Type().Implements(target.Type()) {
			return false
		}
		target.Set(held)
		return true
	}
	if name != "" {
		return false
	}
	for _, m := range methods {
		if !held.MethodByName(m).IsValid() {
			return false
		}
	}
	return rt.in.inside.box(target, held)
}

// equal is == of interface values.
func (rt *cellRuntime) equal(a, b any) bool {
	x, xname := rt.in.inside.dynamicType(reflect.ValueOf(&a).Elem())
	y, yname := rt.in.inside.dynamicType(reflect.ValueOf(&b).Elem())
	if !x.IsValid() || !y.IsValid() {
		return x.IsValid() == y.IsValid()
	}
	if x.Type() != y.Type() || xname != yname {
		return false
	}
	return x.Interface() == y.Interface()
}

// hold puts the struct that v points to into the wrapper that the interface variable i holds.
func (rt *cellRuntime) hold(i, v any) {
	target := reflect.ValueOf(i).Elem()
	if target.Kind() != reflect.Interface || !isWrapper(target.Elem()) {
		return
	}
	w := reflect.New(target.Elem().Type()).Elem()
	w.Set(target.Elem())
	w.Field(0).Set(reflect.ValueOf(v).Elem())
	target.Set(w)
}

// isNil reports whether the interface variable that x points to holds nothing.
func (rt *cellRuntime) isNil(x any) bool {
	v, _ := rt.in.inside.concrete(reflect.ValueOf(x).Elem())
	return !v.IsValid()
}

// failAssert is the panic of x.(T).
func (rt *cellRuntime) failAssert(x any, from, to string) {
	held, name := rt.in.inside.dynamicType(reflect.ValueOf(x).Elem())
	var what string
	switch {
	case !held.IsValid():
		what = "nil"
	case name != "":
		what = strings.Replace("main."+name, "main.*", "*main.", 1)
	default:
		what = held.Type().String()
	}
	if from == "any" {
		from = "interface {}"
	}
	panic(assertionError(fmt.Sprintf("interface conversion: %s is %s, not %s", from, plainNames(what), to)))
}

// assertionError is the runtime error of a type assertion.
type assertionError string

func (e assertionError) Error() string { return string(e) }

// RuntimeError marks it as a runtime.Error.
func (assertionError) RuntimeError() {}
