package formula

import (
	"go/ast"
	"math"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// function is a row of the table of functions, without conversions.
type function struct {
	least, most int // arguments
	compile     func(c *compiler, x *ast.CallExpr) part
}

// many is the most arguments of min and max.
const many = 100

var functions map[string]function

func init() { // the functions lead to the table again
	functions = map[string]function{
		"on":        {2, 2, (*compiler).on},
		"rank_sum":  {1, 1, overRanks(add)},
		"rank_prod": {1, 1, overRanks(multiply)},
		"rank_min":  {1, 1, overRanks(least)},
		"rank_max":  {1, 1, overRanks(greatest)},
		"sum":       {4, 4, overRange(add)},
		"prod":      {4, 4, overRange(multiply)},
		"where":     {3, 3, (*compiler).where},
		"abs":       {1, 1, (*compiler).abs},
		"min":       {2, many, ofAll(least)},
		"max":       {2, many, ofAll(greatest)},
		"pow":       {2, 2, (*compiler).pow},
		"isnan":     {1, 1, (*compiler).isNaN},
		"hash":      {1, 1, (*compiler).hash},
	}
	for name, f := range map[string]func(float64) float64{
		"sqrt": math.Sqrt, "exp": math.Exp, "exp2": math.Exp2, "log": math.Log, "log2": math.Log2, "sin": math.Sin, "cos": math.Cos,
		"tanh": math.Tanh, "erf": math.Erf, "floor": math.Floor, "ceil": math.Ceil, "trunc": math.Trunc, "rint": math.RoundToEven,
	} {
		functions[name] = function{1, 1, ofFloat(f)}
	}
}

// call compiles a call of a function or a conversion.
func (c *compiler) call(x *ast.CallExpr) part {
	id, ok := x.Fun.(*ast.Ident)
	if !ok {
		c.refuse(x, "", "only functions of formulas can be called")
	}
	if x.Ellipsis.IsValid() {
		c.fail(c.offset(x.Ellipsis), "", "formulas have no ...")
	}
	f, known := functions[id.Name]
	to, is := TypeNamed(id.Name)
	switch {
	case is:
		f = function{1, 1, func(c *compiler, x *ast.CallExpr) part { return c.convert(x.Args[0], to) }}
	case !known:
		if c.slot(id) >= 0 {
			c.refuse(x, "write "+id.Name+"[…] for an element", "%s is a tensor", id.Name)
		}
		c.unknown(id, "function")
	}
	if n := len(x.Args); n < f.least || n > f.most {
		wanted := count.Of(f.least, "argument")
		switch {
		case f.most > f.least && n < f.least:
			wanted = "at least " + wanted
		case f.most > f.least:
			wanted = "at most " + count.Of(f.most, "argument")
		}
		c.refuse(x, "", "%s has %s, not %d", id.Name, wanted, n)
	}
	return f.compile(c, x)
}

// convert compiles a conversion to the values of a type.
func (c *compiler) convert(x ast.Expr, to Type) part {
	from := c.part(x)
	p := part{class: classOf(to), cost: 1 + from.cost}
	var bits func(*env) uint64
	switch from.class {
	case floating:
		bits = func(e *env) uint64 { return to.Convert(element.Number{Class: element.Floating, Float: from.real(e)}) }
	case unsigned:
		bits = func(e *env) uint64 {
			return to.Convert(element.Number{Class: element.Unsigned, Uint: uint64(from.whole(e))})
		}
	default:
		bits = func(e *env) uint64 { return to.Convert(element.Number{Class: element.Signed, Int: from.whole(e)}) }
	}
	if p.class == floating {
		p.real = func(e *env) float64 { return to.Float(bits(e)) }
	} else {
		p.whole = func(e *env) int64 { return to.Integer(bits(e)) }
	}
	return p
}

// where calculates the branch that is chosen, and not the other one.
func (c *compiler) where(x *ast.CallExpr) part {
	cond, a, b := c.condition(x.Args[0], "the first argument of where"), c.part(x.Args[1]), c.part(x.Args[2])
	p := part{class: max(a.class, b.class), cost: 1 + cond.cost + a.cost + b.cost}
	a, b = a.as(p.class), b.as(p.class)
	if p.class == floating {
		p.real = func(e *env) float64 {
			if cond.whole(e) != 0 {
				return a.real(e)
			}
			return b.real(e)
		}
		return p
	}
	p.whole = func(e *env) int64 {
		if cond.whole(e) != 0 {
			return a.whole(e)
		}
		return b.whole(e)
	}
	return p
}

func (c *compiler) abs(x *ast.CallExpr) part {
	p := c.part(x.Args[0])
	p = p.as(counted(p))
	p.cost++
	whole, real := p.whole, p.real
	switch p.class {
	case floating:
		p.real = func(e *env) float64 { return math.Abs(real(e)) }
	case signed:
		p.whole = func(e *env) int64 {
			v := whole(e)
			return max(v, -v)
		}
	}
	return p
}

// ofFloat returns the compiler of a function of one float.
func ofFloat(f func(float64) float64) func(*compiler, *ast.CallExpr) part {
	return func(c *compiler, x *ast.CallExpr) part {
		p := c.part(x.Args[0]).as(floating)
		real := p.real
		p.real = func(e *env) float64 { return f(real(e)) }
		p.cost += 4
		return p
	}
}

func (c *compiler) pow(x *ast.CallExpr) part {
	a, b := c.part(x.Args[0]).as(floating), c.part(x.Args[1]).as(floating)
	return part{class: floating, cost: 8 + a.cost + b.cost, real: func(e *env) float64 { return math.Pow(a.real(e), b.real(e)) }}
}

func (c *compiler) isNaN(x *ast.CallExpr) part {
	p := c.part(x.Args[0]).as(floating)
	return part{class: truth, cost: 1 + p.cost, whole: func(e *env) int64 { return number(math.IsNaN(p.real(e))) }}
}

func (c *compiler) hash(x *ast.CallExpr) part {
	p := c.integer(x.Args[0], "the argument of hash")
	return part{class: signed, cost: 2 + p.cost, whole: func(e *env) int64 { return int64(mix(uint64(p.whole(e)))) }}
}

// mix is hash of formulas: doc.go defines it.
func mix(v uint64) uint32 {
	x := uint32(v) ^ uint32(v>>32)*0x9e3779b9
	x = (x ^ x>>16) * 0x7feb352d
	x = (x ^ x>>15) * 0x846ca68b
	return x ^ x>>16
}

// ofAll returns the compiler of a function that combines its arguments.
func ofAll(f fold) func(*compiler, *ast.CallExpr) part {
	return func(c *compiler, x *ast.CallExpr) part {
		parts := make([]part, len(x.Args))
		for i, arg := range x.Args {
			parts[i] = c.part(arg)
		}
		p := part{class: counted(parts...), cost: 1}
		for i := range parts {
			parts[i] = parts[i].as(p.class)
			p.cost += parts[i].cost
		}
		if p.class == floating {
			p.real = func(e *env) float64 {
				v := parts[0].real(e)
				for _, next := range parts[1:] {
					v = f.floats(v, next.real(e))
				}
				return v
			}
			return p
		}
		combine := f.integers(p.class)
		p.whole = func(e *env) int64 {
			v := parts[0].whole(e)
			for _, next := range parts[1:] {
				v = combine(v, next.whole(e))
			}
			return v
		}
		return p
	}
}
