package check

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
)

// For go/types, all cells are one package, so that they may use each other's unexported fields and
// methods, but the meaning of names changes from cell to cell. The package's scope always has the
// names for the next cell. Checking a cell changes only the names that have another meaning in the
// cell, and undoes the changes. So a check takes as long in a session with thousands of names as in
// an empty one.

// names has the objects of names at the top level of a cell that is being checked.
type names struct {
	session map[string]types.Object // the names for the next cell
	own     map[string]types.Object // names that differ in this cell; nil for undefined ones
}

// get returns the object of a name, or nil.
func (n names) get(name string) types.Object {
	if obj, ok := n.own[name]; ok {
		return obj
	}
	return n.session[name]
}

// define sets the object of a name; nil makes it undefined.
func (n names) define(name string, obj types.Object) { n.own[name] = obj }

// openScope empties the scope of a package, and returns the map in which the scope finds its
// objects from then on.
func openScope(p *types.Package) map[string]types.Object {
	elems, _, err := scopeParts(p.Scope())
	if err != nil {
		panic(err) // another version of go/types
	}
	all := map[string]types.Object{}
	elems.Set(reflect.ValueOf(all))
	return all
}

// show gives names in the scope of all cells their meaning in one cell, until show is called again
// or the session changes. Names that decls declares there are removed at that time, too.
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

// Lend makes variables visible to the next cell under their names, in place of the session's
// objects of these names, until restore is called. No cell may be defined meanwhile.
func (k *Checker) Lend(variables []*types.Var) (restore func()) {
	k.hide()
	s := &k.scope
	objects, imports, visible := maps.Clone(s.objects), maps.Clone(s.imports), map[string]types.Object{}
	for _, v := range variables {
		visible[v.Name()] = k.visible[v.Name()]
		delete(s.imports, v.Name())
		s.objects[v.Name()], k.visible[v.Name()] = v, v
	}
	return func() {
		k.hide()
		s.objects, s.imports = objects, imports
		for name, obj := range visible {
			if obj != nil {
				k.visible[name] = obj
			} else {
				delete(k.visible, name)
			}
		}
	}
}

// cover records the session's object for a name, so that hide can restore it.
func (k *Checker) cover(name string) {
	if _, ok := k.covered[name]; !ok {
		k.covered[name] = k.visible[name]
	}
}

// hide undoes the changes of show.
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

// declaredNames returns the names that declarations add to their package's scope.
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
