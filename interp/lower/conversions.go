package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run"
)

// Wherever a value of a type of cells becomes an interface of compiled code, any included, it becomes a native value (see package run). A function does it:
//
//	func convert(v T) (i I) { runtime.Native(&i, &v, "T"); return i }
//
// The interfaces of cells that have methods are yaegi's own. They do not hold a copy of a value but refer to the variable it came from, or to the place in a
// frame that the next iteration of a loop uses again. The function has a frame of its own:
//
//	func convert(v T) (i I) { i = v; runtime.Hold(&i, &v); return i }

// convert lowers e and converts it to type to, where yaegi would do that wrongly or not at all.
func (l *lowerer) convert(e ast.Expr, to types.Type) ast.Expr {
	from := l.info.TypeOf(e)
	if to != nil && (isUnsafe(to) || l.isRecursive(to)) && l.info.Types[e].IsNil() {
		return l.zeroValue(e.Pos(), to)
	}
	low := l.expr(e)
	if l.needsConversion(from, to) {
		return &ast.CallExpr{Fun: l.paren(l.typeExpr(to, e.Pos())), Lparen: e.Pos(), Args: []ast.Expr{low}, Rparen: e.End()}
	}
	if lit, ok := ast.Unparen(low).(*ast.CompositeLit); ok && lit.Type == nil { // an element of a literal
		return low
	}
	if to != nil && types.IsInterface(to) {
		switch low.(type) {
		case *ast.BinaryExpr, *ast.UnaryExpr: // yaegi would compute it in the interface
			low = l.paren(low)
		}
	}
	return l.converted(low, from, to)
}

// converted converts low, a lowered expression, as convert does.
func (l *declarer) converted(low ast.Expr, from, to types.Type) ast.Expr {
	if from == nil || to == nil || !l.converts(from, to) {
		return low
	}
	pos := low.Pos()
	if t := l.bearer(from, to, pos); t != nil {
		low, from = l.conversion(t, low), t
	}
	return &ast.CallExpr{Fun: l.converter(from, to, pos), Lparen: pos, Args: []ast.Expr{low}, Rparen: pos}
}

// needsConversion reports whether a value of type from is assignable to another type without an interface, and yaegi does not know it: structs carry their
// names with them and channels their direction, and arrays are compared with those of their own type only.
func (l *facts) needsConversion(from, to types.Type) bool {
	if from == nil || to == nil || types.Identical(from, to) {
		return false
	}
	switch to.Underlying().(type) {
	case *types.Struct:
		_, ok := from.Underlying().(*types.Struct)
		return ok
	case *types.Array:
		_, ok := from.Underlying().(*types.Array)
		return ok
	case *types.Chan:
		_, ok := from.Underlying().(*types.Chan)
		return ok
	}
	return false
}

// converts reports whether a value of type from needs a converter to become an interface of type to.
func (l *namer) converts(from, to types.Type) bool {
	_, isParam := to.(*types.TypeParam)
	switch {
	case isParam, !types.IsInterface(to):
		return false
	case l.isBoxed(to):
		return !types.IsInterface(from) && l.identity(from) != ""
	case types.IsInterface(from):
		return l.isBoxed(from)
	}
	return l.ofCells(from)
}

// converter is a function of yaegi that converts values to an interface type.
type converter struct {
	name     string
	from, to types.Type
	boxes    bool // to is an interface of cells that has methods
}

// converter returns the function that converts from to to, which is declared where the first cell needs it.
func (l *declarer) converter(from, to types.Type, pos token.Pos) ast.Expr {
	key := l.typeText(from) + "\x00" + l.typeText(to)
	name := l.program.converters[key].name
	if name == "" {
		name = l.converters[key].name
	}
	if name != "" {
		return l.ident(pos, name)
	}
	name = l.program.newName("convert")
	l.converters[key] = converter{name, from, to, l.isBoxed(to)}
	v, i := "v#", "i#"
	body := []ast.Stmt{l.varDecl(pos, i, to)}
	args := []ast.Expr{l.address(l.ident(pos, i)), l.address(l.ident(pos, v))}
	switch {
	case l.isBoxed(to):
		l.valueKey(from)
		body = append(body, assign(token.ASSIGN, l.ident(pos, i), l.ident(pos, v)))
		if _, isStruct := from.Underlying().(*types.Struct); isStruct {
			body = append(body, &ast.ExprStmt{X: l.helper(pos, run.Hold, args...)})
		}
	case types.IsInterface(from):
		body = append(body, &ast.ExprStmt{X: l.helper(pos, run.Unbox, args...)})
	default:
		body = append(body, &ast.ExprStmt{X: l.helper(pos, run.Native, append(args, l.quoted(pos, l.valueKey(from)))...)})
	}
	l.declarations = append(l.declarations, &ast.FuncDecl{
		Name: l.ident(pos, name),
		Type: &ast.FuncType{Func: pos,
			Params:  &ast.FieldList{Opening: pos, List: []*ast.Field{{Names: []*ast.Ident{l.ident(pos, v)}, Type: l.typeExpr(from, pos)}}},
			Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.typeExpr(to, pos)}}},
		},
		Body: block(pos, append(body, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.ident(pos, i)}})...),
	})
	return l.ident(pos, name)
}

// arguments lowers the arguments of a call. It reports whether it has lowered the function as well.
func (l *lowerer) arguments(sig *types.Signature, e *ast.CallExpr) bool {
	if sig != nil && len(e.Args) == 1 {
		if results, ok := l.info.TypeOf(e.Args[0]).(*types.Tuple); ok && results.Len() > 1 {
			e.Args = []ast.Expr{l.expr(e.Args[0])}
			return l.spreadResults(sig, results, e)
		}
	}
	if sig != nil && sig.Variadic() {
		l.spread(sig, e)
	}
	for i, a := range e.Args {
		if sig == nil {
			e.Args[i] = l.expr(a)
			continue
		}
		e.Args[i] = l.convert(a, paramAt(sig, i, e.Ellipsis.IsValid()))
	}
	return false
}

// spreadResults lowers f(g()) where g has several results of which some become interfaces of f's parameters, or some are interfaces of cells, which yaegi then takes
// all for: func() R { a, b = g(); return f(convert(a), b) }().
func (l *lowerer) spreadResults(sig *types.Signature, results *types.Tuple, e *ast.CallExpr) bool {
	found := false
	for i := range results.Len() {
		from, to := results.At(i).Type(), paramAt(sig, i, false)
		found = found || to != nil && (l.isBoxed(from) || l.converts(from, to))
	}
	if !found {
		return false
	}
	pos := e.Pos()
	outer := l.closure(pos)
	set := &ast.AssignStmt{TokPos: pos, Tok: token.ASSIGN, Rhs: e.Args}
	call := &ast.CallExpr{Fun: l.callee(ast.Unparen(e.Fun)), Lparen: pos, Rparen: pos}
	for i := range results.Len() {
		from, v := results.At(i).Type(), l.temp("v")
		outer.Body.List = append(outer.Body.List, l.varDecl(pos, v, from))
		set.Lhs = append(set.Lhs, l.ident(pos, v))
		call.Args = append(call.Args, l.converted(l.ident(pos, v), from, paramAt(sig, i, false)))
	}
	outer.Body.List = append(append(outer.Body.List, set), l.passOn(sig, call)...)
	outer.Type.Results = l.signatureExpr(sig, pos).Results
	e.Fun, e.Args = outer, nil
	return true
}

// becomesOther reports whether the several results of a call become values of other types.
func (l *facts) becomesOther(e ast.Expr, to *types.Tuple) bool {
	call, isCall := ast.Unparen(e).(*ast.CallExpr)
	if !isCall {
		return false
	}
	results, ok := l.info.TypeOf(call).(*types.Tuple)
	if !ok || results.Len() != to.Len() {
		return false
	}
	for i := range results.Len() {
		if !types.Identical(results.At(i).Type(), to.At(i).Type()) {
			return true
		}
	}
	return false
}

// spreadTuple evaluates a call with several results into variables.
func (l *lowerer) spreadTuple(call ast.Expr) (out []ast.Stmt, vars []ast.Expr) {
	pos := call.Pos()
	out = l.mark(call)
	set := &ast.AssignStmt{TokPos: pos, Tok: token.ASSIGN, Rhs: []ast.Expr{l.expr(call)}}
	for v := range l.info.TypeOf(call).(*types.Tuple).Variables() {
		id := l.ident(pos, l.temp("v"))
		out = append(out, l.varDecl(pos, id.Name, v.Type()))
		set.Lhs = append(set.Lhs, l.ident(pos, id.Name))
		vars = append(vars, l.typed(id, v.Type()))
	}
	return append(out, set), vars
}

// passOn makes a call the end of a function with the same results, which are functions in variables of their own: see mistakesType.
func (l *builder) passOn(sig *types.Signature, call *ast.CallExpr) []ast.Stmt {
	pos := call.Lparen
	switch {
	case sig.Results().Len() == 0:
		return []ast.Stmt{&ast.ExprStmt{X: call}}
	case !hasFunction(sig.Results()):
		return []ast.Stmt{&ast.ReturnStmt{Return: pos, Results: []ast.Expr{call}}}
	}
	set, end := &ast.AssignStmt{TokPos: pos, Tok: token.DEFINE, Rhs: []ast.Expr{call}}, &ast.ReturnStmt{Return: pos}
	for range sig.Results().Len() {
		v := l.temp("result")
		set.Lhs = append(set.Lhs, l.ident(pos, v))
		end.Results = append(end.Results, l.ident(pos, v))
	}
	return []ast.Stmt{set, end}
}
