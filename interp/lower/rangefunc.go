package lower

import (
	"go/ast"
	"go/token"
	"strconv"

	"github.com/symmrepl/symmrepl/interp/run/contract"
)

// iteration collects the ways in which the body of a range over a function leaves the loop.
type iteration struct {
	l       *lowerer
	pos     token.Pos
	exit    string          // the variable that says which way was taken
	state   string          // the variable that says whether the iterator may call the body
	label   string          // label of the loop itself
	inside  map[string]bool // labels of the body
	ways    int
	results []ast.Stmt // declares variables for the values of return statements
	after   []ast.Stmt // statements to run after the iterator has returned
}

// nesting reports whether break and continue without a label refer to a statement inside the body.
type nesting struct{ breaks, continues bool }

// leave rewrites the statements of the body.
func (b *iteration) leave(list []ast.Stmt, in nesting) []ast.Stmt {
	var out []ast.Stmt
	for _, s := range list {
		out = append(out, b.stmt(s, in)...)
	}
	return out
}

func (b *iteration) stmt(s ast.Stmt, in nesting) []ast.Stmt {
	switch s := s.(type) {
	case *ast.BlockStmt:
		s.List = b.leave(s.List, in)
	case *ast.IfStmt:
		s.Body.List = b.leave(s.Body.List, in)
		if s.Else != nil {
			s.Else = block(s.Else.Pos(), b.stmt(s.Else, in)...)
		}
	case *ast.ForStmt:
		s.Body.List = b.leave(s.Body.List, nesting{true, true})
	case *ast.RangeStmt:
		s.Body.List = b.leave(s.Body.List, nesting{true, true})
	case *ast.SwitchStmt:
		b.clauses(s.Body, nesting{true, in.continues})
	case *ast.TypeSwitchStmt:
		b.clauses(s.Body, nesting{true, in.continues})
	case *ast.SelectStmt:
		b.clauses(s.Body, nesting{true, in.continues})
	case *ast.LabeledStmt:
		out := b.stmt(s.Stmt, in)
		s.Stmt = out[len(out)-1]
		return append(out[:len(out)-1], s)
	case *ast.ReturnStmt:
		return b.returns(s)
	case *ast.BranchStmt:
		return b.branch(s, in)
	}
	return []ast.Stmt{s}
}

func (b *iteration) clauses(body *ast.BlockStmt, in nesting) {
	for _, c := range body.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			c.Body = b.leave(c.Body, in)
		case *ast.CommClause:
			c.Body = b.leave(c.Body, in)
		}
	}
}

// endBody ends a call of the body; more says whether the iterator may call it again.
func (b *iteration) endBody(more bool) []ast.Stmt {
	state := contract.Iterating
	if !more {
		state = contract.BodyDone
	}
	return []ast.Stmt{b.setState(state), &ast.ReturnStmt{Return: b.pos, Results: []ast.Expr{b.l.ident(b.pos, strconv.FormatBool(more))}}}
}

func (b *iteration) setState(state int) ast.Stmt {
	return assign(token.ASSIGN, b.l.ident(b.pos, b.state), b.l.number(b.pos, state))
}

func (b *iteration) whenState(op token.Token, state int, then ast.Stmt) ast.Stmt {
	return &ast.IfStmt{
		If: b.pos, Cond: &ast.BinaryExpr{X: b.l.ident(b.pos, b.state), OpPos: b.pos, Op: op, Y: b.l.number(b.pos, state)},
		Body: block(b.pos, then),
	}
}

// misused returns a statement that panics because the iterator breaks the rules.
func (b *iteration) misused(state ast.Expr) ast.Stmt {
	return &ast.ExprStmt{X: b.l.helper(b.pos, contract.Misused, state)}
}

// way records which way was taken and ends the iteration; the statement then runs after it.
func (b *iteration) way(then ast.Stmt) []ast.Stmt {
	b.ways++
	b.after = append(b.after, &ast.IfStmt{
		If: b.pos, Cond: &ast.BinaryExpr{X: b.l.ident(b.pos, b.exit), OpPos: b.pos, Op: token.EQL, Y: b.l.number(b.pos, b.ways)},
		Body: block(b.pos, then),
	})
	return append([]ast.Stmt{assign(token.ASSIGN, b.l.ident(b.pos, b.exit), b.l.number(b.pos, b.ways))}, b.endBody(false)...)
}

func (b *iteration) branch(s *ast.BranchStmt, in nesting) []ast.Stmt {
	own := s.Label != nil && s.Label.Name == b.label
	switch {
	case s.Tok == token.BREAK && (own || s.Label == nil && !in.breaks):
		return b.endBody(false)
	case s.Tok == token.CONTINUE && (own || s.Label == nil && !in.continues):
		return b.endBody(true)
	case s.Label != nil && !b.inside[s.Label.Name]:
		return b.way(s)
	}
	return []ast.Stmt{s}
}

// returns rewrites a return statement of the function around the loop.
func (b *iteration) returns(s *ast.ReturnStmt) []ast.Stmt {
	if len(s.Results) == 0 {
		return b.way(s)
	}
	l := b.l
	var lhs, values []ast.Expr
	for v := range l.fn.sig.Results().Variables() {
		name := l.temp("result")
		b.results = append(b.results, l.varDecl(b.pos, name, v.Type()))
		lhs = append(lhs, l.ident(s.Pos(), name))
		values = append(values, l.ident(b.pos, name))
	}
	return append(l.assignEach(lhs, s.Results), b.way(&ast.ReturnStmt{Return: b.pos, Results: values})...)
}

// labels collects the labels in a statement, not counting functions in it.
func labels(s ast.Stmt) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.LabeledStmt:
			names[n.Label.Name], names[n.Label.Name+gotoSuffix] = true, true
		}
		return true
	})
	return names
}
