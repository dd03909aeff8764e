package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// comparesInterfaces reports whether e compares interface values, which yaegi represents
// differently than Go.
func (l *facts) comparesInterfaces(e *ast.BinaryExpr) bool {
	if e.Op != token.EQL && e.Op != token.NEQ || l.info.Types[e.X].IsNil() || l.info.Types[e.Y].IsNil() {
		return false
	}
	return types.IsInterface(l.info.TypeOf(e.X)) || types.IsInterface(l.info.TypeOf(e.Y))
}

// comparedToNil returns the operand that e compares to nil if its type is an interface type of
// cells. Yaegi treats such an interface as not nil after it has been passed on as the result of a
// call.
func (l *namer) comparedToNil(e *ast.BinaryExpr) ast.Expr {
	if e.Op != token.EQL && e.Op != token.NEQ {
		return nil
	}
	for _, side := range [][2]ast.Expr{{e.X, e.Y}, {e.Y, e.X}} {
		if l.info.Types[side[1]].IsNil() && l.isBoxed(l.info.TypeOf(side[0])) {
			return side[0]
		}
	}
	return nil
}

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

// equalCall compares lowered operands of types x and y, at least one of which is an interface type.
func (l *declarer) equalCall(pos token.Pos, a, b ast.Expr, x, y types.Type) ast.Expr {
	switch {
	case !types.IsInterface(x):
		return l.helper(pos, contract.Holds, l.address(b), l.converted(a, x, types.NewInterfaceType(nil, nil)))
	case !types.IsInterface(y):
		return l.helper(pos, contract.Holds, l.address(a), l.converted(b, y, types.NewInterfaceType(nil, nil)))
	}
	return l.helper(pos, contract.Equal, l.address(a), l.address(b))
}

// isSimple reports whether an operand is a variable, or a constant.
func (l *facts) isSimple(e ast.Expr) bool {
	if tv := l.info.Types[e]; tv.Value != nil {
		return true
	}
	id, ok := e.(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := l.info.Uses[id].(*types.Var)
	return ok && (l.checker.Interprets(v.Pkg()) || v.Pkg() == nil)
}

// comparesBoxes reports whether e compares structs or arrays that contain interfaces of cells.
func (l *facts) comparesBoxes(e *ast.BinaryExpr) bool {
	if e.Op != token.EQL && e.Op != token.NEQ {
		return false
	}
	t := l.info.TypeOf(e.X)
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return l.checker.Packages().HoldsInterfaces(t)
	}
	return false
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
