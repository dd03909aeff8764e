package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

// callsFirst handles a statement in which something may panic after a call of a cell's function. It
// moves the calls before the statement, in their order, and their results into variables. The
// statement's position is then stored again, because the functions store positions of their own.
func (l *lowerer) callsFirst(s ast.Stmt) (out []ast.Stmt) {
	var values []*ast.Expr
	whole := false // whether the statement's value may remain a call, because nothing follows it
	switch s := s.(type) {
	case *ast.AssignStmt:
		for i := range s.Lhs {
			if s.Tok != token.DEFINE {
				values = append(values, &s.Lhs[i])
			}
		}
		for i := range s.Rhs {
			values = append(values, &s.Rhs[i])
		}
	case *ast.ExprStmt:
		values, whole = []*ast.Expr{&s.X}, true
	case *ast.ReturnStmt:
		for i := range s.Results {
			values = append(values, &s.Results[i])
		}
	case *ast.SendStmt:
		values = []*ast.Expr{&s.Chan, &s.Value}
	default:
		head := headOf(s)
		if head == nil {
			return nil
		}
		alone := &ast.ExprStmt{X: *head}
		out = l.callsFirst(alone)
		*head = alone.X
		return out
	}
	if !l.hasCellCall(s) || !l.panicsAfterCall(s) || l.ordersMore(s) {
		return nil
	}
	for _, e := range values {
		*e = l.withoutCalls(*e, whole, &out)
	}
	return out
}

// withoutCalls replaces the calls in e by variables. If keep is set, e itself may remain a call.
func (l *lowerer) withoutCalls(e ast.Expr, keep bool, out *[]ast.Stmt) ast.Expr {
	if e == nil {
		return nil
	}
	tv, known := l.info.Types[e]
	if known && (tv.IsType() || tv.Value != nil) {
		return e
	}
	in := func(e *ast.Expr) { *e = l.withoutCalls(*e, false, out) }
	switch e := e.(type) {
	case *ast.ParenExpr:
		e.X = l.withoutCalls(e.X, keep, out)
	case *ast.SelectorExpr:
		if l.info.Selections[e] != nil {
			in(&e.X)
		}
	case *ast.IndexExpr:
		in(&e.X)
		in(&e.Index)
	case *ast.SliceExpr:
		in(&e.X)
		in(&e.Low)
		in(&e.High)
		in(&e.Max)
	case *ast.TypeAssertExpr:
		in(&e.X)
	case *ast.StarExpr:
		in(&e.X)
	case *ast.UnaryExpr:
		in(&e.X)
	case *ast.BinaryExpr:
		in(&e.X)
		in(&e.Y)
	case *ast.CompositeLit:
		for i := range e.Elts {
			if kv, ok := e.Elts[i].(*ast.KeyValueExpr); ok {
				in(&kv.Value)
			} else {
				in(&e.Elts[i])
			}
		}
	case *ast.CallExpr:
		if _, isLit := ast.Unparen(e.Fun).(*ast.FuncLit); !isLit {
			in(&e.Fun)
		}
		for i := range e.Args {
			in(&e.Args[i])
		}
		_, several := tv.Type.(*types.Tuple)
		if keep || several || tv.IsVoid() || l.info.Types[e.Fun].IsType() || l.isBuiltin(e, "len") || l.isBuiltin(e, "cap") {
			return e
		}
		*out = append(*out, l.mark(e)...)
		v := l.hold(e, tv.Type, out)
		l.info.Types[v] = tv
		return v
	}
	return e
}
