package foreign

import (
	"go/ast"
	"go/types"
	"strings"
)

func (m *python) builtin(c *ast.CallExpr, name string) text {
	switch name {
	case "len", "min", "max":
		if name == "len" && basic(m.info.TypeOf(c.Args[0]))&types.IsString != 0 && m.info.Types[c.Args[0]].Value == nil {
			return atomic("len(%s.encode())", m.expression(c.Args[0]).in(atom))
		}
		return atomic("%s(%s)", name, m.exprs(c.Args))
	case "append":
		x := m.expression(c.Args[0]).in(sum)
		if c.Ellipsis.IsValid() {
			return text{x + " + " + m.expression(c.Args[1]).in(product), sum}
		}
		return text{x + " + [" + m.exprs(c.Args[1:]) + "]", sum}
	case "make":
		switch t := m.info.TypeOf(c).Underlying().(type) {
		case *types.Slice:
			if n := m.info.Types[c.Args[1]].Value; n != nil && n.ExactString() == "0" {
				return text{"[]", atom}
			}
			return text{m.repeated(t.Elem(), m.expr(c.Args[1])), product}
		case *types.Map:
			return text{"{}", atom}
		}
	case "print", "println":
		return atomic("symm.println(%s)", m.exprs(c.Args))
	}
	m.refuse("Python has no " + name)
	return text{}
}

// conversion returns a conversion. Numbers of Python have no size, so that it may have nothing to do.
func (m *python) conversion(c *ast.CallExpr) text {
	from, to := m.info.TypeOf(c.Args[0]), m.info.TypeOf(c)
	x := m.expression(c.Args[0])
	switch {
	case types.Identical(from.Underlying(), to.Underlying()):
		return x
	case basic(to)&types.IsFloat != 0 && basic(from)&types.IsInteger != 0:
		if m.info.Types[c.Args[0]].Value != nil {
			return m.constant(c)
		}
		return atomic("float(%s)", x.s)
	case basic(to)&types.IsFloat != 0 && basic(from)&types.IsNumeric != 0:
		return x
	case basic(to)&types.IsInteger != 0 && basic(from)&types.IsFloat != 0:
		return m.wrapped(c, atomic("int(%s)", x.s))
	case basic(to)&types.IsInteger != 0 && basic(from)&types.IsInteger != 0:
		if m.info.Types[c.Args[0]].Value != nil || m.natural(c.Args[0]) || to.Underlying().(*types.Basic).Kind() == types.Int {
			return x
		}
		if wide := to.Underlying().(*types.Basic).Kind(); wide == types.Int64 || wide == types.Int32 {
			return x
		}
		return m.wrapped(c, x)
	}
	m.refuse("Python does not convert a " + typeName(from) + " to a " + typeName(to))
	return text{}
}

func (m *python) free(id *ast.Ident) bool {
	if id == nil {
		m.refuse("PyTorch frees a tensor with its last reference")
	}
	m.line("del " + m.expr(id))
	return true
}

func (m *python) launch(kernel ast.Expr, c *ast.CallExpr) string {
	name := m.kernel(kernel)
	if c.Ellipsis.IsValid() {
		m.refuse("the arguments are a slice")
	}
	var list, options []string
	for i, a := range c.Args {
		switch kind := m.option(a); {
		case i < 2:
			list = append(list, m.expr(a))
		case kind == "Timeout":
			options = append(options, "timeout="+m.expr(a))
		case kind == "Shared":
			options = append(options, "shared="+m.expr(a))
		case kind == "Option", kind == "Stream", kind == "DeviceComm", kind == "DeviceWindow":
			m.refuse("a launch from Python takes no " + kind)
		default:
			list = append(list, m.expr(a))
		}
	}
	return name + ".launch(" + strings.Join(append(list, options...), ", ") + ")"
}

// tuple returns a tuple.
func tuple(list string, n int) string {
	if n == 1 {
		list += ","
	}
	return "(" + list + ")"
}

func (m *python) method(c *ast.CallExpr, f *ast.SelectorExpr) text {
	switch m.typeOf(f.X) {
	case "Tensor":
		if t := m.expression(f.X).in(atom); f.Sel.Name == "Slice" {
			return atomic("%s[%s:%s]", t, m.expr(c.Args[0]), m.expr(c.Args[1]))
		}
	case "Kernel":
		if name, ok := m.kernelOf(c); ok {
			return text{name, atom}
		}
		if f.Sel.Name == "Name" {
			return atomic("%s.name", m.kernel(f.X))
		}
	}
	return text{}
}

func (m *python) operands(args []ast.Expr) string { return m.arguments(args, m.dialect.timeout) }
