package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/lower/typed"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// builtin lowers calls of the builtin functions that yaegi lacks or implements differently.
func (l *lowerer) builtin(name string, e *ast.CallExpr) ast.Expr {
	pos := e.Pos()
	if len(e.Args) == 1 && l.isTuple(e.Args[0]) {
		return l.builtinOfResults(name, e)
	}
	switch name {
	case "min", "max":
		return l.minMax(name, e)
	case "clear":
		return l.helper(pos, contract.Clear, l.expr(e.Args[0]))
	case "print", "println":
		for i, a := range e.Args {
			e.Args[i] = l.printed(a)
		}
		return l.helper(pos, map[string]contract.Helper{"print": contract.Print, "println": contract.Println}[name], e.Args...)
	case "append":
		if s, ok := l.info.TypeOf(e).Underlying().(*types.Slice); ok && !e.Ellipsis.IsValid() {
			if l.appendsParts(e) {
				return l.appendList(e, s)
			}
			e.Args[0] = l.expr(e.Args[0])
			for i, a := range e.Args[1:] {
				e.Args[i+1] = l.convert(a, s.Elem())
			}
			return e
		}
	case "panic":
		e.Args[0] = l.convert(e.Args[0], types.NewInterfaceType(nil, nil))
		return e
	case "delete":
		if m, ok := l.info.TypeOf(e.Args[0]).Underlying().(*types.Map); ok {
			e.Args[0], e.Args[1] = l.expr(e.Args[0]), l.convertKey(e.Args[1], m)
			return e
		}
	case "make":
		for i, n := range e.Args[1:] {
			e.Args[i+1] = l.room(n, typed.ElementSize(l.info.TypeOf(e)), made(l.info.TypeOf(e), i))
		}
		if t := l.info.TypeOf(e); typed.IsDirected(t) {
			c := t.Underlying().(*types.Chan)
			e.Fun = l.expr(e.Fun)
			e.Args[0] = l.typeExpr(types.NewChan(types.SendRecv, c.Elem()), pos)
			return &ast.CallExpr{Fun: l.paren(l.typeExpr(t, pos)), Lparen: pos, Args: []ast.Expr{e}, Rparen: pos}
		}
		e.Fun, e.Args[0] = l.expr(e.Fun), l.expr(e.Args[0])
		return e
	case "len", "cap":
		// without evaluating the array
		if p, ok := l.info.TypeOf(e.Args[0]).Underlying().(*types.Pointer); ok {
			return l.lengthOf(e.Args[0], p)
		}
	case "recover":
		return l.helper(pos, contract.Recover)
	case "new":
		if tv := l.info.Types[e.Args[0]]; tv.IsValue() {
			return l.newOf(e)
		}
	}
	e.Fun = l.expr(e.Fun)
	l.exprs(e.Args)
	return e
}

// printed lowers an argument of print or println.
func (l *lowerer) printed(a ast.Expr) ast.Expr {
	if t := l.info.TypeOf(a); types.IsInterface(t) {
		return l.helper(a.Pos(), contract.InterfaceWords, l.pointerTo(l.expr(a), t))
	}
	return l.expr(a)
}

// appendList lowers a call for which appendsParts is true to append(x, []T{a, b}...).
func (l *lowerer) appendList(e *ast.CallExpr, s *types.Slice) ast.Expr {
	pos := e.Args[1].Pos()
	list := &ast.CompositeLit{Type: l.typeExpr(types.NewSlice(s.Elem()), pos), Lbrace: pos, Rbrace: e.Rparen}
	for _, a := range e.Args[1:] {
		list.Elts = append(list.Elts, l.convert(a, s.Elem()))
	}
	e.Args, e.Ellipsis = []ast.Expr{l.expr(e.Args[0]), list}, e.Rparen
	return e
}

// builtinOfResults lowers copy(f()) and similar calls in which f has several results: func() R { a,
// b = f(); return copy(a, b) }().
func (l *lowerer) builtinOfResults(name string, e *ast.CallExpr) ast.Expr {
	pos := e.Pos()
	outer := l.closure(pos)
	set := &ast.AssignStmt{TokPos: pos, Tok: token.ASSIGN, Rhs: []ast.Expr{l.expr(e.Args[0])}}
	call := &ast.CallExpr{Fun: e.Fun, Lparen: e.Lparen, Rparen: e.Rparen}
	for v := range l.info.TypeOf(e.Args[0]).(*types.Tuple).Variables() {
		arg := l.ident(pos, l.temp("v"))
		outer.Body.List = append(outer.Body.List, l.varDecl(pos, arg.Name, v.Type()))
		set.Lhs = append(set.Lhs, l.ident(pos, arg.Name))
		call.Args = append(call.Args, l.typed(arg, v.Type()))
	}
	tv := l.info.Types[e]
	l.info.Types[call] = tv
	var end ast.Stmt = &ast.ExprStmt{X: l.builtin(name, call)}
	if !tv.IsVoid() {
		outer.Type.Results = &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.typeExpr(tv.Type, pos)}}}
		end = &ast.ReturnStmt{Return: pos, Results: []ast.Expr{end.(*ast.ExprStmt).X}}
	}
	outer.Body.List = append(outer.Body.List, set, end)
	return &ast.CallExpr{Fun: outer, Lparen: pos, Rparen: pos}
}

// maxUnchecked is the number of bytes up to which make is called without checking the free memory.
const maxUnchecked = 1 << 20

// made returns the beginning of Go's "out of range" error for argument i after the type in a call
// of make. It returns "" if Go does not panic for a large argument.
func made(t types.Type, i int) string {
	switch t.Underlying().(type) {
	case *types.Slice:
		return "runtime error: makeslice: " + [...]string{"len", "cap"}[i]
	case *types.Chan:
		return "makechan: size"
	}
	return ""
}

// room lowers the argument n of make for elements of each bytes.
func (l *lowerer) room(n ast.Expr, each int64, what string) ast.Expr {
	if each == 0 {
		return l.expr(n)
	}
	if v := l.info.Types[n].Value; v != nil {
		if count, exact := constant.Int64Val(constant.ToInt(v)); exact && count <= maxUnchecked/each {
			return l.expr(n)
		}
	}
	to := &ast.CallExpr{Fun: l.ident(n.Pos(), "int64"), Lparen: n.Pos(), Args: []ast.Expr{l.expr(n)}, Rparen: n.Pos()}
	return l.helper(n.Pos(), contract.Room, to, l.number(n.Pos(), int(each)), l.quoted(n.Pos(), what))
}

// minMax lowers min and max to calls of helpers with two operands.
func (l *lowerer) minMax(name string, e *ast.CallExpr) ast.Expr {
	pos := e.Pos()
	t := l.info.TypeOf(e)
	b := types.Typ[t.Underlying().(*types.Basic).Kind()]
	convert := func(to types.Type, x ast.Expr) ast.Expr {
		if types.Identical(t, b) {
			return x
		}
		return &ast.CallExpr{Fun: l.typeExpr(to, pos), Lparen: pos, Args: []ast.Expr{x}, Rparen: pos}
	}
	result := convert(b, l.expr(e.Args[0]))
	for _, a := range e.Args[1:] {
		result = l.helper(pos, contract.Ordered(name, b.Name()), result, convert(b, l.expr(a)))
	}
	return convert(t, result)
}

// newOf lowers new(x) for a value x.
func (l *lowerer) newOf(e *ast.CallExpr) ast.Expr {
	t := l.info.TypeOf(e).(*types.Pointer).Elem()
	return l.pointerTo(l.convert(e.Args[0], t), t)
}

// panicCall lowers panic(x). Because recover never returns nil for a panic, a nil x panics with an
// error instead.
func (l *lowerer) panicCall(call *ast.CallExpr) []ast.Stmt {
	pos := call.Pos()
	t := l.info.TypeOf(call.Args[0])
	if l.info.Types[call.Args[0]].IsNil() {
		t = types.Universe.Lookup("any").Type()
	}
	if !types.IsInterface(t) {
		return []ast.Stmt{&ast.ExprStmt{X: l.call(call)}}
	}
	v := l.temp("v")
	x := l.convert(call.Args[0], t)
	call.Fun, call.Args = l.ident(pos, "panic"), []ast.Expr{l.ident(pos, v)}
	return []ast.Stmt{block(pos,
		l.varDecl(pos, v, t), assign(token.ASSIGN, l.ident(pos, v), x),
		&ast.ExprStmt{X: l.helper(pos, contract.NotNil, l.address(l.ident(pos, v)))},
		&ast.ExprStmt{X: call})}
}

// lengthOf returns the length of the array that x, of type p, points to: func(p *[n]T) int { return
// n }(x). It does not access the array, because x may be nil.
func (l *lowerer) lengthOf(x ast.Expr, p *types.Pointer) ast.Expr {
	pos := x.Pos()
	n := l.number(pos, int(p.Elem().Underlying().(*types.Array).Len()))
	if l.isPlain(x) {
		return n
	}
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos,
			Params: &ast.FieldList{Opening: pos,
				List: []*ast.Field{{Names: []*ast.Ident{l.ident(pos, l.temp("p"))}, Type: l.typeExpr(p, pos)}}},
			Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.ident(pos, "int")}}},
		},
		Body: block(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{n}}),
	}
	return &ast.CallExpr{Fun: lit, Lparen: pos, Args: []ast.Expr{l.expr(x)}, Rparen: pos}
}
