package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/lower/typed"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// rangeStmt lowers a range loop.
func (l *lowerer) rangeStmt(s *ast.RangeStmt, label *ast.LabeledStmt) []ast.Stmt {
	if s.Tok == token.ASSIGN {
		l.assignInBody(s)
	}
	if _, ok := l.info.TypeOf(s.X).Underlying().(*types.Signature); ok {
		return l.rangeFunc(s, label)
	}
	if isBlank(s.Value) {
		s.Value = nil
	}
	var before []ast.Stmt
	if t := l.info.TypeOf(s.X); typed.IsChan(t) {
		x := l.hold(s.X, t, &before) // yaegi evaluates it for each value
		l.info.Types[x] = types.TypeAndValue{Type: t}
		s.X = x
	} else if s.Value != nil && typed.IsChan(l.iterated(s.X, 1)) {
		before = l.valueByIndex(s)
	}
	vars := l.loopVars(s)
	kept := vars != nil && l.keeps(s.Body, vars)
	l.count(s, vars)
	m, restore := l.loopMark(s)
	defer restore()
	m = append(m, l.mark(s.X)...)
	if a := typed.ArrayOf(l.info.TypeOf(s.X)); a != nil && s.Value == nil {
		if !l.isPlain(s.X) || l.holdsResult(s.X) {
			l.hold(s.X, l.info.TypeOf(s.X), &before)
		}
		n := int(a.Len())
		s.X = l.number(s.X.Pos(), n) // without evaluating the array
		l.info.Types[s.X] = types.TypeAndValue{Type: types.Typ[types.Int], Value: constant.MakeInt64(int64(n))}
	}
	m = append(m, before...)
	l.fn.loops++
	defer func(f *function) { f.loops-- }(l.fn)
	switch u := l.info.TypeOf(s.X).Underlying().(type) {
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return append(m, l.rangeString(s, label)...)
		}
		return append(m, l.rangeInt(s, label, kept || l.assigns(s.Body, vars))...)
	case *types.Pointer: // to an array
		s.X = l.expr(s.X)
		s.X = &ast.SliceExpr{X: &ast.ParenExpr{Lparen: s.X.Pos(), X: &ast.StarExpr{Star: s.X.Pos(), X: s.X}}, Lbrack: s.X.Pos()}
	default:
		s.X = l.expr(s.X)
	}
	s.Key, s.Value = l.expr(s.Key), l.expr(s.Value)
	l.block(s.Body)
	if kept {
		s.Body.List = append(l.copies(s), s.Body.List...)
	}
	return append(m, withLabel(label, s))
}

// valueByIndex turns `for k, v := range x` into `x# := x; for k := range x# { v := x#[k]; ... }`,
// because yaegi would receive from v if v is a channel.
func (l *lowerer) valueByIndex(s *ast.RangeStmt) (before []ast.Stmt) {
	t := l.info.TypeOf(s.X)
	x, ok := l.hold(s.X, t, &before).(*ast.Ident)
	if !ok {
		return nil
	}
	l.info.Types[x] = types.TypeAndValue{Type: t}
	s.X = x
	key, ok := s.Key.(*ast.Ident)
	if !ok || key.Name == "_" {
		key = l.ident(s.Pos(), l.temp("k"))
		s.Key = key
	}
	k := &ast.Ident{NamePos: key.Pos(), Name: key.Name}
	l.info.Uses[k] = l.info.Defs[key]
	if id, ok := s.Value.(*ast.Ident); ok && id.Name != "_" {
		define := assign(token.DEFINE, s.Value, &ast.IndexExpr{X: x, Lbrack: k.Pos(), Index: k, Rbrack: k.Pos()})
		s.Body.List = append([]ast.Stmt{define}, s.Body.List...)
	}
	s.Value = nil
	return before
}

// rangeString lowers a loop over a string, because yaegi computes wrong indices:
//
//	at, runes := runtime.Runes(s)
//	for n, v := range runes { k := at[n]; body }
func (l *lowerer) rangeString(s *ast.RangeStmt, label *ast.LabeledStmt) []ast.Stmt {
	pos := s.Pos()
	at, runes := l.temp("at"), l.temp("runes")
	str := &ast.CallExpr{Fun: l.ident(pos, "string"), Lparen: pos, Args: []ast.Expr{l.expr(s.X)}, Rparen: pos}
	define := &ast.AssignStmt{
		Lhs: []ast.Expr{l.ident(pos, at), l.ident(pos, runes)}, TokPos: pos, Tok: token.DEFINE,
		Rhs: []ast.Expr{l.helper(pos, contract.Runes, str)},
	}
	loop := &ast.RangeStmt{For: pos, TokPos: pos, Tok: token.DEFINE, X: l.ident(pos, runes), Body: l.block(s.Body)}
	var first []ast.Stmt
	named := func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return ok && id.Name != "_"
	}
	n := l.temp("n")
	loop.Key = l.ident(pos, n)
	if named(s.Key) {
		index := &ast.IndexExpr{X: l.ident(pos, at), Lbrack: pos, Index: l.ident(pos, n), Rbrack: pos}
		first = append(first, assign(token.DEFINE, l.expr(s.Key), index))
	}
	if named(s.Value) {
		v := l.temp("rune")
		loop.Value = l.ident(pos, v)
		first = append(first, assign(token.DEFINE, l.expr(s.Value), l.ident(pos, v)))
	}
	loop.Body.List = append(first, loop.Body.List...)
	return []ast.Stmt{define, withLabel(label, loop)}
}

// rangeInt lowers `for i := range n` to a loop that counts. If the body may change or keep i, a
// separate variable counts.
func (l *lowerer) rangeInt(s *ast.RangeStmt, label *ast.LabeledStmt, separate bool) []ast.Stmt {
	pos := s.Pos()
	t := types.Default(l.info.TypeOf(s.X))
	if s.Key != nil {
		if kt := l.info.TypeOf(s.Key); kt != nil {
			t = kt
		}
	}
	n := l.temp("n")
	out := []ast.Stmt{l.varDecl(pos, n, t), assign(token.ASSIGN, l.ident(pos, n), l.expr(s.X))}
	key, named := s.Key.(*ast.Ident)
	named = named && key.Name != "_"
	counter := l.temp("i")
	if named && s.Tok == token.DEFINE && !separate {
		counter = key.Name
	}
	body := l.block(s.Body)
	if s.Key != nil && counter != name(key) && !(key != nil && key.Name == "_") {
		body.List = append([]ast.Stmt{assign(s.Tok, l.expr(s.Key), l.ident(pos, counter))}, body.List...)
	}
	zero := &ast.CallExpr{Fun: l.typeExpr(t, pos), Lparen: pos, Args: []ast.Expr{&ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: "0"}}}
	loop := &ast.ForStmt{
		For:  pos,
		Init: assign(token.DEFINE, l.ident(pos, counter), zero),
		Cond: &ast.BinaryExpr{X: l.ident(pos, counter), OpPos: pos, Op: token.LSS, Y: l.ident(pos, n)},
		Post: &ast.IncDecStmt{X: l.ident(pos, counter), TokPos: pos, Tok: token.INC},
		Body: body,
	}
	return append(out, withLabel(label, loop))
}

// rangeFunc lowers a loop over an iterator function. The body becomes the function that the
// iterator calls. A statement that leaves the loop is done in two steps: the body sets exit and
// returns false, and the statement itself runs after the iterator has returned. State says whether
// the iterator may call the body.
//
//	{
//		exit, state := 0, iterating
//		iterator(func(k K, v V) bool {
//			if state != iterating { runtime.Misused(state) }
//			state = inBody
//			body
//			state = iterating
//			return true
//		})
//		if state == inBody { runtime.Misused(missedPanic) }
//		state = loopOver
//		if exit == 1 { return results }
//		if exit == 2 { break label }
//	}
func (l *lowerer) rangeFunc(s *ast.RangeStmt, label *ast.LabeledStmt) []ast.Stmt {
	pos := s.Pos()
	m := l.markAt(pos)
	sig := l.info.TypeOf(s.X).Underlying().(*types.Signature)
	yield := sig.Params().At(0).Type().Underlying().(*types.Signature)
	b := &iteration{l: l, pos: pos, exit: l.temp("exit"), state: l.temp("state"), inside: labels(s.Body)}
	if label != nil {
		b.label = label.Label.Name
	}
	lit, params := l.forwarder(pos, yield)
	body := []ast.Stmt{b.whenState(token.NEQ, contract.Iterating, b.misused(l.ident(pos, b.state))), b.setState(contract.InBody)}
	for i, e := range []ast.Expr{s.Key, s.Value} {
		if id, ok := e.(*ast.Ident); e != nil && !(ok && id.Name == "_") {
			body = append(body, assign(s.Tok, l.expr(e), params[i]))
		}
	}
	if l.tracesCalls() {
		body = append([]ast.Stmt{l.enterAs(pos, l.fn.nameRange(), s.Body.Rbrace, false)}, body...)
	}
	x := l.expr(s.X)
	_, isCall := ast.Unparen(x).(*ast.CallExpr)
	// yaegi may treat a function that is the result of another as a generic function
	if _, plain := types.Unalias(l.info.TypeOf(s.X)).(*types.Signature); isCall && plain {
		f := l.temp("range")
		m = append(m, l.varDecl(pos, f, l.info.TypeOf(s.X)), assign(token.ASSIGN, l.ident(pos, f), x))
		x = l.ident(pos, f)
	}
	l.block(s.Body)
	list := b.leave(s.Body.List, nesting{})
	lit.Body.List = append(append(body, list...), b.endBody(true)...)
	if len(b.results) > 0 {
		m = append(m, b.results...)
	}
	m = append(m,
		assign(token.DEFINE, l.ident(pos, b.exit), l.number(pos, 0)),
		assign(token.DEFINE, l.ident(pos, b.state), l.number(pos, contract.Iterating)),
		&ast.ExprStmt{X: &ast.CallExpr{Fun: x, Lparen: pos, Args: []ast.Expr{lit}, Rparen: pos}},
		b.whenState(token.EQL, contract.InBody, b.misused(l.number(pos, contract.MissedPanic))),
		b.setState(contract.LoopOver))
	return []ast.Stmt{block(pos, append(m, b.after...)...)}
}
