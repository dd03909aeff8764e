package run

import (
	"go/types"
	"maps"
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// native converts the value *v, of the type with the key, to a native value and stores it in the
// interface variable *i.
func (rt *Runtime) native(i, v any, key string) {
	r := rt.natives.typeOfKey(key)
	reflect.ValueOf(i).Elem().Set(seenAs(reflect.ValueOf(v).Elem(), r))
}

// unbox stores the value in *box, a variable of a cell's interface type, in the interface variable
// *i.
func (rt *Runtime) unbox(i, box any) {
	if v := rt.natives.held(reflect.ValueOf(box).Elem()); v.IsValid() {
		reflect.ValueOf(i).Elem().Set(v)
	}
}

// held returns the value in an interface variable; if its type is a cell's, as a native value.
func (n *natives) held(v reflect.Value) reflect.Value {
	v, name := n.dynamicType(v)
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

// CellType returns the type of cells of a native value, or nil if v is invalid or not a native
// value.
func (rt *Runtime) CellType(v reflect.Value) types.Type { return rt.natives.cellTypeOf(v) }

// Box returns a native value of a cell's interface type as yaegi represents it.
func (rt *Runtime) Box(v reflect.Value) reflect.Value { return seenAs(v, rt.yaegi.Boxes()) }

// IsWrapper reports whether v is the wrapper by which yaegi gives a cell's value the methods of a
// compiled interface.
func IsWrapper(v reflect.Value) bool { return yaegi.IsWrapper(v) }

// Concrete returns the value that yaegi stores in an interface and the name of its type in yaegi,
// if it has one.
func (rt *Runtime) Concrete(v reflect.Value) (held reflect.Value, name string) {
	return rt.yaegi.Concrete(v)
}

// Note registers the types of values that lowered code converts, by key, and the types that
// functions declare.
func (rt *Runtime) Note(types map[string]types.Type, local map[*types.TypeName]contract.InFunction) {
	rt.natives.mu.Lock()
	defer rt.natives.mu.Unlock()
	maps.Copy(rt.natives.types, types)
	maps.Copy(rt.natives.local, local)
}
