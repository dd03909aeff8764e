package ptx

import "fmt"

// conversions has cvt.
var conversions = map[string]op{
	"cvt": {"conversion between integers, f32, f64, f16, bf16, and pairs f16x2 and bf16x2 of two f32: .rn, .rni .rzi .rmi .rpi, .sat", convert},
}

func convert(c *call) string {
	way := c.one("rn", "rz", "rni", "rzi", "rmi", "rpi", "rm", "rp")
	flush, saturate := c.has("ftz"), c.has("sat")
	c.skip("pack")
	if len(c.left) < 2 {
		c.fail("%s lacks a type", c.instruction)
		return ""
	}
	all := []string{"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64"}
	from := c.typed(all...)
	to := c.typed(append(all, "f16x2", "bf16x2")...)
	if way == "rm" || way == "rp" || way == "rz" {
		c.fail("%s: rounding by .%s is not supported on the cpu device: %s", c.instruction, way, behind)
	}
	d := c.operand()
	if to == "f16x2" || to == "bf16x2" { // the first operand is the upper half
		high, low := c.input(from, flush), c.input(from, flush)
		if from != "float" || saturate {
			c.fail("%s is not supported on the cpu device: %s", c.instruction, behind)
		}
		return c.set(d, fmt.Sprintf("pair<%s>(%s, %s)", to, low, high))
	}
	source := c.input(from, flush && from == "float")
	if way == "rni" || way == "rzi" || way == "rmi" || way == "rpi" {
		source = fmt.Sprintf("whole_%s(%s)", way, source)
	}
	function := "convert"
	if saturate {
		function = "convert_saturated"
	}
	return c.set(d, rounded(fmt.Sprintf("%s<%s>(%s)", function, to, source), flush && to == "float", false))
}
