package ptx

import (
	"fmt"
	"strings"
)

// moves has the instructions that move, choose and compare values.
var moves = map[string]op{
	"mov":  {"copy of a register, a number or a special register; packs and unpacks {a, b}", move},
	"selp": {"one of two values, by a predicate", selectBy},
	"setp": {"comparison: eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan, with .and .or .xor of a predicate", setPredicate},
	"prmt": {"permutation of bytes", permute},
}

// specials are the special registers, as C++.
var specials = map[string]string{
	"laneid": "lane()", "warpid": "(u32)(worker()->thread->linear / 32)", "nwarpid": "warps()", "smid": "u32{0}",
	"nsmid": "u32{1}", "gridid": "u64{0}",
	"clock": "(u32)clock64()", "clock_hi": "(u32)((u64)clock64() >> 32)", "clock64": "(u64)clock64()",
	"globaltimer": "u64{run_time().nanos()}", "globaltimer_lo": "(u32)run_time().nanos()",
	"globaltimer_hi": "(u32)(run_time().nanos() >> 32)",
	"lanemask_eq":    "(1u << lane())", "lanemask_lt": "((1u << lane()) - 1)", "lanemask_le": "((2u << lane()) - 1)",
	"lanemask_gt": "~((2u << lane()) - 1)", "lanemask_ge": "~((1u << lane()) - 1)",
	"cluster_ctarank": "u32{0}", "cluster_nctarank": "u32{1}", "WARP_SZ": "u32{32}",
}

// special returns a special register as C++.
func special(name string) (text string, ok bool) {
	name = strings.TrimLeft(name, "%")
	if text, ok = specials[name]; ok {
		return text, true
	}
	base, axis, _ := strings.Cut(name, ".")
	if axis != "x" && axis != "y" && axis != "z" {
		return "", false
	}
	switch base {
	case "tid":
		return "u32{threadIdx." + axis + "}", true
	case "ntid":
		return "u32{blockDim." + axis + "}", true
	case "ctaid":
		return "u32{blockIdx." + axis + "}", true
	case "nctaid":
		return "u32{gridDim." + axis + "}", true
	case "clusterid": // a cluster is one block
		return "u32{blockIdx." + axis + "}", true
	case "nclusterid":
		return "u32{gridDim." + axis + "}", true
	case "cluster_ctaid":
		return "u32{0}", true
	case "cluster_nctaid":
		return "u32{1}", true
	}
	return "", false
}

func move(c *call) string {
	if c.has("pred") {
		to := c.operand()
		return c.set(to, c.value("bool"))
	}
	kind := c.typed("b16", "b32", "b64", "b128", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64")
	to := c.operand()
	return c.set(to, c.value(kind))
}

func selectBy(c *call) string {
	kind := c.typed("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64")
	to := c.operand()
	a, b := c.value(kind), c.value(kind)
	return c.set(to, fmt.Sprintf("(%s ? %s : %s)", c.value("bool"), a, b))
}

func setPredicate(c *call) string {
	how := c.one("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
	with := c.one("and", "or", "xor")
	c.has("ftz")
	kind := c.typed("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64")
	if how == "" {
		c.fail("%s has no comparison", c.instruction)
	}
	first, second := c.pair()
	a, b := c.value(kind), c.value(kind)
	is := fmt.Sprintf("compare_%s(%s, %s)", how, a, b)
	not := "!" + is
	if with != "" {
		by := map[string]string{"and": "&", "or": "|", "xor": "^"}[with] + " " + c.value("bool")
		is, not = "("+is+" "+by+") != 0", "("+not+" "+by+") != 0"
	}
	text := "const bool is = " + is + ", isnt = " + not + "; (void)isnt; " + c.set(first, "is")
	if second != nil {
		text += " " + c.set(*second, "isnt")
	}
	return "{ " + text + " }"
}

func permute(c *call) string {
	kind := c.typed("b32")
	to := c.operand()
	return c.set(to, fmt.Sprintf("__byte_perm(%s, %s, %s)", c.value(kind), c.value(kind), c.value(kind)))
}
