package foreign

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// statement writes a statement of a cell. The value of the cell's last one is shown.
func (m *python) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if !m.cell.Quiet && m.cell.Value != nil && s.X == m.cell.Value && m.cell.Values != nil {
			m.line("symm.show(" + m.expr(s.X) + ")")
			return
		}
	case *ast.AssignStmt:
		if !m.cell.Quiet && len(m.cell.List) > 0 && s == m.cell.Stmts[len(m.cell.Stmts)-1] {
			m.line("symm.show(" + m.exprs(m.cell.List) + ")")
			return
		}
	}
	m.write(s)
}

// write writes a statement.
func (m *python) write(s ast.Stmt) {
	top := m.top
	defer func() { m.top = top }()
	switch s := s.(type) {
	case *ast.ExprStmt:
		m.effect(s.X)
	case *ast.AssignStmt:
		m.assign(s)
	case *ast.IncDecStmt:
		m.line(m.target(s.X) + " " + string(s.Tok.String()[0]) + "= 1")
	case *ast.DeclStmt:
		m.declaration(s.Decl)
	case *ast.BlockStmt:
		m.top = false
		m.statements(s.List)
	case *ast.IfStmt:
		m.top = false
		m.ifStatement(s, "if ")
	case *ast.ForStmt:
		m.top = false
		m.forStatement(s)
	case *ast.RangeStmt:
		m.top = false
		m.rangeStatement(s)
	case *ast.SwitchStmt:
		m.top = false
		m.switchStatement(s)
	case *ast.ReturnStmt:
		if len(m.defs) == 0 {
			m.refuse("it ends the cell")
		}
		values := m.exprs(s.Results)
		if len(s.Results) == 0 {
			var names []string
			for _, v := range m.results(m.defs[len(m.defs)-1]) {
				names = append(names, m.of[v])
			}
			values = strings.Join(names, ", ")
		}
		m.line(strings.TrimSpace("return " + values))
	case *ast.BranchStmt:
		if s.Label != nil || s.Tok != token.BREAK && s.Tok != token.CONTINUE {
			m.refuse("Python has no labels")
		}
		m.line(s.Tok.String())
	case *ast.EmptyStmt:
	default:
		m.refuse("Python has no " + kindOf(s) + " as Go has")
	}
}

// statements writes statements with the comments among them.
func (m *python) statements(list []ast.Stmt) {
	for _, s := range list {
		m.withComments(s, func() { m.write(s) })
	}
}

// body writes a block.
func (m *python) body(list []ast.Stmt) {
	m.deep++
	start := len(m.out)
	m.statements(list)
	m.pass(start)
	m.deep--
}

// effect writes a call for its effect.
func (m *python) effect(e ast.Expr) {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		if m.runCall(call) {
			return
		}
		if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" {
			if _, is := m.info.Uses[id].(*types.Builtin); is {
				m.line("raise RuntimeError(" + m.exprs(call.Args) + ")")
				return
			}
		}
	}
	m.line(m.expr(e))
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

func (m *python) assign(s *ast.AssignStmt) {
	if s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
		m.operate(s)
		return
	}
	if m.alias(s) || m.appends(s) || m.function(s) {
		return
	}
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

// appends writes x = append(x, ...).
func (m *python) appends(s *ast.AssignStmt) bool {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 || s.Tok != token.ASSIGN {
		return false
	}
	call, ok := s.Rhs[0].(*ast.CallExpr)
	if !ok || !m.isBuiltin(call, "append") || len(call.Args) != 2 {
		return false
	}
	to, from := identOf(s.Lhs[0]), identOf(call.Args[0])
	if to == nil || from == nil || m.info.ObjectOf(to) != m.info.ObjectOf(from) {
		return false
	}
	how := "append"
	if call.Ellipsis.IsValid() {
		how = "extend"
	}
	m.line(fmt.Sprintf("%s.%s(%s)", m.expr(from), how, m.expr(call.Args[1])))
	return true
}

// function writes a function that a variable gets.
func (m *python) function(s *ast.AssignStmt) bool {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 || s.Tok != token.DEFINE || identOf(s.Lhs[0]) == nil {
		return false
	}
	f, ok := s.Rhs[0].(*ast.FuncLit)
	if !ok {
		return false
	}
	m.def(m.target(s.Lhs[0]), f.Type, f.Body)
	return true
}

// def writes a function.
func (m *python) def(name string, t *ast.FuncType, body *ast.BlockStmt) {
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

// operate writes x op= y.
func (m *python) operate(s *ast.AssignStmt) {
	op := token.Token(int(s.Tok) - int(token.ADD_ASSIGN) + int(token.ADD))
	b := &ast.BinaryExpr{X: s.Lhs[0], Op: op, Y: s.Rhs[0]}
	t := m.info.TypeOf(s.Lhs[0])
	m.info.Types[b] = types.TypeAndValue{Type: t}
	defer delete(m.info.Types, b)
	whole := m.binary(b)
	to := m.target(s.Lhs[0])
	if simple := operators[op].text; whole.s == m.expr(s.Lhs[0])+" "+simple+" "+
		m.expression(s.Rhs[0]).in(operators[op].precedence+1) && operators[op].text != "" {
		m.line(to + " " + simple + "= " + m.expr(s.Rhs[0]))
		return
	}
	m.line(to + " = " + whole.s)
}

func (m *python) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil || d.Type.TypeParams != nil || d.Body == nil {
			m.refuse("methods and generic functions are not carried over")
		}
		obj := m.info.Defs[d.Name]
		m.of[obj] = m.fresh(d.Name.Name, obj)
		m.def(m.of[obj], d.Type, d.Body)
		return
	case *ast.GenDecl:
		if d.Tok == token.VAR || d.Tok == token.CONST {
			for _, spec := range d.Specs {
				m.valueSpec(d.Tok, spec.(*ast.ValueSpec))
			}
			return
		}
	}
	m.refuse("types are not carried over")
}

// valueSpec writes a specification of variables or constants.
func (m *python) valueSpec(tok token.Token, spec *ast.ValueSpec) {
	var names, values []string
	for _, x := range spec.Values {
		values = append(values, m.expr(x))
	}
	for i, id := range spec.Names {
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
		_ = i
	}
	m.line(strings.Join(names, ", ") + " = " + strings.Join(values, ", "))
}

func (m *python) ifStatement(s *ast.IfStmt, keyword string) {
	if s.Init != nil {
		m.write(s.Init)
	}
	m.line(keyword + m.expr(s.Cond) + ":")
	m.body(s.Body.List)
	switch e := s.Else.(type) {
	case *ast.IfStmt:
		if e.Init == nil {
			m.ifStatement(e, "elif ")
			return
		}
		m.line("else:")
		m.deep++
		m.ifStatement(e, "if ")
		m.deep--
	case *ast.BlockStmt:
		m.line("else:")
		m.body(e.List)
	}
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
	if s.Tok == token.ASSIGN {
		m.refuse("the loop's variables exist before it")
	}
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

func (m *python) switchStatement(s *ast.SwitchStmt) {
	if s.Init != nil {
		m.write(s.Init)
	}
	tag := ""
	if s.Tag != nil {
		if identOf(s.Tag) == nil {
			m.refuse("the value that the switch looks at is no variable")
		}
		tag = m.expr(s.Tag)
	}
	var last *ast.CaseClause
	keyword := "if "
	for _, clause := range s.Body.List {
		c := clause.(*ast.CaseClause)
		if leaves(c) {
			m.refuse("break and fallthrough of a switch are not Python's")
		}
		if c.List == nil {
			last = c
			continue
		}
		var conditions []string
		for _, x := range c.List {
			t := m.expression(x)
			if tag != "" {
				t = text{tag + " == " + t.in(bitOr), comparison}
			}
			conditions = append(conditions, t.in(conjunction))
		}
		m.line(keyword + strings.Join(conditions, " or ") + ":")
		m.body(c.Body)
		keyword = "elif "
	}
	switch {
	case last == nil:
	case keyword == "if ":
		m.statements(last.Body)
	default:
		m.line("else:")
		m.body(last.Body)
	}
}
