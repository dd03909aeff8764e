package lower

import "go/types"

// references collects the types to which types refer.
type references struct{ seen map[types.Type]bool }

func (r references) add(t types.Type) {
	t = types.Unalias(t)
	if t == nil || r.seen[t] {
		return
	}
	r.seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		for a := range t.TypeArgs().Types() {
			r.add(a)
		}
		for m := range t.Methods() {
			r.add(m.Type())
		}
		r.add(t.Underlying())
	case *types.Struct:
		for f := range t.Fields() {
			r.add(f.Type())
		}
	case *types.Signature:
		r.add(t.Params())
		r.add(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			r.add(v.Type())
		}
	case *types.Interface:
		for m := range t.Methods() {
			r.add(m.Type())
		}
		for e := range t.EmbeddedTypes() {
			r.add(e)
		}
	case *types.Union:
		for term := range t.Terms() {
			r.add(term.Type())
		}
	case *types.Map:
		r.add(t.Key())
		r.add(t.Elem())
	case interface{ Elem() types.Type }:
		r.add(t.Elem())
	}
}
