package interp

import (
	"go/ast"
	"go/types"
)

// renamePredeclared gives the local variables and constants of a function that have a predeclared name another: yaegi would take nil and iota for what
// they are elsewhere.
func (l *lowerer) renamePredeclared(n ast.Node) {
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

// renameBound does it for what a type switch binds, which is a variable of each clause.
func (l *lowerer) renameBound(s *ast.TypeSwitchStmt) {
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
