package native

import (
	"reflect"

	"github.com/symmrepl/symmrepl/interp/internal/named"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// Yaegi does not terminate on a type such as a slice of itself. A cell's type that contains itself
// other than through a named struct is therefore made here, and given to yaegi as a type of a
// compiled package.

// DeclareRecursive makes types and returns their symbols, which yaegi may use from then on.
// Complete must be called after yaegi has compiled the aliases and before the types are used.
func (n *Types) DeclareRecursive(list []contract.Recursive) (symbols contract.Exports, complete func() error) {
	table := map[string]reflect.Value{}
	made := make([]*named.Type, len(list))
	for i, r := range list {
		obj := r.Type.Obj()
		made[i] = named.New(named.Package{Path: obj.Pkg().Path(), Name: obj.Pkg().Name()}, obj.Name(),
			n.layout(r.Type.Underlying(), true), 0)
		table[r.Symbol] = reflect.Zero(reflect.PointerTo(made[i].Reflect()))
	}
	n.keep(made)
	return contract.Exports{contract.HiddenPath + "/hidden": table}, func() error {
		for i, r := range list {
			underlying, err := n.yaegi.TypeNamed(r.Underlying)
			if err != nil {
				return err
			}
			made[i].Complete(underlying)
		}
		return nil
	}
}

// keep registers types that release frees.
func (n *Types) keep(list []*named.Type) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.recursive = append(n.recursive, list...)
}
