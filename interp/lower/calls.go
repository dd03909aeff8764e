package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"github.com/symmrepl/symmrepl/interp/check"
	"github.com/symmrepl/symmrepl/interp/lower/typed"
	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// call lowers a call or a conversion.
func (l *lowerer) call(e *ast.CallExpr) ast.Expr {
	e.Fun = l.qualified(e.Fun)
	fun := ast.Unparen(e.Fun)
	tv := l.info.Types[e.Fun]
	if id, ok := fun.(*ast.Ident); ok && tv.IsBuiltin() {
		return l.builtin(id.Name, e)
	}
	if sel, ok := fun.(*ast.SelectorExpr); ok && tv.IsBuiltin() {
		return l.unsafeBuiltin(sel.Sel.Name, e)
	}
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		if special := l.blocking(sel, e); special != nil {
			return special
		}
		if code := l.codeOf(sel, e); code != nil {
			return code
		}
		if l.atPosition(sel, e) {
			return e
		}
	}
	if tv.IsType() && len(e.Args) == 1 {
		if x := l.unsafeConversion(e, tv.Type); x != nil {
			return x
		}
	}
	if tv.IsType() && len(e.Args) == 1 && l.info.Types[e.Args[0]].IsNil() && l.isRecursive(tv.Type) {
		return l.zeroValue(e.Pos(), tv.Type)
	}
	if tv.IsType() && len(e.Args) == 1 && !l.info.Types[e.Args[0]].IsNil() {
		switch _, isFunc := tv.Type.Underlying().(*types.Signature); {
		case types.IsInterface(tv.Type):
			return l.passed(e, tv.Type, tv.Type)
		case isFunc: // yaegi may run a converted function in the frame of its caller
			return l.passed(e, l.info.TypeOf(e.Args[0]), tv.Type)
		}
	}
	var sig *types.Signature
	if tv.IsValue() {
		sig, _ = tv.Type.Underlying().(*types.Signature)
	}
	compiled := l.fn.loops > 0 && !tv.IsType() && l.isCompiledFunc(fun)
	if l.arguments(sig, e) {
		return e
	}
	e.Fun = l.callee(fun)
	if compiled {
		for i, a := range e.Args {
			e.Args[i] = l.kept(a)
		}
	}
	return e
}

// passed lowers a conversion to type t by passing the value through a function: func(v V) T {
// return v }(x).
func (l *lowerer) passed(e *ast.CallExpr, from, t types.Type) ast.Expr {
	return l.passOne(e.Pos(), l.convert(e.Args[0], from), from, t)
}

// passOne passes a lowered value through such a function.
func (l *builder) passOne(pos token.Pos, low ast.Expr, from, t types.Type) ast.Expr {
	v := l.temp("v")
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos,
			Params:  &ast.FieldList{Opening: pos, List: []*ast.Field{{Names: []*ast.Ident{l.ident(pos, v)}, Type: l.typeExpr(from, pos)}}},
			Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: l.typeExpr(t, pos)}}},
		},
		Body: block(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{l.ident(pos, v)}}),
	}
	return &ast.CallExpr{Fun: lit, Lparen: pos, Args: []ast.Expr{low}, Rparen: pos}
}

// callee lowers the function operand of a call. Unlike a function value, it needs no closure.
func (l *lowerer) callee(fun ast.Expr) ast.Expr {
	if l.losesParams(fun) {
		return l.functionIn(fun)
	}
	switch f := fun.(type) {
	case *ast.Ident:
		return l.instance(f, l.identifier(f))
	case *ast.SelectorExpr:
		if l.info.Selections[f] != nil && l.info.Selections[f].Kind() == types.MethodExpr {
			return l.expr(f)
		}
		return l.selector(f)
	}
	return l.expr(fun)
}

// losesParams reports whether e is a function in a field or behind a pointer that has parameters of
// interface types. If called in place, yaegi would give it yaegi's own representation of the
// arguments.
func (l *facts) losesParams(e ast.Expr) bool {
	tv := l.info.Types[e]
	if !tv.IsValue() || tv.Type == nil {
		return false
	}
	sig, ok := tv.Type.Underlying().(*types.Signature)
	if !ok {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		if s := l.info.Selections[e]; s == nil || s.Kind() != types.FieldVal {
			return false
		}
	case *ast.StarExpr:
	default:
		return false
	}
	for v := range sig.Params().Variables() {
		t := v.Type()
		if s, ok := t.(*types.Slice); ok && sig.Variadic() {
			t = s.Elem()
		}
		if types.IsInterface(t) {
			return true
		}
	}
	return false
}

// functionIn lowers a function for which losesParams is true to the result of a function: func(f F)
// F { return f }(x.f).
func (l *lowerer) functionIn(e ast.Expr) ast.Expr {
	return l.passOne(e.Pos(), l.expr(e), l.info.TypeOf(e), l.info.TypeOf(e))
}

// blockingMethods lists methods of compiled types that may block for ever, and the helpers that do
// the same but end when the cell is interrupted.
var blockingMethods = map[string]contract.Helper{
	"sync.Mutex.Lock": contract.Lock, "sync.RWMutex.Lock": contract.Lock, "sync.RWMutex.RLock": contract.RLock, "sync.Cond.Wait": contract.CondWait,
	"sync.WaitGroup.Wait": contract.Wait, "sync.WaitGroup.Go": contract.WaitGo,
	"os/exec.Cmd.Run": contract.CmdRun, "os/exec.Cmd.Wait": contract.CmdWait, "os/exec.Cmd.Output": contract.CmdOutput,
	"os/exec.Cmd.CombinedOutput": contract.CmdCombined,
}

// blocking lowers calls of blockingMethods.
func (l *lowerer) blocking(sel *ast.SelectorExpr, e *ast.CallExpr) ast.Expr {
	s := l.info.Selections[sel]
	if s == nil || s.Obj().Pkg() == nil {
		return nil
	}
	fn, ok := s.Obj().(*types.Func)
	if !ok {
		return nil
	}
	p, ok := fn.Signature().Recv().Type().(*types.Pointer)
	if !ok {
		return nil
	}
	named, ok := p.Elem().(*types.Named)
	if !ok {
		return nil
	}
	helper := blockingMethods[fn.Pkg().Path()+"."+named.Obj().Name()+"."+fn.Name()]
	if helper == "" {
		return nil
	}
	x, t := l.embeddedField(sel, s)
	if !check.IsPointer(t) {
		x = l.address(x)
	}
	args := []ast.Expr{x}
	for _, a := range e.Args {
		args = append(args, l.kept(l.expr(a)))
	}
	return l.helper(e.Pos(), helper, args...)
}

// embeddedField writes the operand to which the selected method belongs, and returns it with its
// type: x.Mutex for x.Lock of an embedded Mutex.
func (l *lowerer) embeddedField(sel *ast.SelectorExpr, s *types.Selection) (ast.Expr, types.Type) {
	x := l.expr(sel.X)
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		f := t.Underlying().(*types.Struct).Field(i)
		x = &ast.SelectorExpr{X: x, Sel: l.ident(sel.Pos(), f.Name())}
		t = f.Type()
	}
	return x, t
}

// atPosition turns symm.Compile of a literal into CompileAt, so that errors in the kernel cite the
// cell's lines.
func (l *lowerer) atPosition(sel *ast.SelectorExpr, e *ast.CallExpr) bool {
	fn, ok := l.info.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != check.SymmemPath || fn.Name() != "Compile" || len(e.Args) == 0 {
		return false
	}
	lit, ok := e.Args[0].(*ast.BasicLit)
	if !ok {
		return false
	}
	text := l.c.TextOf(lit.Pos())
	line, _, ok := text.Position(lit.Pos())
	if !ok {
		return false
	}
	pos := e.Pos()
	e.Fun = l.pkgMember(pos, check.SymmemPath, "CompileAt")
	at := &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.Itoa(text.Line + line - 1)}
	for i, instance := range e.Args[1:] {
		e.Args[1+i] = l.expr(instance)
	}
	e.Args = append([]ast.Expr{l.quoted(pos, text.Name), at}, e.Args...)
	return true
}

// spread passes the arguments of a variadic parameter as one slice where yaegi would pass them
// wrongly: it may take a single slice argument for all the arguments, and passes none to functions
// in struct fields. A nil in place of all arguments gets the slice's type.
func (l *builder) spread(sig *types.Signature, e *ast.CallExpr) {
	n := sig.Params().Len() - 1
	slice, ok := sig.Params().At(n).Type().(*types.Slice)
	if !ok || len(e.Args) < n || len(e.Args) == 1 && l.isTuple(e.Args[0]) {
		return
	}
	if e.Ellipsis.IsValid() {
		if last := e.Args[n]; l.info.Types[last].IsNil() {
			e.Args[n] = l.typed(&ast.CallExpr{Fun: l.paren(l.typeExpr(slice, last.Pos())), Lparen: last.Pos(),
				Args: []ast.Expr{last}, Rparen: last.End()}, slice)
		}
		return
	}
	all := types.IsInterface(slice.Elem()) &&
		slices.ContainsFunc(e.Args[n:], func(a ast.Expr) bool { return typed.IsSlice(l.info.TypeOf(a)) })
	sel, isSelector := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	inField := isSelector && l.info.Selections[sel] != nil && l.info.Selections[sel].Kind() == types.FieldVal
	if !all && !inField {
		return
	}
	pos := e.Rparen
	list := &ast.CompositeLit{Type: l.typeExpr(slice, pos), Lbrace: pos, Elts: append([]ast.Expr{}, e.Args[n:]...), Rbrace: pos}
	e.Args = append(e.Args[:n:n], l.typed(list, slice))
	e.Ellipsis = pos
}

// codeOf lowers v.Pointer() for a reflect.Value v. It returns nil for other calls.
func (l *lowerer) codeOf(sel *ast.SelectorExpr, e *ast.CallExpr) ast.Expr {
	if fn, ok := l.info.Uses[sel.Sel].(*types.Func); !ok || fn.FullName() != codePointer ||
		l.info.Selections[sel].Kind() != types.MethodVal {
		return nil
	}
	s := l.info.Selections[sel]
	x, t := l.embeddedField(sel, s)
	if check.IsPointer(t) {
		x = &ast.StarExpr{Star: e.Pos(), X: x}
	}
	return l.helper(e.Pos(), contract.Pointer, x)
}

// arguments lowers the arguments of a call. It reports whether it has lowered the function operand
// as well.
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
		e.Args[i] = l.convert(a, typed.ParamAt(sig, i, e.Ellipsis.IsValid()))
	}
	return false
}

// spreadResults lowers f(g()) if g has several results and some of them are converted to interfaces
// of f's parameters, or some are interfaces of cells (yaegi then treats all of them as such):
// func() R { a, b = g(); return f(convert(a), b) }().
func (l *lowerer) spreadResults(sig *types.Signature, results *types.Tuple, e *ast.CallExpr) bool {
	found := false
	for i := range results.Len() {
		from, to := results.At(i).Type(), typed.ParamAt(sig, i, false)
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
		call.Args = append(call.Args, l.converted(l.ident(pos, v), from, typed.ParamAt(sig, i, false)))
	}
	outer.Body.List = append(append(outer.Body.List, set), l.passOn(sig, call)...)
	outer.Type.Results = l.signatureExpr(sig, pos).Results
	e.Fun, e.Args = outer, nil
	return true
}
