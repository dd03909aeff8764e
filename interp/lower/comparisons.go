package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// isNil lowers a comparison of x to nil.
func (l *lowerer) isNil(e *ast.BinaryExpr, x ast.Expr) ast.Expr {
	pos := e.Pos()
	var call ast.Expr
	if l.isSimple(x) {
		call = l.helper(pos, contract.IsNil, l.address(l.expr(x)))
	} else {
		v := l.temp("x")
		lit := &ast.FuncLit{
			Type: &ast.FuncType{Func: pos,
				Params: &ast.FieldList{Opening: pos,
					List: []*ast.Field{{Names: []*ast.Ident{l.ident(pos, v)}, Type: l.typeExpr(l.info.TypeOf(x), pos)}}},
				Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.ident(pos, "bool")}}},
			},
			Body: block(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.helper(pos, contract.IsNil, l.address(l.ident(pos, v)))}}),
		}
		call = &ast.CallExpr{Fun: lit, Lparen: pos, Args: []ast.Expr{l.expr(x)}, Rparen: pos}
	}
	if e.Op == token.EQL {
		return call
	}
	return &ast.UnaryExpr{OpPos: pos, Op: token.NOT, X: call}
}

// equal lowers a comparison of interface values. Operands that are not variables are first passed
// as parameters, because the runtime needs pointers: yaegi passes interfaces to compiled code
// without the types of the values in them.
func (l *lowerer) equal(e *ast.BinaryExpr) ast.Expr {
	pos := e.Pos()
	x, y := l.info.TypeOf(e.X), l.info.TypeOf(e.Y)
	var call ast.Expr
	if l.isSimple(e.X) && l.isSimple(e.Y) {
		call = l.equalCall(pos, l.expr(e.X), l.expr(e.Y), x, y)
	} else {
		a, b := l.temp("x"), l.temp("y")
		lit := &ast.FuncLit{
			Type: &ast.FuncType{Func: pos,
				Params: &ast.FieldList{Opening: pos, List: []*ast.Field{
					{Names: []*ast.Ident{l.ident(pos, a)}, Type: l.typeExpr(x, pos)},
					{Names: []*ast.Ident{l.ident(pos, b)}, Type: l.typeExpr(y, pos)},
				}},
				Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.ident(pos, "bool")}}},
			},
			Body: block(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.equalCall(pos, l.ident(pos, a), l.ident(pos, b), x, y)}}),
		}
		call = &ast.CallExpr{Fun: lit, Lparen: pos, Args: []ast.Expr{l.expr(e.X), l.expr(e.Y)}, Rparen: pos}
	}
	if e.Op == token.EQL {
		return call
	}
	return &ast.UnaryExpr{OpPos: pos, Op: token.NOT, X: call}
}

// same lowers a comparison for which comparesBoxes is true to one of native values, which compare
// as in Go.
func (l *lowerer) same(e *ast.BinaryExpr) ast.Expr {
	t, empty := l.info.TypeOf(e.X), types.NewInterfaceType(nil, nil)
	x, y := l.converted(l.expr(e.X), t, empty), l.converted(l.convert(e.Y, t), t, empty)
	var call ast.Expr = l.helper(e.Pos(), contract.Same, x, y)
	if e.Op == token.NEQ {
		call = &ast.UnaryExpr{OpPos: e.Pos(), Op: token.NOT, X: call}
	}
	return call
}
