package run

import (
	"go/types"
	"reflect"
)

// implementation is a type that implements an interface type of cells, and the function from the one to the other.
type implementation struct {
	typ  types.Type
	into reflect.Value
}

// addImplementation notes the function from the type of a key to an interface type of cells.
func (n *natives) addImplementation(typ, iface string, into any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.implementations[iface] = append(n.implementations[iface], implementation{n.types[typ], reflect.ValueOf(into)})
}

// implementation returns how a value of a cell's type becomes one of an interface type, an invalid value if its type does not implement that.
func (n *natives) implementation(t types.Type, iface string) reflect.Value {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, i := range n.implementations[iface] {
		if types.Identical(i.typ, t) {
			return i.into
		}
	}
	return reflect.Value{}
}
