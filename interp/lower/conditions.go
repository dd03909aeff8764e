package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

// condition lowers the condition of if and for. Yaegi would treat any conversion as true.
func (l *lowerer) condition(e ast.Expr) ast.Expr {
	if e == nil {
		return nil
	}
	if l.isConversion(e) {
		return &ast.BinaryExpr{X: l.expr(e), OpPos: e.Pos(), Op: token.EQL, Y: l.ident(e.Pos(), "true")}
	}
	return l.expr(e)
}

// firstOperand lowers the first operand of && or ||. If the operand is a conversion or begins with
// a type, as literals and some conversions do, it becomes the result of a function, because yaegi
// decides by the first part of the operand whether to evaluate the second.
func (l *lowerer) firstOperand(e ast.Expr) ast.Expr {
	pos, t, found := e.Pos(), l.info.TypeOf(e), l.isConversion(e)
	e = l.receivedOperand(e)
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CompositeLit:
			found = true
		case *ast.CallExpr:
			_, isParen := n.Fun.(*ast.ParenExpr)
			found = found || isParen
		}
		return !found
	})
	if !found {
		return e
	}
	lit := l.closure(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{e}})
	lit.Type.Results = &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.typeExpr(types.Default(t), pos)}}}
	return &ast.CallExpr{Fun: lit, Lparen: pos, Rparen: pos}
}

// receivedOperand lowers an operand of && or ||. A receive operation becomes the result of a
// function, because yaegi loses the value if the operation has to wait.
func (l *lowerer) receivedOperand(e ast.Expr) ast.Expr {
	if !isReceive(e) {
		return l.expr(e)
	}
	u := ast.Unparen(e).(*ast.UnaryExpr)
	pos, v := e.Pos(), l.temp("received")
	u.X = l.expr(u.X)
	lit := l.closure(pos, assign(token.DEFINE, l.ident(pos, v), u), &ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.ident(pos, v)}})
	lit.Type.Results = &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.typeExpr(l.info.TypeOf(e), pos)}}}
	return &ast.CallExpr{Fun: lit, Lparen: pos, Rparen: pos}
}
