package ptx

import (
	"fmt"
	"strings"
)

// whole are the types of integer instructions.
var whole = []string{"u16", "u32", "u64", "s16", "s32", "s64"}

var raw = []string{"b16", "b32", "b64"}

// integers has the instructions of integers and bits. Those that exist for floating point too are
// in floats.
var integers = map[string]op{
	"rem":   {"remainder of integers", func(c *call) string { return binary(c, "remainder", whole) }},
	"and":   {"bitwise, of predicates too", bitwise("&")},
	"or":    {"bitwise, of predicates too", bitwise("|")},
	"xor":   {"bitwise, of predicates too", bitwise("^")},
	"not":   {"bitwise, of predicates too", not},
	"shl":   {"shift to the left; by 32 or more it is 0", shift("shift_left")},
	"shr":   {"shift to the right, with the sign for .s", shift("shift_right")},
	"shf":   {"funnel shift: .l .r, .wrap .clamp", funnel},
	"lop3":  {"any function of three bits", lop3},
	"popc":  {"number of bits that are 1", bits("popc")},
	"clz":   {"number of leading zeros", bits("clz")},
	"brev":  {"bits in the other order", unary("reverse", raw)},
	"bfind": {"place of the first bit that is not the sign", bfind},
	"bfe":   {"extraction of a field of bits", extract},
	"bfi":   {"insertion of a field of bits", insert},
	"dp4a":  {"dot product of four bytes", dp4a},
	"cnot":  {"1 for 0, else 0", unary("is_zero", raw)},
}

// unary translates f(a).
func unary(function string, allowed []string) func(*call) string {
	return func(c *call) string {
		kind := c.typed(allowed...)
		to := c.operand()
		return c.set(to, fmt.Sprintf("%s<%s>(%s)", function, kind, c.value(kind)))
	}
}

// binary translates f(a, b).
func binary(c *call, function string, allowed []string) string {
	kind := c.typed(allowed...)
	to := c.operand()
	return c.set(to, fmt.Sprintf("%s<%s>(%s, %s)", function, kind, c.value(kind), c.value(kind)))
}

func bitwise(operator string) func(*call) string {
	return func(c *call) string {
		if c.has("pred") {
			to := c.operand()
			return c.set(to, fmt.Sprintf("(%s %s %s) != 0", c.value("bool"), operator, c.value("bool")))
		}
		kind := c.typed(raw...)
		to := c.operand()
		return c.set(to, fmt.Sprintf("(%s)(%s %s %s)", kind, c.value(kind), operator, c.value(kind)))
	}
}

func not(c *call) string {
	if c.has("pred") {
		to := c.operand()
		return c.set(to, "!"+c.value("bool"))
	}
	kind := c.typed(raw...)
	to := c.operand()
	return c.set(to, fmt.Sprintf("(%s)~%s", kind, c.value(kind)))
}

func shift(function string) func(*call) string {
	return func(c *call) string {
		kind := c.typed("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64")
		to := c.operand()
		return c.set(to, fmt.Sprintf("%s<%s>(%s, %s)", function, kind, c.value(kind), c.value("u32")))
	}
}

func funnel(c *call) string {
	way, clamp := c.one("l", "r"), c.one("wrap", "clamp")
	kind := c.typed("b32")
	to := c.operand()
	if way == "" || clamp == "" {
		c.fail("%s: .l or .r, and .wrap or .clamp are needed", c.instruction)
	}
	return c.set(to, fmt.Sprintf("funnel_%s_%s(%s, %s, %s)", way, clamp, c.value(kind), c.value(kind), c.value("u32")))
}

func lop3(c *call) string {
	kind := c.typed("b32")
	to := c.operand()
	return c.set(to, fmt.Sprintf("lop3(%s, %s, %s, %s)", c.value(kind), c.value(kind), c.value(kind), c.value("u32")))
}

// bits translates functions of 32 or 64 bits whose result has 32.
func bits(function string) func(*call) string {
	return func(c *call) string {
		kind := c.typed("b32", "b64")
		to := c.operand()
		return c.set(to, fmt.Sprintf("%s(%s)", function, c.value(kind)))
	}
}

func bfind(c *call) string {
	function := "find"
	if c.has("shiftamt") {
		function = "find_shift"
	}
	kind := c.typed("u32", "u64", "s32", "s64")
	to := c.operand()
	return c.set(to, fmt.Sprintf("%s<%s>(%s)", function, kind, c.value(kind)))
}

func extract(c *call) string {
	kind := c.typed("u32", "u64", "s32", "s64")
	to := c.operand()
	return c.set(to, fmt.Sprintf("extract<%s>(%s, %s, %s)", kind, c.value(kind), c.value("u32"), c.value("u32")))
}

func insert(c *call) string {
	kind := c.typed("b32", "b64")
	to := c.operand()
	return c.set(to, fmt.Sprintf("insert<%s>(%s, %s, %s, %s)", kind, c.value(kind), c.value(kind), c.value("u32"), c.value("u32")))
}

func dp4a(c *call) string {
	c.instruction.modifiers = append([]string(nil), c.instruction.modifiers...)
	both := strings.Join(c.left, ".")
	c.left = nil
	if both != "s32.s32" && both != "u32.u32" {
		c.fail("%s: both types are .u32 or .s32 on the cpu device", c.instruction)
	}
	kind := types[both[:3]]
	to := c.operand()
	return c.set(to, fmt.Sprintf("dot4<%s>(%s, %s, %s)", kind, c.value(kind), c.value(kind), c.value(kind)))
}
