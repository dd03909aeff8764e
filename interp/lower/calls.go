package lower

import (
	"go/ast"
	"go/token"
	"go/types"
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

// loggerReceiver lowers the logger whose method e selects; the result is a pointer.
func (l *lowerer) loggerReceiver(e *ast.SelectorExpr) ast.Expr {
	l.captureOperand(e.X)
	x, t := l.embeddedField(e, l.info.Selections[e])
	if !check.IsPointer(t) {
		x = l.address(x)
	}
	return x
}
