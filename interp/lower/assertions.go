package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// Yaegi decides type assertions by the memory layout of the value in an interface. The runtime
// decides them instead: it can distinguish the types of cells (see Assert), and knows which of them
// implement an interface of cells (see registerImplementations).

// chain returns if a { then } else if b { then } ..., with done added to each then.
func chain(pos token.Pos, list []branch, done func() []ast.Stmt) ast.Stmt {
	var s ast.Stmt
	for _, a := range slices.Backward(list) {
		s = &ast.IfStmt{If: pos, Cond: a.cond, Body: block(pos, append(a.then, done()...)...), Else: s}
	}
	return s
}

// assertOK lowers `v, ok := x.(T)` to statements that set temporary variables, and returns their
// names.
func (l *lowerer) assertOK(e *ast.TypeAssertExpr) (out []ast.Stmt, v, ok string) {
	pos := e.Pos()
	t := l.info.TypeOf(e.Type)
	x := l.temp("x")
	v, ok = l.temp("v"), l.temp("ok")
	out = append(l.declare(x, l.info.TypeOf(e.X), e.X),
		l.varDecl(pos, v, t),
		&ast.ExprStmt{X: l.helper(pos, contract.Zero, l.address(l.ident(pos, v)))},
		assign(token.DEFINE, l.ident(pos, ok), l.ident(pos, "false")))
	list := l.branches(pos, x, t, v, &out)
	return append(out, chain(pos, list, func() []ast.Stmt {
		return []ast.Stmt{assign(token.ASSIGN, l.ident(pos, ok), l.ident(pos, "true"))}
	})), v, ok
}

// assert lowers x.(T) with one result to a function literal that returns the value or panics.
func (l *lowerer) assert(e *ast.TypeAssertExpr) ast.Expr {
	pos := e.Pos()
	t, from := l.info.TypeOf(e.Type), l.info.TypeOf(e.X)
	x, v := l.temp("x"), l.temp("v")
	body := []ast.Stmt{l.varDecl(pos, v, t)}
	list := l.branches(pos, x, t, v, &body)
	body = append(body, chain(pos, list, func() []ast.Stmt {
		return []ast.Stmt{&ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.ident(pos, v)}}}
	}))
	fail := []ast.Expr{l.address(l.ident(pos, x)), l.quoted(pos, l.textKey(from)), l.quoted(pos, l.textKey(t))}
	if iface, ok := t.Underlying().(*types.Interface); ok {
		for m := range iface.Methods() {
			fail = append(fail, l.quoted(pos, m.Name()))
		}
	}
	body = append(body, &ast.ExprStmt{X: l.helper(pos, contract.FailAssert, fail...)},
		&ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.ident(pos, v)}})
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos,
			Params:  &ast.FieldList{Opening: pos, List: []*ast.Field{{Names: []*ast.Ident{l.ident(pos, x)}, Type: l.typeExpr(from, pos)}}},
			Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.typeExpr(t, pos)}}},
		},
		Body: block(pos, body...),
	}
	return &ast.CallExpr{Fun: lit, Lparen: pos, Args: []ast.Expr{l.expr(e.X)}, Rparen: pos}
}

// typeSwitch lowers a type switch: it finds the number of the clause, and then switches on that
// number.
func (l *lowerer) typeSwitch(s *ast.TypeSwitchStmt, label *ast.LabeledStmt) []ast.Stmt {
	pos := s.Pos()
	var out []ast.Stmt
	if s.Init != nil {
		out = append(out, l.stmt(s.Init)...)
	}
	var operand ast.Expr
	bound := ""
	switch a := s.Assign.(type) {
	case *ast.ExprStmt:
		operand = a.X.(*ast.TypeAssertExpr).X
	case *ast.AssignStmt:
		operand = a.Rhs[0].(*ast.TypeAssertExpr).X
		bound = a.Lhs[0].(*ast.Ident).Name
	}
	out = append(out, l.mark(operand)...)
	x, which := l.temp("x"), l.temp("case")
	out = append(out, l.declare(x, l.info.TypeOf(operand), operand)...)
	out = append(out,
		assign(token.DEFINE, l.ident(pos, which), &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: "0"}))
	var all []branch
	sw := &ast.SwitchStmt{Switch: pos, Tag: l.ident(pos, which), Body: block(pos)}
	for i, cc := range s.Body.List {
		clause := cc.(*ast.CaseClause)
		number := func() ast.Expr { return &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.Itoa(i + 1)} }
		held := x
		for _, e := range clause.List {
			var list []branch
			if l.info.Types[e].IsNil() {
				list = []branch{{cond: l.helper(pos, contract.IsNil, l.address(l.ident(pos, x)))}}
			} else {
				v := l.temp("v")
				t := l.info.TypeOf(e)
				out = append(out, l.varDecl(pos, v, t))
				list = l.branches(pos, x, t, v, &out)
				if len(clause.List) == 1 {
					held = v
				}
			}
			for _, a := range list {
				a.then = append(a.then, assign(token.ASSIGN, l.ident(pos, which), number()))
				all = append(all, a)
			}
		}
		body := l.clause(clause.Body)
		if bound != "" {
			body = append([]ast.Stmt{assign(token.DEFINE, l.ident(pos, bound), l.ident(pos, held))}, body...)
		}
		lowered := &ast.CaseClause{Case: clause.Case, Colon: clause.Colon, Body: body}
		if clause.List != nil {
			lowered.List = []ast.Expr{number()}
		}
		sw.Body.List = append(sw.Body.List, lowered)
	}
	if all != nil {
		out = append(out, chain(pos, all, func() []ast.Stmt { return nil }))
	}
	return []ast.Stmt{block(pos, append(out, withLabel(label, sw))...)}
}
