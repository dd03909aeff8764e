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

// renamePredeclared renames the local variables and constants of a function that have predeclared
// names, because yaegi would treat nil and iota as the predeclared ones.
func (l *builder) renamePredeclared(n ast.Node) {
	if !l.predeclared {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSwitchStmt); ok {
			l.renameBound(s)
		}
		id, ok := n.(*ast.Ident)
		if !ok || types.Universe.Lookup(id.Name) == nil {
			return true
		}
		obj := l.info.Defs[id]
		if obj == nil || obj.Parent() == nil || l.hoisted[obj] {
			return true
		}
		switch obj.(type) {
		case *types.Var, *types.Const:
			id.Name = l.temp(id.Name)
			l.renamed[obj] = id.Name
		}
		return true
	})
}

// renameBound renames the symbol that a type switch binds, which is a variable of each clause.
func (l *builder) renameBound(s *ast.TypeSwitchStmt) {
	a, ok := s.Assign.(*ast.AssignStmt)
	if !ok {
		return
	}
	id := a.Lhs[0].(*ast.Ident)
	if types.Universe.Lookup(id.Name) == nil {
		return
	}
	id.Name = l.temp(id.Name)
	for _, clause := range s.Body.List {
		if obj := l.info.Implicits[clause]; obj != nil {
			l.renamed[obj] = id.Name
		}
	}
}
