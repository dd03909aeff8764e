package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

// repeated returns a copy of an expression that may be evaluated twice, nil for others.
func (l *lowerer) repeated(e ast.Expr) (out ast.Expr) {
	defer func() {
		if out != nil {
			l.info.Types[out] = l.info.Types[e]
		}
	}()
	if tv, ok := l.info.Types[e]; ok && tv.Value != nil {
		return &ast.Ident{NamePos: e.Pos(), Name: "constant"}
	}
	switch e := e.(type) {
	case *ast.Ident:
		id := *e
		if obj := l.info.Uses[e]; obj != nil {
			l.info.Uses[&id] = obj
		}
		return &id
	case *ast.ParenExpr:
		return l.repeated(e.X)
	case *ast.SelectorExpr:
		s := l.info.Selections[e]
		if s == nil || s.Kind() != types.FieldVal {
			return nil
		}
		if x := l.repeated(e.X); x != nil {
			sel := *e.Sel
			l.info.Uses[&sel] = l.info.Uses[e.Sel]
			c := &ast.SelectorExpr{X: x, Sel: &sel}
			l.info.Selections[c] = s
			return c
		}
	case *ast.StarExpr:
		if x := l.repeated(e.X); x != nil {
			return &ast.StarExpr{Star: e.Star, X: x}
		}
	case *ast.UnaryExpr:
		if e.Op == token.AND || e.Op == token.ARROW {
			return nil
		}
		if x := l.repeated(e.X); x != nil {
			return &ast.UnaryExpr{OpPos: e.OpPos, Op: e.Op, X: x}
		}
	case *ast.BinaryExpr:
		x, y := l.repeated(e.X), l.repeated(e.Y)
		if x != nil && y != nil {
			return &ast.BinaryExpr{X: x, OpPos: e.OpPos, Op: e.Op, Y: y}
		}
	case *ast.IndexExpr:
		if _, ok := l.info.TypeOf(e.X).Underlying().(*types.Signature); ok {
			return nil
		}
		x, i := l.repeated(e.X), l.repeated(e.Index)
		if x != nil && i != nil {
			return &ast.IndexExpr{X: x, Lbrack: e.Lbrack, Index: i, Rbrack: e.Rbrack}
		}
	case *ast.SliceExpr:
		out := &ast.SliceExpr{X: l.repeated(e.X), Lbrack: e.Lbrack, Slice3: e.Slice3, Rbrack: e.Rbrack}
		ok := out.X != nil
		for _, v := range []struct{ from, to *ast.Expr }{{&e.Low, &out.Low}, {&e.High, &out.High}, {&e.Max, &out.Max}} {
			if *v.from != nil {
				*v.to = l.repeated(*v.from)
				ok = ok && *v.to != nil
			}
		}
		if ok {
			return out
		}
	case *ast.CallExpr:
		if l.onlyLooks(e) {
			fun, x := l.repeated(e.Fun), l.repeated(e.Args[0])
			if fun != nil && x != nil {
				return &ast.CallExpr{Fun: fun, Lparen: e.Lparen, Args: []ast.Expr{x}, Rparen: e.Rparen}
			}
		}
	}
	return nil
}

// onlyLooks reports whether a call is len, cap or a conversion of numbers.
func (l *lowerer) onlyLooks(e *ast.CallExpr) bool {
	if len(e.Args) != 1 {
		return false
	}
	if tv := l.info.Types[e.Fun]; !tv.IsType() {
		id, ok := ast.Unparen(e.Fun).(*ast.Ident)
		return ok && tv.IsBuiltin() && (id.Name == "len" || id.Name == "cap")
	}
	return isNumber(l.info.TypeOf(e)) && isNumber(l.info.TypeOf(e.Args[0]))
}
