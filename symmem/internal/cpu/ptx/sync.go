package ptx

import "fmt"

// synchronisation has barriers, fences, warp operations, and waiting.
var synchronisation = map[string]op{
	"fence":   {"fence of a scope; .proxy has no effect, since there is one path to memory", fence},
	"membar":  {"fence of a scope: .cta .gl .sys", membar},
	"bar":     {"bar.sync with a number and a count of threads, bar.warp.sync, bar.red of all threads", barrier},
	"barrier": {"barrier.sync, as bar.sync", barrier},
	"nanosleep": {"lets other threads run",
		func(c *call) string { c.typed("u32"); return "(void)(" + c.value("u32") + "); run_time().yield();" }},
	"vote":  {"vote.sync of the lanes of a mask: .all .any .uni .ballot", vote},
	"shfl":  {"shfl.sync: .idx .up .down .bfly", shuffle},
	"match": {"match.sync: .any .all", match},
	"redux": {"redux.sync of 32-bit integers", redux},
	"activemask": {"the calling lane only, since every thread runs by itself",
		func(c *call) string { c.typed("b32"); return c.result("__activemask()") }},
	"elect": {"elect.sync: the first lane of the mask", elect},
	"griddepcontrol": {"no effect, since launches of a stream do not overlap",
		func(c *call) string { c.skip("wait", "launch_dependents"); return ";" }},
	"setmaxnreg": {"no effect", ignored},
	"trap":       {"ends the kernel with a fault", func(c *call) string { return "__trap();" }},
	"brkpt":      {"ends the kernel with a fault", func(c *call) string { return "__brkpt();" }},
	"bra":        {"jump to a label of the template", jump},
}

func fence(c *call) string {
	if c.has("proxy") {
		c.left = nil
		return ";"
	}
	c.one("sc", "acq_rel", "acquire", "release")
	scope := c.scope()
	if scope == "" {
		c.fail("%s has no scope: write .cta, .gpu or .sys behind it", c.instruction)
	}
	return "symm_cpu_fence(" + scope + ");"
}

func membar(c *call) string {
	if c.has("proxy") {
		c.left = nil
		return ";"
	}
	scope, ok := map[string]string{"cta": "0", "gl": "1", "sys": "2"}[c.one("cta", "gl", "sys")]
	if !ok {
		c.fail("%s has no scope: write .cta, .gl or .sys behind it", c.instruction)
	}
	return "symm_cpu_fence(" + scope + ");"
}

func barrier(c *call) string {
	c.skip("cta", "aligned")
	switch {
	case c.has("warp"):
		c.has("sync")
		return "__syncwarp(" + c.value("u32") + ");"
	case c.has("sync"):
		id := c.value("u32")
		if c.more() {
			return fmt.Sprintf("named_barrier(%s, %s);", id, c.value("u32"))
		}
		return fmt.Sprintf("named_barrier(%s);", id)
	case c.has("red"):
		how := c.one("popc", "and", "or")
		if how == "popc" {
			c.typed("u32")
		} else {
			c.has("pred")
		}
		to := c.operand()
		id := c.value("u32")
		if len(c.instruction.operands) > 3 {
			c.fail("%s: a count of threads is not supported on the cpu device with bar.red", c.instruction)
			return ""
		}
		function := map[string]string{"popc": "(u32)__syncthreads_count", "and": "(bool)__syncthreads_and",
			"or": "(bool)__syncthreads_or"}[how]
		return statements("only_barrier_0("+id+");", c.set(to, function+"("+c.value("bool")+")"))
	}
	c.fail("%s is not supported on the cpu device: use bar.sync", c.instruction)
	return ""
}

// synced takes .sync.
func (c *call) synced() {
	if !c.has("sync") {
		c.fail("%s: the cpu device knows %s.sync only, which names the lanes that take part", c.instruction, c.op)
	}
}

func vote(c *call) string {
	c.synced()
	how := c.one("all", "any", "uni", "ballot")
	c.one("pred", "b32")
	to := c.operand()
	p := c.value("bool")
	mask := c.value("u32")
	return c.set(to, map[string]string{
		"all":    "(bool)__all_sync(" + mask + ", " + p + ")",
		"any":    "(bool)__any_sync(" + mask + ", " + p + ")",
		"uni":    "uniform(" + mask + ", " + p + ")",
		"ballot": "__ballot_sync(" + mask + ", " + p + ")",
	}[how])
}

// pair takes the next operand as one or two destinations.
func (c *call) pair() (first operand, second *operand) {
	first = c.operand()
	second, first.second = first.second, nil
	return first, second
}

// results sets a destination to a value, and the second one, if there is one, to whether it is
// valid.
func (c *call) results(first operand, second *operand, value string) string {
	text := "const auto found = " + value + "; " + c.set(first, "found.value")
	if second != nil {
		text += " " + c.set(*second, "found.valid")
	}
	return "{ " + text + " }"
}

func shuffle(c *call) string {
	c.synced()
	how := map[string]string{"idx": "kIdx", "up": "kUp", "down": "kDown", "bfly": "kBfly"}[c.one("idx", "up", "down", "bfly")]
	c.typed("b32")
	first, second := c.pair()
	v, b, clamp, mask := c.value("u32"), c.value("u32"), c.value("u32"), c.value("u32")
	if how == "" {
		c.fail("%s: .idx, .up, .down or .bfly is missing", c.instruction)
	}
	return c.results(first, second, fmt.Sprintf("shuffle_lanes<%s>(%s, %s, %s, %s)", how, v, b, clamp, mask))
}

func match(c *call) string {
	how := c.one("any", "all")
	c.synced()
	kind := c.typed("b32", "b64")
	first, second := c.pair()
	v, mask := c.value(kind), c.value("u32")
	if how == "all" {
		return c.results(first, second, fmt.Sprintf("match_all(%s, %s)", v, mask))
	}
	return c.set(first, fmt.Sprintf("__match_any_sync(%s, %s)", mask, v))
}

func redux(c *call) string {
	c.synced()
	how := c.one("add", "min", "max", "and", "or", "xor")
	kind := c.typed("u32", "s32", "b32")
	to := c.operand()
	v, mask := c.value(kind), c.value("u32")
	if how == "" {
		c.fail("%s has no operation", c.instruction)
	}
	return c.set(to, fmt.Sprintf("__reduce_%s_sync(%s, %s)", how, mask, v))
}

func elect(c *call) string {
	c.synced()
	first, second := c.pair()
	return c.results(first, second, "elected("+c.value("u32")+")")
}

func jump(c *call) string {
	c.skip("uni")
	o := c.operand()
	if !c.labels[o.name] {
		c.fail("%s: the template has no label %s", c.instruction, o.name)
	}
	return "goto " + labelName(o.name) + ";"
}
