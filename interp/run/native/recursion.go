package native

import (
	"go/types"
	"reflect"

	"github.com/symmrepl/symmrepl/interp/internal/named"
)

// When struct types refer to each other, yaegi creates placeholders for the incomplete ones and
// then fills all of them with the same type. MendStructs gives each placeholder the right type.

// MendStructs corrects the fields of compiled struct types, which are given by their names in
// yaegi. NameOf returns a type's name in yaegi, or "" if yaegi does not declare the type.
func (n *Types) MendStructs(structs map[string]*types.Struct, nameOf func(*types.Named) string) error {
	if len(structs) < 2 {
		return nil
	}
	m := mender{made: map[string]reflect.Type{}, nameOf: nameOf}
	for name, st := range structs {
		if t, err := n.yaegi.TypeMade(name); err != nil {
			return err
		} else if t != nil && t.Kind() == reflect.Struct && t.NumField() == st.NumFields() {
			m.made[name] = t
		}
	}
	for name, t := range m.made {
		for i := range t.NumField() {
			is := t.Field(i).Type
			if f := m.mend(is, structs[name].Field(i).Type()); f != is {
				named.SetFieldType(t, i, f)
			}
		}
	}
	return nil
}

type mender struct {
	made   map[string]reflect.Type
	nameOf func(*types.Named) string
}

// mend returns the type that belongs where yaegi has the type is for t. It differs from is only
// behind pointers, slices and the like.
func (m mender) mend(is reflect.Type, t types.Type) reflect.Type {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		if made := m.made[m.nameOf(n)]; made != nil {
			return made
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if is.Kind() == reflect.Pointer {
			return m.of(is, []reflect.Type{is.Elem()}, []types.Type{u.Elem()},
				func(e []reflect.Type) reflect.Type { return reflect.PointerTo(e[0]) })
		}
	case *types.Slice:
		if is.Kind() == reflect.Slice {
			return m.of(is, []reflect.Type{is.Elem()}, []types.Type{u.Elem()},
				func(e []reflect.Type) reflect.Type { return reflect.SliceOf(e[0]) })
		}
	case *types.Chan:
		if is.Kind() == reflect.Chan {
			return m.of(is, []reflect.Type{is.Elem()}, []types.Type{u.Elem()},
				func(e []reflect.Type) reflect.Type { return reflect.ChanOf(is.ChanDir(), e[0]) })
		}
	case *types.Map:
		if is.Kind() == reflect.Map {
			return m.of(is, []reflect.Type{is.Key(), is.Elem()}, []types.Type{u.Key(), u.Elem()},
				func(e []reflect.Type) reflect.Type { return reflect.MapOf(e[0], e[1]) })
		}
	}
	return is
}

// of mends the parts of a type, and if one of them changes, builds the type again from them.
func (m mender) of(is reflect.Type, parts []reflect.Type, list []types.Type, with func([]reflect.Type) reflect.Type) reflect.Type {
	changed := false
	for i, part := range parts {
		parts[i] = m.mend(part, list[i])
		changed = changed || parts[i] != part
	}
	if !changed {
		return is
	}
	return with(parts)
}
