package foreign

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"
)

// cppDTypes are the element types of symm_host.hpp.
var cppDTypes = map[string]bool{"F16": true, "BF16": true, "F32": true, "F64": true, "I8": true, "U8": true, "I32": true, "U32": true,
	"I64": true, "U64": true}

// Precedences of C++.
const (
	cppLowest = iota
	cppOr
	cppAnd
	cppBitOr
	cppBitXor
	cppBitAnd
	cppEqual
	cppLess
	cppShift
	cppSum
	cppProduct
	cppUnary
)

func (m *cpp) literal(e *ast.BasicLit) text { return m.constant(e) }

func (m *cpp) member(e *ast.SelectorExpr) text {
	if m.packageOf(e) == symmPath && cppDTypes[e.Sel.Name] {
		return text{"symm::" + e.Sel.Name, atom}
	}
	return text{}
}

func (m *cpp) unary(e *ast.UnaryExpr) text {
	switch e.Op {
	case token.SUB, token.NOT, token.XOR, token.ADD:
		op := strings.Replace(e.Op.String(), "^", "~", 1)
		return text{op + m.expression(e.X).in(cppUnary), cppUnary}
	}
	m.refuse("C++ has no operator " + e.Op.String() + " as Go has")
	return text{}
}

func (m *cpp) slice(e *ast.SliceExpr) text {
	x, lo := m.expression(e.X), "0"
	hi := "symm::len(" + x.s + ")"
	if e.Low != nil {
		lo = m.expr(e.Low)
	}
	if e.High != nil {
		hi = m.expr(e.High)
	}
	return atomic("symm::part(%s, %s, %s)", x.s, lo, hi)
}

func (m *cpp) composite(e *ast.CompositeLit) text {
	for _, x := range e.Elts {
		if _, ok := x.(*ast.KeyValueExpr); ok {
			m.refuse("the elements have keys")
		}
	}
	if a, ok := m.info.TypeOf(e).Underlying().(*types.Array); ok && int(a.Len()) != len(e.Elts) {
		if len(e.Elts) > 0 {
			m.refuse("the array has more elements than are given")
		}
		return atomic("%s(%d)", m.typ(m.info.TypeOf(e)), a.Len())
	}
	if _, ok := m.info.TypeOf(e).Underlying().(*types.Struct); ok {
		m.refuse("structs are not carried over")
	}
	return atomic("%s{%s}", m.typ(m.info.TypeOf(e)), m.exprs(e.Elts))
}

func (m *cpp) lambda(e *ast.FuncLit) text {
	m.refuse("C++ has no " + kindOf(e) + " as Go has")
	return text{}
}

func (m *cpp) number(e ast.Expr, s string) text {
	if b, ok := m.info.TypeOf(e).Underlying().(*types.Basic); ok && b.Kind() == types.Float32 {
		s += "f"
	}
	return signed(s, cppUnary)
}

func (m *cpp) integer(e ast.Expr, v constant.Value) text {
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.INT && strings.HasPrefix(l.Value, "0x") && !strings.Contains(l.Value, "_") {
		return text{l.Value, atom}
	}
	s := v.ExactString()
	if n, exact := constant.Int64Val(v); exact && (n > 1<<31-1 || n < -1<<31) {
		s += "l"
	} else if !exact {
		s += "ul"
	}
	return signed(s, cppUnary)
}

// hexEscape is a byte of a string, whose digits those after it would join.
var hexEscape = regexp.MustCompile(`\\x[0-9a-f]{2}`)

// cppQuote returns a string as a literal of C++, whose \x takes any number of digits.
func cppQuote(s string) string {
	q := strconv.Quote(s)
	return hexEscape.ReplaceAllString(q, `$0""`)
}

var cppOperators = map[token.Token]int{
	token.LOR: cppOr, token.LAND: cppAnd, token.EQL: cppEqual, token.NEQ: cppEqual, token.LSS: cppLess, token.LEQ: cppLess,
	token.GTR: cppLess, token.GEQ: cppLess,
	token.ADD: cppSum, token.SUB: cppSum, token.MUL: cppProduct, token.QUO: cppProduct, token.REM: cppProduct, token.OR: cppBitOr,
	token.XOR: cppBitXor,
	token.AND: cppBitAnd, token.SHL: cppShift, token.SHR: cppShift,
}

func (m *cpp) binary(e *ast.BinaryExpr) text {
	if v := m.info.Types[e].Value; v != nil && v.Kind() == constant.Int {
		if n, exact := constant.Int64Val(v); !exact || n != int64(int32(n)) {
			return m.constant(e) // the parts are ints of C++
		}
	}
	precedence, ok := cppOperators[e.Op]
	if e.Op == token.AND_NOT {
		return text{m.expression(e.X).in(cppUnary) + " & ~" + m.expression(e.Y).in(cppUnary), cppBitAnd}
	}
	if !ok || m.isNil(e.X) || m.isNil(e.Y) {
		m.refuse("C++ has no " + e.Op.String() + " as Go has")
	}
	x, y := m.expression(e.X), m.expression(e.Y)
	if e.Op == token.SHL && m.info.Types[e].Value == nil && m.info.Types[e.X].Value != nil {
		x = text{"(" + m.typ(m.info.TypeOf(e)) + ")" + x.in(cppUnary), cppUnary}
	}
	if e.Op == token.ADD && basic(m.info.TypeOf(e))&types.IsString != 0 && m.info.Types[e.X].Value != nil {
		x = atomic("std::string(%s)", x.s)
	}
	if precedence == cppAnd || precedence == cppOr || precedence == cppEqual || precedence == cppLess {
		return text{cppOperand(x, precedence) + " " + e.Op.String() + " " + cppOperand(y, precedence+1), precedence}
	}
	if precedence < cppSum { // compilers ask for parentheses
		return text{x.in(cppUnary) + " " + e.Op.String() + " " + y.in(cppUnary), precedence}
	}
	result := text{x.in(precedence) + " " + e.Op.String() + " " + y.in(precedence+1), precedence}
	if b, ok := m.info.TypeOf(e).Underlying().(*types.Basic); ok && m.info.Types[e].Value == nil {
		switch b.Kind() {
		case types.Int8, types.Int16, types.Uint8, types.Uint16: // C++ adds them as int
			return text{"(" + cppBasic[b.Kind()] + ")(" + result.s + ")", cppUnary}
		}
	}
	return result
}

// cppOperand puts an && among || in parentheses, as compilers ask for.
func cppOperand(t text, precedence int) string {
	if t.precedence == cppAnd && precedence <= cppOr+1 {
		return "(" + t.s + ")"
	}
	return t.in(precedence)
}

func (m *cpp) isNil(e ast.Expr) bool { return m.info.Types[e].IsNil() }

func (m *cpp) builtin(c *ast.CallExpr, name string) text {
	switch name {
	case "len":
		return atomic("symm::len(%s)", m.expr(c.Args[0]))
	case "min", "max":
		t := m.typ(m.info.TypeOf(c))
		return atomic("std::%s<%s>({%s})", name, t, m.exprs(c.Args))
	case "append":
		if c.Ellipsis.IsValid() {
			return atomic("symm::join(%s)", m.exprs(c.Args))
		}
		return atomic("symm::append(%s)", m.exprs(c.Args))
	case "make":
		switch m.info.TypeOf(c).Underlying().(type) {
		case *types.Slice:
			return atomic("%s(%s)", m.typ(m.info.TypeOf(c)), m.expr(c.Args[1]))
		case *types.Map:
			return atomic("%s{}", m.typ(m.info.TypeOf(c)))
		}
	case "panic":
		return atomic("symm::fail(\"%%s\", symm::text(%s).c_str())", m.exprs(c.Args))
	case "print", "println":
		return atomic("symm::println(%s)", m.exprs(c.Args))
	}
	m.refuse("C++ has no " + name)
	return text{}
}

func (m *cpp) conversion(c *ast.CallExpr) text {
	from, to := m.info.TypeOf(c.Args[0]), m.info.TypeOf(c)
	x := m.expression(c.Args[0])
	switch {
	case types.Identical(from, to) && m.info.Types[c].Value == nil, basic(to)&types.IsString != 0 && basic(from)&types.IsString != 0:
		return x
	case basic(to)&types.IsNumeric != 0 && basic(from)&types.IsNumeric != 0:
		if m.info.Types[c].Value != nil {
			x = m.constant(c)
		}
		return text{"(" + m.typ(to) + ")" + x.in(cppUnary), cppUnary}
	}
	m.refuse("C++ does not convert a " + typeName(from) + " to a " + typeName(to))
	return text{}
}

// cppTensorMethods and the following tables have the same form as Python's.
var cppTensorMethods = map[string]string{
	"Fill": "$.fill(*)", "Arange": "$.arange()", "Rand": "$.rand(*)", "CopyFrom": "$.fill_from(*)",
	"Float32s": "$.values<float>()", "Float64s": "$.values<double>()",
	"Ints": "$.values<long>()", "Shape": "$.shape", "Numel": "$.numel()", "Bytes": "$.bytes()", "DType": "$.dtype",
	"View": "$.view({*})", "Slice": "$.slice(*)",
	"Ptr": "(uint64_t)$.data()",
}

var cppHandleMethods = map[string]string{
	"Rank": "symm::rank()", "WorldSize": "symm::world_size()", "BufferSize": "$.tensor.bytes()",
	"GetRemoteTensor": "$.get_remote_tensor(*)",
	"Barrier":         "$.barrier(*)", "PutSignal": "$.put_signal(*)", "WaitSignal": "$.wait_signal(*)", "Put": "$.put(*)",
	"Get":           "$.get(*)",
	"PutWithSignal": "$.put_with_signal(*)", "SignalAdd": "$.signal_add(*)", "WaitForSignal": "$.wait_for_signal(*)",
	"GetSignal":   "$.get_signal(*)",
	"ResetSignal": "$.reset_signal(*)",
}

var cppFunctions = map[string]string{
	"math.Abs": "std::fabs(*)", "math.Max": "std::max<double>(*)", "math.Min": "std::min<double>(*)", "math.Sqrt": "std::sqrt(*)",
	"math.Exp": "std::exp(*)",
	"math.Log": "std::log(*)", "math.Log2": "std::log2(*)", "math.Pow": "std::pow(*)", "math.Floor": "std::floor(*)",
	"math.Ceil": "std::ceil(*)",
	"math.Sin":  "std::sin(*)", "math.Cos": "std::cos(*)", "math.Tanh": "std::tanh(*)", "math.IsNaN": "std::isnan(*)",
	"fmt.Println": "symm::println(*)",
	"fmt.Print":   "symm::println(*)",
}

func (m *cpp) library(c *ast.CallExpr, qualified string) text {
	switch qualified {
	case "fmt.Printf":
		return atomic("symm::println(%s)", m.formatted(c, true))
	case "fmt.Sprintf":
		return atomic("%s", m.formatted(c, false))
	case "time.Sleep":
		return atomic("std::this_thread::sleep_for(std::chrono::nanoseconds(%s))", m.expr(c.Args[0]))
	case "slices.Max", "slices.Min":
		x := m.expression(c.Args[0])
		if identOf(c.Args[0]) != nil {
			return text{fmt.Sprintf("*std::%s_element(%s.begin(), %s.end())", strings.ToLower(strings.TrimPrefix(qualified, "slices.")), x.s, x.s), cppUnary}
		}
	case "slices.Equal":
		return text{m.expression(c.Args[0]).in(cppEqual) + " == " + m.expression(c.Args[1]).in(cppLess), cppEqual}
	}
	return text{}
}

func (m *cpp) special(c *ast.CallExpr, name string) text {
	switch name {
	case "Empty", "Local":
		m.plain(c)
		return atomic("symm::%s(%s, {%s})", strings.ToLower(name), m.expr(c.Args[0]), m.exprs(c.Args[1:]))
	case "Grid", "Block":
		m.plain(c)
		return atomic("{%s}", m.exprs(c.Args))
	case "SharedBytes":
		return atomic("symm::Shared{%s}", m.expr(c.Args[0]))
	case "Timeout":
		if v := m.info.Types[c.Args[0]].Value; v != nil {
			ns, _ := constant.Float64Val(constant.ToFloat(v))
			return atomic("symm::Timeout{%v}", ns/1e9)
		}
		return atomic("symm::Timeout{%s / 1e9}", m.expression(c.Args[0]).in(cppProduct))
	}
	return text{}
}

func (m *cpp) method(*ast.CallExpr, *ast.SelectorExpr) text { return text{} }

func (m *cpp) operands(args []ast.Expr) string {
	for _, a := range args {
		if m.option(a) == "Timeout" {
			m.refuse("an operation has no timeout there")
		}
	}
	return m.arguments(args, "%s")
}

// formatted returns a formatted string. A line's end is left out if it is printed.
func (m *cpp) formatted(c *ast.CallExpr, printed bool) string {
	args := c.Args[1:]
	var given []string
	pattern := verb.ReplaceAllStringFunc(m.format(c, printed), func(s string) string {
		p := verb.FindStringSubmatch(s)
		if p[4] == "%" {
			return s
		}
		if p[2] == "*" || len(args) == 0 {
			m.refuse("C++ has no such format")
		}
		a := args[0]
		args = args[1:]
		switch p[4] {
		case "v", "t", "s":
			given = append(given, "symm::text("+m.expr(a)+")")
			return "%" + p[1] + p[2] + p[3] + "s"
		case "d", "x", "X", "o":
			given = append(given, "(long)"+m.expression(a).in(cppUnary))
			return "%" + p[1] + p[2] + p[3] + "l" + p[4]
		case "f", "g", "e":
			given = append(given, "(double)"+m.expression(a).in(cppUnary))
			return s
		}
		m.refuse("C++ has no " + s)
		return ""
	})
	return "symm::format(" + strings.Join(append([]string{cppQuote(pattern)}, given...), ", ") + ")"
}
