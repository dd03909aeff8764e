package foreign

import (
	"fmt"
	"go/ast"
	"go/constant"
	"strings"
)

// dtypes are PyTorch's names of element types.
var dtypes = map[string]string{
	"F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64", "I8": "int8", "U8": "uint8", "I32": "int32", "U32": "uint32",
	"I64": "int64", "U64": "uint64", "F8E4M3": "float8_e4m3fn", "F8E5M2": "float8_e5m2",
	"I16": "int16", "U16": "uint16", "Bool": "bool", "C64": "complex64", "C128": "complex128",
}

// tensorMethods are the methods of a tensor in Python, with the tensor for the dollar and the
// arguments for the star.
var tensorMethods = map[string]string{
	"Fill": "$.fill_(*)", "Arange": "symm.arange($)", "Rand": "symm.rand($, *)", "CopyFrom": "symm.fill_from($, *)",
	"Float32s": "symm.values($)",
	"Float64s": "symm.values($)", "Ints": "symm.values($)", "DType": "$.dtype", "Shape": "list($.shape)", "Numel": "$.numel()",
	"Bytes": "$.nbytes",
	"Ptr":   "$.data_ptr()", "View": "$.view(*)", "As": "$.view(*)",
}

// handleMethods are the methods of a handle, as tensorMethods.
var handleMethods = map[string]string{
	"Rank": "$.rank", "WorldSize": "$.world_size", "BufferPtrs": "$.buffer_ptrs", "SignalPadPtrs": "$.signal_pad_ptrs",
	"SignalPadSize": "$.signal_pad_size",
	"BufferSize":    "$.tensor.nbytes", "GetBuffer": "$.get_buffer(*)", "GetRemoteTensor": "$.get_remote_tensor(*)",
	"Barrier":   "$.barrier(*)",
	"PutSignal": "$.put_signal(*)", "WaitSignal": "$.wait_signal(*)", "Put": "$.put(*)", "Get": "$.get(*)",
	"PutWithSignal": "$.put_with_signal(*)",
	"SignalAdd":     "$.signal_add(*)", "WaitForSignal": "$.wait_for_signal(*)", "GetSignal": "$.get_signal(*)",
	"ResetSignal": "$.reset_signal(*)",
}

// libraryFunctions are functions of other packages, as tensorMethods.
var libraryFunctions = map[string]string{
	"math.Abs": "abs(*)", "math.Max": "max(*)", "math.Min": "min(*)", "math.Sqrt": "math.sqrt(*)", "math.Exp": "math.exp(*)",
	"math.Log":  "math.log(*)",
	"math.Log2": "math.log2(*)", "math.Pow": "math.pow(*)", "math.Floor": "math.floor(*)", "math.Ceil": "math.ceil(*)",
	"math.Sin": "math.sin(*)",
	"math.Cos": "math.cos(*)", "math.Tanh": "math.tanh(*)", "math.IsNaN": "math.isnan(*)", "fmt.Println": "symm.println(*)",
	"slices.Max": "max(*)",
	"slices.Min": "min(*)", "slices.Sorted": "sorted(*)",
}

// member returns a name of a package that is no call.
func (m *python) member(e *ast.SelectorExpr) text {
	if m.packageOf(e) == symmPath {
		if name, ok := dtypes[e.Sel.Name]; ok {
			m.uses["torch"] = true
			return text{"torch." + name, atom}
		}
	}
	if m.packageOf(e) == "math" && e.Sel.Name == "Pi" {
		m.uses["math"] = true
		return text{"math.pi", atom}
	}
	return text{}
}

func (m *python) library(c *ast.CallExpr, qualified string) text {
	switch qualified {
	case "fmt.Print":
		return atomic("symm.println(%s)", m.exprs(c.Args))
	case "fmt.Printf":
		return atomic("symm.println(%s)", m.formatted(c, true).s)
	case "fmt.Sprintf":
		return m.formatted(c, false)
	case "fmt.Sprint":
		return atomic("\" \".join(map(str, [%s]))", m.exprs(c.Args))
	case "time.Sleep":
		m.uses["time"] = true
		return atomic("time.sleep(%s)", m.seconds(c.Args[0]))
	case "math.Inf":
		return text{map[bool]string{true: "-float(\"inf\")", false: "float(\"inf\")"}[strings.HasPrefix(m.expr(c.Args[0]), "-")], unary}
	case "slices.Contains":
		return text{m.expression(c.Args[1]).in(bitOr) + " in " + m.expression(c.Args[0]).in(bitOr), comparison}
	case "slices.Equal":
		return text{m.expression(c.Args[0]).in(bitOr) + " == " + m.expression(c.Args[1]).in(bitOr), comparison}
	case "strings.Repeat":
		return text{m.expression(c.Args[0]).in(product) + " * " + m.expression(c.Args[1]).in(unary), product}
	case "strings.Join":
		return atomic("%s.join(%s)", m.expression(c.Args[1]).in(atom), m.expr(c.Args[0]))
	}
	return text{}
}

func (m *python) special(c *ast.CallExpr, name string) text {
	switch name {
	case "Empty", "Local":
		m.plain(c)
		return atomic("symm.%s(%s)", strings.ToLower(name), m.exprs(c.Args))
	case "Grid", "Block":
		m.plain(c)
		return text{tuple(m.exprs(c.Args), len(c.Args)), atom}
	case "SharedBytes":
		return m.expression(c.Args[0])
	case "Timeout":
		return text{m.seconds(c.Args[0]), product}
	case "Compile":
		return text{m.compile(c), atom}
	}
	return text{}
}

// seconds returns a time.Duration, which counts nanoseconds, in seconds.
func (m *python) seconds(e ast.Expr) string {
	if v := m.info.Types[e].Value; v != nil {
		ns, _ := constant.Float64Val(constant.ToFloat(v))
		return fmt.Sprint(ns / 1e9)
	}
	return m.expression(e).in(product) + " / 1e9"
}

// formatted returns a formatted string: Go's verbs are Python's, but for %v, %t and %q. A line's
// end is left out if it is printed.
func (m *python) formatted(c *ast.CallExpr, printed bool) text {
	format := verb.ReplaceAllStringFunc(m.format(c, printed), func(s string) string {
		p := verb.FindStringSubmatch(s)
		switch p[4] {
		case "v", "t":
			return "%" + p[1] + p[2] + p[3] + "s"
		case "d", "s", "f", "g", "e", "x", "X", "o", "c", "%":
			return s
		case "q":
			return "%r"
		}
		m.refuse("Python has no " + s)
		return ""
	})
	if len(c.Args) == 1 {
		return text{quote(strings.ReplaceAll(format, "%%", "%")), atom}
	}
	return text{quote(format) + " % " + tuple(m.exprs(c.Args[1:]), len(c.Args)-1), product}
}
