package run

import (
	"go/types"
	"reflect"

	"github.com/symmrepl/symmrepl/interp/internal/named"
)

// Yaegi computes what type a slice of itself is without end. A type of a cell that contains itself other than through a named struct is made here, and yaegi gets it
// as a type of a compiled package.

// Recursive is such a type.
type Recursive struct {
	Type       *types.Named
	Symbol     string // what the type is called in the package HiddenPath
	Underlying string // what yaegi calls an alias of its underlying type
}

// DeclareRecursive makes types, whose symbols yaegi may use from then on. When it has compiled the aliases, complete has to be called before the types are used.
func (rt *Runtime) DeclareRecursive(list []Recursive) (symbols Exports, complete func() error) {
	table := map[string]reflect.Value{}
	made := make([]*named.Type, len(list))
	for i, r := range list {
		obj := r.Type.Obj()
		made[i] = named.New(named.Package{Path: obj.Pkg().Path(), Name: obj.Pkg().Name()}, obj.Name(), rt.natives.layout(r.Type.Underlying(), true), 0)
		table[r.Symbol] = reflect.Zero(reflect.PointerTo(made[i].Reflect()))
	}
	rt.natives.keep(made)
	return Exports{HiddenPath + "/hidden": table}, func() error {
		for i, r := range list {
			underlying, err := rt.yaegi.TypeNamed(r.Underlying)
			if err != nil {
				return err
			}
			made[i].Complete(underlying)
		}
		return nil
	}
}

// keep makes release free types.
func (n *natives) keep(list []*named.Type) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.recursive = append(n.recursive, list...)
}
