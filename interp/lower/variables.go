package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// declStmt lowers local declarations. Constants are folded where they are used.
func (l *lowerer) declStmt(s *ast.DeclStmt) []ast.Stmt {
	g := s.Decl.(*ast.GenDecl)
	switch g.Tok {
	case token.TYPE:
		for _, spec := range g.Specs {
			l.localType(spec.(*ast.TypeSpec))
		}
		return nil
	case token.VAR:
		var out []ast.Stmt
		for _, spec := range g.Specs {
			out = append(out, l.varSpec(spec.(*ast.ValueSpec))...)
		}
		return out
	}
	return nil
}

func (l *lowerer) varSpec(spec *ast.ValueSpec) []ast.Stmt {
	values := &ast.AssignStmt{Rhs: spec.Values}
	out := l.callsFirst(values)
	out = append(out, l.mark(spec)...)
	pos := spec.Pos()
	if spec.Values != nil && len(spec.Values) < len(spec.Names) {
		return append(out, l.varPair(spec)...)
	}
	if spec.Values != nil && l.anyHoisted(spec.Names) {
		s := &ast.AssignStmt{TokPos: pos, Tok: token.ASSIGN, Rhs: spec.Values}
		for _, id := range spec.Names {
			s.Lhs = append(s.Lhs, id)
		}
		return append(out, l.assign(s)...)
	}
	for i, id := range spec.Names {
		v := l.info.Defs[id]
		switch {
		case spec.Values == nil && l.hoisted[v]:
			out = append(out, &ast.ExprStmt{X: l.helper(pos, contract.Zero, l.address(l.identifier(id)))})
			continue
		case spec.Values == nil && id.Name == "_":
			continue
		}
		one := &ast.ValueSpec{Names: []*ast.Ident{id}}
		t := l.info.TypeOf(id)
		if v != nil {
			t = v.Type()
		}
		if spec.Type != nil {
			one.Type = l.typeExpr(t, pos)
		}
		switch {
		case spec.Values != nil:
			e := spec.Values[i]
			if _, ok := e.(*ast.CompositeLit); ok && (l.fn.repeats() || spec.Type != nil && types.IsInterface(t)) { // see protect
				e = l.paren(e)
			}
			one.Values = []ast.Expr{l.convert(e, t)}
		case l.fn.loops > 0:
			// Without a value, yaegi would reuse the variable of the last iteration.
			one.Values = []ast.Expr{l.zeroValue(pos, t)}
		}
		out = append(out, &ast.DeclStmt{Decl: &ast.GenDecl{TokPos: pos, Tok: token.VAR, Specs: []ast.Spec{one}}})
	}
	return out
}

// varPair lowers `var a, b = f()` and similar declarations.
func (l *lowerer) varPair(spec *ast.ValueSpec) []ast.Stmt {
	s := &ast.AssignStmt{TokPos: spec.Pos(), Tok: token.ASSIGN, Rhs: spec.Values}
	var out []ast.Stmt
	for _, id := range spec.Names {
		s.Lhs = append(s.Lhs, id)
		if v, ok := l.info.Defs[id].(*types.Var); ok && id.Name != "_" && !l.hoisted[v] {
			out = append(out, l.varDecl(id.Pos(), id.Name, v.Type()))
		}
	}
	return append(out, l.assign(s)...)
}
