package run

import (
	"fmt"
	"go/types"
	"reflect"
	"unsafe"

	"github.com/symmrepl/symmrepl/interp/internal/named"
	"github.com/symmrepl/symmrepl/interp/internal/unexported"
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
			underlying, err := rt.yaegi.typeNamed(r.Underlying)
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

// typeNamed returns the type of a name as yaegi lays it out.
func (s *Yaegi) typeNamed(name string) (reflect.Type, error) {
	main, err := s.main()
	if err != nil {
		return nil, err
	}
	symbols, err := unexported.Field(main, "sym", reflect.Map)
	if err != nil {
		return nil, err
	}
	symbol := symbols.MapIndex(reflect.ValueOf(name))
	if !symbol.IsValid() {
		return nil, fmt.Errorf("interp: yaegi has no type %s", name)
	}
	typ, err := unexported.Field(symbol.Elem(), "typ", reflect.Pointer)
	if err != nil {
		return nil, err
	}
	return typeOfType(typ.UnsafePointer()), nil
}

// typeOfType returns the type that yaegi lays out for one of its own.
//
//go:linkname typeOfType github.com/traefik/yaegi/interp.(*itype).TypeOf
func typeOfType(typ unsafe.Pointer) reflect.Type
