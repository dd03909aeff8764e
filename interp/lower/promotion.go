package lower

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// Go finds a promoted field or method at the shallowest depth. Yaegi searches depth-first, and for
// fields also in fields that are not embedded. Where yaegi would find another field or method, the
// path through the embedded fields is written out.

// mistakesDepth reports whether yaegi would find another field or method than Go.
func (l *facts) mistakesDepth(s *types.Selection) bool {
	if s.Kind() == types.FieldVal {
		return !slices.Equal(fieldDepthFirst(s.Recv(), s.Obj(), map[types.Type]bool{}), s.Index())
	}
	return l.mistakesMethod(s)
}

// refuseHiding refuses the selection of a field that hides a method of an embedded field of the
// same struct; yaegi considers it ambiguous.
func (l *facts) refuseHiding(e *ast.SelectorExpr, s *types.Selection) {
	st := typed.StructOf(s.Recv())
	if st == nil || len(s.Index()) > 1 {
		return
	}
	for f := range st.Fields() {
		if !f.Embedded() || f == s.Obj() {
			continue
		}
		if obj, index, _ := types.LookupFieldOrMethod(f.Type(), true, s.Obj().Pkg(), s.Obj().Name()); len(index) == 1 {
			if _, isMethod := obj.(*types.Func); isMethod {
				l.refuse(e.Sel.Pos(), "the embedded field "+f.Name()+" has a method with the name of the field "+s.Obj().Name()+
					"; rename one of them")
			}
		}
	}
}

// mistakesMethod is mistakesDepth for a method. Yaegi resolves methods that a package does not
// export.
func (l *facts) mistakesMethod(s *types.Selection) bool {
	return (s.Obj().Exported() || l.checker.Interprets(s.Obj().Pkg())) && l.promotes(s.Recv(), s.Obj().Name()) > 1
}

// fieldDepthFirst returns the index path of the field that yaegi finds for a name.
func fieldDepthFirst(t types.Type, named types.Object, seen map[types.Type]bool) []int {
	st := typed.StructOf(t)
	if st == nil || seen[t] {
		return nil
	}
	seen[t] = true
	for i := range st.NumFields() {
		if st.Field(i).Name() == named.Name() {
			return []int{i}
		}
	}
	for i := range st.NumFields() {
		if path := fieldDepthFirst(st.Field(i).Type(), named, seen); path != nil {
			return append([]int{i}, path...)
		}
	}
	return nil
}

// promotes counts the fields and methods with a name in a type and in the types that it embeds.
func (l *facts) promotes(t types.Type, name string) int {
	n := 0
	seen := map[types.Type]bool{}
	var visit func(t types.Type)
	visit = func(t types.Type) {
		if p, ok := types.Unalias(t).(*types.Pointer); ok {
			t = p.Elem()
		}
		t = types.Unalias(t)
		if seen[t] {
			return
		}
		seen[t] = true
		defer delete(seen, t) // it may be embedded in several places
		if named, ok := t.(*types.Named); ok {
			for m := range named.Methods() {
				if m.Name() == name {
					n++
				}
			}
		}
		switch u := t.Underlying().(type) {
		case *types.Interface:
			for m := range u.Methods() {
				if m.Name() == name {
					n++
				}
			}
		case *types.Struct:
			for f := range u.Fields() {
				if f.Name() == name {
					n++
				}
				if f.Embedded() {
					visit(f.Type())
				}
			}
		}
	}
	visit(t)
	return n
}
