package lower

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// An assertion to an interface type with methods that a cell declares must find every type that
// implements it, including types of later cells. So for each pair of such a type and such an
// interface, the runtime has a function that stores a value of the type in the interface. A cell
// registers the function if it declares the type, is the first to use an instance of it, adds a
// method to it, or is the first to assert to the interface.

// registerImplementations registers the pairs that are new with this cell.
func (l *declarer) registerImplementations() {
	p := l.program
	fresh := slices.Collect(maps.Values(l.types))
	var all []types.Object
	if len(l.asserted) > 0 || l.c.AddedMethods != nil {
		all = slices.Clone(fresh)
		all = append(all, p.spelled()...)
	}
	register := func(key string, iface types.Type, list []types.Object) {
		for _, t := range implementers(iface.Underlying().(*types.Interface), list) {
			if pair := l.typeText(t) + "\x00" + key; !p.implementing[pair] && !l.implementing[pair] {
				l.implementing[pair] = true
				l.registerImplementation(key, iface, t)
			}
		}
	}
	for key, iface := range p.asserted {
		if l.c.AddedMethods != nil {
			register(key, iface, all)
		} else {
			register(key, iface, fresh)
		}
	}
	for key, iface := range l.asserted {
		register(key, iface, all)
	}
}

// implementers returns those declared types, and pointers to them, that implement an interface.
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

func (l *declarer) registerImplementation(key string, iface, t types.Type) {
	pos := l.c.Body.Pos()
	param := types.NewTuple(types.NewParam(pos, nil, "", t))
	result := types.NewTuple(types.NewParam(pos, nil, "", iface))
	into, args := l.forwarder(pos, types.NewSignatureType(nil, nil, nil, param, result, false))
	into.Body.List = []ast.Stmt{&ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.converted(args[0], t, iface)}}}
	l.registrations = append(l.registrations,
		&ast.ExprStmt{X: l.helper(pos, contract.Implementation, l.quoted(pos, l.valueKey(t)), l.quoted(pos, key), into)})
}
