package lower

import (
	"go/ast"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
)

// name is the identifier of an object of the session or of this cell; local objects keep theirs.
func (l *namer) name(obj types.Object) string {
	if n, ok := l.names[obj]; ok {
		return n
	}
	if n, ok := l.renamed[obj]; ok {
		return n
	}
	if n, ok := l.program.names[obj]; ok {
		return n
	}
	return obj.Name()
}

// storage returns where a variable of the session or of this cell's top level is kept, nil for all else.
func (l *namer) storage(obj types.Object) *Storage {
	v, ok := obj.(*types.Var)
	if !ok {
		return nil
	}
	if s := l.places[v]; s != nil {
		return s
	}
	return l.program.storage[l.program.names[v]]
}

// qualified writes the package before a name that is known by a dot import; other expressions stay.
func (l *marker) qualified(e ast.Expr) ast.Expr {
	id, ok := e.(*ast.Ident)
	if !ok || l.silent { // packages use their own names
		return e
	}
	obj := l.info.Uses[id]
	if obj == nil || obj.Pkg() == nil || l.checker.Interprets(obj.Pkg()) || l.params[obj] || obj.Parent() != obj.Pkg().Scope() {
		return e
	}
	pkg := l.ident(id.Pos(), obj.Pkg().Name())
	l.info.Uses[pkg] = types.NewPkgName(id.Pos(), l.checker.Package(), pkg.Name, obj.Pkg())
	sel := &ast.SelectorExpr{X: pkg, Sel: id}
	l.info.Types[sel] = l.info.Types[id]
	return sel
}

// renamePredeclared gives the local variables and constants of a function that have a predeclared name another: yaegi would take nil and iota for the predeclared
// ones.
func (l *builder) renamePredeclared(n ast.Node) {
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

// renameBound renames what a type switch binds, which is a variable of each clause.
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

// fieldName is what a field is called in yaegi: an embedded one has the name of its type there.
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

// identifier lowers the use of a name.
func (l *marker) identifier(id *ast.Ident) ast.Expr {
	obj := l.info.Uses[id]
	if obj == nil {
		obj = l.info.Defs[id]
	}
	if obj == nil {
		return id
	}
	if s := l.storage(obj); s != nil && l.fn != nil && !l.fn.top() {
		s.users[l.c.Text] = s.users[l.c.Text] || l.fn.declared()
	}
	if t, ok := obj.(*types.TypeName); ok && (l.params[t] || l.isRecursive(t.Type())) {
		return l.typeExpr(t.Type(), id.Pos())
	}
	return l.ident(id.Pos(), l.name(obj))
}

// capture notes that a variable of the session may be used for as long as a pointer to it or a generic function lives.
func (l *namer) capture(obj types.Object) {
	if s := l.storage(obj); s != nil {
		s.captured = true
	}
}

// captureOperand captures the variable that an operand is a part of.
func (l *namer) captureOperand(e ast.Expr) {
	if id := root(e); id != nil && l.info.Uses[id] != nil {
		l.capture(l.info.Uses[id])
	}
}

// generic returns the declaration that instances of obj are made of; nil for what is not generic.
func (l *facts) generic(obj types.Object) *check.Generic {
	if g := l.c.Generics[obj]; g != nil {
		return g
	}
	return l.checker.Generic(obj)
}

// isOwn reports whether a function or method is interpreted: one of a cell, or of a package that has it in source.
func (l *facts) isOwn(fn *types.Func) bool {
	if l.checker.Interprets(fn.Pkg()) || l.generic(fn.Origin()) != nil {
		return true
	}
	if recv := fn.Signature().Recv(); recv != nil {
		t := recv.Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		named, ok := t.(*types.Named)
		return ok && l.generic(named.Origin().Obj()) != nil
	}
	return false
}
