package expression

import (
	"fmt"
	"math"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// Inner returns the part that is calculated for every element as CUDA C++: the argument of the
// reduction, or the formula. The text uses v0, v1, … for the operands, rank, size, i and n.
func (c *Checked) Inner() (text string, of Type) {
	if r := c.Tree.reduces; r != nil {
		return c.print(r.args[0], false), c.types[r.args[0]]
	}
	return c.print(c.Tree.root, false), c.types[c.Tree.root]
}

// Stored returns Inner for a result that is stored as elements of a type. It leaves out a conversion
// to that type, because storing converts.
func (c *Checked) Stored(as Type) (text string, of Type) {
	if root := c.Tree.root; functions[root.op].class == converting && root.kind == call && c.types[root] == as {
		return c.print(root.args[0], false), c.types[root.args[0]]
	}
	return c.Inner()
}

// Outer returns the part around a reduction as CUDA C++. The text uses reduced for the result of the
// reduction, operands that are numbers, rank, size and n. Floats are calculated as double.
func (c *Checked) Outer() (text string, of Type) {
	return c.print(c.Tree.root, true), c.types[c.Tree.root]
}

// Reduction returns the name of the reduction and the type of its result.
func (c *Checked) Reduction() (name string, of Type) {
	return c.Tree.reduces.op, c.types[c.Tree.reduces]
}

// CUDA returns the C++ type in which values of a type are calculated. outer is true for the part
// around a reduction.
func CUDA(t Type, outer bool) string {
	switch {
	case truth(t) == Truth:
		return "bool"
	case t == element.C128 || t == element.C64 && outer:
		return "calc::c128"
	case t == element.C64:
		return "calc::c64"
	case t == Integer:
		return "symm::i64"
	case t == Float || t == element.F64 || isFloat(t) && outer:
		return "double"
	case isFloat(t):
		return "float"
	}
	return "symm::" + t.String()
}

// operators are the functions of calculate.cuh by the operators that call them.
var operators = map[string]string{
	"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod", "&": "bits_and", "|": "bits_or", "^": "bits_xor", "<<": "left",
	">>": "right",
	"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
}

// print writes a part. Every operation is a call, so that nothing depends on the precedences and
// conversions of C++.
func (c *Checked) print(n *node, outer bool) string {
	t := c.types[n]
	as := func(i int, t Type) string { return c.as(n.args[i], t, outer) }
	switch n.kind {
	case integer:
		return fmt.Sprintf("%s(%dull)", CUDA(t, outer), n.whole)
	case float:
		return fmt.Sprintf("calc::constant(0x%xull)", math.Float64bits(n.float))
	case operand:
		return fmt.Sprintf("v%d", n.index)
	case name:
		return n.op
	case reduction:
		return "reduced"
	case unary:
		switch n.op {
		case "!":
			return "!" + as(0, Truth)
		case "~":
			return fmt.Sprintf("calc::bits_not<%s>(%s)", CUDA(t, outer), as(0, t))
		case "-":
			return fmt.Sprintf("calc::neg<%s>(%s)", CUDA(t, outer), as(0, t))
		}
		return as(0, t)
	case choice:
		return fmt.Sprintf("(%s ? %s : %s)", as(0, Truth), as(1, t), as(2, t))
	case binary:
		if n.op == "&&" || n.op == "||" {
			return fmt.Sprintf("(%s %s %s)", as(0, Truth), n.op, as(1, Truth))
		}
		u := combined(c.types[n.args[0]], c.types[n.args[1]])
		if u == Truth && t != Truth {
			u = Integer
		}
		return fmt.Sprintf("calc::%s<%s>(%s, %s)", operators[n.op], CUDA(u, outer), as(0, u), as(1, u))
	}
	f := functions[n.op]
	switch f.class {
	case converting: // to the values of the type, in which they are calculated
		from := c.types[n.args[0]]
		return fmt.Sprintf("calc::to<%s>(calc::load(calc::round<%s>(%s)))", CUDA(t, outer), Storage(t), as(0, from))
	case drawing:
		return fmt.Sprintf("calc::%s(%s, i)", n.op, as(0, Integer))
	case choosing:
		return fmt.Sprintf("(%s ? %s : %s)", as(0, Truth), as(1, t), as(2, t))
	case parting:
		u := c.types[n.args[0]]
		if u == Truth {
			u = Integer
		}
		return fmt.Sprintf("calc::%s_of(%s)", n.op, as(0, u))
	case pairing:
		return fmt.Sprintf("%s{%s, %s}", CUDA(t, outer), as(0, part(t)), as(1, part(t)))
	case asked:
		u := c.types[n.args[0]]
		if !isFloat(u) {
			u = Float
		}
		return fmt.Sprintf("calc::%s<%s>(%s)", n.op, CUDA(u, outer), as(0, u))
	}
	args := make([]string, len(n.args))
	for i := range n.args {
		args[i] = as(i, t)
	}
	return fmt.Sprintf("calc::%s<%s>(%s)", n.op, CUDA(t, outer), strings.Join(args, ", "))
}

// as writes a part as a value of a type.
func (c *Checked) as(n *node, t Type, outer bool) string {
	text := c.print(n, outer)
	if from, to := CUDA(c.types[n], outer), CUDA(t, outer); from != to {
		return fmt.Sprintf("calc::to<%s>(%s)", to, text)
	}
	return text
}

// Storage returns the C++ type of an element in memory.
func Storage(t Type) string {
	switch t {
	case element.F32:
		return "float"
	case element.F64:
		return "double"
	case Truth, element.Bool:
		return "bool"
	case element.F8E4M3, element.F8E5M2, element.C64, element.C128:
		return "calc::" + t.String()
	}
	return "symm::" + t.String()
}
