package interp

import (
	"go/ast"
	"go/token"
	"go/types"
)

// function is one function body during lowering.
type function struct {
	outer    *function
	sig      *types.Signature // nil for the cell's own statements
	deferred string           // the variable that holds its deferred calls; "" when there are none
	unmarked bool             // a mark outside of a loop serves the loop
	gotos    map[string]bool  // labels that goto jumps to
	loops    int              // how many loops are around the statement that is being lowered
	results  []string         // names of its results, when a deferred call may read or change them
}

func (f *function) top() bool { return f.sig == nil }

// declared reports whether it is a function or method that the cell declares, or in one.
func (f *function) declared() bool {
	for ; f != nil; f = f.outer {
		if f.top() {
			return false
		}
	}
	return true
}

// repeats reports whether the statement that is being lowered may run several times in one call.
func (f *function) repeats() bool { return f.loops > 0 || len(f.gotos) > 0 }

func (l *lowerer) newFunction(sig *types.Signature, body *ast.BlockStmt) *function {
	f := &function{outer: l.fn, sig: sig, gotos: gotosOf(body)}
	if hasDefer(body) {
		f.deferred = l.temp("defers")
	}
	return f
}

// hasDefer reports whether a body defers, functions in it not counted.
func hasDefer(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt:
			found = true
		}
		return !found
	})
	return found
}

// finishFunction puts what a function needs in front of its statements and leaves it.
func (l *lowerer) finishFunction(pos token.Pos, body []ast.Stmt) []ast.Stmt {
	f := l.fn
	l.fn = f.outer
	if f.deferred == "" {
		return body
	}
	return l.withDefers(pos, f, body)
}

// funcDecl lowers a function or method.
func (l *lowerer) funcDecl(d *ast.FuncDecl) *ast.FuncDecl {
	obj := l.info.Defs[d.Name].(*types.Func)
	l.renamePredeclared(d)
	l.fieldList(d.Recv)
	l.funcType(d.Type)
	l.nameParams(d.Recv)
	l.nameParams(d.Type.Params)
	l.fn = l.newFunction(obj.Signature(), d.Body)
	l.nameResults(d.Type)
	d.Body.List = l.finishFunction(d.Body.Pos(), append(l.zeroResults(d.Type, obj.Signature()), l.stmts(d.Body.List)...))
	if name := l.declared[obj]; name != "" {
		d.Name = l.ident(d.Name.Pos(), name)
	} else if d.Recv == nil && d.Name.Name != "init" {
		d.Name = l.ident(d.Name.Pos(), l.name(obj))
	}
	return d
}

func (l *lowerer) funcLit(e *ast.FuncLit) ast.Expr {
	sig, _ := l.info.TypeOf(e).(*types.Signature)
	l.funcType(e.Type)
	l.nameParams(e.Type.Params)
	l.fn = l.newFunction(sig, e.Body)
	l.nameResults(e.Type)
	e.Body.List = l.finishFunction(e.Body.Pos(), append(l.zeroResults(e.Type, sig), l.stmts(e.Body.List)...))
	return e
}

// nameParams names the parameters of a function that have no name: yaegi makes no room for those.
func (l *lowerer) nameParams(params *ast.FieldList) {
	if params == nil {
		return
	}
	for _, f := range params.List {
		if len(f.Names) == 0 {
			f.Names = []*ast.Ident{l.ident(f.Type.Pos(), l.temp("p"))}
		}
		for i, id := range f.Names {
			if id.Name == "_" {
				f.Names[i] = l.ident(id.Pos(), l.temp("p"))
			}
		}
	}
}

// nameResults names the results of a function that defers, so that nothing in it can hide them.
func (l *lowerer) nameResults(t *ast.FuncType) {
	if l.fn.deferred == "" || t.Results == nil {
		return
	}
	for _, f := range t.Results.List {
		if len(f.Names) == 0 {
			f.Names = []*ast.Ident{l.ident(f.Type.Pos(), l.temp("result"))}
		}
		for i, id := range f.Names {
			f.Names[i] = l.ident(id.Pos(), l.temp("result"))
			if obj := l.info.Defs[id]; obj != nil {
				l.renamed[obj] = f.Names[i].Name
			}
			l.fn.results = append(l.fn.results, f.Names[i].Name)
		}
	}
}

// zeroResults sets named results to their zero values: yaegi leaves in them what the variable held that will get them.
func (l *lowerer) zeroResults(t *ast.FuncType, sig *types.Signature) (out []ast.Stmt) {
	if t.Results == nil {
		return nil
	}
	i := 0
	for _, f := range t.Results.List {
		for _, id := range f.Names {
			if id.Name != "_" {
				out = append(out, assign(token.ASSIGN, l.ident(id.Pos(), id.Name), l.zeroValue(id.Pos(), sig.Results().At(i).Type())))
			}
			i++
		}
	}
	return out
}

// mistakesType reports whether yaegi, which notes in the type of a result the expression that was returned, would take functions of that type for generic ones
// from then on.
func mistakesType(results []ast.Expr, sig *types.Tuple) bool {
	for i, e := range results {
		switch e.(type) {
		case *ast.Ident, *ast.FuncLit:
		default:
			if len(results) == sig.Len() && isFunction(sig.At(i).Type()) {
				return true
			}
		}
	}
	return false
}

func hasFunction(list *types.Tuple) bool {
	for v := range list.Variables() {
		if isFunction(v.Type()) {
			return true
		}
	}
	return false
}

func isFunction(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

func (l *lowerer) returnStmt(s *ast.ReturnStmt) []ast.Stmt {
	if sig := l.fn.sig; sig != nil && len(s.Results) == 1 && (l.becomesOther(s.Results[0], sig.Results()) || sig.Results().Len() > 1 && hasFunction(sig.Results())) {
		before, results := l.spreadTuple(s.Results[0])
		s.Results = results
		return append(before, l.returnStmt(s)...)
	}
	m := l.mark(s)
	several := len(s.Results) > 1
	for i, e := range s.Results {
		if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && several && l.info.Types[call.Fun].IsBuiltin() {
			e = l.paren(e) // yaegi would return it as the first result
		} else if _, isBinary := e.(*ast.BinaryExpr); isBinary && several {
			e = l.paren(e) // yaegi would compute it in the place of a result, which may not be its own
		}
		if l.fn.sig != nil && len(s.Results) == l.fn.sig.Results().Len() {
			s.Results[i] = l.convert(e, l.fn.sig.Results().At(i).Type())
		} else {
			s.Results[i] = l.expr(e)
		}
	}
	for i, e := range s.Results {
		if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.ARROW { // yaegi cannot return what it receives
			v := l.temp("received")
			m = append(m, assign(token.DEFINE, l.ident(e.Pos(), v), e))
			s.Results[i] = l.ident(e.Pos(), v)
		}
	}
	oneByOne := len(s.Results) > 1 && (l.fn.results != nil || l.fn.sig != nil && l.fn.sig.Results().At(0).Name() != "") // an expression may use one that is set already
	if sig := l.fn.sig; sig != nil && (oneByOne || mistakesType(s.Results, sig.Results())) {
		for i, e := range s.Results {
			v := l.temp("result")
			m = append(m, l.varDecl(e.Pos(), v, l.fn.sig.Results().At(i).Type()), assign(token.ASSIGN, l.ident(e.Pos(), v), l.paren(e)))
			s.Results[i] = l.ident(e.Pos(), v)
		}
	}
	if l.fn.results == nil || s.Results == nil {
		if l.fn.sig != nil && l.fn.sig.Results().Len() == 1 && l.fn.sig.Results().At(0).Name() != "" && s.Results != nil {
			if _, isFunc := s.Results[0].(*ast.FuncLit); !isFunc {
				s.Results[0] = l.paren(s.Results[0])
			}
		}
		return append(m, s)
	}
	var lhs []ast.Expr
	for _, r := range l.fn.results {
		lhs = append(lhs, l.ident(s.Pos(), r))
	}
	return append(append(m, l.assignEach(lhs, s.Results)...), &ast.ReturnStmt{Return: s.Pos()})
}

// assignEach assigns lowered values to variables, one after the other when there is a value for each.
func (l *lowerer) assignEach(lhs, rhs []ast.Expr) (out []ast.Stmt) {
	if len(lhs) != len(rhs) {
		return []ast.Stmt{&ast.AssignStmt{Lhs: lhs, TokPos: rhs[0].Pos(), Tok: token.ASSIGN, Rhs: rhs}}
	}
	for i, e := range rhs {
		out = append(out, assign(token.ASSIGN, lhs[i], l.paren(e))) // see protect
	}
	return out
}
