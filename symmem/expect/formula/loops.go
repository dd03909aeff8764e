package formula

import (
	"go/ast"
	"slices"
)

// turn is the number of operations that the turn of a loop takes by itself.
const turn = 3

// fold combines two numbers into one.
type fold struct {
	none   int64 // the result of no numbers
	floats func(a, b float64) float64
	ints   func(a, b int64) int64
	uints  func(a, b uint64) uint64
}

var (
	add = fold{0, func(a, b float64) float64 { return a + b }, func(a, b int64) int64 { return a + b },
		func(a, b uint64) uint64 { return a + b }}
	multiply = fold{1, func(a, b float64) float64 { return a * b }, func(a, b int64) int64 { return a * b },
		func(a, b uint64) uint64 { return a * b }}
	least = fold{0, func(a, b float64) float64 { return min(a, b) }, func(a, b int64) int64 { return min(a, b) },
		func(a, b uint64) uint64 { return min(a, b) }}
	greatest = fold{0, func(a, b float64) float64 { return max(a, b) }, func(a, b int64) int64 { return max(a, b) },
		func(a, b uint64) uint64 { return max(a, b) }}
)

// integers returns the fold of integers of a class.
func (f fold) integers(c class) func(a, b int64) int64 {
	if c == unsigned {
		return func(a, b int64) int64 { return int64(f.uints(uint64(a), uint64(b))) }
	}
	return f.ints
}

// on compiles on(p, e).
func (c *compiler) on(x *ast.CallExpr) part {
	where := c.integer(x.Args[0], "a rank")
	p := c.part(x.Args[1])
	p.cost += 2 + where.cost
	column := c.column(c.offset(x.Pos()))
	whole, real := p.whole, p.real
	enter := func(e *env) (before int) {
		r := where.whole(e)
		if r < 0 || r >= int64(e.size) {
			e.fail(column, "on has rank %d, and the ranks are 0 to %d", r, e.size-1)
		}
		before, e.rank = e.rank, int(r)
		return before
	}
	if p.class == floating {
		p.real = func(e *env) float64 {
			before := enter(e)
			v := real(e)
			e.rank = before
			return v
		}
		return p
	}
	p.whole = func(e *env) int64 {
		before := enter(e)
		v := whole(e)
		e.rank = before
		return v
	}
	return p
}

// overRanks returns the compiler of a function that combines what all ranks see.
func overRanks(f fold) func(*compiler, *ast.CallExpr) part {
	return func(c *compiler, x *ast.CallExpr) part {
		p := c.part(x.Args[0])
		p = p.as(counted(p))
		column, steps, whole, real := c.column(c.offset(x.Pos())), p.cost+turn, p.whole, p.real
		p.cost = 1
		if p.class == floating {
			p.real = func(e *env) (v float64) {
				before := e.rank
				for r := range e.size {
					e.rank = r
					e.spend(column, steps)
					if next := real(e); r == 0 {
						v = next
					} else {
						v = f.floats(v, next)
					}
				}
				e.rank = before
				return v
			}
			return p
		}
		combine := f.integers(p.class)
		p.whole = func(e *env) (v int64) {
			before := e.rank
			for r := range e.size {
				e.rank = r
				e.spend(column, steps)
				if next := whole(e); r == 0 {
					v = next
				} else {
					v = combine(v, next)
				}
			}
			e.rank = before
			return v
		}
		return p
	}
}

// overRange returns the compiler of a function that combines the values for a variable's range.
func overRange(f fold) func(*compiler, *ast.CallExpr) part {
	return func(c *compiler, x *ast.CallExpr) part {
		v := c.variable(x.Args[0])
		lo, hi := c.integer(x.Args[1], "an end of a range"), c.integer(x.Args[2], "an end of a range")
		c.vars = append(c.vars, v)
		c.f.vars = max(c.f.vars, len(c.vars))
		slot := len(c.vars) - 1
		p := c.part(x.Args[3])
		c.vars = c.vars[:slot]

		p = p.as(counted(p))
		column, steps, whole, real := c.column(c.offset(x.Pos())), p.cost+turn, p.whole, p.real
		p.cost = 2 + lo.cost + hi.cost
		if p.class == floating {
			p.real = func(e *env) float64 {
				v := float64(f.none)
				for k, end := lo.whole(e), hi.whole(e); k < end; k++ {
					e.vars[slot] = k
					e.spend(column, steps)
					v = f.floats(v, real(e))
				}
				return v
			}
			return p
		}
		p.whole = func(e *env) int64 {
			v := f.none
			for k, end := lo.whole(e), hi.whole(e); k < end; k++ {
				e.vars[slot] = k
				e.spend(column, steps)
				v = f.ints(v, whole(e))
			}
			return v
		}
		return p
	}
}

// variable returns the name of a variable that a sum declares.
func (c *compiler) variable(x ast.Expr) string {
	id, ok := x.(*ast.Ident)
	switch {
	case !ok || id.Name == "_":
		c.refuse(x, "as sum(k, 0, n, x[k])", "the first argument is a variable")
	case Reserved(id.Name) || c.slot(id) >= 0 || slices.Contains(c.vars, id.Name):
		c.refuse(x, "take another name for the variable", "%s has a meaning already", id.Name)
	}
	return id.Name
}
