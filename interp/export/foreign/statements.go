package foreign

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// statement writes a statement of a cell. The value of the cell's last one is shown.
func (m *module) statement(s ast.Stmt) {
	var shown []ast.Expr
	switch s := s.(type) {
	case *ast.ExprStmt:
		if m.cell.Value != nil && s.X == m.cell.Value && m.cell.Values != nil {
			shown = []ast.Expr{s.X}
		}
	case *ast.AssignStmt:
		if s == m.cell.Stmts[len(m.cell.Stmts)-1] {
			shown = m.cell.List
		}
	}
	if m.cell.Quiet || len(shown) == 0 {
		m.write(s)
		return
	}
	m.line(m.dialect.symm + "show(" + m.exprs(shown) + ")" + m.dialect.end)
}

// write writes a statement.
func (m *module) write(s ast.Stmt) {
	top := m.top
	defer func() { m.top = top }()
	switch s := s.(type) {
	case *ast.ExprStmt:
		m.effect(s.X)
		return
	case *ast.AssignStmt:
		switch {
		case s.Tok != token.ASSIGN && s.Tok != token.DEFINE:
			m.lang.operate(s)
		case !m.alias(s) && !m.appends(s) && !m.function(s):
			m.lang.assign(s)
		}
		return
	case *ast.IncDecStmt:
		m.lang.operate(s)
		return
	case *ast.DeclStmt:
		m.declaration(s.Decl)
		return
	case *ast.ReturnStmt:
		m.returns(s)
		return
	case *ast.BranchStmt:
		if s.Label != nil || s.Tok != token.BREAK && s.Tok != token.CONTINUE {
			m.refuse(m.dialect.labels)
		}
		m.line(s.Tok.String() + m.dialect.end)
		return
	case *ast.EmptyStmt:
		return
	}
	m.top = false
	switch s := s.(type) {
	case *ast.BlockStmt:
		m.block(s.List)
	case *ast.IfStmt:
		m.lang.scoped(s.Init, func() { m.ifStatement(s, m.dialect.when) })
	case *ast.ForStmt:
		m.lang.forStatement(s)
	case *ast.RangeStmt:
		if s.Tok == token.ASSIGN {
			m.refuse("the loop's variables exist before it")
		}
		m.lang.rangeStatement(s)
	case *ast.SwitchStmt:
		m.lang.scoped(s.Init, func() { m.switchStatement(s) })
	default:
		m.refuse(m.dialect.name + " has no " + kindOf(s) + " as Go has")
	}
}

// statements writes statements with the comments among them.
func (m *module) statements(list []ast.Stmt) {
	for _, s := range list {
		m.withComments(s, func() { m.write(s) })
	}
}

// block writes a block that stands by itself.
func (m *module) block(list []ast.Stmt) {
	if m.dialect.close == "" {
		m.statements(list)
		return
	}
	m.line("{")
	m.lang.body(list)
	m.close()
}

// close ends a block.
func (m *module) close() {
	if m.dialect.close != "" {
		m.line(m.dialect.close)
	}
}

func (m *module) returns(s *ast.ReturnStmt) {
	if len(m.defs) == 0 {
		m.refuse("it ends the cell")
	}
	values, n := m.exprs(s.Results), len(s.Results)
	if n == 0 {
		var names []string
		for _, v := range m.results(m.defs[len(m.defs)-1]) {
			names = append(names, m.of[v])
		}
		values, n = strings.Join(names, ", "), len(names)
	}
	if n > 1 {
		values = fmt.Sprintf(m.dialect.several, values)
	}
	m.line(strings.TrimSpace("return "+values) + m.dialect.end)
}

// effect writes a call for its effect.
func (m *module) effect(e ast.Expr) {
	if c, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		if f, is := ast.Unparen(c.Fun).(*ast.SelectorExpr); is {
			switch receiver := m.typeOf(f.X); {
			case receiver == "Kernel" && f.Sel.Name == "Launch":
				m.line(m.lang.launch(f.X, c) + m.dialect.end)
				return
			case receiver == "Tensor" && f.Sel.Name == "Free":
				if id := identOf(f.X); m.lang.free(id) {
					m.lost[m.info.Uses[id]] = m.cell.recorded.ID
					return
				}
			}
		}
		if _, isKernel := m.kernelOf(c); isKernel { // it is compiled and not kept
			return
		}
		if m.dialect.fail != "" && m.isBuiltin(c, "panic") {
			m.line(fmt.Sprintf(m.dialect.fail, m.exprs(c.Args)))
			return
		}
	}
	m.line(m.expr(e) + m.dialect.end)
}

// appends writes x = append(x, ...).
func (m *module) appends(s *ast.AssignStmt) bool {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 || s.Tok != token.ASSIGN {
		return false
	}
	call, ok := s.Rhs[0].(*ast.CallExpr)
	if !ok || !m.isBuiltin(call, "append") || len(call.Args) != 2 {
		return false
	}
	to, from := identOf(s.Lhs[0]), identOf(call.Args[0])
	return to != nil && from != nil && m.info.ObjectOf(to) == m.info.ObjectOf(from) && m.lang.push(from, call)
}

// function writes a function that a variable gets.
func (m *module) function(s *ast.AssignStmt) bool {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 || s.Tok != token.DEFINE || identOf(s.Lhs[0]) == nil {
		return false
	}
	f, ok := s.Rhs[0].(*ast.FuncLit)
	if ok {
		m.lang.def(m.lang.target(s.Lhs[0]), m.info.TypeOf(f).(*types.Signature), f.Type, f.Body)
	}
	return ok
}

func (m *module) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil || d.Type.TypeParams != nil || d.Body == nil {
			m.refuse("methods and generic functions are not carried over")
		}
		obj := m.info.Defs[d.Name]
		m.of[obj] = m.fresh(d.Name.Name, obj)
		sig := obj.Type().(*types.Signature)
		m.lang.def(m.lang.typed(sig, m.of[obj]), sig, d.Type, d.Body)
		return
	case *ast.GenDecl:
		if d.Tok == token.VAR || d.Tok == token.CONST {
			for _, spec := range d.Specs {
				m.lang.valueSpec(d.Tok, spec.(*ast.ValueSpec))
			}
			return
		}
	}
	m.refuse("types are not carried over")
}

func (m *module) ifStatement(s *ast.IfStmt, head string) {
	m.line(fmt.Sprintf(head, m.expr(s.Cond)))
	m.lang.body(s.Body.List)
	switch e := s.Else.(type) {
	case *ast.IfStmt:
		if e.Init == nil {
			m.ifStatement(e, m.dialect.elseWhen)
			return
		}
		m.line(m.dialect.otherwise)
		m.deep++
		m.lang.scoped(e.Init, func() { m.ifStatement(e, m.dialect.when) })
		m.deep--
	case *ast.BlockStmt:
		m.line(m.dialect.otherwise)
		m.lang.body(e.List)
	}
	m.close()
}

func (m *module) switchStatement(s *ast.SwitchStmt) {
	tag := ""
	if s.Tag != nil {
		if identOf(s.Tag) == nil {
			m.refuse("the value that the switch looks at is no variable")
		}
		tag = m.expr(s.Tag)
	}
	var last *ast.CaseClause
	head := m.dialect.when
	for _, clause := range s.Body.List {
		c := clause.(*ast.CaseClause)
		if leaves(c) {
			m.refuse(m.dialect.leaves)
		}
		if c.List == nil {
			last = c
			continue
		}
		var conditions []string
		for _, x := range c.List {
			conditions = append(conditions, m.lang.condition(tag, m.expression(x)))
		}
		m.line(fmt.Sprintf(head, strings.Join(conditions, m.dialect.or)))
		m.lang.body(c.Body)
		head = m.dialect.elseWhen
	}
	switch first := head == m.dialect.when; {
	case first && last != nil:
		m.block(last.Body)
		return
	case first:
		return
	case last != nil:
		m.line(m.dialect.otherwise)
		m.lang.body(last.Body)
	}
	m.close()
}
