package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/lower/typed"
)

// mistakesType reports whether the results include functions that yaegi would afterwards treat as
// generic, because it records the returned expression in the type of the result.
func mistakesType(results []ast.Expr, sig *types.Tuple) bool {
	for i, e := range results {
		switch e.(type) {
		case *ast.Ident, *ast.FuncLit:
		default:
			if len(results) == sig.Len() && typed.IsFunction(sig.At(i).Type()) {
				return true
			}
		}
	}
	return false
}

func (l *lowerer) returnStmt(s *ast.ReturnStmt) []ast.Stmt {
	if sig := l.fn.sig; sig != nil && len(s.Results) == 1 &&
		(l.becomesOther(s.Results[0], sig.Results()) || sig.Results().Len() > 1 && typed.HasFunction(sig.Results())) {
		before, results := l.spreadTuple(s.Results[0])
		s.Results = results
		return append(before, l.returnStmt(s)...)
	}
	m := l.mark(s)
	several := len(s.Results) > 1
	oneByOne := several && (l.fn.results != nil || l.fn.sig != nil && l.fn.sig.Results().At(0).Name() != "" && l.usesResults(s.Results))
	for i, e := range s.Results {
		if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && several && l.info.Types[call.Fun].IsBuiltin() {
			e = l.paren(e) // yaegi would return it as the first result
		} else if _, isBinary := e.(*ast.BinaryExpr); isBinary && several {
			e = l.paren(e) // yaegi would compute it in the place of another result
		}
		if l.fn.sig != nil && len(s.Results) == l.fn.sig.Results().Len() {
			s.Results[i] = l.convert(e, l.fn.sig.Results().At(i).Type())
		} else {
			s.Results[i] = l.expr(e)
		}
	}
	for i, e := range s.Results {
		// yaegi cannot return a received value
		if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.ARROW {
			v := l.temp("received")
			m = append(m, assign(token.DEFINE, l.ident(e.Pos(), v), e))
			s.Results[i] = l.ident(e.Pos(), v)
		}
	}
	if sig := l.fn.sig; sig != nil && (oneByOne || mistakesType(s.Results, sig.Results())) {
		for i, e := range s.Results {
			v := l.temp("result")
			m = append(m, l.varDecl(e.Pos(), v, l.fn.sig.Results().At(i).Type()), assign(token.ASSIGN, l.ident(e.Pos(), v), l.paren(e)))
			s.Results[i] = l.ident(e.Pos(), v)
		}
	}
	if l.fn.results == nil || s.Results == nil {
		if l.fn.sig != nil && l.fn.sig.Results().Len() == 1 && l.fn.sig.Results().At(0).Name() != "" && s.Results != nil {
			if _, isFunc := s.Results[0].(*ast.FuncLit); !isFunc {
				s.Results[0] = l.paren(s.Results[0])
			}
		}
		return append(append(m, l.endMark(s.Pos())...), s)
	}
	var lhs []ast.Expr
	for _, r := range l.fn.results {
		lhs = append(lhs, l.ident(s.Pos(), r))
	}
	m = append(append(m, l.assignEach(lhs, s.Results)...), l.endMark(s.Pos())...)
	return append(m, &ast.ReturnStmt{Return: s.Pos()})
}
