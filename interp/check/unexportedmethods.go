package check

import (
	"go/token"
	"go/types"
	"reflect"
)

// seal gives a named type the methods by which its package's interfaces recognise their own: those without an exported name, such
// as that of symmem's options. Reflection does not list them, but knows which types implement the interface.
func (p *Packages) seal(named *types.Named, t reflect.Type) {
	pkg := named.Obj().Pkg()
	for _, v := range p.tables[pkg.Path()] {
		if !v.IsValid() || v.Kind() != reflect.Pointer || v.Type().Elem().Kind() != reflect.Interface || !v.IsNil() {
			continue
		}
		sealed := v.Type().Elem()
		if !reflect.PointerTo(t).Implements(sealed) {
			continue
		}
		recv := types.Type(types.NewPointer(named))
		if t.Implements(sealed) {
			recv = named
		}
		for m := range sealed.Methods() {
			if m.PkgPath == "" || methodNamed(named, m.Name) != nil {
				continue
			}
			sig := p.signature(m.Type, 0, types.NewVar(token.NoPos, pkg, "", recv))
			named.AddMethod(types.NewFunc(token.NoPos, p.Package(m.PkgPath), m.Name, sig))
		}
	}
}
