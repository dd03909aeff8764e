package foreign

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// text is an expression in a language.
type text struct {
	s          string
	precedence int
}

// atom is the highest precedence of both languages.
const atom = 100

// in returns the expression as an operand of an operator.
func (t text) in(precedence int) string {
	if t.precedence < precedence {
		return "(" + t.s + ")"
	}
	return t.s
}

func atomic(format string, args ...any) text { return text{fmt.Sprintf(format, args...), atom} }

// expr returns an expression in the language.
func (m *module) expr(e ast.Expr) string { return m.expression(e).s }

func (m *module) exprs(list []ast.Expr) string {
	var all []string
	for _, e := range list {
		all = append(all, m.expr(e))
	}
	return strings.Join(all, ", ")
}

func (m *module) expression(e ast.Expr) text {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return m.expression(e.X)
	case *ast.BasicLit:
		return m.lang.literal(e)
	case *ast.Ident:
		return m.ident(e)
	case *ast.SelectorExpr:
		if m.packageOf(e) != "" {
			if t := m.lang.member(e); t.s != "" {
				return t
			}
			if m.info.Types[e].Value != nil {
				return m.constant(e)
			}
		}
		m.refuse("there is no " + m.words(e) + " in " + m.dialect.name)
	case *ast.UnaryExpr:
		return m.lang.unary(e)
	case *ast.BinaryExpr:
		return m.lang.binary(e)
	case *ast.CallExpr:
		return m.call(e)
	case *ast.IndexExpr:
		switch m.info.TypeOf(e.X).Underlying().(type) {
		case *types.Slice, *types.Map, *types.Array:
			return atomic("%s[%s]", m.expression(e.X).in(atom), m.expr(e.Index))
		}
		m.refuse(m.dialect.name + " indexes a " + typeName(m.info.TypeOf(e.X)) + " otherwise")
	case *ast.SliceExpr:
		if _, ok := m.info.TypeOf(e.X).Underlying().(*types.Slice); !ok || e.Slice3 {
			m.refuse(m.dialect.name + " slices a " + typeName(m.info.TypeOf(e.X)) + " otherwise")
		}
		return m.lang.slice(e)
	case *ast.CompositeLit:
		return m.lang.composite(e)
	case *ast.FuncLit:
		return m.lang.lambda(e)
	}
	m.refuse(m.dialect.name + " has no " + kindOf(e) + m.dialect.asGo)
	return text{}
}

func (m *module) ident(id *ast.Ident) text {
	obj := m.info.ObjectOf(id)
	if cell, is := m.lost[obj]; is {
		m.refuse(fmt.Sprintf("%s of cell %d is not carried over", id.Name, cell))
	}
	if name, ok := m.of[obj]; ok {
		return text{name, atom}
	}
	if _, null := obj.(*types.Nil); null && m.dialect.null != "" {
		return text{m.dialect.null, atom}
	}
	if m.info.Types[id].Value != nil {
		return m.constant(id)
	}
	m.refuse(id.Name + " is not carried over")
	return text{}
}

// constant returns the value of a constant expression.
func (m *module) constant(e ast.Expr) text {
	v := m.info.Types[e].Value
	if v == nil {
		m.refuse("it has no value before it runs")
	}
	switch v.Kind() {
	case constant.Bool:
		return text{m.dialect.bools[constant.BoolVal(v)], atom}
	case constant.String:
		return text{m.dialect.quote(constant.StringVal(v)), atom}
	case constant.Int, constant.Float:
		if n := constant.ToInt(v); n.Kind() == constant.Int && !m.isFloat(e) {
			return m.lang.integer(e, n)
		}
		f, _ := constant.Float64Val(v)
		s := strconv.FormatFloat(f, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return m.lang.number(e, s)
	}
	m.refuse("it is a complex number")
	return text{}
}

// signed returns a number, whose sign is an operator of a precedence.
func signed(s string, unary int) text {
	if strings.HasPrefix(s, "-") {
		return text{s, unary}
	}
	return text{s, atom}
}

// call returns a call.
func (m *module) call(c *ast.CallExpr) text {
	if m.info.Types[c.Fun].IsType() {
		return m.lang.conversion(c)
	}
	switch f := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		if _, ok := m.info.Uses[f].(*types.Builtin); ok {
			return m.lang.builtin(c, f.Name)
		}
		m.plain(c)
		return atomic("%s(%s)", m.expr(f), m.exprs(c.Args))
	case *ast.SelectorExpr:
		if path := m.packageOf(f); path == symmPath {
			return m.symm(c, f.Sel.Name)
		} else if path != "" {
			return m.packaged(c, path[strings.LastIndexByte(path, '/')+1:]+"."+f.Sel.Name)
		}
		if s := m.info.Selections[f]; s != nil && s.Kind() == types.MethodVal {
			return m.methodCall(c, f)
		}
	}
	m.refuse(m.dialect.name + " has no such call")
	return text{}
}

// plain refuses arguments that the language passes otherwise.
func (m *module) plain(c *ast.CallExpr) {
	if c.Ellipsis.IsValid() {
		m.refuse("it passes a slice for any number of arguments")
	}
	for _, a := range c.Args {
		if _, isArray := m.info.TypeOf(a).Underlying().(*types.Array); isArray && m.dialect.arrays != "" {
			m.refuse(m.dialect.arrays)
		}
	}
}

// fill puts a receiver and arguments into a pattern such as "$.barrier(*)".
func fill(pattern, receiver, arguments string) text {
	return text{strings.NewReplacer("$", receiver, "*", arguments).Replace(pattern), atom}
}

// packaged returns a call of a function of another package than symm.
func (m *module) packaged(c *ast.CallExpr, qualified string) text {
	if pattern, ok := m.dialect.functions[qualified]; ok {
		m.plain(c)
		if strings.HasPrefix(pattern, "math.") {
			m.uses["math"] = true
		}
		return fill(pattern, "", m.exprs(c.Args))
	}
	if t := m.lang.library(c, qualified); t.s != "" {
		return t
	}
	m.refuse("there is no " + qualified + " in " + m.dialect.name)
	return text{}
}

// methodCall returns a call of a method of a type of package symm.
func (m *module) methodCall(c *ast.CallExpr, f *ast.SelectorExpr) text {
	name := f.Sel.Name
	switch m.typeOf(f.X) {
	case "Tensor":
		if pattern, ok := m.dialect.tensors[name]; ok {
			m.plain(c)
			return fill(pattern, m.expression(f.X).in(atom), m.exprs(c.Args))
		}
	case "Handle":
		if pattern, ok := m.dialect.handles[name]; ok {
			m.plain(c)
			return fill(pattern, m.expression(f.X).in(atom), m.arguments(c.Args, m.dialect.timeout))
		}
	}
	if t := m.lang.method(c, f); t.s != "" {
		return t
	}
	m.refuse(fmt.Sprintf("%s has no %s of a %s", m.dialect.host, name, typeName(m.info.TypeOf(f.X))))
	return text{}
}

// arguments returns the arguments of a call. A timeout is written as timeout has it.
func (m *module) arguments(args []ast.Expr, timeout string) string {
	var list []string
	for _, a := range args {
		switch kind := m.option(a); {
		case kind == "Timeout":
			list = append(list, fmt.Sprintf(timeout, m.expr(a)))
		case slices.Contains(m.dialect.options, kind):
			list = append(list, m.expr(a))
		default:
			m.refuse(m.dialect.host + " has no such option as " + m.words(a))
		}
	}
	return strings.Join(list, ", ")
}

// symmFunctions are the functions of package symm, as tensorMethods. The operations become those of
// torch.distributed.
var symmFunctions = map[string]string{
	"Rank": "symm.rank()", "WorldSize": "symm.world_size()", "Synchronize": "symm.synchronize()", "Rendezvous": "symm.rendezvous(*)",
	"OneShotAllReduce": "symm.all_reduce(*)", "MultimemOneShotAllReduce": "symm.all_reduce(*)", "AllGather": "symm.all_gather(*)",
	"ReduceScatter": "symm.reduce_scatter(*)", "AllToAll": "symm.all_to_all(*)", "Broadcast": "symm.broadcast(*)",
	"AllClose": "symm.all_close(*)",
}

// inPlace are the operations that put their result into the tensor, into are those that put it into
// another one, which is the argument of this number.
var (
	inPlace = map[string]string{"AllReduce": "all_reduce", "TwoShotAllReduce": "all_reduce", "MultimemAllReduce": "all_reduce"}
	into    = map[string]struct {
		name string
		out  int
	}{
		"OneShotAllReduceOut": {"all_reduce", 2}, "MultimemOneShotAllReduceOut": {"all_reduce", 2},
		"ReduceScatterOut": {"reduce_scatter", 2},
		"AllGatherOut":     {"all_gather", 1}, "MultimemAllGatherOut": {"all_gather", 1}, "AllToAllOut": {"all_to_all", 1},
	}
)

// symm returns a call of package symm.
func (m *module) symm(c *ast.CallExpr, name string) text {
	if t := m.lang.special(c, name); t.s != "" {
		return t
	}
	m.plain(c)
	if pattern, ok := symmFunctions[name]; ok {
		return fill(strings.Replace(pattern, "symm.", m.dialect.symm, 1), "", m.lang.operands(c.Args))
	}
	if op, ok := inPlace[name]; ok {
		t := m.expression(c.Args[0]).in(atom)
		return atomic(m.dialect.inPlace, t, m.dialect.symm+op+"("+m.lang.operands(c.Args)+")")
	}
	if op, ok := into[name]; ok && len(c.Args) == op.out+1 {
		t := m.expression(c.Args[op.out]).in(atom)
		return atomic(m.dialect.into, t, m.dialect.symm+op.name+"("+m.lang.operands(c.Args[:op.out])+")")
	}
	m.refuse(m.dialect.operations + " has no symm." + name)
	return text{}
}

var verb = regexp.MustCompile(`%([-+# 0]*)(\*|\d+)?(\.\d+)?([a-zA-Z%])`)

// format returns the format of a call such as fmt.Printf. A line's end is left out if it is printed.
func (m *module) format(c *ast.CallExpr, printed bool) string {
	m.plain(c)
	v := m.info.Types[c.Args[0]].Value
	if v == nil {
		m.refuse("the format is made when the cell runs")
	}
	if printed {
		return strings.TrimSuffix(constant.StringVal(v), "\n")
	}
	return constant.StringVal(v)
}
