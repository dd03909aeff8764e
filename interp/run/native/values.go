package native

import (
	"go/types"
	"maps"
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/interp/internal/yaegi"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// Native converts the value *v, of the type with the key, to a native value and stores it in the
// interface variable *i.
func (n *Types) Native(i, v any, key string) {
	r := n.typeOfKey(key)
	reflect.ValueOf(i).Elem().Set(seenAs(reflect.ValueOf(v).Elem(), r))
}

// Unbox stores the value in *box, a variable of a cell's interface type, in the interface variable
// *i.
func (n *Types) Unbox(i, box any) {
	if v := n.Held(reflect.ValueOf(box).Elem()); v.IsValid() {
		reflect.ValueOf(i).Elem().Set(v)
	}
}

// Held returns the value in an interface variable; if its type is a cell's, as a native value.
func (n *Types) Held(v reflect.Value) reflect.Value {
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

// Box returns a native value of a cell's interface type as yaegi represents it.
func (n *Types) Box(v reflect.Value) reflect.Value { return seenAs(v, n.yaegi.Boxes()) }

// IsWrapper reports whether v is the wrapper by which yaegi gives a cell's value the methods of a
// compiled interface.
func IsWrapper(v reflect.Value) bool { return yaegi.IsWrapper(v) }

// Note registers the types of values that lowered code converts, by key, and the types that
// functions declare.
func (n *Types) Note(types map[string]types.Type, local map[*types.TypeName]contract.InFunction) {
	n.mu.Lock()
	defer n.mu.Unlock()
	maps.Copy(n.types, types)
	maps.Copy(n.local, local)
}
