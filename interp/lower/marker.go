package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run"
)

// marker knows which function is being lowered. It puts into it what tells, while it runs, where the program is: positions of what may panic, and the functions of
// a stack; and what makes its deferred calls.
type marker struct {
	declarer
	fn          *function             // the innermost function that is being lowered
	silent      bool                  // what is lowered is of a package: it has no positions
	inits       int                   // how many functions init have been lowered
	instancing  *instance             // whose declaration is lowered; nil if it is of none
	counters    map[types.Object]bool // variables that are never negative
	inFunctions map[*types.TypeName]run.InFunction
}

// function is one function body during lowering.
type function struct {
	outer    *function
	sig      *types.Signature // nil for the cell's own statements
	deferred string           // the variable that holds its deferred calls; "" when there are none
	unmarked bool             // a mark outside of a loop serves the loop
	gotos    map[string]bool  // labels that goto jumps to
	loops    int              // how many loops are around the statement that is being lowered
	name     string           // as package runtime has it
	literal  bool             // it is a function literal
	literals int              // how many function literals it has so far
	ranges   int              // and how many loops over functions
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

// mark returns the statement that records that nodes run now, or nothing if they cannot panic.
func (l *marker) mark(nodes ...ast.Node) []ast.Stmt {
	var pos token.Pos
	for _, n := range nodes {
		if pos = l.panics(n); pos.IsValid() {
			break
		}
	}
	if !pos.IsValid() || l.fn.unmarked || l.silent {
		return nil
	}
	return l.markAt(pos)
}

// markAt returns the statement that records a position: the name of the variable for it, which stands there. An assignment would be three times as much to
// compile.
func (l *marker) markAt(pos token.Pos) []ast.Stmt {
	if l.silent {
		return nil
	}
	set := func(name string) ast.Stmt { return &ast.ExprStmt{X: l.ident(pos, name)} }
	if l.fn != nil && l.fn.top() {
		return []ast.Stmt{set(run.MarkVar), set(run.CallVar)}
	}
	return []ast.Stmt{set(run.MarkVar)}
}

// loopMark decides whether one mark in front of a loop is enough: when only one of its statements may panic, and nothing in it runs
// other code of cells. It then returns that mark; until restore is called, no others are made.
func (l *marker) loopMark(loop ast.Stmt) (m []ast.Stmt, restore func()) {
	was := l.fn.unmarked
	if was {
		return nil, func() {}
	}
	var at token.Pos
	count, alone := 0, true
	var stack []ast.Node
	ast.Inspect(loop, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		switch n := n.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			alone = false
		case *ast.CallExpr:
			alone = alone && (l.harmless(n) || l.isCompiled(n))
		}
		if stmt, ok := n.(ast.Stmt); ok && n != loop {
			switch stmt.(type) {
			case *ast.BlockStmt, *ast.LabeledStmt, *ast.CaseClause, *ast.CommClause:
			default:
				if pos := l.panics(stmt); pos.IsValid() {
					count++
					at = pos
				}
			}
		}
		return true
	})
	if !alone || count != 1 {
		return nil, func() {}
	}
	m = l.markAt(at)
	l.fn.unmarked = true
	fn := l.fn
	return m, func() { fn.unmarked = was }
}

func (l *marker) newFunction(sig *types.Signature, body *ast.BlockStmt) *function {
	f := &function{outer: l.fn, sig: sig, gotos: gotosOf(body)}
	if hasDefer(body) {
		f.deferred = l.temp("defers")
	}
	return f
}

// nameResults names the results of a function that defers, so that nothing in it can hide them.
func (l *marker) nameResults(t *ast.FuncType) {
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

// gotosOf collects the labels that a body jumps to, functions in it not counted.
func gotosOf(body *ast.BlockStmt) map[string]bool {
	var names map[string]bool
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			if n.Tok == token.GOTO {
				if names == nil {
					names = map[string]bool{}
				}
				names[n.Label.Name] = true
			}
		}
		return true
	})
	return names
}

// kept makes a function literal in a loop one of a frame of its own. Yaegi gives compiled code, which may keep it, the literal together with the frame
// itself, in which the next iteration puts new variables; and when a call of the literal ends, perhaps in another goroutine, it puts back what was in
// the literal's place in the frame before, where the next iteration's may be by then.
func (l *marker) kept(e ast.Expr) ast.Expr {
	lit, ok := e.(*ast.FuncLit)
	if !ok || l.fn.loops == 0 {
		return e
	}
	pos := lit.Pos()
	typ := *lit.Type
	outer := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos, Params: &ast.FieldList{Opening: pos}, Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: &typ}}}},
		Body: block(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{lit}}),
	}
	return &ast.CallExpr{Fun: outer, Lparen: pos, Rparen: pos}
}
