package interp

import (
	"go/types"
	"reflect"
	"strings"
)

// native puts the value that v points to, of the type of a key, into the interface variable that i points to.
func (rt *cellRuntime) native(i, v any, key string) {
	r := rt.in.natives.typeOfKey(key)
	reflect.ValueOf(i).Elem().Set(seenAs(reflect.ValueOf(v).Elem(), r))
}

// unbox does it for what a variable of a cell's interface type holds.
func (rt *cellRuntime) unbox(i, box any) {
	if v := rt.in.natives.held(reflect.ValueOf(box).Elem()); v.IsValid() {
		reflect.ValueOf(i).Elem().Set(v)
	}
}

// held returns what an interface variable holds, as a native value if it is one of a cell's type.
func (n *natives) held(v reflect.Value) reflect.Value {
	v, name := n.in.inside.dynamicType(v)
	if !v.IsValid() || name == "" || n.cellType(v.Type()) != nil {
		return v
	}
	t := n.noted(name)
	if base, isPointer := strings.CutPrefix(name, "*"); t == nil && isPointer {
		if t = n.noted(base); t != nil {
			t = types.NewPointer(t)
		}
	}
	if t == nil {
		return v
	}
	return seenAs(v, n.typeOf(t))
}
