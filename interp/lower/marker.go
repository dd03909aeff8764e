package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// marker keeps the function that is being lowered. It adds to the function the statements that
// record where the program is (positions of operations that may panic, functions on the stack) and
// those that make its deferred calls.
type marker struct {
	declarer
	fn          *function             // the innermost function that is being lowered
	silent      bool                  // the code belongs to a package and stores no positions
	inits       int                   // how many functions init have been lowered
	instancing  *instance             // the instance whose declaration is being lowered, or nil
	counters    map[types.Object]bool // variables that are never negative
	inFunctions map[*types.TypeName]contract.InFunction
	points      points
}

// mark returns the statement that stores the position of nodes, or nothing if they cannot panic.
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

// markAt returns the statement that stores a position: the name of a variable for the position as
// an expression statement. An assignment would take three times as long to compile.
func (l *marker) markAt(pos token.Pos) []ast.Stmt {
	if l.silent {
		return nil
	}
	set := func(name string) ast.Stmt { return &ast.ExprStmt{X: l.ident(pos, name)} }
	if l.fn != nil && l.fn.top() {
		return []ast.Stmt{set(contract.MarkVar), set(contract.CallVar)}
	}
	return []ast.Stmt{set(contract.MarkVar)}
}

// loopMark checks whether a position stored once before a loop is enough: only one statement of the
// loop may panic, and nothing in the loop runs other code of cells. If so, it returns the statement
// that stores the position, and no others are made until restore is called.
func (l *marker) loopMark(loop ast.Stmt) (m []ast.Stmt, restore func()) {
	was := l.fn.unmarked
	if was {
		return nil, func() {}
	}
	var at token.Pos
	count, alone := 0, true
	ast.Inspect(loop, func(n ast.Node) bool {
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
		return alone && count < 2
	})
	if !alone || count != 1 {
		return nil, func() {}
	}
	m = l.markAt(at)
	l.fn.unmarked = true
	fn := l.fn
	return m, func() { fn.unmarked = was }
}

// newFunction begins a function. Fields are its receiver, parameters and results.
func (l *marker) newFunction(sig *types.Signature, body *ast.BlockStmt, fields ...*ast.FieldList) *function {
	f := &function{outer: l.fn, sig: sig, locals: l.localsOf(body, fields...)}
	deferring := false
	if deferring, f.gotos = jumps(body); deferring {
		f.deferred = l.temp("defers")
	}
	return f
}

// nameResults names the results of a function that defers, so that no declaration in the function
// hides them.
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

// jumps reports whether a body has defer statements, and collects the labels that its goto
// statements jump to, not counting functions in it.
func jumps(body *ast.BlockStmt) (deferring bool, gotos map[string]bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case ast.Expr: // the only statements in it are those of function literals
			return false
		case *ast.DeferStmt:
			deferring = true
		case *ast.BranchStmt:
			if n.Tok == token.GOTO {
				if gotos == nil {
					gotos = map[string]bool{}
				}
				gotos[n.Label.Name] = true
			}
		}
		return true
	})
	return deferring, gotos
}

// kept gives a function literal in a loop its own frame. Yaegi passes the literal to compiled code,
// which may keep it, together with the loop's frame, in which the next iteration creates new
// variables. Also, when a call of the literal ends, perhaps in another goroutine, yaegi restores
// the literal's earlier value in the frame, where the next iteration may already have stored its
// own.
func (l *marker) kept(e ast.Expr) ast.Expr {
	lit, ok := e.(*ast.FuncLit)
	if !ok || l.fn.loops == 0 {
		return e
	}
	pos := lit.Pos()
	typ := *lit.Type
	outer := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos, Params: &ast.FieldList{Opening: pos},
			Results: &ast.FieldList{Opening: pos, List: []*ast.Field{{Type: &typ}}}},
		Body: block(pos, &ast.ReturnStmt{Return: pos, Results: []ast.Expr{lit}}),
	}
	return &ast.CallExpr{Fun: outer, Lparen: pos, Rparen: pos}
}

// protect puts parentheses around values that yaegi would otherwise compute in place, in the
// variable that they are assigned to. A composite literal would replace a variable that pointers
// refer to, an interface, or a variable captured by a closure of the last iteration; a call would
// use the variable for its results while it runs.
func (l *marker) protect(s *ast.AssignStmt) {
	if len(s.Lhs) != len(s.Rhs) {
		return
	}
	for i, e := range s.Rhs {
		switch e := e.(type) {
		case *ast.CompositeLit:
			if s.Tok == token.ASSIGN || l.fn.repeats() || types.IsInterface(l.lhsType(s.Lhs[i])) {
				s.Rhs[i] = l.paren(e)
			}
		case *ast.CallExpr:
			compiled := l.isCompiledFunc(ast.Unparen(e.Fun)) && !(l.mayBeLate(e) && l.outlives(s.Lhs[i]))
			if tv := l.info.Types[e.Fun]; s.Tok == token.ASSIGN && tv.IsValue() && !tv.IsBuiltin() && !compiled {
				s.Rhs[i] = l.paren(e)
			}
		}
	}
}

// defines reports whether one of the names on the left is a variable of the cell's top level.
func (l *marker) defines(lhs []ast.Expr) bool {
	for _, e := range lhs {
		if id, ok := e.(*ast.Ident); ok && (l.hoisted[l.info.Defs[id]] || l.hoisted[l.info.Uses[id]] && l.fn.top()) {
			return true
		}
	}
	return false
}

// inFunction returns package run's description of a type that a function declares.
func (l *marker) inFunction(obj *types.TypeName) contract.InFunction {
	f := contract.InFunction{Number: l.c.LocalType(obj.Pos())}
	if of := l.instancing; of != nil {
		f.Args = of.args
		if text := l.generic(of.obj).Text; f.Number == 0 && text != nil {
			f.Number = text.LocalType(obj.Pos())
		}
	}
	return f
}
