package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
)

// All cells are one package to go/types, so that they may use each other's unexported fields and methods, but what a name means changes from cell to cell. Its
// scope holds what names mean to the next cell, at any time: the check of a cell changes those that have another meaning in it, and takes that back. So a check
// takes as long in a session with thousands of names as in one with none.

// names is what names mean at the top level of a cell that is being checked.
type names struct {
	session map[string]types.Object // to the next cell
	own     map[string]types.Object // the names that mean something else in this one, nil for nothing
}

// get returns what a name means, nil for nothing.
func (n names) get(name string) types.Object {
	if obj, ok := n.own[name]; ok {
		return obj
	}
	return n.session[name]
}

// define gives a name a meaning, nil for none.
func (n names) define(name string, obj types.Object) { n.own[name] = obj }

// openScope makes the scope of a package empty, and returns the map by which it finds its objects from then on.
func openScope(p *types.Package) map[string]types.Object {
	elems, _, err := scopeParts(p.Scope())
	if err != nil {
		panic(err) // another version of go/types
	}
	all := map[string]types.Object{}
	elems.Set(reflect.ValueOf(all))
	return all
}

// show gives names the meanings in the scope of all cells that they have in a cell, until show is called again or the session changes. Those that decls declare
// there are taken back with them.
func (k *Checker) show(own map[string]types.Object, decls []ast.Decl) {
	k.hide()
	for name, obj := range own {
		k.cover(name)
		if obj != nil {
			k.visible[name] = obj
		} else {
			delete(k.visible, name)
		}
	}
	for _, id := range declaredNames(decls) {
		k.cover(id.Name)
	}
	_, children, err := scopeParts(k.pkg.Scope())
	if err != nil {
		panic(err) // another version of go/types
	}
	children.SetZero()
}

// cover notes what a name means to the session, so that hide finds it.
func (k *Checker) cover(name string) {
	if _, ok := k.covered[name]; !ok {
		k.covered[name] = k.visible[name]
	}
}

// hide takes back what show did.
func (k *Checker) hide() {
	for name, obj := range k.covered {
		if obj != nil {
			k.visible[name] = obj
		} else {
			delete(k.visible, name)
		}
	}
	clear(k.covered)
}

// declaredNames returns the names that declarations put into the scope of their package.
func declaredNames(decls []ast.Decl) (list []*ast.Ident) {
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name != "init" {
				list = append(list, d.Name)
			}
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				for _, s := range d.Specs {
					list = append(list, specNames(s)...)
				}
			}
		}
	}
	return list
}
