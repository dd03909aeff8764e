package formula

import (
	"go/ast"
	"go/token"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/symmrepl/symmrepl/internal/spelling"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// class is the kind of a part's values, in the order in which an operation on two of them has the
// latter.
type class uint8

const (
	truth    class = iota // 0 or 1
	signed                // an int64
	unsigned              // a uint64, held as the int64 with the same bits
	floating              // a float64
)

func (c class) String() string {
	return [...]string{"a condition", "an integer", "an integer", "a float"}[c]
}

// part calculates the values of a part of a formula: by real if its class is floating, else by whole.
type part struct {
	class class
	cost  int64 // operations of one calculation, without the turns of loops
	whole func(*env) int64
	real  func(*env) float64
}

// compiler makes parts of the tree of a formula. A fault is a panic with an *Error.
type compiler struct {
	f     *Formula
	files *token.FileSet
	vars  []string // of the sums around the part
	depth int
}

// constants are the names for values, with what they mean.
var constants = map[string]*part{
	"i":     {class: signed, whole: func(e *env) int64 { return e.i }},
	"n":     {class: signed, whole: func(e *env) int64 { return e.n }},
	"rank":  {class: signed, whole: func(e *env) int64 { return int64(e.rank) }},
	"size":  {class: signed, whole: func(e *env) int64 { return int64(e.size) }},
	"true":  {class: truth, whole: func(*env) int64 { return 1 }},
	"false": {class: truth, whole: func(*env) int64 { return 0 }},
	"pi":    {class: floating, real: func(*env) float64 { return math.Pi }},
	"inf":   {class: floating, real: func(*env) float64 { return math.Inf(1) }},
	"nan":   {class: floating, real: func(*env) float64 { return math.NaN() }},
}

// part compiles an expression.
func (c *compiler) part(x ast.Expr) part {
	if c.depth++; c.depth > maxDepth {
		c.refuse(x, "", "more than %d parts are within each other", maxDepth)
	}
	defer func() { c.depth-- }()
	switch x := x.(type) {
	case *ast.ParenExpr:
		return c.part(x.X)
	case *ast.BasicLit:
		return c.number(x)
	case *ast.Ident:
		return c.name(x)
	case *ast.UnaryExpr:
		return c.unary(x)
	case *ast.BinaryExpr:
		return c.binary(x)
	case *ast.CallExpr:
		return c.call(x)
	case *ast.IndexExpr:
		id, ok := x.X.(*ast.Ident)
		if !ok {
			c.refuse(x, "on(p, x[k]) is an element of another rank", "only a tensor has elements")
		}
		slot := c.slot(id)
		if slot < 0 {
			c.unknown(id, "tensor")
		}
		return c.element(c.offset(id.Pos()), slot, c.integer(x.Index, "an index"))
	case *ast.IndexListExpr:
		c.refuse(x, "write x[row*columns + column]", oneIndex)
	}
	c.refuse(x, "", "a formula has numbers, names, operators and calls, not %s", kindOf(x))
	return part{}
}

const oneIndex = "an element has one index, counted through all dimensions"

// kindOf names an expression of Go that formulas do not have.
func kindOf(x ast.Expr) string {
	switch x.(type) {
	case *ast.FuncLit:
		return "function literals"
	case *ast.CompositeLit:
		return "composite literals"
	case *ast.SelectorExpr:
		return "selectors"
	case *ast.StarExpr:
		return "pointers"
	case *ast.SliceExpr:
		return "slices"
	case *ast.TypeAssertExpr:
		return "type assertions"
	case *ast.KeyValueExpr:
		return "pairs of a key and a value"
	}
	return "types"
}

// number compiles a literal.
func (c *compiler) number(x *ast.BasicLit) part {
	switch x.Kind {
	case token.INT:
		v, err := strconv.ParseUint(x.Value, 0, 64)
		if err != nil {
			c.refuse(x, "a float may be larger, as 1e30", "%s is larger than the largest integer", x.Value)
		}
		p := constant(int64(v))
		if v > math.MaxInt64 {
			p.class = unsigned
		}
		return p
	case token.FLOAT:
		v, err := strconv.ParseFloat(x.Value, 64)
		if err != nil {
			c.refuse(x, "write inf for infinity", "%s is larger than the largest float64", x.Value)
		}
		return part{class: floating, cost: 1, real: func(*env) float64 { return v }}
	}
	c.refuse(x, "", "a formula has integers and floats, not %s", strings.ToLower(x.Kind.String())+" literals")
	return part{}
}

func constant(v int64) part {
	return part{class: signed, cost: 1, whole: func(*env) int64 { return v }}
}

// name compiles a name that stands alone.
func (c *compiler) name(x *ast.Ident) part {
	if v := slices.Index(c.vars, x.Name); v >= 0 {
		return part{class: signed, cost: 1, whole: func(e *env) int64 { return e.vars[v] }}
	}
	if p := constants[x.Name]; p != nil {
		known := *p
		known.cost = 1
		return known
	}
	if slot := c.slot(x); slot >= 0 {
		return c.element(c.offset(x.Pos()), slot, *constants["i"])
	}
	if Reserved(x.Name) {
		c.refuse(x, "write "+x.Name+"(…)", "%s is a function", x.Name)
	}
	c.unknown(x, "name")
	return part{}
}

// slot returns the number of the tensor that a name means, -1 if it means none.
func (c *compiler) slot(x *ast.Ident) int {
	return slices.IndexFunc(c.f.names, func(n Name) bool { return n.Name == x.Name })
}

// unknown refuses a name that no thing of the given kind has.
func (c *compiler) unknown(x *ast.Ident, kind string) {
	var known []string
	for _, n := range c.f.names {
		known = append(known, n.Name)
	}
	switch kind {
	case "name":
		known = append(known, c.vars...)
		for name := range constants {
			known = append(known, name)
		}
	case "function":
		known = known[:0]
		for name := range functions {
			known = append(known, name)
		}
		for t := element.F16; t < element.C64; t++ {
			known = append(known, t.String())
		}
	}
	hint := ""
	if similar := spelling.Similar(x.Name, known); len(similar) > 0 {
		hint = "did you mean " + strings.Join(similar, " or ") + "?"
	} else if len(known) > 0 && kind == "tensor" {
		hint = "the tensors are " + strings.Join(known, ", ")
	}
	c.refuse(x, hint, "there is no %s %s", kind, x.Name)
}

// element compiles the element of a tensor at an index, an integer.
func (c *compiler) element(at, slot int, index part) part {
	c.f.used[slot] = true
	column := c.column(at)
	p := part{class: classOf(c.f.names[slot].Type), cost: 2 + index.cost}
	if p.class == floating {
		p.real = func(e *env) float64 {
			x, k := e.tensor(column, slot).Floats, index.whole(e)
			if uint64(k) >= uint64(len(x)) {
				e.outside(column, slot, k, len(x))
			}
			return x[k]
		}
		return p
	}
	p.whole = func(e *env) int64 {
		x, k := e.tensor(column, slot).Ints, index.whole(e)
		if uint64(k) >= uint64(len(x)) {
			e.outside(column, slot, k, len(x))
		}
		return x[k]
	}
	return p
}

// classOf returns the class of elements of a type.
func classOf(t Type) class {
	switch {
	case t == element.Bool:
		return truth
	case t.IsFloat():
		return floating
	case t == element.U64:
		return unsigned
	}
	return signed
}

// integer compiles an expression that must be an integer. what names it in the message.
func (c *compiler) integer(x ast.Expr, what string) part {
	p := c.part(x)
	if p.class == floating {
		c.refuse(x, "i64(…) rounds towards zero", "%s is an integer, and this is a float", what)
	}
	if p.class == unsigned { // beyond the largest int64 it is out of every range, as negative numbers are
		p.class = signed
	}
	return p
}

// condition compiles an expression that must be a condition. what names it in the message.
func (c *compiler) condition(x ast.Expr, what string) part {
	p := c.part(x)
	if p.class != truth {
		c.refuse(x, "write … != 0", "%s is a condition, and this is %v", what, p.class)
	}
	return p
}

// as returns a part as values of a class, to which an operation on it leads.
func (p part) as(to class) part {
	if to == floating && p.class != floating {
		whole := p.whole
		p.real = func(e *env) float64 { return float64(whole(e)) }
		if p.class == unsigned {
			p.real = func(e *env) float64 { return float64(uint64(whole(e))) }
		}
		p.whole = nil
	}
	p.class = to
	return p
}

// counted returns the class in which arithmetic takes values: that of all parts, and of conditions
// that of integers.
func counted(parts ...part) class {
	c := signed
	for _, p := range parts {
		c = max(c, p.class)
	}
	return c
}
