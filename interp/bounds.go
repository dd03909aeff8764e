package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// boundsFirst checks indices and slice bounds before the statement that uses them, so that the panic says which they are: yaegi's does not.
// Statements in loops are left alone, as checks cost more than what they check; so is what follows a call or may not be evaluated at all.
func (l *lowerer) boundsFirst(s ast.Stmt) (out []ast.Stmt) {
	if l.fn.loops > 0 || l.fn.unmarked {
		return nil
	}
	b := &bounds{l: l}
	switch s := s.(type) {
	case *ast.AssignStmt:
		b.visit(&ast.CompositeLit{Elts: append(append([]ast.Expr{}, s.Rhs...), s.Lhs...)})
	case *ast.ExprStmt:
		b.visit(s.X)
	case *ast.IncDecStmt:
		b.visit(s.X)
	case *ast.ReturnStmt:
		b.visit(&ast.CompositeLit{Elts: s.Results})
	case *ast.IfStmt:
		if s.Init == nil {
			b.visit(s.Cond)
		}
	}
	return b.out
}

// bounds collects the checks of a statement.
type bounds struct {
	l    *lowerer
	over bool // a call comes before what follows
	out  []ast.Stmt
}

func (b *bounds) visit(e ast.Expr) {
	l := b.l
	if e == nil || b.over {
		return
	}
	if tv, ok := l.info.Types[e]; ok && (tv.IsType() || tv.Value != nil) {
		return
	}
	switch e := e.(type) {
	case *ast.ParenExpr:
		b.visit(e.X)
	case *ast.SelectorExpr:
		if l.info.Selections[e] != nil {
			b.visit(e.X)
		}
	case *ast.StarExpr:
		b.visit(e.X)
	case *ast.UnaryExpr:
		b.visit(e.X)
		b.over = b.over || e.Op == token.ARROW
	case *ast.BinaryExpr:
		b.visit(e.X)
		if e.Op == token.LAND || e.Op == token.LOR {
			b.over = b.over || !l.isPlain(e.Y)
			return
		}
		b.visit(e.Y)
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
			}
			b.visit(x)
		}
	case *ast.CallExpr:
		b.visit(e.Fun)
		for _, a := range e.Args {
			b.visit(a)
		}
		b.over = b.over || !l.harmless(e)
	case *ast.IndexExpr:
		b.visit(e.X)
		b.visit(e.Index)
		b.index(e)
	case *ast.SliceExpr:
		for _, x := range []ast.Expr{e.X, e.Low, e.High, e.Max} {
			b.visit(x)
		}
		b.slice(e)
	}
}

// check adds a call of a helper that panics.
func (b *bounds) check(pos token.Pos, name string, args ...ast.Expr) {
	b.out = append(append(b.out, b.l.markAt(pos)...), &ast.ExprStmt{X: b.l.helper(pos, name, args...)})
}

// index checks x[i].
func (b *bounds) index(e *ast.IndexExpr) {
	l := b.l
	length, i := b.size("len", e.X), b.int(e.Index)
	if b.over || length == nil || i == nil {
		return
	}
	pos := e.Pos()
	at, n := l.temp("i"), l.temp("n")
	ref := func(name string) ast.Expr { return l.ident(pos, name) }
	b.out = append(b.out,
		assign(token.DEFINE, ref(n), length),
		assign(token.DEFINE, ref(at), i),
		&ast.IfStmt{If: pos, Cond: &ast.BinaryExpr{
			X:     &ast.BinaryExpr{X: ref(at), OpPos: pos, Op: token.LSS, Y: l.number(pos, 0)},
			OpPos: pos, Op: token.LOR,
			Y: &ast.BinaryExpr{X: ref(at), OpPos: pos, Op: token.GEQ, Y: ref(n)},
		}, Body: block(pos, append(l.markAt(pos), &ast.ExprStmt{X: l.helper(pos, "IndexFault", ref(at), ref(n))})...)})
}

// slice checks x[low:high:max].
func (b *bounds) slice(e *ast.SliceExpr) {
	l := b.l
	_, isSlice := l.info.TypeOf(e.X).Underlying().(*types.Slice)
	capacity := "len"
	if isSlice {
		capacity = "cap"
	}
	n, c := b.size("len", e.X), b.size(capacity, e.X)
	if b.over || n == nil || c == nil {
		return
	}
	given := 0
	args := []ast.Expr{nil, n, c}
	for i, x := range []ast.Expr{e.Low, e.High, e.Max} {
		var v ast.Expr = l.number(e.Pos(), 0)
		if x != nil {
			given |= 1 << i
			if v = b.int(x); v == nil {
				return
			}
		}
		args = append(args, v)
	}
	if isSlice {
		given |= 8
	}
	if given&7 == 0 {
		return
	}
	args[0] = l.number(e.Pos(), given)
	b.check(e.Pos(), "SliceBounds", args...)
}

// size is len(x) or cap(x), lowered, nil if that cannot be evaluated twice or x is none of slice, array and string.
func (b *bounds) size(fun string, x ast.Expr) ast.Expr {
	t := b.l.info.TypeOf(x)
	if t == nil {
		return nil
	}
	t = t.Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	switch t := t.(type) {
	case *types.Array:
		return b.l.number(x.Pos(), int(t.Len()))
	case *types.Slice:
	case *types.Basic:
		if t.Info()&types.IsString == 0 {
			return nil
		}
	default:
		return nil
	}
	again := b.l.again(x)
	if again == nil {
		return nil
	}
	return &ast.CallExpr{Fun: b.l.ident(x.Pos(), fun), Lparen: x.Pos(), Args: []ast.Expr{b.l.expr(again)}, Rparen: x.Pos()}
}

// int is e as an int, lowered, nil if that cannot be evaluated twice.
func (b *bounds) int(e ast.Expr) ast.Expr {
	again := b.l.again(e)
	if again == nil {
		return nil
	}
	return &ast.CallExpr{Fun: b.l.ident(e.Pos(), "int"), Lparen: e.Pos(), Args: []ast.Expr{b.l.expr(again)}, Rparen: e.Pos()}
}

// again returns a copy of an expression that may be evaluated twice, nil for others.
func (l *lowerer) again(e ast.Expr) (out ast.Expr) {
	defer func() {
		if out != nil {
			l.info.Types[out] = l.info.Types[e]
		}
	}()
	if tv, ok := l.info.Types[e]; ok && tv.Value != nil {
		return &ast.Ident{NamePos: e.Pos(), Name: "constant"}
	}
	switch e := e.(type) {
	case *ast.Ident:
		id := *e
		if obj := l.info.Uses[e]; obj != nil {
			l.info.Uses[&id] = obj
		}
		return &id
	case *ast.ParenExpr:
		return l.again(e.X)
	case *ast.SelectorExpr:
		s := l.info.Selections[e]
		if s == nil || s.Kind() != types.FieldVal {
			return nil
		}
		if x := l.again(e.X); x != nil {
			sel := *e.Sel
			l.info.Uses[&sel] = l.info.Uses[e.Sel]
			c := &ast.SelectorExpr{X: x, Sel: &sel}
			l.info.Selections[c] = s
			return c
		}
	case *ast.BinaryExpr:
		switch e.Op {
		case token.ADD, token.SUB, token.MUL, token.AND, token.OR, token.XOR:
			x, y := l.again(e.X), l.again(e.Y)
			if x != nil && y != nil {
				return &ast.BinaryExpr{X: x, OpPos: e.OpPos, Op: e.Op, Y: y}
			}
		}
	case *ast.IndexExpr:
		if _, ok := l.info.TypeOf(e.X).Underlying().(*types.Signature); ok {
			return nil
		}
		x, i := l.again(e.X), l.again(e.Index)
		if x != nil && i != nil {
			return &ast.IndexExpr{X: x, Lbrack: e.Lbrack, Index: i, Rbrack: e.Rbrack}
		}
	}
	return nil
}

// indexFault is the panic of an index.
func indexFault(i, n int) {
	if i < 0 {
		panic(runtimeError(fmt.Sprintf("runtime error: index out of range [%d]", i)))
	}
	panic(runtimeError(fmt.Sprintf("runtime error: index out of range [%d] with length %d", i, n)))
}

// sliceBounds checks the bounds of a slice expression of an operand with a length and a capacity. The bits of given say which of them there are, and
// whether the operand is a slice.
func sliceBounds(given, length, capacity, low, high, limit int) {
	fail := func(format string, args ...any) {
		panic(runtimeError("runtime error: slice bounds out of range " + fmt.Sprintf(format, args...)))
	}
	what := "length"
	if given&8 != 0 {
		what = "capacity"
	}
	if given&2 == 0 {
		high = length
	}
	if given&4 != 0 {
		switch {
		case limit < 0:
			fail("[::%d]", limit)
		case limit > capacity:
			fail("[::%d] with %s %d", limit, what, capacity)
		case high < 0:
			fail("[:%d:]", high)
		case high > limit:
			fail("[:%d:%d]", high, limit)
		case low < 0:
			fail("[%d::]", low)
		case low > high:
			fail("[%d:%d:]", low, high)
		}
		return
	}
	switch {
	case high < 0:
		fail("[:%d]", high)
	case high > capacity:
		fail("[:%d] with %s %d", high, what, capacity)
	case low < 0:
		fail("[%d:]", low)
	case low > high:
		fail("[%d:%d]", low, high)
	}
}
