package foreign

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// statement writes a statement of a cell. The value of the cell's last one is shown.
func (m *cpp) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if !m.cell.Quiet && m.cell.Value != nil && s.X == m.cell.Value && m.cell.Values != nil {
			m.line("symm::show(" + m.expr(s.X) + ");")
			return
		}
	case *ast.AssignStmt:
		if !m.cell.Quiet && len(m.cell.List) > 0 && s == m.cell.Stmts[len(m.cell.Stmts)-1] {
			m.line("symm::show(" + m.exprs(m.cell.List) + ");")
			return
		}
	}
	m.write(s)
}

// write writes a statement.
func (m *cpp) write(s ast.Stmt) {
	top := m.top
	defer func() { m.top = top }()
	switch s := s.(type) {
	case *ast.ExprStmt, *ast.AssignStmt, *ast.IncDecStmt:
		m.simple(s)
	case *ast.DeclStmt:
		m.declaration(s.Decl)
	case *ast.BlockStmt:
		m.top = false
		m.line("{")
		m.block(s.List)
		m.line("}")
	case *ast.IfStmt:
		m.top = false
		m.scoped(s.Init, func() { m.ifStatement(s, "") })
	case *ast.ForStmt:
		m.top = false
		m.scoped(s.Init, func() {
			cond := ""
			if s.Cond != nil {
				cond = " " + m.expr(s.Cond)
			}
			post := ""
			if s.Post != nil {
				post = m.inline(s.Post)
			}
			m.line("for (;" + cond + "; " + post + ") {")
			m.block(s.Body.List)
			m.line("}")
		})
	case *ast.RangeStmt:
		m.top = false
		m.rangeStatement(s)
	case *ast.SwitchStmt:
		m.top = false
		m.scoped(s.Init, func() { m.switchStatement(s) })
	case *ast.ReturnStmt:
		m.returns(s)
	case *ast.BranchStmt:
		if s.Label != nil || s.Tok != token.BREAK && s.Tok != token.CONTINUE {
			m.refuse("labels are not carried over")
		}
		m.line(s.Tok.String() + ";")
	case *ast.EmptyStmt:
	default:
		m.refuse("C++ has no " + kindOf(s) + " as Go has")
	}
}

// scoped writes a statement, with the statement init before it, in a block of its own.
func (m *cpp) scoped(init ast.Stmt, write func()) {
	if init == nil {
		write()
		return
	}
	if f, ok := m.counter(init); ok {
		start := len(m.out)
		write()
		if i := strings.Index(m.out[start], "for (;"); i >= 0 {
			m.out[start] = m.out[start][:i] + "for (" + f + m.out[start][i+len("for ("):]
			return
		}
		m.out[start] = strings.Repeat("    ", m.deep) + "if (" + f + "; " + strings.TrimPrefix(strings.TrimSpace(m.out[start]), "if (")
		return
	}
	m.line("{")
	m.deep++
	m.write(init)
	write()
	m.deep--
	m.line("}")
}

// counter returns the definition of one variable that can stand in the head of a loop or a condition.
func (m *cpp) counter(init ast.Stmt) (string, bool) {
	a, ok := init.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return "", false
	}
	v, ok := m.info.Defs[identOf(a.Lhs[0])].(*types.Var)
	if !ok {
		return "", false
	}
	value := m.expr(a.Rhs[0])
	return m.typ(v.Type()) + " " + m.define(v, false) + " = " + value, true
}

// block writes statements one step further in.
func (m *cpp) block(list []ast.Stmt) {
	m.deep++
	for _, s := range list {
		m.withComments(s, func() { m.write(s) })
	}
	m.deep--
}

func (m *cpp) ifStatement(s *ast.IfStmt, before string) {
	m.line(before + "if (" + m.expr(s.Cond) + ") {")
	m.block(s.Body.List)
	switch e := s.Else.(type) {
	case *ast.IfStmt:
		if e.Init == nil {
			m.ifStatement(e, "} else ")
			return
		}
		m.line("} else {")
		m.deep++
		m.scoped(e.Init, func() { m.ifStatement(e, "") })
		m.deep--
	case *ast.BlockStmt:
		m.line("} else {")
		m.block(e.List)
	}
	m.line("}")
}

func (m *cpp) rangeStatement(s *ast.RangeStmt) {
	if s.Tok == token.ASSIGN {
		m.refuse("the loop's variables exist before it")
	}
	used := func(e ast.Expr) bool { return e != nil && identOf(e).Name != "_" }
	over := m.expression(s.X)
	define := func(e ast.Expr) (typ, name string) {
		v := m.info.Defs[identOf(e)].(*types.Var)
		return m.typ(v.Type()), m.define(v, false)
	}
	index := func() string {
		if used(s.Key) {
			_, name := define(s.Key)
			return name
		}
		return m.fresh("i", nil)
	}
	switch t := m.info.TypeOf(s.X).Underlying().(type) {
	case *types.Basic:
		if t.Info()&types.IsInteger == 0 {
			m.refuse("C++ has other characters in a string")
		}
		i := index()
		m.line(fmt.Sprintf("for (%s %s = 0; %s < %s; %s++) {", m.typ(m.info.TypeOf(s.X)), i, i, over.in(cppShift), i))
	case *types.Slice, *types.Array:
		if used(s.Value) && !used(s.Key) {
			typ, name := define(s.Value)
			m.line(fmt.Sprintf("for (const %s& %s : %s) {", typ, name, over.s))
			break
		}
		if used(s.Value) && identOf(s.X) == nil {
			m.refuse("the loop is over no variable")
		}
		i := index()
		m.line(fmt.Sprintf("for (long %s = 0; %s < symm::len(%s); %s++) {", i, i, over.s, i))
		if used(s.Value) {
			typ, name := define(s.Value)
			m.deep++
			m.line(fmt.Sprintf("const %s %s = %s[%s];", typ, name, over.in(cppAtom), i))
			m.deep--
		}
	default:
		m.refuse("C++ has no loop over a " + typeName(m.info.TypeOf(s.X)) + " as Go has")
	}
	m.block(s.Body.List)
	m.line("}")
}

func (m *cpp) switchStatement(s *ast.SwitchStmt) {
	tag := ""
	if s.Tag != nil {
		if identOf(s.Tag) == nil {
			m.refuse("the value that the switch looks at is no variable")
		}
		tag = m.expr(s.Tag)
	}
	var last *ast.CaseClause
	before := ""
	for _, clause := range s.Body.List {
		c := clause.(*ast.CaseClause)
		if leaves(c) {
			m.refuse("break and fallthrough of a switch are not carried over")
		}
		if c.List == nil {
			last = c
			continue
		}
		var conditions []string
		for _, x := range c.List {
			t := m.expression(x)
			if tag != "" {
				t = text{tag + " == " + t.in(cppLess), cppEqual}
			}
			conditions = append(conditions, cppOperand(t, cppOr))
		}
		m.line(before + "if (" + strings.Join(conditions, " || ") + ") {")
		m.block(c.Body)
		before = "} else "
	}
	switch {
	case last != nil && before == "":
		m.line("{")
		m.block(last.Body)
	case last != nil:
		m.line("} else {")
		m.block(last.Body)
	case before == "":
		return
	}
	m.line("}")
}

func (m *cpp) returns(s *ast.ReturnStmt) {
	if len(m.defs) == 0 {
		m.refuse("it ends the cell")
	}
	values := m.exprs(s.Results)
	n := len(s.Results)
	if n == 0 {
		var names []string
		for _, v := range m.results(m.defs[len(m.defs)-1]) {
			names = append(names, m.of[v])
		}
		values, n = strings.Join(names, ", "), len(names)
	}
	if n > 1 {
		values = "{" + values + "}"
	}
	m.line(strings.TrimSpace("return "+values) + ";")
}

// simple writes a simple statement.
func (m *cpp) simple(s ast.Stmt) {
	if e, ok := s.(*ast.ExprStmt); ok {
		m.effect(e.X)
		return
	}
	a, ok := s.(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN && a.Tok != token.DEFINE {
		m.line(m.inline(s) + ";")
		return
	}
	if m.alias(a) || m.function(a) {
		return
	}
	m.assign(a)
}

// effect writes a call for its effect.
func (m *cpp) effect(e ast.Expr) {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if ok {
		if f, is := ast.Unparen(c.Fun).(*ast.SelectorExpr); is {
			switch receiver := m.typeOf(f.X); {
			case receiver == "Kernel" && f.Sel.Name == "Launch":
				if c.Ellipsis.IsValid() {
					m.refuse("the arguments are a slice")
				}
				given := *c
				given.Args = c.Args[2:]
				args := []string{m.expr(c.Args[0]), m.expr(c.Args[1])}
				if len(given.Args) > 0 {
					args = append(args, m.arguments(&given, "%s"))
				}
				m.line(m.kernel(f.X) + ".launch(" + strings.Join(args, ", ") + ");")
				return
			case receiver == "Tensor" && f.Sel.Name == "Free":
				if id := identOf(f.X); id != nil {
					m.line("// " + id.Name + " is freed when the program ends.")
					m.lost[m.info.Uses[id]] = m.cell.recorded.ID
					return
				}
			}
		}
		if _, isKernel := m.kernelOf(c); isKernel {
			return
		}
	}
	m.line(m.expr(e) + ";")
}

// inline returns x op= y and x++.
func (m *cpp) inline(s ast.Stmt) string {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		return m.expr(s.X) + s.Tok.String()
	case *ast.AssignStmt:
		switch {
		case s.Tok == token.AND_NOT_ASSIGN:
		case s.Tok != token.DEFINE && len(s.Lhs) == 1 && len(s.Rhs) == 1:
			return m.expr(s.Lhs[0]) + " " + s.Tok.String() + " " + m.expr(s.Rhs[0])
		}
	}
	m.refuse("it is more than one assignment")
	return ""
}

// target declares the variable that is assigned to if it is new, and returns it; fresh says whether
// it is declared there.
func (m *cpp) target(e ast.Expr) (name, typ string, fresh bool) {
	if id := identOf(e); id != nil {
		if v, ok := m.info.Defs[id].(*types.Var); ok {
			typ = m.typ(v.Type())
			outer := m.top && len(m.defs) == 0
			name = m.define(v, outer)
			fresh = !outer || !m.declared[name]
			if outer {
				m.declared[name] = true
			}
			return name, typ, fresh
		}
	}
	switch ast.Unparen(e).(type) {
	case *ast.Ident, *ast.IndexExpr:
		return m.expr(e), "", false
	}
	m.refuse("only variables and their elements are assigned to")
	return "", "", false
}

func (m *cpp) assign(s *ast.AssignStmt) {
	if m.pushes(s) {
		return
	}
	var values []string
	for i, x := range s.Rhs {
		values = append(values, m.expr(x))
		if len(s.Lhs) == len(s.Rhs) {
			if v, ok := m.info.Defs[identOf(s.Lhs[i])].(*types.Var); ok && m.option(x) == "Timeout" {
				m.timeouts[v] = true
			}
		}
	}
	if len(s.Lhs) == len(s.Rhs) && (len(s.Lhs) == 1 || s.Tok == token.DEFINE) {
		for i, x := range s.Lhs {
			if identOf(x) != nil && identOf(x).Name == "_" {
				m.line("(void)(" + values[i] + ");")
				continue
			}
			name, typ, fresh := m.target(x)
			if fresh {
				name = typ + " " + name
			}
			m.line(name + " = " + values[i] + ";")
		}
		return
	}
	var targets []string
	for _, x := range s.Lhs {
		if identOf(x) != nil && identOf(x).Name == "_" {
			targets = append(targets, "std::ignore")
			continue
		}
		name, typ, fresh := m.target(x)
		if fresh {
			m.line(typ + " " + name + "{};")
		}
		targets = append(targets, name)
	}
	value := values[0]
	if len(values) > 1 {
		value = "std::make_tuple(" + strings.Join(values, ", ") + ")"
	} else if _, isCall := ast.Unparen(s.Rhs[0]).(*ast.CallExpr); !isCall {
		m.refuse("C++ has no second value of it")
	}
	m.line("std::tie(" + strings.Join(targets, ", ") + ") = " + value + ";")
}

// pushes writes x = append(x, y).
func (m *cpp) pushes(s *ast.AssignStmt) bool {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 || s.Tok != token.ASSIGN {
		return false
	}
	call, ok := s.Rhs[0].(*ast.CallExpr)
	if !ok || !m.isBuiltin(call, "append") || len(call.Args) != 2 || call.Ellipsis.IsValid() {
		return false
	}
	to, from := identOf(s.Lhs[0]), identOf(call.Args[0])
	if to == nil || from == nil || m.info.ObjectOf(to) != m.info.ObjectOf(from) {
		return false
	}
	m.line(m.expr(from) + ".push_back(" + m.expr(call.Args[1]) + ");")
	return true
}

// function writes a function that a variable gets.
func (m *cpp) function(s *ast.AssignStmt) bool {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 || s.Tok != token.DEFINE || identOf(s.Lhs[0]) == nil {
		return false
	}
	f, ok := s.Rhs[0].(*ast.FuncLit)
	if !ok {
		return false
	}
	name, typ, fresh := m.target(s.Lhs[0])
	if fresh {
		name = typ + " " + name
	}
	m.def(name, m.info.TypeOf(f).(*types.Signature), f.Type, f.Body)
	return true
}

// def writes a function.
func (m *cpp) def(name string, sig *types.Signature, t *ast.FuncType, body *ast.BlockStmt) {
	if sig.Variadic() {
		m.refuse("it takes any number of arguments")
	}
	var params []string
	for _, field := range t.Params.List {
		for _, id := range field.Names {
			if v, ok := m.info.Defs[id].(*types.Var); ok && id.Name != "_" {
				params = append(params, m.typ(v.Type())+" "+m.define(v, false))
			} else {
				params = append(params, m.typ(m.info.TypeOf(field.Type)))
			}
		}
	}
	m.line(name + " = [&](" + strings.Join(params, ", ") + ") -> " + m.result(sig) + " {")
	m.defs = append(m.defs, t)
	top := m.top
	m.top = false
	m.deep++
	for _, v := range m.results(t) {
		m.line(m.typ(v.Type()) + " " + m.define(v, false) + "{};")
	}
	m.deep--
	m.block(body.List)
	m.top = top
	m.defs = m.defs[:len(m.defs)-1]
	m.line("};")
}

func (m *cpp) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil || d.Type.TypeParams != nil || d.Body == nil {
			m.refuse("methods and generic functions are not carried over")
		}
		obj := m.info.Defs[d.Name]
		m.of[obj] = m.fresh(d.Name.Name, obj)
		sig := obj.Type().(*types.Signature)
		m.def(m.typ(sig)+" "+m.of[obj], sig, d.Type, d.Body)
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
func (m *cpp) valueSpec(tok token.Token, spec *ast.ValueSpec) {
	if len(spec.Values) != 0 && len(spec.Values) != len(spec.Names) || tok == token.CONST && len(spec.Values) == 0 {
		m.refuse("several values of one expression, and iota, are not carried over")
	}
	for i, id := range spec.Names {
		value := "{}"
		if a, ok := m.info.TypeOf(id).Underlying().(*types.Array); ok {
			value = fmt.Sprintf("(%d)", a.Len())
		}
		if len(spec.Values) > 0 {
			value = " = " + m.expr(spec.Values[i])
		}
		if tok == token.CONST {
			obj := m.info.Defs[id]
			name := m.fresh(id.Name, obj)
			m.of[obj] = name
			m.line("const " + m.typ(obj.Type()) + " " + name + value + ";")
			continue
		}
		name, typ, fresh := m.target(id)
		switch {
		case fresh:
			m.line(typ + " " + name + value + ";")
		case value == "{}":
			m.line(name + " = {};")
		default:
			m.line(name + value + ";")
		}
	}
}
