package yaegi

import (
	"fmt"
	"path"
	"reflect"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// Provide makes packages available to interpreted code. The tables are those of yaegi's Use, but they are
// neither copied nor changed, so interpreters may share them. Yaegi's Use would also replace functions
// that print, convert what is given to such functions, and compile copies of generic packages, none of
// which the code of cells needs.
func (y *Interpreter) Provide(tables interp.Exports) {
	for key, table := range tables {
		if key == "." {
			continue // the conversions
		}
		importPath := path.Dir(key)
		y.memory.binPkg[importPath], y.memory.pkgNames[importPath] = table, path.Base(key)
	}
}

// Settle drops the syntax of declared variables, which would keep the trees of whole cells alive.
func (y *Interpreter) Settle(variables []string) error {
	if len(variables) == 0 {
		return nil
	}
	main, err := y.main()
	if err != nil {
		return err
	}
	for _, name := range variables {
		symbol := main.sym[name]
		if symbol.node == nil {
			continue
		}
		// The type of the variable may refer to the declaration.
		symbol.node.anc, symbol.node.child = nil, nil
		symbol.node = nil
	}
	return nil
}

// Alias makes a package-level variable use the memory of another variable of its type, which is
// addressable, and returns the variable's former memory.
func (y *Interpreter) Alias(name string, to reflect.Value) (was reflect.Value, err error) {
	main, err := y.main()
	if err != nil {
		return was, err
	}
	symbol, data := main.sym[name], y.memory.frame.data
	if symbol == nil || symbol.index < 0 || symbol.index >= len(data) {
		return was, fmt.Errorf("interp: yaegi has no variable %s", name)
	}
	place := &data[symbol.index]
	if was = place.Reflect(); was.Type() != to.Type() || !to.CanAddr() {
		return was, fmt.Errorf("interp: %s is no %v that can be set", name, was.Type())
	}
	place.Set(to)
	return was, nil
}

// Drop forgets the name of a function. Code that was compiled to call the function still does.
func (y *Interpreter) Drop(name string) error {
	main, err := y.main()
	if err != nil {
		return err
	}
	delete(main.sym, name)
	return nil
}

// DropType forgets the name of a type, and reports whether it exists. From then on the type refers
// to with, and so does all code that uses the type.
func (y *Interpreter) DropType(name string, with any) (dropped bool, err error) {
	main, err := y.main()
	if err != nil {
		return false, err
	}
	symbol := main.sym[name]
	if symbol == nil || symbol.typ == nil || symbol.typ.node == nil {
		return false, nil
	}
	symbol.typ.node.meta = with
	delete(main.sym, name)
	return true, nil
}

// TypeNamed returns the reflect type of a named type, which yaegi computes if it has not done so.
func (y *Interpreter) TypeNamed(name string) (reflect.Type, error) {
	main, err := y.main()
	if err != nil {
		return nil, err
	}
	symbol := main.sym[name]
	if symbol == nil {
		return nil, fmt.Errorf("interp: yaegi has no type %s", name)
	}
	return typeOf(symbol.typ), nil
}

// TypeMade returns the reflect type of a named type if yaegi has computed it, and nil otherwise.
func (y *Interpreter) TypeMade(name string) (reflect.Type, error) {
	main, err := y.main()
	if err != nil {
		return nil, err
	}
	symbol := main.sym[name]
	if symbol == nil || symbol.typ == nil {
		return nil, nil
	}
	return symbol.typ.rtype, nil
}

// ReplaceFunction replaces the function old by fresh, or a method of the type typ if that is not "":
// code that was compiled to call old calls fresh from now on.
func (y *Interpreter) ReplaceFunction(typ, old, fresh string) error {
	main, err := y.main()
	if err != nil {
		return err
	}
	if typ != "" {
		for t := main.sym[typ].typ; t != nil; t = t.ptr {
			t.replaceMethod(old, fresh)
		}
		return nil
	}
	main.sym[old].node.become(main.sym[fresh].node)
	delete(main.sym, fresh)
	return nil
}

// become makes the node of a function equal to that of another.
func (n *Node) become(fresh *Node) {
	*n = *fresh
	n.val = reflect.NewAt(theirNode, unsafe.Pointer(n)).Interface() // a function's node refers to itself
}

// replaceMethod replaces a method of a type in its list.
func (t *itype) replaceMethod(old, fresh string) {
	var from, to *Node
	rest := make([]*Node, 0, len(t.method))
	for _, m := range t.method {
		switch m.ident {
		case old:
			from = m
		case fresh:
			to = m
			continue
		}
		rest = append(rest, m)
	}
	if from != nil && to != nil {
		from.become(to)
		from.ident = old
		t.method = rest
	}
}
