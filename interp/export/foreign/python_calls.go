package foreign

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// symmPath is the path of the package that cells call symm, and the prefix of the paths of its types.
const symmPath = "github.com/symmrepl/symmrepl/symmem"

// call returns a call in Python.
func (m *python) call(c *ast.CallExpr) text {
	if m.info.Types[c.Fun].IsType() {
		return m.conversion(c)
	}
	switch f := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		if _, ok := m.info.Uses[f].(*types.Builtin); ok {
			return m.builtin(c, f.Name)
		}
		m.plain(c)
		return atomic("%s(%s)", m.expr(f), m.exprs(c.Args))
	case *ast.SelectorExpr:
		if path := m.packageOf(f); path != "" {
			return m.library(c, path, f.Sel.Name)
		}
		if s := m.info.Selections[f]; s != nil && s.Kind() == types.MethodVal {
			return m.method(c, f)
		}
	}
	m.refuse("Python has no such call")
	return text{}
}

// plain refuses arguments that Python passes otherwise.
func (m *python) plain(c *ast.CallExpr) {
	if c.Ellipsis.IsValid() {
		m.refuse("it passes a slice for any number of arguments")
	}
	for _, a := range c.Args {
		if _, isArray := m.info.TypeOf(a).Underlying().(*types.Array); isArray {
			m.refuse("Python passes no copy of an array")
		}
	}
}

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

// runCall writes a call that is a statement of its own in Python, such as the launch of a kernel.
func (m *python) runCall(c *ast.CallExpr) bool {
	f, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	receiver := m.typeOf(f.X)
	switch {
	case receiver == "Kernel" && f.Sel.Name == "Launch":
		m.line(m.kernel(f.X) + ".launch(" + m.launchArguments(c) + ")")
		return true
	case receiver == "Tensor" && f.Sel.Name == "Free":
		id := identOf(f.X)
		if id == nil {
			m.refuse("PyTorch frees a tensor with its last reference")
		}
		m.line("del " + m.expr(id))
		m.lost[m.info.Uses[id]] = m.cell.recorded.ID
		return true
	}
	_, isKernel := m.kernelOf(c) // a kernel that is compiled and not kept
	return isKernel
}

// launchArguments returns the arguments of a launch.
func (m *python) launchArguments(c *ast.CallExpr) string {
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
	return strings.Join(append(list, options...), ", ")
}

// tuple returns a tuple.
func tuple(list string, n int) string {
	if n == 1 {
		list += ","
	}
	return "(" + list + ")"
}

// method returns a call of a method of a type of package symm.
func (m *python) method(c *ast.CallExpr, f *ast.SelectorExpr) text {
	name := f.Sel.Name
	switch m.typeOf(f.X) {
	case "Tensor":
		t := m.expression(f.X).in(atom)
		if name == "Slice" {
			return atomic("%s[%s:%s]", t, m.expr(c.Args[0]), m.expr(c.Args[1]))
		}
		if pattern, ok := tensorMethods[name]; ok {
			m.plain(c)
			return atomic("%s", fill(pattern, t, m.exprs(c.Args)))
		}
	case "Handle":
		if pattern, ok := handleMethods[name]; ok {
			m.plain(c)
			return atomic("%s", fill(pattern, m.expression(f.X).in(atom), m.arguments(c)))
		}
	case "Kernel":
		if name, ok := m.kernelOf(c); ok {
			return text{name, atom}
		}
		if name == "Name" {
			return atomic("%s.name", m.kernel(f.X))
		}
	}
	m.refuse(fmt.Sprintf("PyTorch has no %s of a %s", name, typeName(m.info.TypeOf(f.X))))
	return text{}
}

// arguments returns the arguments of a call, with a timeout as a keyword.
func (m *python) arguments(c *ast.CallExpr) string {
	var list []string
	for _, a := range c.Args {
		switch kind := m.option(a); kind {
		case "Timeout":
			list = append(list, "timeout="+m.expr(a))
		case "Tensor", "Handle", "DType", "":
			list = append(list, m.expr(a))
		default:
			m.refuse("PyTorch has no such option as " + m.words(a))
		}
	}
	return strings.Join(list, ", ")
}

// fill puts a receiver and arguments into a pattern such as "$.barrier(*)".
func fill(pattern, receiver, arguments string) string {
	return strings.NewReplacer("$", receiver, "*", arguments).Replace(pattern)
}
