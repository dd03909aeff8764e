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
		if len(s.Lhs) > 1 {
			return slices.Concat(s.Rhs, operandsOf(s.Lhs)) // what comes before may be assigned
		}
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

// operandsOf returns what is evaluated of the left side of an assignment before anything is assigned.
func operandsOf(lhs []ast.Expr) (list []ast.Expr) {
	for _, e := range lhs {
		switch e := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			list = append(list, e.X, e.Index)
		case *ast.StarExpr:
			list = append(list, e.X)
		case *ast.SelectorExpr:
			list = append(list, e.X)
		}
	}
	return list
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
	x, i := b.counted(e.X), b.int(e.Index)
	if b.over || x == nil || i == nil {
		return
	}
	if b.unsigned(e.Index) {
		index := b.call("uint64", e.Index)
		n := b.size("len", e.X)
		out := b.compare(index(), token.GEQ, &ast.CallExpr{Fun: b.l.ident(e.Pos(), "uint64"), Lparen: e.Pos(), Args: []ast.Expr{n()}, Rparen: e.Pos()})
		b.check(e.Pos(), []ast.Node{e.X, e.Index}, []ast.Expr{out}, run.UnsignedIndexFault, index(), n())
		return
	}
	b.out = append(append(b.out, b.l.mark(e.X, e.Index)...), &ast.ExprStmt{X: b.l.helper(e.Pos(), run.CheckIndex, i(), x())})
}

// slice checks x[low:high:max].
func (b *bounds) slice(e *ast.SliceExpr) {
	l := b.l
	x := b.counted(e.X)
	if b.over || x == nil {
		return
	}
	given := 0
	args := []ast.Expr{nil, x()}
	for i, bound := range []ast.Expr{e.Low, e.High, e.Max} {
		if bound == nil {
			args = append(args, l.number(e.Pos(), 0))
			continue
		}
		v := b.int(bound)
		if v == nil {
			return
		}
		given |= 1 << i
		if b.unsigned(bound) {
			given |= run.UnsignedLow << i
		}
		args = append(args, v())
	}
	if given == 0 {
		return
	}
	args[0] = l.number(e.Pos(), given)
	b.out = append(append(b.out, l.mark(e.X, e.Low, e.High, e.Max)...), &ast.ExprStmt{X: l.helper(e.Pos(), run.CheckSlice, args...)})
}

// unsigned reports whether an index or bound has an unsigned type whose values may be larger than an int.
func (b *bounds) unsigned(e ast.Expr) bool {
	t, ok := b.l.info.TypeOf(e).Underlying().(*types.Basic)
	if !ok || b.l.info.Types[e].Value != nil {
		return false
	}
	return t.Kind() == types.Uint || t.Kind() == types.Uint64 || t.Kind() == types.Uintptr
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
	if n := b.arrayLen(x); n != nil {
		return n
	}
	if !b.l.hasLength(x) {
		return nil
	}
	return b.call(fun, x)
}

// counted is x, or the number of elements of an array; nil if that cannot be evaluated twice or x is none of slice, array and string.
func (b *bounds) counted(x ast.Expr) operand {
	if n := b.arrayLen(x); n != nil {
		return n
	}
	if !b.l.hasLength(x) {
		return nil
	}
	return b.twice(x)
}

// arrayLen is the number of elements of an array, or of one that x points to; nil if x is neither.
func (b *bounds) arrayLen(x ast.Expr) operand {
	t := b.l.info.TypeOf(x).Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	a, ok := t.(*types.Array)
	if !ok {
		return nil
	}
	return func() ast.Expr { return b.l.number(x.Pos(), int(a.Len())) }
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
