package interp

import (
	"go/ast"
	"go/types"
	"maps"
	"reflect"
	"slices"
)

// An assertion to an interface type of cells that has methods must find every type that implements it, those of later cells included. So the runtime knows
// a function for each such type and each such interface, which puts a value of the one into the other: it is told of them by the cell that declares the
// type, that uses an instance of it first, that gives it a method, or that asserts to the interface first.

// implementation is a type that implements an interface type of cells, and the function from the one to the other.
type implementation struct {
	typ  types.Type
	into reflect.Value
}

// registerImplementations makes the types that implement interfaces known that are new in one of the ways above.
func (l *lowerer) registerImplementations() {
	scope := l.in.scope
	fresh := slices.Collect(maps.Values(l.types))
	all := slices.Clone(fresh)
	for _, t := range scope.types {
		all = append(all, t)
	}
	register := func(key string, iface types.Type, list []types.Object) {
		for _, t := range implementers(iface.Underlying().(*types.Interface), list) {
			if pair := l.typeText(t) + "\x00" + key; !scope.implementing[pair] && !l.implementing[pair] {
				l.implementing[pair] = true
				l.registerImplementation(key, iface, t)
			}
		}
	}
	for key, iface := range scope.asserted {
		if l.c.added != nil {
			register(key, iface, all)
		} else {
			register(key, iface, fresh)
		}
	}
	for key, iface := range l.asserted {
		register(key, iface, all)
	}
}

// implementers are those of the declared types, and of pointers to them, that implement an interface.
func implementers(iface *types.Interface, declared []types.Object) (list []types.Type) {
	for _, obj := range declared {
		named, ok := obj.Type().(*types.Named)
		if !ok || types.IsInterface(named) || named.TypeParams().Len() > named.TypeArgs().Len() {
			continue
		}
		for _, t := range []types.Type{named, types.NewPointer(named)} {
			if types.Implements(t, iface) {
				list = append(list, t)
			}
		}
	}
	return list
}

func (l *lowerer) registerImplementation(key string, iface, t types.Type) {
	pos := l.c.body.Pos()
	param := types.NewTuple(types.NewParam(pos, nil, "", t))
	result := types.NewTuple(types.NewParam(pos, nil, "", iface))
	into, args := l.forwarder(pos, types.NewSignatureType(nil, nil, nil, param, result, false))
	into.Body.List = []ast.Stmt{&ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.converted(args[0], t, iface)}}}
	l.registrations = append(l.registrations, &ast.ExprStmt{X: l.helper(pos, "Implementation", l.quoted(pos, l.valueKey(t)), l.quoted(pos, key), into)})
}

// addImplementation notes the function from the type of a key to an interface type of cells.
func (n *natives) addImplementation(typ, iface string, into any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.implementations[iface] = append(n.implementations[iface], implementation{n.types[typ], reflect.ValueOf(into)})
}

// implementation returns how a value of a cell's type becomes one of an interface type, an invalid value if its type does not implement that.
func (n *natives) implementation(t types.Type, iface string) reflect.Value {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, i := range n.implementations[iface] {
		if types.Identical(i.typ, t) {
			return i.into
		}
	}
	return reflect.Value{}
}
