package lower

import (
	"go/ast"
	"go/types"
	"reflect"
)

// Declarations of module packages are in yaegi's package main, like those of cells. So pkg.Name
// becomes Name before anything else is done with the syntax, and then refers to the same object.

// unqualify replaces qualified names of interpreted packages in a node by the plain names.
func (l *builder) unqualify(n ast.Node) {
	if l.checker.HasModules() {
		l.unqualifyIn(reflect.ValueOf(n))
	}
}

func (l *builder) unqualifyIn(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		if name := l.interpretedMember(v.Interface()); name != nil {
			v.Set(reflect.ValueOf(name))
			return
		}
		l.unqualifyIn(v.Elem())
	case reflect.Pointer:
		if _, isNode := v.Interface().(ast.Node); !isNode || v.IsNil() {
			return
		}
		for i := range v.Elem().NumField() {
			l.unqualifyIn(v.Elem().Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			l.unqualifyIn(v.Index(i))
		}
	}
}

// interpretedMember returns the name that a selector selects from an interpreted package, or nil
// for other nodes.
func (l *builder) interpretedMember(n any) *ast.Ident {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return nil
	}
	pkg, ok := l.info.Uses[id].(*types.PkgName)
	if !ok || !l.checker.Interprets(pkg.Imported()) {
		return nil
	}
	if tv, ok := l.info.Types[sel]; ok {
		l.info.Types[sel.Sel] = tv
	}
	return sel.Sel
}
