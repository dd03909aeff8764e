package interp

import (
	"go/ast"
	"go/types"
)

// firstOperand makes the first operand of && or ||, which is lowered, the result of a function if it begins with a type, as literals and some conversions
// do: yaegi looks at the value of the first thing in it to decide whether to go on.
func (l *lowerer) firstOperand(x ast.Expr, t types.Type) ast.Expr {
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
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
		return x
	}
	pos := x.Pos()
	lit := l.closure(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{x}})
	lit.Type.Results = &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.typeExpr(types.Default(t), pos)}}}
	return &ast.CallExpr{Fun: lit, Lparen: pos, Rparen: pos}
}
