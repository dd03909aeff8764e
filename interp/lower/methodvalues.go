package lower

import (
	"go/ast"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// methodValue lowers x.Method: it evaluates the receiver immediately, down to the embedded field
// that has the method.
//
//	func(r T) func(args) results { return func(args) results { return r.Method(args) } }(x)
func (l *lowerer) methodValue(sel *ast.SelectorExpr, s *types.Selection) ast.Expr {
	pos := sel.Pos()
	sig := s.Type().(*types.Signature)
	x, recv := l.methodOwner(sel, s)
	_, byPointer := s.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
	var nilCheck []ast.Stmt
	r := l.temp("recv")
	switch {
	case types.IsInterface(recv):
		nilCheck = []ast.Stmt{&ast.ExprStmt{X: l.helper(pos, contract.ReceiverHeld, l.address(l.ident(pos, r)))}}
	case byPointer && !check.IsPointer(recv):
		recv, x = types.NewPointer(recv), l.address(x)
	case !byPointer && check.IsPointer(recv):
		recv, x = recv.Underlying().(*types.Pointer).Elem(), &ast.StarExpr{Star: pos, X: x}
	}
	inner, args := l.forwarder(pos, sig)
	var owner ast.Expr = l.ident(pos, r)
	if l.isLogger(sel) {
		owner = l.loggerAt(sel, owner)
	}
	l.ofFunction(l.forward(inner, sig, &ast.SelectorExpr{X: owner, Sel: l.ident(pos, sel.Sel.Name)}, args), s.Obj().(*types.Func), "-fm")
	outer := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos,
			Params:  &ast.FieldList{Opening: pos, List: []*ast.Field{{Names: []*ast.Ident{l.ident(pos, r)}, Type: l.typeExpr(recv, pos)}}},
			Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.signatureExpr(sig, pos)}}},
		},
		Body: block(pos, append(nilCheck, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{inner}})...),
	}
	return &ast.CallExpr{Fun: outer, Lparen: pos, Args: []ast.Expr{x}, Rparen: pos}
}

// methodOwner lowers the operand of sel, with the embedded fields on the path to the method, and
// returns its type. Yaegi resolves fields that a package does not export.
func (l *lowerer) methodOwner(sel *ast.SelectorExpr, s *types.Selection) (ast.Expr, types.Type) {
	x, t := l.expr(sel.X), s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		st := t.Underlying()
		if p, ok := st.(*types.Pointer); ok {
			st = p.Elem().Underlying()
		}
		f := st.(*types.Struct).Field(i)
		if !l.checker.Interprets(f.Pkg()) && !f.Exported() {
			break
		}
		x, t = &ast.SelectorExpr{X: x, Sel: l.ident(sel.Pos(), l.fieldName(f))}, f.Type()
	}
	return x, t
}
