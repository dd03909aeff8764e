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

// holdsResult reports whether e contains a temporary variable, which holds the result of a call
// that callsFirst moved out of e.
func (l *facts) holdsResult(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && l.info.Uses[id] == nil
		return !found
	})
	return found
}

// copies renames the variables of a range loop and returns the definitions of new ones for each
// iteration.
func (l *builder) copies(s *ast.RangeStmt) []ast.Stmt {
	var defs []ast.Stmt
	for _, e := range []*ast.Expr{&s.Key, &s.Value} {
		id, ok := (*e).(*ast.Ident)
		if !ok || id.Name == "_" {
			continue
		}
		*e = l.ident(id.Pos(), l.temp(id.Name))
		defs = append(defs, assign(token.DEFINE, id, *e))
	}
	return defs
}

// assignInBody turns `for k, v = range x` into `for k#, v# := range x { k, v = k#, v#; ... }`.
func (l *builder) assignInBody(s *ast.RangeStmt) {
	set := &ast.AssignStmt{TokPos: s.Pos(), Tok: token.ASSIGN}
	for i, e := range []*ast.Expr{&s.Key, &s.Value} {
		if id, ok := (*e).(*ast.Ident); *e == nil || ok && id.Name == "_" {
			continue
		}
		v := l.ident((*e).Pos(), l.temp("v"))
		t := l.iterated(s.X, i)
		if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
			t = l.info.TypeOf(*e)
		}
		l.info.Types[v] = types.TypeAndValue{Type: t}
		set.Lhs, set.Rhs = append(set.Lhs, *e), append(set.Rhs, v)
		*e = v
	}
	s.Tok = token.DEFINE
	if set.Lhs != nil {
		s.Body.List = append([]ast.Stmt{set}, s.Body.List...)
	}
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

// iterated returns the type of the i-th value of an iteration over x.
func (l *facts) iterated(x ast.Expr, i int) types.Type {
	pick := func(list ...types.Type) types.Type { return list[i] }
	switch t := l.info.TypeOf(x).Underlying().(type) {
	case *types.Basic:
		if t.Info()&types.IsString != 0 {
			return pick(types.Typ[types.Int], types.Typ[types.Rune])
		}
	case *types.Slice:
		return pick(types.Typ[types.Int], t.Elem())
	case *types.Array:
		return pick(types.Typ[types.Int], t.Elem())
	case *types.Pointer:
		return pick(types.Typ[types.Int], t.Elem().Underlying().(*types.Array).Elem())
	case *types.Map:
		return pick(t.Key(), t.Elem())
	case *types.Chan:
		return t.Elem()
	case *types.Signature:
		return t.Params().At(0).Type().Underlying().(*types.Signature).Params().At(i).Type()
	}
	return l.info.TypeOf(x)
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
