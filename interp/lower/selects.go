package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// selectStmt lowers a select to calls of the runtime and a switch: yaegi's select shares its cases
// between all goroutines that run the statement, cannot leave a loop, and stores received values
// without an address.
//
//	s := runtime.NewSelect()
//	s.Recv(&channel, &v, &ok)
//	s.Send(&channel, &value)
//	which := s.Do()
//	switch which { case 0: x, ok = v, ok; body … }
func (l *lowerer) selectStmt(s *ast.SelectStmt, label *ast.LabeledStmt) []ast.Stmt {
	out := l.mark(s)
	pos := s.Pos()
	name, which := l.temp("select"), l.temp("case")
	method := func(name2 string, args ...ast.Expr) *ast.CallExpr {
		return &ast.CallExpr{Fun: &ast.SelectorExpr{X: l.ident(pos, name), Sel: l.ident(pos, name2)}, Lparen: pos, Args: args, Rparen: pos}
	}
	// keep evaluates an operand into a variable and returns its address.
	keep := func(what string, t types.Type, e ast.Expr) ast.Expr {
		v := l.temp(what)
		out = append(out, l.mark(e)...)
		out = append(out, l.declare(v, t, e)...)
		return l.address(l.ident(pos, v))
	}
	out = append(out, assign(token.DEFINE, l.ident(pos, name), l.helper(pos, contract.NewSelect)))
	sw := &ast.SwitchStmt{Switch: pos, Tag: l.ident(pos, which), Body: block(pos)}
	for i, cc := range s.Body.List {
		clause := cc.(*ast.CommClause)
		var first []ast.Stmt
		switch comm := clause.Comm.(type) {
		case nil:
			out = append(out, &ast.ExprStmt{X: method(contract.SelectDefault)})
		case *ast.SendStmt:
			t := l.info.TypeOf(comm.Chan)
			channel := keep("channel", t, comm.Chan)
			elem := t.Underlying().(*types.Chan).Elem()
			out = append(out, &ast.ExprStmt{X: method(contract.SelectSend, channel, keep("value", elem, comm.Value))})
		case *ast.ExprStmt:
			u := ast.Unparen(comm.X).(*ast.UnaryExpr)
			out = append(out, &ast.ExprStmt{X: method(contract.SelectRecv, keep("channel", l.info.TypeOf(u.X), u.X))})
		case *ast.AssignStmt:
			u := ast.Unparen(comm.Rhs[0]).(*ast.UnaryExpr)
			t := l.info.TypeOf(u.X)
			args := []ast.Expr{keep("channel", t, u.X)}
			set := &ast.AssignStmt{Lhs: comm.Lhs, TokPos: pos, Tok: comm.Tok}
			for j := range comm.Lhs {
				kind := t.Underlying().(*types.Chan).Elem()
				if j == 1 {
					kind = types.Typ[types.Bool]
				}
				v := l.temp("received")
				out = append(out, l.varDecl(pos, v, kind))
				args = append(args, l.address(l.ident(pos, v)))
				set.Rhs = append(set.Rhs, l.typed(l.ident(pos, v), kind))
			}
			out = append(out, &ast.ExprStmt{X: method(contract.SelectRecv, args...)})
			first = l.assign(set)
		}
		number := &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.Itoa(i)}
		sw.Body.List = append(sw.Body.List,
			&ast.CaseClause{Case: pos, List: []ast.Expr{number}, Body: append(first, l.clause(clause.Body)...)})
	}
	out = append(out, assign(token.DEFINE, l.ident(pos, which), method(contract.SelectDo)), withLabel(label, sw))
	return []ast.Stmt{block(pos, out...)}
}
