package ptx

import "fmt"

// plain are the types of loads and stores.
var plain = []string{"b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64"}

// memory has the instructions that access memory, except for fences.
var memory = map[string]op{
	"ld":            {"load: .weak .volatile .relaxed .acquire with a scope, .global .shared, .v2 .v4 .v8, .nc; hints about caches have no effect", load},
	"ldu":           {"load of data that nobody writes", load},
	"st":            {"store: .weak .volatile .relaxed .release with a scope, .global .shared, .v2 .v4 .v8; hints about caches have no effect", store},
	"atom":          {"atomic operation that returns the old value: add, min, max, inc, dec, and, or, xor, exch, cas; .relaxed .acquire .release .acq_rel with a scope", func(c *call) string { return atomic(c, true) }},
	"red":           {"atomic operation without a result, as atom", func(c *call) string { return atomic(c, false) }},
	"cp":            {"cp.async from global to shared memory, of 4, 8 or 16 bytes: the copy is made at once; commit_group, wait_group and wait_all have no effect", copyAsync},
	"prefetch":      {"no effect", func(c *call) string { return ignored(c) }},
	"prefetchu":     {"no effect", func(c *call) string { return ignored(c) }},
	"applypriority": {"no effect", func(c *call) string { return ignored(c) }},
	"createpolicy":  {"policy of a cache, which has no effect: 0", policy},
	"cvta":          {"address between generic, global and shared memory", convertAddress},
}

// ignored is an instruction without an effect.
func ignored(c *call) string {
	c.left, c.used = nil, len(c.instruction.operands)
	return ";"
}

// vector takes .v2, .v4 or .v8.
func (c *call) vector() string {
	if v := c.one("v2", "v4", "v8"); v != "" {
		return v[1:]
	}
	return ""
}

// weak is the result of ordered for a weak access.
const weak = "kWeak, 2"

// ordered takes the semantics of a load or store and its scope, as template arguments.
func (c *call) ordered(strong map[string]string) string {
	order := "kWeak"
	mapped := c.has("mmio")
	for m, o := range strong {
		if c.has(m) {
			order = o
		}
	}
	if c.has("weak") && order != "kWeak" {
		c.fail("%s has two semantics", c.instruction)
	}
	scope := c.scope()
	switch {
	case mapped && order != "kRelaxed":
		c.fail("%s: .mmio is for .relaxed", c.instruction)
	case order == "kVolatile":
		return "kVolatile, 2"
	case order == "kWeak" && scope != "":
		c.fail("%s has a scope and no order", c.instruction)
	case order == "kWeak":
		return weak
	case scope == "":
		c.fail("%s has an order and no scope: write .cta, .gpu or .sys behind it", c.instruction)
	}
	return order + ", " + scope
}

func load(c *call) string {
	order := c.ordered(map[string]string{"volatile": "kVolatile", "relaxed": "kRelaxed", "acquire": "kAcquire"})
	if c.has("cv") && order == weak {
		order = "kVolatile, 2"
	}
	policy, space, n, kind := c.hints(), c.space(), c.vector(), c.typed(plain...)
	to := c.operand()
	var text string
	if n == "" && kind == "u128" && order != weak {
		text = c.set(to, fmt.Sprintf("bits<u128>(load_vector<u64, 2, %s>(%s))", order, c.address(space, "u64")))
	} else if n == "" {
		text = c.set(to, fmt.Sprintf("load<%s>(%s)", order, c.address(space, kind)))
	} else {
		if fmt.Sprint(len(to.vector)) != n {
			c.fail("%s: %s registers in braces are expected", c.instruction, n)
		}
		text = "spread(" + fmt.Sprintf("load_vector<%s, %s, %s>(%s)", kind, n, order, c.address(space, kind))
		for _, v := range to.vector {
			text += ", " + c.variable(v)
		}
		text += ");"
	}
	if policy {
		c.value("u64")
	}
	return text
}

func store(c *call) string {
	order := c.ordered(map[string]string{"volatile": "kVolatile", "relaxed": "kRelaxed", "release": "kRelease"})
	policy, space, n, kind := c.hints(), c.space(), c.vector(), c.typed(plain...)
	if n == "" && kind == "u128" && order != weak {
		return fmt.Sprintf("store_vector<u64, 2, %s>(%s, bits<Vector<u64, 2>>(%s));", order, c.address(space, "u64"), c.value(kind))
	}
	to := c.address(space, kind)
	var text string
	if n == "" {
		text = fmt.Sprintf("store<%s>(%s, %s);", order, to, c.value(kind))
	} else {
		from := c.operand()
		if fmt.Sprint(len(from.vector)) != n {
			c.fail("%s: %s registers in braces are expected", c.instruction, n)
		}
		text = fmt.Sprintf("store_vector<%s, %s, %s>(%s, {", kind, n, order, to)
		for i, v := range from.vector {
			if i > 0 {
				text += ", "
			}
			text += c.valueOf(v, kind)
		}
		text += "});"
	}
	if policy {
		c.value("u64")
	}
	return text
}

// operations are the operations of atom and red, with their types.
var operations = map[string][]string{
	"add":  {"u32", "s32", "u64", "s64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"},
	"min":  {"u32", "s32", "u64", "s64", "f16", "bf16", "f16x2", "bf16x2"},
	"max":  {"u32", "s32", "u64", "s64", "f16", "bf16", "f16x2", "bf16x2"},
	"inc":  {"u32"},
	"dec":  {"u32"},
	"and":  {"b32", "b64"},
	"or":   {"b32", "b64"},
	"xor":  {"b32", "b64"},
	"exch": {"b32", "b64"},
	"cas":  {"b16", "b32", "b64"},
}

func atomic(c *call, returns bool) string {
	order, scope := "kRelaxed", "1"
	for m, o := range map[string]string{"relaxed": "kRelaxed", "acquire": "kAcquire", "release": "kRelease", "acq_rel": "kAcqRel"} {
		if c.has(m) {
			order = o
		}
	}
	if s := c.scope(); s != "" {
		scope = s
	}
	name := ""
	for o := range operations {
		if c.has(o) {
			name = o
		}
	}
	if name == "" || !returns && (name == "exch" || name == "cas") {
		c.fail("%s is no operation of %s", c.instruction, c.op)
		return ""
	}
	policy, space, n := c.hints(), c.space(), c.vector()
	c.skip("noftz")
	kind := c.typed(operations[name]...)
	var to operand
	if returns {
		to = c.operand()
	}
	p := c.address(space, kind)
	text := ""
	switch {
	case n != "" && (returns || name != "add"):
		c.fail("%s: vectors are only supported by red.add", c.instruction)
	case n != "": // each element by itself
		from := c.operand()
		for i, v := range from.vector {
			text += fmt.Sprintf("atomic<Add, %s, %s>(%s + %d, %s); ", order, scope, p, i, c.valueOf(v, kind))
		}
		if fmt.Sprint(len(from.vector)) != n {
			c.fail("%s: %s registers in braces are expected", c.instruction, n)
		}
	case name == "cas":
		text = fmt.Sprintf("swap<%s, %s>(%s, %s, %s)", order, scope, p, c.value(kind), c.value(kind))
	default:
		text = fmt.Sprintf("atomic<%s, %s, %s>(%s, %s)",
			map[string]string{"add": "Add", "min": "Min", "max": "Max", "inc": "Inc", "dec": "Dec", "and": "And", "or": "Or",
				"xor": "Xor", "exch": "Exch"}[name], order, scope, p, c.value(kind))
	}
	if policy {
		c.value("u64")
	}
	if n != "" {
		return text
	}
	if returns {
		return c.set(to, text)
	}
	return text + ";"
}

func copyAsync(c *call) string {
	if !c.has("async") {
		c.fail("%s is not known to the cpu device", c.instruction)
		return ""
	}
	if c.one("commit_group", "wait_all", "wait_group") != "" {
		return ignored(c)
	}
	policy := c.hints()
	c.space()
	c.has("global")
	to, from, size, part := c.address("shared", "u8"), c.address("generic", "u8"), c.value("u32"), ""
	if c.more() && (!policy || len(c.instruction.operands) > 4) {
		part = c.value("u32")
	}
	if policy {
		c.value("u64")
	}
	if part == "" {
		part = size
	}
	return fmt.Sprintf("copy_async(%s, %s, %s, %s);", to, from, size, part)
}

func policy(c *call) string {
	to := c.operand()
	ignored(c)
	return c.set(to, "u64{}")
}

func convertAddress(c *call) string {
	toward := c.has("to")
	space := c.one("shared", "shared::cta", "shared::cluster", "global", "local", "const")
	kind := c.typed("u32", "u64")
	to := c.operand()
	from := c.value(kind)
	if len(space) >= 6 && space[:6] == "shared" {
		if toward {
			return c.set(to, fmt.Sprintf("(%s)shared_offset(%s)", kind, from))
		}
		return c.set(to, fmt.Sprintf("(%s)shared(%s)", kind, from))
	}
	return c.set(to, from)
}
