package formula

import (
	"cmp"
	"go/ast"
	"go/token"
	"math"
)

// unary compiles an operator before its operand.
func (c *compiler) unary(x *ast.UnaryExpr) part {
	if lit, ok := x.X.(*ast.BasicLit); ok && x.Op == token.SUB && lit.Kind == token.INT {
		if p := c.part(lit); p.whole(nil) == math.MinInt64 { // the least int64, whose number alone is a uint64
			return constant(math.MinInt64)
		}
	}
	var p part
	switch x.Op {
	case token.NOT:
		p = c.condition(x.X, "the operand of !")
	case token.SUB, token.ADD:
		p = c.part(x.X)
		p = p.as(counted(p))
	case token.XOR:
		if p = c.part(x.X); p.class == floating {
			c.refuse(x, "", "^ inverts the bits of integers, and this is a float")
		}
		p = p.as(counted(p))
	default:
		c.refuse(x, "", "formulas have no operator %v before an operand", x.Op)
	}
	p.cost++
	whole, real := p.whole, p.real
	switch {
	case x.Op == token.NOT:
		p.whole = func(e *env) int64 { return 1 - whole(e) }
	case x.Op == token.XOR:
		p.whole = func(e *env) int64 { return ^whole(e) }
	case x.Op == token.ADD:
	case p.class == floating:
		p.real = func(e *env) float64 { return -real(e) }
	default:
		p.whole = func(e *env) int64 { return -whole(e) }
	}
	return p
}

// binary compiles an operator between operands.
func (c *compiler) binary(x *ast.BinaryExpr) part {
	switch x.Op {
	case token.LAND, token.LOR:
		what := "an operand of " + x.Op.String()
		a, b := c.condition(x.X, what), c.condition(x.Y, what)
		p := part{class: truth, cost: 1 + a.cost + b.cost}
		if x.Op == token.LAND {
			p.whole = func(e *env) int64 {
				if a.whole(e) == 0 {
					return 0
				}
				return b.whole(e)
			}
		} else {
			p.whole = func(e *env) int64 {
				if a.whole(e) != 0 {
					return 1
				}
				return b.whole(e)
			}
		}
		return p
	}
	a, b := c.part(x.X), c.part(x.Y)
	at := c.offset(x.OpPos)
	switch x.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		if x.Op != token.EQL && x.Op != token.NEQ && (a.class == truth || b.class == truth) {
			c.fail(at, "write a < b && b < c", "a condition is not larger or smaller than anything")
		}
		return comparison(x.Op, a, b)
	case token.ADD, token.SUB, token.MUL, token.QUO:
	case token.REM, token.AND, token.OR, token.XOR, token.AND_NOT, token.SHL, token.SHR:
		if a.class == floating || b.class == floating {
			c.fail(at, "", "%v is for integers, and this is %v and %v", x.Op, a.class, b.class)
		}
	default:
		c.fail(at, "", "formulas have no operator %v", x.Op)
	}
	to := counted(a, b)
	if x.Op == token.SHL || x.Op == token.SHR { // the count has a class of its own
		to = counted(a)
	}
	p := part{class: to, cost: 1 + a.cost + b.cost}
	if to == floating {
		p.real = floats(x.Op, a.as(floating).real, b.as(floating).real)
	} else {
		p.whole = integers(x.Op, to, c.column(at), a.whole, b.whole)
	}
	return p
}

func floats(op token.Token, a, b func(*env) float64) func(*env) float64 {
	switch op {
	case token.ADD:
		return func(e *env) float64 { return a(e) + b(e) }
	case token.SUB:
		return func(e *env) float64 { return a(e) - b(e) }
	case token.MUL:
		return func(e *env) float64 { return a(e) * b(e) }
	}
	return func(e *env) float64 { return a(e) / b(e) }
}

func integers(op token.Token, class class, column int, a, b func(*env) int64) func(*env) int64 {
	divisor := func(e *env) int64 {
		y := b(e)
		if y == 0 {
			e.fail(column, "an integer is divided by zero")
		}
		return y
	}
	switch op {
	case token.ADD:
		return func(e *env) int64 { return a(e) + b(e) }
	case token.SUB:
		return func(e *env) int64 { return a(e) - b(e) }
	case token.MUL:
		return func(e *env) int64 { return a(e) * b(e) }
	case token.AND:
		return func(e *env) int64 { return a(e) & b(e) }
	case token.OR:
		return func(e *env) int64 { return a(e) | b(e) }
	case token.XOR:
		return func(e *env) int64 { return a(e) ^ b(e) }
	case token.AND_NOT:
		return func(e *env) int64 { return a(e) &^ b(e) }
	case token.SHL, token.SHR:
		return shift(op, class, column, a, b)
	case token.QUO:
		if class == unsigned {
			return func(e *env) int64 { return int64(uint64(a(e)) / uint64(divisor(e))) }
		}
		return func(e *env) int64 { return a(e) / divisor(e) }
	}
	if class == unsigned {
		return func(e *env) int64 { return int64(uint64(a(e)) % uint64(divisor(e))) }
	}
	return func(e *env) int64 { return a(e) % divisor(e) }
}

// shift shifts as Go does: by 64 and more nothing is left but the sign.
func shift(op token.Token, class class, column int, a, b func(*env) int64) func(*env) int64 {
	count := func(e *env) uint64 {
		k := b(e)
		if k < 0 {
			e.fail(column, "an integer is shifted by %d", k)
		}
		return uint64(k)
	}
	switch {
	case op == token.SHL:
		return func(e *env) int64 { return a(e) << count(e) }
	case class == unsigned:
		return func(e *env) int64 { return int64(uint64(a(e)) >> count(e)) }
	}
	return func(e *env) int64 { return a(e) >> count(e) }
}

// comparison compares by value, also a signed with an unsigned integer.
func comparison(op token.Token, a, b part) part {
	p := part{class: truth, cost: 1 + a.cost + b.cost}
	if a.class == floating || b.class == floating {
		x, y := a.as(floating).real, b.as(floating).real
		p.whole = func(e *env) int64 {
			x, y := x(e), y(e)
			if x != x || y != y {
				return number(op == token.NEQ)
			}
			return number(holds(op, cmp.Compare(x, y)))
		}
		return p
	}
	x, y, negativeX, negativeY := a.whole, b.whole, a.class != unsigned, b.class != unsigned
	p.whole = func(e *env) int64 {
		x, y := x(e), y(e)
		switch below, otherBelow := negativeX && x < 0, negativeY && y < 0; {
		case below == otherBelow:
			return number(holds(op, cmp.Compare(uint64(x), uint64(y))))
		case below:
			return number(holds(op, -1))
		}
		return number(holds(op, 1))
	}
	return p
}

// holds reports whether a comparison is true of numbers that cmp.Compare has compared.
func holds(op token.Token, order int) bool {
	switch op {
	case token.EQL:
		return order == 0
	case token.NEQ:
		return order != 0
	case token.LSS:
		return order < 0
	case token.LEQ:
		return order <= 0
	case token.GTR:
		return order > 0
	}
	return order >= 0
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
