package check

import (
	"go/types"
	"reflect"
)

// Variable returns a pointer to a variable of a compiled package.
func (p *Packages) Variable(v *types.Var) (reflect.Value, bool) {
	if v.Pkg() == nil || v.IsField() {
		return reflect.Value{}, false
	}
	value := p.tables[v.Pkg().Path()][v.Name()]
	if !value.IsValid() || !value.CanAddr() {
		return reflect.Value{}, false
	}
	return value.Addr(), true
}
