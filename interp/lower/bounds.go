package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/symmrepl/symmrepl/interp/run"
)

// boundsFirst checks indices and slice bounds before the statement that uses them, so that the panic says which they are: yaegi's does not.
// In loops, where checks cost more than what they check, it does so only for calls of compiled functions, which take longer, such as printing. It leaves
// alone what follows a call.
func (l *lowerer) boundsFirst(s ast.Stmt) []ast.Stmt {
	if (l.fn.loops > 0 || l.fn.unmarked) && !l.callsCompiled(s) {
		return nil
	}
	b := &bounds{l: l}
	for _, e := range first(s) {
		b.visit(e)
	}
	return b.out
}

// callsCompiled reports whether a statement is the call of a compiled function or method.
func (l *lowerer) callsCompiled(s ast.Stmt) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := ast.Unparen(e.X).(*ast.CallExpr)
	return ok && l.isCompiledFunc(ast.Unparen(call.Fun))
}

// first returns what a statement evaluates before anything else, in this order; a nil among it is nothing.
func first(s ast.Stmt) []ast.Expr {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return slices.Concat(s.Rhs, s.Lhs)
	case *ast.ExprStmt:
		return []ast.Expr{s.X}
	case *ast.IncDecStmt:
		return []ast.Expr{s.X}
	case *ast.SendStmt:
		return []ast.Expr{s.Chan, s.Value}
	case *ast.ReturnStmt:
		return s.Results
	case *ast.GoStmt:
		return append([]ast.Expr{s.Call.Fun}, s.Call.Args...)
	case *ast.DeferStmt:
		return append([]ast.Expr{s.Call.Fun}, s.Call.Args...)
	case *ast.ForStmt:
		return first(s.Init)
	case *ast.IfStmt:
		if s.Init != nil {
			return first(s.Init)
		}
	case *ast.SwitchStmt:
		if s.Init != nil {
			return first(s.Init)
		}
	case *ast.TypeSwitchStmt:
		return first(s.Init)
	}
	if head := headOf(s); head != nil {
		return []ast.Expr{*head}
	}
	return nil
}

// bounds collects the checks of a statement.
type bounds struct {
	l    *lowerer
	over bool // what follows may come after a call
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
			b.second(e)
			return
		}
		b.visit(e.Y)
	case *ast.CompositeLit:
		_, isMap := l.info.TypeOf(e).Underlying().(*types.Map)
		for _, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				if isMap {
					b.visit(kv.Key)
				}
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

// second checks the second operand of && and ||, if the first leaves it to be evaluated.
func (b *bounds) second(e *ast.BinaryExpr) {
	l := b.l
	y := &bounds{l: l, over: b.over}
	y.visit(e.Y)
	b.over = b.over || !l.isPlain(e.Y)
	x := l.repeated(e.X)
	if y.out == nil || x == nil {
		return
	}
	cond := l.paren(l.expr(x))
	if e.Op == token.LOR {
		cond = &ast.UnaryExpr{OpPos: e.Pos(), Op: token.NOT, X: cond}
	}
	b.out = append(append(b.out, l.mark(e.X)...), &ast.IfStmt{If: e.Pos(), Cond: cond, Body: block(e.Pos(), y.out...)})
}

// operand returns a lowered expression that may be evaluated more than once: a new copy for each call.
type operand func() ast.Expr

// index checks x[i].
func (b *bounds) index(e *ast.IndexExpr) {
	n, i := b.size("len", e.X), b.int(e.Index)
	if b.over || n == nil || i == nil {
		return
	}
	var wrong []ast.Expr
	if !b.l.notNegative(e.Index) {
		wrong = append(wrong, b.compare(i(), token.LSS, b.l.number(e.Pos(), 0)))
	}
	wrong = append(wrong, b.compare(i(), token.GEQ, n()))
	b.check(e.Pos(), []ast.Node{e.X, e.Index}, wrong, run.IndexFault, i(), n())
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
	args := []ast.Expr{nil, n(), c()}
	var wrong []ast.Expr
	var last operand
	for i, x := range []ast.Expr{e.Low, e.High, e.Max} {
		if x == nil {
			args = append(args, l.number(e.Pos(), 0))
			continue
		}
		v := b.int(x)
		if v == nil {
			return
		}
		switch {
		case last != nil:
			wrong = append(wrong, b.compare(last(), token.GTR, v()))
		case !l.notNegative(x):
			wrong = append(wrong, b.compare(v(), token.LSS, l.number(e.Pos(), 0)))
		}
		given |= 1 << i
		args = append(args, v())
		last = v
	}
	if given == 0 {
		return
	}
	if given == 1 {
		c = n
	}
	wrong = append(wrong, b.compare(last(), token.GTR, c()))
	if isSlice {
		given |= 8
	}
	args[0] = l.number(e.Pos(), given)
	b.check(e.Pos(), []ast.Node{e.X, e.Low, e.High, e.Max}, wrong, run.SliceBounds, args...)
}

func (b *bounds) compare(x ast.Expr, op token.Token, y ast.Expr) ast.Expr {
	return &ast.BinaryExpr{X: x, OpPos: x.Pos(), Op: op, Y: y}
}

// check adds the call of a helper that panics, for the case that operands at pos are wrong in one of several ways.
func (b *bounds) check(pos token.Pos, operands []ast.Node, wrong []ast.Expr, helper run.Helper, args ...ast.Expr) {
	cond := wrong[0]
	for _, w := range wrong[1:] {
		cond = b.compare(cond, token.LOR, w)
	}
	fault := append(b.l.markAt(pos), &ast.ExprStmt{X: b.l.helper(pos, helper, args...)})
	b.out = append(append(b.out, b.l.mark(operands...)...), &ast.IfStmt{If: pos, Cond: cond, Body: block(pos, fault...)})
}

// size is len(x) or cap(x), nil if that cannot be evaluated twice or x is none of slice, array and string.
func (b *bounds) size(fun string, x ast.Expr) operand {
	if !b.l.hasLength(x) {
		return nil
	}
	t := b.l.info.TypeOf(x).Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	if a, ok := t.(*types.Array); ok {
		return func() ast.Expr { return b.l.number(x.Pos(), int(a.Len())) }
	}
	return b.call(fun, x)
}

// int is e as an int, nil if that cannot be evaluated twice.
func (b *bounds) int(e ast.Expr) operand {
	if types.Identical(b.l.info.TypeOf(e), types.Typ[types.Int]) {
		return b.twice(e)
	}
	return b.call("int", e)
}

// call is fun(e), nil if that cannot be evaluated twice.
func (b *bounds) call(fun string, e ast.Expr) operand {
	arg := b.twice(e)
	if arg == nil {
		return nil
	}
	return func() ast.Expr {
		return &ast.CallExpr{Fun: b.l.ident(e.Pos(), fun), Lparen: e.Pos(), Args: []ast.Expr{arg()}, Rparen: e.Pos()}
	}
}

// twice is e, nil if that cannot be evaluated twice.
func (b *bounds) twice(e ast.Expr) operand {
	if b.l.repeated(e) == nil {
		return nil
	}
	return func() ast.Expr { return b.l.expr(b.l.repeated(e)) }
}
