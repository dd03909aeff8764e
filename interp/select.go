package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
)

// selectStmt lowers a select to calls of the cell runtime and a switch: yaegi's own keeps its cases in one place for all goroutines that run the
// statement, cannot leave a loop, and gives what it receives no address.
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
		out = append(out, l.varDecl(pos, v, t), assign(token.ASSIGN, l.ident(pos, v), e))
		return l.address(l.ident(pos, v))
	}
	out = append(out, assign(token.DEFINE, l.ident(pos, name), l.helper(pos, "NewSelect")))
	sw := &ast.SwitchStmt{Switch: pos, Tag: l.ident(pos, which), Body: block(pos)}
	for i, cc := range s.Body.List {
		clause := cc.(*ast.CommClause)
		var first []ast.Stmt
		switch comm := clause.Comm.(type) {
		case nil:
			out = append(out, &ast.ExprStmt{X: method("Default")})
		case *ast.SendStmt:
			t := l.info.TypeOf(comm.Chan)
			channel := keep("channel", t, l.expr(comm.Chan))
			elem := t.Underlying().(*types.Chan).Elem()
			out = append(out, &ast.ExprStmt{X: method("Send", channel, keep("value", elem, l.convert(comm.Value, elem)))})
		case *ast.ExprStmt:
			u := ast.Unparen(comm.X).(*ast.UnaryExpr)
			out = append(out, &ast.ExprStmt{X: method("Recv", keep("channel", l.info.TypeOf(u.X), l.expr(u.X)))})
		case *ast.AssignStmt:
			u := ast.Unparen(comm.Rhs[0]).(*ast.UnaryExpr)
			t := l.info.TypeOf(u.X)
			args := []ast.Expr{keep("channel", t, l.expr(u.X))}
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
			out = append(out, &ast.ExprStmt{X: method("Recv", args...)})
			first = l.assign(set)
		}
		number := &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.Itoa(i)}
		sw.Body.List = append(sw.Body.List, &ast.CaseClause{Case: pos, List: []ast.Expr{number}, Body: append(first, l.clause(clause.Body)...)})
	}
	out = append(out, assign(token.DEFINE, l.ident(pos, which), method("Do")), withLabel(label, sw))
	return []ast.Stmt{block(pos, out...)}
}

// selection is one execution of a select statement.
type selection struct {
	rt    *cellRuntime
	cases []reflect.SelectCase
	into  [][]any // where a case stores what it receives: pointers to the value and to whether there was one
}

func (rt *cellRuntime) newSelect() *selection { return &selection{rt: rt} }

// Default adds the case that is taken when no other can be.
func (s *selection) Default() { s.add(reflect.SelectCase{Dir: reflect.SelectDefault}) }

// Send adds a case that sends; it is given pointers to the channel and the value.
func (s *selection) Send(channel, value any) {
	s.add(reflect.SelectCase{Dir: reflect.SelectSend, Chan: reflect.ValueOf(channel).Elem(), Send: reflect.ValueOf(value).Elem()})
}

// Recv adds a case that receives; it is given pointers to the channel and to what gets the results.
func (s *selection) Recv(channel any, into ...any) {
	s.add(reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(channel).Elem()}, into...)
}

func (s *selection) add(c reflect.SelectCase, into ...any) {
	s.cases = append(s.cases, c)
	s.into = append(s.into, into)
}

// Do waits for a case and returns its number, from 0; -1 when the cell is stopped.
func (s *selection) Do() int {
	stopped := reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(s.rt.stopped().Done())}
	i, v, ok := reflect.Select(append(s.cases, stopped))
	if i == len(s.cases) {
		return -1
	}
	for j, p := range s.into[i] {
		if j == 0 {
			reflect.ValueOf(p).Elem().Set(v)
		} else {
			*p.(*bool) = ok
		}
	}
	return i
}
