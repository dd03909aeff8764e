package check

import (
	"go/types"
	"reflect"
	"strings"

	"github.com/symmrepl/symmrepl/interp/generics"
)

// instanceOf converts a compiled instance of a generic type, such as the iter.Seq[string] that
// strings.Lines returns, to an instance of the generic type that its package has in source, which
// is the type that cells write. It returns nil for all other types.
func (p *Packages) instanceOf(t reflect.Type) types.Type {
	name, list, isInstance := strings.Cut(strings.TrimSuffix(t.Name(), "]"), "[")
	if _, inSource := generics.Source(t.PkgPath()); !isInstance || !inSource {
		return nil
	}
	pkg, err := p.Import(t.PkgPath())
	if err != nil {
		return nil
	}
	obj := pkg.Scope().Lookup(name)
	if obj == nil {
		return nil
	}
	var args []types.Type
	for _, s := range typeArguments(list) {
		arg := p.typeNamed(s)
		if arg == nil {
			return nil
		}
		args = append(args, arg)
	}
	inst, err := types.Instantiate(nil, obj.Type(), args, true)
	if err != nil {
		return nil
	}
	return inst
}

// typeArguments splits the list of type arguments in the name of a reflected type.
func typeArguments(list string) []string {
	var args []string
	depth, start := 0, 0
	for i, c := range list {
		switch c {
		case '[', '{', '(':
			depth++
		case ']', '}', ')':
			depth--
		case ',':
			if depth == 0 {
				args = append(args, list[start:i])
				start = i + 1
			}
		}
	}
	return append(args, list[start:])
}

// typeNamed returns the type that reflection calls s; nil for a type that the tables do not have,
// and for composite types other than slices and pointers.
func (p *Packages) typeNamed(s string) types.Type {
	if elem, ok := strings.CutPrefix(s, "[]"); ok {
		if t := p.typeNamed(elem); t != nil {
			return types.NewSlice(t)
		}
		return nil
	}
	if elem, ok := strings.CutPrefix(s, "*"); ok {
		if t := p.typeNamed(elem); t != nil {
			return types.NewPointer(t)
		}
		return nil
	}
	if s == "interface {}" {
		s = "any"
	}
	if obj := types.Universe.Lookup(s); obj != nil {
		return obj.Type()
	}
	dot := strings.LastIndexByte(s, '.')
	if dot < 0 {
		return nil
	}
	v, ok := p.tables[s[:dot]][s[dot+1:]]
	if !ok || v.Kind() != reflect.Pointer || !v.IsNil() {
		return nil
	}
	return p.TypeOf(v.Type().Elem())
}
