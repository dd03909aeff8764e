package lower

import (
	"go/types"
	"slices"
)

// ownType returns a type's name in yaegi if the type is declared there, by a cell or as an
// instance, and "" for all other types.
func (l *namer) ownType(t *types.Named) string {
	if inst := l.instanceType(t); inst != nil {
		return inst.name
	}
	if l.checker.Interprets(t.Obj().Pkg()) {
		return l.name(t.Obj())
	}
	return ""
}

// instanceOf returns the instance of obj with these type arguments. On its first use in the session
// it is scheduled for lowering, after the rest of the cell.
func (l *namer) instanceOf(obj types.Object, args []types.Type) *instance {
	same := func(i *instance) bool { return slices.EqualFunc(i.args, args, types.Identical) }
	for _, list := range [][]*instance{l.instances[obj], l.program.instances[obj]} {
		if i := slices.IndexFunc(list, same); i >= 0 {
			return list[i]
		}
	}
	inst := &instance{obj: obj, args: args}
	if _, isType := obj.(*types.TypeName); isType {
		inst.name = l.program.newTypeName(obj.Name(), obj.Pkg() != l.checker.Package() && l.checker.Interprets(obj.Pkg()))
	} else {
		inst.name = l.program.newName(obj.Name())
	}
	l.instances[obj] = append(l.instances[obj], inst)
	l.pending = append(l.pending, inst)
	return inst
}

// instanceType returns the instance for a named type. It returns nil for types that are not
// instances, and for instances that are written as their underlying types.
func (l *namer) instanceType(t *types.Named) *instance {
	obj := t.Origin().Obj()
	g := l.generic(obj)
	if g == nil || l.isTransparent(t) {
		return nil
	}
	inst := l.instanceOf(obj, slices.Collect(t.TypeArgs().Types()))
	if inst.typ == nil {
		inst.typ = types.NewTypeName(obj.Pos(), obj.Pkg(), inst.name, t)
	}
	return inst
}

// fieldName returns a field's name in yaegi: for an embedded field, the name of its type there.
func (l *namer) fieldName(f *types.Var) string {
	t := f.Type()
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && f.Embedded() {
		if l.isRecursive(n) {
			return l.recursiveSymbol(n.Obj())
		}
		if name := l.ownType(n); name != "" {
			return name
		}
		return n.Obj().Name()
	}
	return f.Name()
}
