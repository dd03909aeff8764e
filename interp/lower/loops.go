package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

// copies renames the variables of a range loop and returns the definitions of new ones for each
// iteration.
func (l *builder) copies(s *ast.RangeStmt) []ast.Stmt {
	var defs []ast.Stmt
	for _, e := range []*ast.Expr{&s.Key, &s.Value} {
		id, ok := (*e).(*ast.Ident)
		if !ok || id.Name == "_" {
			continue
		}
		*e = l.ident(id.Pos(), l.temp(id.Name))
		defs = append(defs, assign(token.DEFINE, id, *e))
	}
	return defs
}

// assignInBody turns `for k, v = range x` into `for k#, v# := range x { k, v = k#, v#; ... }`.
func (l *builder) assignInBody(s *ast.RangeStmt) {
	set := &ast.AssignStmt{TokPos: s.Pos(), Tok: token.ASSIGN}
	for i, e := range []*ast.Expr{&s.Key, &s.Value} {
		if id, ok := (*e).(*ast.Ident); *e == nil || ok && id.Name == "_" {
			continue
		}
		v := l.ident((*e).Pos(), l.temp("v"))
		t := l.iterated(s.X, i)
		if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
			t = l.info.TypeOf(*e)
		}
		l.info.Types[v] = types.TypeAndValue{Type: t}
		set.Lhs, set.Rhs = append(set.Lhs, *e), append(set.Rhs, v)
		*e = v
	}
	s.Tok = token.DEFINE
	if set.Lhs != nil {
		s.Body.List = append([]ast.Stmt{set}, s.Body.List...)
	}
}
