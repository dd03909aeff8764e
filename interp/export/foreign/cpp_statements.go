package foreign

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

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

func (m *cpp) body(list []ast.Stmt) {
	m.deep++
	m.statements(list)
	m.deep--
}

func (m *cpp) condition(tag string, t text) string {
	if tag != "" {
		t = text{tag + " == " + t.in(cppLess), cppEqual}
	}
	return cppOperand(t, cppOr)
}

func (m *cpp) forStatement(s *ast.ForStmt) {
	m.scoped(s.Init, func() {
		cond, post := "", ""
		if s.Cond != nil {
			cond = " " + m.expr(s.Cond)
		}
		if s.Post != nil {
			post = m.inline(s.Post)
		}
		m.line("for (;" + cond + "; " + post + ") {")
		m.body(s.Body.List)
		m.line("}")
	})
}

func (m *cpp) rangeStatement(s *ast.RangeStmt) {
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
			m.line(fmt.Sprintf("const %s %s = %s[%s];", typ, name, over.in(atom), i))
			m.deep--
		}
	default:
		m.refuse("C++ has no loop over a " + typeName(m.info.TypeOf(s.X)) + " as Go has")
	}
	m.body(s.Body.List)
	m.line("}")
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

func (m *cpp) launch(kernel ast.Expr, c *ast.CallExpr) string {
	if c.Ellipsis.IsValid() {
		m.refuse("the arguments are a slice")
	}
	args := m.exprs(c.Args[:2])
	if len(c.Args) > 2 {
		args += ", " + m.arguments(c.Args[2:], "%s")
	}
	return m.kernel(kernel) + ".launch(" + args + ")"
}

func (m *cpp) free(id *ast.Ident) bool {
	if id != nil {
		m.line("// " + id.Name + " is freed when the program ends.")
	}
	return id != nil
}

func (m *cpp) operate(s ast.Stmt) { m.line(m.inline(s) + ";") }

func (m *cpp) target(e ast.Expr) string {
	name, typ, fresh := m.variable(e)
	if fresh {
		name = typ + " " + name
	}
	return name
}

// variable declares the variable that is assigned to if it is new, and returns it; fresh says whether
// it is declared there.
func (m *cpp) variable(e ast.Expr) (name, typ string, fresh bool) {
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
			m.line(m.target(x) + " = " + values[i] + ";")
		}
		return
	}
	var targets []string
	for _, x := range s.Lhs {
		if identOf(x) != nil && identOf(x).Name == "_" {
			targets = append(targets, "std::ignore")
			continue
		}
		name, typ, fresh := m.variable(x)
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

func (m *cpp) push(x ast.Expr, c *ast.CallExpr) bool {
	if c.Ellipsis.IsValid() {
		return false
	}
	m.line(m.expr(x) + ".push_back(" + m.expr(c.Args[1]) + ");")
	return true
}

func (m *cpp) typed(t types.Type, name string) string { return m.typ(t) + " " + name }

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
	m.body(body.List)
	m.top = top
	m.defs = m.defs[:len(m.defs)-1]
	m.line("};")
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
		name, typ, fresh := m.variable(id)
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
