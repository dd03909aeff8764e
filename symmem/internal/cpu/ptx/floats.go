package ptx

import (
	"fmt"
	"strings"
)

var (
	numbers = []string{"u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"}
	real    = []string{"f32", "f64"}
	signed  = []string{"s16", "s32", "s64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"}
)

// floats has the arithmetic of integers and floating point.
var floats = map[string]op{
	"add":      {"sum, rounded to nearest", arithmetic("add", 2)},
	"sub":      {"difference, rounded to nearest", arithmetic("sub", 2)},
	"mul":      {"product: .lo .hi .wide of integers", multiply},
	"mad":      {"product and sum: .lo .hi .wide of integers", multiplyAdd},
	"fma":      {"product and sum, rounded once", arithmetic("fma", 3)},
	"div":      {"quotient; .approx and .full are exact here", arithmetic("div", 2)},
	"min":      {"the lesser one", arithmetic("min", 2)},
	"max":      {"the greater one", arithmetic("max", 2)},
	"abs":      {"absolute value", one("abs", signed)},
	"neg":      {"negative", one("neg", signed)},
	"copysign": {"the second one with the sign of the first", func(c *call) string { return binary(c, "copy_sign", real) }},
	"sqrt":     {"square root; .approx is exact here", one("sqrt", real)},
	"rsqrt":    {"1 / square root; .approx is exact here", one("rsqrt", real)},
	"rcp":      {"reciprocal; .approx is exact here", one("rcp", real)},
	"ex2":      {"power of 2; .approx is exact here", one("ex2", []string{"f32"})},
	"lg2":      {"logarithm to base 2; .approx is exact here", one("lg2", []string{"f32"})},
	"sin":      {"sine; .approx is exact here", one("sin", []string{"f32"})},
	"cos":      {"cosine; .approx is exact here", one("cos", []string{"f32"})},
	"tanh":     {"hyperbolic tangent; .approx is exact here", one("tanh", []string{"f32"})},
}

// rounding takes modifiers of rounding. Another direction than to nearest is refused.
func (c *call) rounding() (flush, saturate bool) {
	if way := c.one("rz", "rm", "rp", "rna", "rs"); way != "" {
		c.fail("%s: rounding by .%s is not supported on the cpu device: %s", c.instruction, way, behind)
	}
	c.skip("rn", "approx", "full", "noftz")
	return c.has("ftz"), c.has("sat")
}

// rounded returns a result with subnormal numbers replaced by 0, and limited to [0, 1], as asked
// for.
func rounded(value string, flush, saturate bool) string {
	if flush {
		value = "flush(" + value + ")"
	}
	if saturate {
		value = "saturate(" + value + ")"
	}
	return value
}

// input returns an operand with subnormal numbers replaced by 0 if asked for.
func (c *call) input(kind string, flush bool) string { return rounded(c.value(kind), flush, false) }

// arithmetic translates a function of n operands of the type.
func arithmetic(function string, n int) func(*call) string {
	return func(c *call) string {
		flush, saturate := c.rounding()
		name := function
		if c.has("NaN") {
			name += "_nan"
		}
		if c.has("relu") {
			c.fail("%s: .relu is not supported on the cpu device: %s", c.instruction, behind)
		}
		allowed := numbers
		if function == "fma" {
			allowed = []string{"f32", "f64", "f16", "bf16", "f16x2", "bf16x2"}
		}
		kind := c.typed(allowed...)
		if saturate && kind != "float" {
			c.fail("%s: .sat is only supported for .f32 on the cpu device", c.instruction)
		}
		if function == "div" && strings.Contains(kind, "f16") {
			c.fail("%s is no instruction", c.instruction)
		}
		to := c.operand()
		var list []string
		for range n {
			list = append(list, c.input(kind, flush))
		}
		return c.set(to, rounded(fmt.Sprintf("%s<%s>(%s)", name, kind, strings.Join(list, ", ")), flush, saturate))
	}
}

// one translates a function of one operand of the type.
func one(function string, allowed []string) func(*call) string {
	return func(c *call) string {
		flush, saturate := c.rounding()
		kind := c.typed(allowed...)
		to := c.operand()
		return c.set(to, rounded(fmt.Sprintf("%s<%s>(%s)", function, kind, c.input(kind, flush)), flush, saturate))
	}
}

// wider are the types of products by .wide.
var wider = map[string]string{"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}

func multiply(c *call) string {
	switch c.one("lo", "hi", "wide") {
	case "lo":
		return binary(c, "mul", whole)
	case "hi":
		return binary(c, "mul_high", whole)
	case "wide":
		kind := c.typed("u16", "u32", "s16", "s32")
		to := c.operand()
		return c.set(to, fmt.Sprintf("mul<%s>(%s, %s)", wider[kind], c.value(kind), c.value(kind)))
	}
	if n := len(c.left); n > 0 && strings.Contains("u16 u32 u64 s16 s32 s64", c.left[n-1]) {
		c.fail("%s: .lo, .hi or .wide is missing", c.instruction)
	}
	return arithmetic("mul", 2)(c)
}

func multiplyAdd(c *call) string {
	how := c.one("lo", "hi", "wide")
	if how == "" {
		return arithmetic("fma", 3)(c)
	}
	kind := c.typed(whole...)
	to := c.operand()
	a, b := c.value(kind), c.value(kind)
	switch how {
	case "lo":
		return c.set(to, fmt.Sprintf("add<%s>(mul<%s>(%s, %s), %s)", kind, kind, a, b, c.value(kind)))
	case "hi":
		return c.set(to, fmt.Sprintf("add<%s>(mul_high<%s>(%s, %s), %s)", kind, kind, a, b, c.value(kind)))
	}
	w, ok := wider[kind]
	if !ok {
		c.fail("%s is no instruction", c.instruction)
	}
	return c.set(to, fmt.Sprintf("add<%s>(mul<%s>(%s, %s), %s)", w, w, a, b, c.value(w)))
}
