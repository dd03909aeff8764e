package foreign

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// body writes a block.
func (m *python) body(list []ast.Stmt) {
	m.deep++
	start := len(m.out)
	m.statements(list)
	m.pass(start)
	m.deep--
}

// target returns the left side of an assignment to e.
func (m *python) target(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if e.Name == "_" {
			return "_"
		}
		if v, ok := m.info.Defs[e].(*types.Var); ok {
			return m.define(v, m.top && len(m.defs) == 0)
		}
		delete(m.naturals, m.info.Uses[e])
		delete(m.positives, m.info.Uses[e])
		return m.expr(e)
	case *ast.IndexExpr:
		return m.expr(e)
	}
	m.refuse("only variables and their elements are assigned to")
	return ""
}

func (m *python) push(x ast.Expr, c *ast.CallExpr) bool {
	how := "append"
	if c.Ellipsis.IsValid() {
		how = "extend"
	}
	m.line(fmt.Sprintf("%s.%s(%s)", m.expr(x), how, m.expr(c.Args[1])))
	return true
}

func (m *python) assign(s *ast.AssignStmt) {
	var values []string
	for _, x := range s.Rhs {
		if _, isArray := m.info.TypeOf(x).Underlying().(*types.Array); isArray {
			if _, fresh := x.(*ast.CompositeLit); !fresh {
				values = append(values, "list("+m.expr(x)+")")
				continue
			}
		}
		if len(s.Lhs) > len(s.Rhs) {
			if _, isCall := ast.Unparen(x).(*ast.CallExpr); !isCall {
				m.refuse("Python has no second value of it")
			}
		}
		values = append(values, m.expr(x))
	}
	var natural, positive, timeout []bool
	for _, x := range s.Rhs {
		timeout = append(timeout, m.option(x) == "Timeout")
		natural = append(natural, basic(m.info.TypeOf(x))&types.IsInteger != 0 && m.natural(x))
		positive = append(positive, m.positive(x))
	}
	var targets []string
	for i, x := range s.Lhs {
		targets = append(targets, m.target(x))
		if v, ok := m.info.Defs[identOf(x)].(*types.Var); ok && len(natural) == len(s.Lhs) && !m.changes(v) {
			m.naturals[v], m.positives[v], m.timeouts[v] = natural[i], positive[i], timeout[i]
		}
	}
	m.line(strings.Join(targets, ", ") + " = " + strings.Join(values, ", "))
}

// def writes a function.
func (m *python) def(name string, _ *types.Signature, t *ast.FuncType, body *ast.BlockStmt) {
	if last := m.out[len(m.out)-1]; last != "" && !strings.HasSuffix(last, ":") && !strings.HasPrefix(strings.TrimSpace(last), "#") {
		m.out = append(m.out, "")
	}
	m.line("def " + name + "(" + strings.Join(m.params(t), ", ") + "):")
	m.defs = append(m.defs, t)
	m.deep++
	if outer := m.outer(body); len(outer) > 0 {
		m.line("nonlocal " + strings.Join(outer, ", "))
	}
	for _, v := range m.results(t) {
		m.line(m.define(v, false) + " = " + m.zero(v.Type()))
	}
	m.deep--
	m.body(body.List)
	m.defs = m.defs[:len(m.defs)-1]
	m.out = append(m.out, "")
}

func (m *python) typed(_ types.Type, name string) string { return name }

// outer returns the names of variables of outer functions that a function assigns to.
func (m *python) outer(body *ast.BlockStmt) (list []string) {
	add := func(x ast.Expr) {
		id := identOf(x)
		if id == nil {
			return
		}
		v, ok := m.info.Uses[id].(*types.Var)
		if !ok || v.Pos() >= body.Pos() && v.Pos() < body.End() || m.of[v] == "" || slices.Contains(list, m.of[v]) {
			return
		}
		if m.isParam(v) {
			return
		}
		list = append(list, m.of[v])
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				add(x)
			}
		case *ast.IncDecStmt:
			add(n.X)
		}
		return true
	})
	return list
}

func (m *python) operate(s ast.Stmt) {
	a, ok := s.(*ast.AssignStmt)
	if !ok {
		s := s.(*ast.IncDecStmt)
		m.line(m.target(s.X) + " " + string(s.Tok.String()[0]) + "= 1")
		return
	}
	x, y := a.Lhs[0], a.Rhs[0]
	b := &ast.BinaryExpr{X: x, Op: token.Token(int(a.Tok) - int(token.ADD_ASSIGN) + int(token.ADD)), Y: y}
	m.info.Types[b] = types.TypeAndValue{Type: m.info.TypeOf(x)}
	defer delete(m.info.Types, b)
	whole, op := m.binary(b), operators[b.Op]
	to := m.target(x)
	if op.text != "" && whole.s == m.expr(x)+" "+op.text+" "+m.expression(y).in(op.precedence+1) {
		m.line(to + " " + op.text + "= " + m.expr(y))
		return
	}
	m.line(to + " = " + whole.s)
}

// valueSpec writes a specification of variables or constants.
func (m *python) valueSpec(tok token.Token, spec *ast.ValueSpec) {
	var names, values []string
	for _, x := range spec.Values {
		values = append(values, m.expr(x))
	}
	for _, id := range spec.Names {
		obj := m.info.Defs[id]
		switch {
		case id.Name == "_":
			names = append(names, "_")
		case tok == token.VAR:
			names = append(names, m.define(obj.(*types.Var), m.top && len(m.defs) == 0))
		default:
			name := m.fresh(id.Name, obj)
			m.of[obj] = name
			names = append(names, name)
		}
		if len(spec.Values) == 0 {
			if tok == token.CONST {
				m.refuse("iota is not carried over")
			}
			values = append(values, m.zero(obj.Type()))
		}
	}
	m.line(strings.Join(names, ", ") + " = " + strings.Join(values, ", "))
}

func (m *python) scoped(init ast.Stmt, write func()) {
	if init != nil {
		m.write(init)
	}
	write()
}

func (m *python) condition(tag string, t text) string {
	if tag != "" {
		t = text{tag + " == " + t.in(bitOr), comparison}
	}
	return t.in(conjunction)
}

func (m *python) forStatement(s *ast.ForStmt) {
	if v, bounds, ok := m.counted(s); ok {
		m.line("for " + v + " in range(" + bounds + "):")
		m.body(s.Body.List)
		return
	}
	if s.Init != nil {
		m.write(s.Init)
	}
	cond := "True"
	if s.Cond != nil {
		cond = m.expr(s.Cond)
	}
	if s.Post != nil && continues(s.Body) {
		m.refuse("continue of a loop that does not count is another statement in Python")
	}
	m.line("while " + cond + ":")
	m.body(s.Body.List)
	if s.Post != nil {
		m.deep++
		m.write(s.Post)
		m.deep--
	}
}

// counted returns the variable and the range of a loop that counts.
func (m *python) counted(s *ast.ForStmt) (v, bounds string, ok bool) {
	init, isAssign := s.Init.(*ast.AssignStmt)
	cond, isComparison := s.Cond.(*ast.BinaryExpr)
	if !isAssign || !isComparison || init.Tok != token.DEFINE || len(init.Lhs) != 1 || len(init.Rhs) != 1 {
		return "", "", false
	}
	obj, isVar := m.info.Defs[identOf(init.Lhs[0])].(*types.Var)
	if !isVar || identOf(cond.X) == nil || m.info.Uses[identOf(cond.X)] != obj {
		return "", "", false
	}
	step, isStep := m.step(s.Post, obj)
	if !isStep || assigns(m.info, s.Body, obj) {
		return "", "", false
	}
	constantEnd := true
	ast.Inspect(cond.Y, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if o := m.info.Uses[n]; o != nil && assigns(m.info, s.Body, o) {
				constantEnd = false
			}
		case *ast.CallExpr:
			if !m.isBuiltin(n, "len") && !m.info.Types[n.Fun].IsType() {
				constantEnd = false
			}
		}
		return true
	})
	if !constantEnd {
		return "", "", false
	}
	from, to := m.expr(init.Rhs[0]), m.expression(cond.Y)
	down := strings.HasPrefix(step, "-")
	switch {
	case !down && cond.Op == token.LSS, down && cond.Op == token.GTR:
		bounds = to.s
	case !down && cond.Op == token.LEQ:
		bounds = to.in(sum) + " + 1"
	case down && cond.Op == token.GEQ:
		bounds = to.in(sum) + " - 1"
		if to.s == "0" {
			bounds = "-1"
		}
	default:
		return "", "", false
	}
	if from != "0" || step != "1" {
		bounds = from + ", " + bounds
	}
	if step != "1" {
		bounds += ", " + step
	}
	m.naturals[obj] = !down && m.natural(init.Rhs[0])
	return m.define(obj, false), bounds, true
}

// step returns the amount by which a statement changes a variable.
func (m *python) step(s ast.Stmt, v *types.Var) (string, bool) {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		if id := identOf(s.X); id != nil && m.info.Uses[id] == v {
			return map[token.Token]string{token.INC: "1", token.DEC: "-1"}[s.Tok], true
		}
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 || identOf(s.Lhs[0]) == nil || m.info.Uses[identOf(s.Lhs[0])] != v {
			return "", false
		}
		if value := m.info.Types[s.Rhs[0]].Value; value != nil && s.Tok == token.ADD_ASSIGN || s.Tok == token.ADD_ASSIGN &&
			m.natural(s.Rhs[0]) {
			return m.expr(s.Rhs[0]), true
		}
	}
	return "", false
}

func (m *python) rangeStatement(s *ast.RangeStmt) {
	over := m.expression(s.X)
	name := func(e ast.Expr) string {
		id := identOf(e)
		if id == nil || id.Name == "_" {
			return "_"
		}
		return m.define(m.info.Defs[id].(*types.Var), false)
	}
	used := func(e ast.Expr) bool { return e != nil && identOf(e).Name != "_" }
	count := func(e ast.Expr) {
		if used(e) {
			m.naturals[m.info.Defs[identOf(e)]] = true
		}
	}
	switch t := m.info.TypeOf(s.X).Underlying().(type) {
	case *types.Basic:
		if t.Info()&types.IsInteger == 0 {
			m.refuse("Python has other characters in a string")
		}
		m.line("for " + name(s.Key) + " in range(" + over.s + "):")
		count(s.Key)
	case *types.Slice, *types.Array:
		switch {
		case used(s.Key) && used(s.Value):
			m.line(fmt.Sprintf("for %s, %s in enumerate(%s):", name(s.Key), name(s.Value), over.s))
		case used(s.Value):
			m.line(fmt.Sprintf("for %s in %s:", name(s.Value), over.s))
		default:
			m.line(fmt.Sprintf("for %s in range(len(%s)):", name(s.Key), over.s))
		}
		count(s.Key)
	case *types.Map:
		switch {
		case used(s.Value):
			m.line(fmt.Sprintf("for %s, %s in %s.items():", name(s.Key), name(s.Value), over.in(atom)))
		default:
			m.line(fmt.Sprintf("for %s in %s:", name(s.Key), over.s))
		}
	default:
		m.refuse("Python has no loop over a " + typeName(m.info.TypeOf(s.X)))
	}
	m.body(s.Body.List)
}
