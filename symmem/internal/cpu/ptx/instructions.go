package ptx

import (
	"maps"
	"slices"
	"strings"
)

// Instruction is an instruction that the cpu device runs.
type Instruction struct {
	Name string // without modifiers: "ld"
	Says string // what it does there, and with which modifiers
}

// Instructions lists the instructions that the cpu device runs, by name.
func Instructions() []Instruction {
	var list []Instruction
	for _, name := range slices.Sorted(maps.Keys(table)) {
		list = append(list, Instruction{name, table[name].says})
	}
	return list
}

// op is the translation of an instruction.
type op struct {
	says string
	emit func(*call) string
}

// table has all instructions. Its parts are beside the functions that translate them.
var table map[string]op

func init() {
	table = map[string]op{}
	for _, part := range []map[string]op{memory, synchronisation, moves, integers, floats, conversions} {
		maps.Copy(table, part)
	}
}

// scopes are the threads among which an operation is ordered, as the emulator numbers them. A
// cluster is one block.
var scopes = map[string]string{"cta": "0", "cluster": "0", "gpu": "1", "sys": "2"}

// scope takes the scope of a memory operation; "" if it has none.
func (c *call) scope() string { return scopes[c.one("cta", "cluster", "gpu", "sys")] }

// space takes the state space of an address.
func (c *call) space() string {
	if c.one("shared", "shared::cta", "shared::cluster") != "" {
		return "shared"
	}
	c.skip("global", "local", "const")
	return "generic"
}

// hints takes the modifiers that concern caches only, and reports whether there is an operand with
// the policy.
func (c *call) hints() (policy bool) {
	policy = c.has("L2::cache_hint")
	c.left = slices.DeleteFunc(c.left, func(m string) bool {
		return strings.HasPrefix(m, "L1::") || strings.HasPrefix(m, "L2::") || strings.HasPrefix(m, "level::")
	})
	c.skip("ca", "cg", "cs", "lu", "nc", "wb", "wt", "unified")
	return policy
}

// statements joins C++ statements.
func statements(list ...string) string { return strings.Join(list, " ") }
