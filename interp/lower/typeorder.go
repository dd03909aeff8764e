package lower

import (
	"go/ast"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// containersFirst orders type declarations so that a struct type comes before types that it
// contains and that refer back to it. Otherwise yaegi would compute the layout of the struct
// without its contents.
func (l *declarer) containersFirst(specs []ast.Spec) []ast.Spec {
	of := func(s ast.Spec) types.Type {
		if obj := l.types[s.(*ast.TypeSpec)]; obj != nil {
			return obj.Type()
		}
		return types.Typ[types.Invalid]
	}
	var out []ast.Spec
	for _, s := range specs {
		at := len(out)
		for i, before := range out {
			if t, inner := of(s), of(before); typed.Contains(t.Underlying(), inner) && typed.Refers(inner, t) {
				at = i
				break
			}
		}
		out = append(out[:at:at], append([]ast.Spec{s}, out[at:]...)...)
	}
	return out
}
