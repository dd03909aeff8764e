package expression

import (
	"fmt"
	"math"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// Operand is the type of an operand: the type of a tensor's elements, or Integer or Float for a number
// (U64 for a number beyond the largest i64).
type Operand struct {
	Type   Type
	Number bool // a number, not a tensor
}

// Checked is a formula with the types of its parts.
type Checked struct {
	Tree   *Tree
	Result Type // of the result's elements
	// Fits lists the operands that are whole numbers and become elements of an integer type. The type
	// must be able to hold them.
	Fits     []Fit
	operands []Operand
	types    map[*node]Type
}

// Fit is a number that becomes an element.
type Fit struct {
	Operand int
	As      Type
}

// Check finds the types of the parts of a formula for its operands. A fault is an *Error.
func (t *Tree) Check(operands []Operand) (c *Checked, err error) {
	defer func() {
		if fault, ok := recover().(*Error); ok {
			c, err = nil, fault
		}
	}()
	c = &Checked{Tree: t, operands: operands, types: map[*node]Type{}}
	c.Result = stored(c.check(t.root, t.reduces == nil))
	if c.isBool(t.root) {
		c.Result = element.Bool
	}
	return c, nil
}

// isBool reports whether a part has the elements of Bool themselves, which a formula takes for
// truths: an operand, or the conversion bool(x0).
func (c *Checked) isBool(n *node) bool {
	return n.kind == operand && c.operands[n.index].Type == element.Bool || n.kind == call && functions[n.op].to == element.Bool
}

// stored returns the element type that stores values of a type.
func stored(t Type) Type {
	switch t {
	case Truth:
		return element.U8
	case Integer:
		return element.I64
	case Float:
		return element.F64
	}
	return t
}

func (c *Checked) fail(n *node, hint, format string, args ...any) {
	panic(&Error{At: n.at, Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// check returns the type of a part. If inner is true, the part is calculated for every element and may
// contain tensors.
func (c *Checked) check(n *node, inner bool) Type {
	t := c.find(n, inner)
	c.types[n] = t
	return t
}

func (c *Checked) find(n *node, inner bool) Type {
	if n.kind == reduction {
		return c.reduced(n)
	}
	args := make([]Type, len(n.args))
	for i, a := range n.args {
		args[i] = c.check(a, inner)
	}
	switch n.kind {
	case integer:
		if n.whole > math.MaxInt64 {
			return element.U64
		}
		return Integer
	case float:
		return Float
	case operand:
		if n.index >= len(c.operands) {
			c.fail(n, "operands are numbered from x0", "there is no operand x%d: %d were given", n.index, len(c.operands))
		}
		t := truth(c.operands[n.index].Type)
		if !inner && !c.operands[n.index].Number {
			c.fail(n, fmt.Sprintf("write it within %s(…)", c.Tree.reduces.op),
				"x%d is a tensor, and stands outside of the reduction", n.index)
		}
		return t
	case name:
		switch n.op {
		case "true", "false":
			return Truth
		case "i":
			if !inner {
				c.fail(n, "", "i is the number of an element, and stands outside of the reduction")
			}
		}
		return Integer
	case unary:
		return c.unary(n, args[0])
	case binary:
		return c.binary(n, args)
	case choice:
		return c.unify(n.args[1:], args[1:])
	}
	return c.called(n, args)
}

func (c *Checked) unary(n *node, t Type) Type {
	switch {
	case n.op == "!":
		return Truth
	case t.IsComplex() && n.op == "~":
		c.notComplex(n, t)
	case n.op == "~" && isFloat(t):
		c.fail(n, "", "~ turns the bits of integers, and this is %v", typeName(t))
	case t == Truth && n.op == "~":
		return Truth
	case t == Truth:
		return Integer
	}
	return t
}

func (c *Checked) binary(n *node, args []Type) Type {
	switch n.op {
	case "&&", "||":
		return Truth
	case "==", "!=", "<", "<=", ">", ">=":
		if t := c.unify(n.args, args); n.op[0] != '=' && n.op[0] != '!' {
			c.notComplex(n, t)
		}
		return Truth
	case "&", "|", "^", "<<", ">>":
		t := c.unify(n.args, args)
		c.notComplex(n, t)
		if isFloat(t) {
			c.fail(n, "", "%s is for the bits of integers, and these are %v", n.op, typeName(t))
		}
		if t == Truth && (n.op == "<<" || n.op == ">>") {
			return Integer
		}
		return t
	}
	t := c.unify(n.args, args)
	if n.op == "%" {
		c.notComplex(n, t)
	}
	if t == Truth {
		return Integer
	}
	return t
}

// notComplex refuses complex numbers for an operator, a function or a reduction.
func (c *Checked) notComplex(n *node, t Type) {
	if isComplex(t) {
		c.fail(n, "real, imag and abs of a complex number are real", "%s is not for complex numbers, and this is %v", n.op, t)
	}
}

func (c *Checked) called(n *node, args []Type) Type {
	f := functions[n.op]
	switch f.class {
	case converting:
		if !f.to.IsComplex() && f.to != element.Bool {
			c.notComplex(n, args[0])
		}
		return truth(f.to)
	case parting:
		if t := args[0]; t != Truth {
			return part(t)
		}
		return Integer
	case pairing:
		return c.paired(n, args)
	case choosing:
		return c.unify(n.args[1:], args[1:])
	case drawing:
		if isFloat(args[0]) {
			c.fail(n, "", "the seed of %s is an integer", n.op)
		}
		return Float
	}
	t := c.unify(n.args, args)
	if t == Truth {
		t = Integer
	}
	if n.op != "conj" {
		c.notComplex(n, t)
	}
	switch {
	case f.class == asked:
		return Truth
	case f.class == same || isFloat(t):
		return t
	case t == Integer:
		return Float
	case t.Size() <= 2:
		return element.F32 // for one byte more precise than numpy's f16
	}
	return element.F64
}

func (c *Checked) reduced(n *node) Type {
	t := c.check(n.args[0], true)
	switch n.op {
	case "any", "all":
		return Truth
	case "argmin", "argmax":
		c.notComplex(n, t)
		return element.I64
	case "sum", "prod":
		switch {
		case isFloat(t) || isComplex(t):
			return stored(t)
		case t.Valid() && !signed(t):
			return element.U64
		}
		return element.I64
	}
	c.notComplex(n, t)
	return stored(t)
}

// paired returns the type of complex(re, im): the narrowest that has the values of both parts.
func (c *Checked) paired(n *node, args []Type) Type {
	t := c.unify(n.args, args)
	c.notComplex(n, t)
	if t.Valid() {
		return Promote(t, element.C64)
	}
	return element.C128
}

func isComplex(t Type) bool { return t.Valid() && t.IsComplex() }

// part returns the type of the real part of numbers of a type.
func part(t Type) Type {
	if isComplex(t) {
		return t.Part()
	}
	return t
}

// truth returns the type in which elements are calculated: Truth for Bool.
func truth(t Type) Type {
	if t == element.Bool {
		return Truth
	}
	return t
}

func isFloat(t Type) bool { return t == Float || t.Valid() && t.IsFloat() }

func typeName(t Type) string {
	switch t {
	case Truth:
		return "a truth"
	case Integer:
		return "a whole number"
	case Float:
		return "a float"
	}
	return t.String()
}

// unify returns the type in which parts are combined.
func (c *Checked) unify(args []*node, types []Type) Type {
	t := types[0]
	for _, u := range types[1:] {
		t = combined(t, u)
	}
	for _, a := range args {
		c.mustFit(a, t)
	}
	return t
}

func combined(a, b Type) Type {
	if a > b {
		a, b = b, a
	}
	switch { // in the order of the constants: Truth, Integer, Float, elements
	case a.Valid():
		return Promote(a, b)
	case a == Float && b.Valid() && !b.IsFloat() && !b.IsComplex():
		return element.F64
	}
	return b
}

// mustFit refuses a whole number that is out of the range of the integer type it is combined with.
func (c *Checked) mustFit(n *node, t Type) {
	if !t.Valid() || t.IsFloat() || t.IsComplex() {
		return
	}
	switch {
	case n.kind == operand && c.operands[n.index].Type == Integer:
		c.Fits = append(c.Fits, Fit{n.index, t})
	case n.kind == integer:
		if _, why := t.Encode(element.Number{Class: element.Unsigned, Uint: n.whole}); why != "" {
			c.fail(n, "convert the tensor, as in i64(x0)", "%s", why)
		}
	}
}
