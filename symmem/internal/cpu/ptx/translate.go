package ptx

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Definitions returns the C++ of asm statements, each given as Statements returns it: the
// specializations of emu::ptx::Asm, to be compiled before the text that uses them.
func Definitions(statements []string) string {
	var b strings.Builder
	b.WriteString("#include \"emu_ptx.h\"\n")
	var definitions strings.Builder
	half := false
	for i, s := range statements {
		text, usesHalf := define(s, i)
		half = half || usesHalf
		definitions.WriteString(text)
	}
	if half {
		b.WriteString("#include \"emu_ptx_half.h\"\n")
	}
	b.WriteString("namespace emu::ptx {\n")
	b.WriteString(definitions.String())
	b.WriteString("}  // namespace emu::ptx\n")
	return b.String()
}

// define returns the specialization for one statement, the number i, and whether it needs
// emu_ptx_half.h. If the statement cannot be translated, its function calls one that the compiler
// or the linker rejects with the reason.
func define(statement string, i int) (text string, half bool) {
	parts := strings.Split(statement, separator)
	body, half, err := translate(parts[0], parts[1:])
	before := ""
	if err != nil {
		why := "inline PTX: " + err.Error()
		before = fmt.Sprintf("EMU_REFUSED(refused_%d, %s);\n", i, encode(why))
		body, half = fmt.Sprintf("  refused_%d();\n", i), false
	}
	var types, params []string
	for i := range parts[1:] {
		types = append(types, fmt.Sprintf("class A%d", i))
		params = append(params, fmt.Sprintf("[[maybe_unused]] A%d&& a%d", i, i))
	}
	head, attribute := "", "EMU_INLINE"
	if err != nil {
		attribute = "EMU_REFUSES"
	}
	if len(types) > 0 {
		head = "  template <" + strings.Join(types, ", ") + ">\n"
	}
	return before + "template <> struct Asm<" + encode(statement) + "> {\n" + head + "  static " + attribute + " void run(" +
		strings.Join(params, ", ") + ") {\n" + body + "  }\n};\n", half
}

// register is a variable of the generated function.
type register struct {
	variable string // C++ name
	kind     string // C++ type: "u32"
	constant bool   // an operand with constraint "n"
}

// emitter writes the body of a function.
type emitter struct {
	outer    []register            // of the asm statement's operands
	scopes   []map[string]register // of declared registers, innermost last
	declared []register            // all of them
	labels   map[string]bool       // those that exist, for C++
	jumps    []string
	code     strings.Builder
	half     bool // it needs emu_ptx_half.h
	err      error
}

var constraint = regexp.MustCompile(`^(=&?|\+&?|)([a-zA-Z])$`)

// constraintTypes are the registers of constraints.
var constraintTypes = map[string]string{"h": "u16", "r": "u32", "l": "u64", "q": "u128", "f": "float", "d": "double"}

// registerTypes are the C++ types of declared registers.
var registerTypes = map[string]string{
	"b8": "u8", "u8": "u8", "s8": "u8", "b16": "u16", "u16": "u16", "s16": "u16", "f16": "u16", "bf16": "u16", "b32": "u32",
	"u32": "u32", "s32": "u32", "f16x2": "u32", "bf16x2": "u32",
	"b64": "u64", "u64": "u64", "s64": "u64", "b128": "u128", "f32": "float", "f64": "double", "pred": "bool",
}

// translate returns the body of the function for a template and its constraints.
func translate(text string, constraints []string) (body string, half bool, err error) {
	t, err := parse(text)
	if err != nil {
		return "", false, err
	}
	e := &emitter{scopes: []map[string]register{{}}, labels: map[string]bool{}}
	var before, after strings.Builder
	for i, c := range constraints {
		m := constraint.FindStringSubmatch(c)
		if m == nil {
			return "", false, fmt.Errorf("%q is not a constraint of inline PTX: they are h, r, l, q, f, d and n, with = for outputs", c)
		}
		if m[2] == "n" && m[1] == "" {
			e.outer = append(e.outer, register{fmt.Sprintf("a%d", i), "", true})
			continue
		}
		kind, ok := constraintTypes[m[2]]
		if !ok {
			return "", false, fmt.Errorf("the constraint %q is not supported on the cpu device: use h, r, l, q, f, d or n", c)
		}
		r := register{fmt.Sprintf("r%d", i), kind, false}
		e.outer = append(e.outer, r)
		if strings.HasPrefix(m[1], "=") {
			fmt.Fprintf(&before, "    %s %s{};\n", kind, r.variable)
		} else {
			fmt.Fprintf(&before, "    %s %s = in<%s>(a%d);\n", kind, r.variable, kind, i)
		}
		if m[1] != "" {
			fmt.Fprintf(&after, "    out(a%d, %s);\n", i, r.variable)
		}
	}
	for _, i := range t.items {
		if i.label != "" {
			e.labels[i.label] = true
		}
	}
	for _, i := range t.items {
		e.item(i)
	}
	if e.err != nil {
		return "", false, e.err
	}
	for _, r := range e.declared {
		fmt.Fprintf(&before, "    %s %s{};\n", r.kind, r.variable)
	}
	return before.String() + e.code.String() + after.String(), e.half, nil
}

func (e *emitter) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

func (e *emitter) item(i item) {
	switch {
	case i.open:
		e.scopes = append(e.scopes, map[string]register{})
	case i.close:
		e.scopes = e.scopes[:len(e.scopes)-1]
	case i.label != "":
		if slices.Contains(e.jumps, ":"+i.label) {
			e.fail("the label %s stands twice", i.label)
		}
		e.jumps = append(e.jumps, ":"+i.label)
		fmt.Fprintf(&e.code, "  %s:;\n", labelName(i.label))
	case i.declares != nil:
		kind, ok := registerTypes[i.declares.kind]
		if !ok {
			e.fail("registers of type .%s are not supported on the cpu device", i.declares.kind)
		}
		for _, n := range i.declares.names {
			if n.count < 0 {
				e.declare(n.text, kind)
			}
			for j := range n.count {
				e.declare(n.text+strconv.Itoa(j), kind)
			}
		}
	case i.instruction != nil:
		e.instruction(i.instruction)
	}
}

func labelName(label string) string {
	return "label_" + strings.NewReplacer("$", "_s_", "%", "_p_", ".", "_d_", ":", "_c_").Replace(label)
}

func (e *emitter) declare(name, kind string) {
	if len(e.declared) > 4096 {
		e.fail("there are more than 4096 registers")
		return
	}
	r := register{fmt.Sprintf("t%d", len(e.declared)), kind, false}
	e.declared = append(e.declared, r)
	e.scopes[len(e.scopes)-1][name] = r
}

func (e *emitter) instruction(i *instruction) {
	op, ok := table[i.op]
	if !ok {
		e.fail("%s is not known to the cpu device: %s", i, behind)
		return
	}
	c := &call{emitter: e, instruction: i, left: slices.Clone(i.modifiers)}
	text := op.emit(c)
	if e.err == nil && len(c.left) > 0 {
		e.fail("%s: the cpu device does not know .%s of %s: %s", i, c.left[0], i.op, behind)
	}
	if e.err == nil && len(i.operands) > c.used {
		e.fail("%s has too many operands", i)
	}
	if e.err != nil {
		return
	}
	if i.guard != "" {
		not := "!"
		if !i.unless {
			not = ""
		}
		text = fmt.Sprintf("if (%s%s) { %s }", not, e.predicate(i.guard), text)
	}
	e.code.WriteString("    " + text + "\n")
}

// find returns the register of a name.
func (e *emitter) find(name string) (register, bool) {
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "%")); err == nil && strings.HasPrefix(name, "%") {
		if n < 0 || n >= len(e.outer) {
			e.fail("%s names no operand: there are %d", name, len(e.outer))
			return register{"r0", "u32", false}, true
		}
		return e.outer[n], true
	}
	for _, s := range slices.Backward(e.scopes) {
		if r, ok := s[name]; ok {
			return r, true
		}
	}
	return register{}, false
}

func (e *emitter) predicate(name string) string {
	r, ok := e.find(name)
	if !ok || r.kind != "bool" {
		e.fail("%s is not a predicate that the template declares", name)
	}
	return r.variable
}

// types are PTX's fundamental types, as C++ types.
var types = map[string]string{
	"b8": "u8", "u8": "u8", "s8": "s8", "b16": "u16", "u16": "u16", "s16": "s16", "b32": "u32", "u32": "u32", "s32": "s32",
	"b64": "u64", "u64": "u64", "s64": "s64", "b128": "u128",
	"f32": "float", "f64": "double", "f16": "f16", "bf16": "bf16", "f16x2": "f16x2", "bf16x2": "bf16x2",
}

// call is an instruction while its C++ is written. Its operands and modifiers are taken one by one:
// what is left at the end is an error.
type call struct {
	*emitter
	*instruction
	left []string // modifiers not yet taken
	used int      // number of operands taken
}

// has takes a modifier if it is there.
func (c *call) has(modifier string) bool {
	i := slices.Index(c.left, modifier)
	if i < 0 {
		return false
	}
	c.left = slices.Delete(c.left, i, i+1)
	return true
}

// one takes the first of some modifiers that is there; "" if there is none.
func (c *call) one(modifiers ...string) string {
	for _, m := range modifiers {
		if c.has(m) {
			return m
		}
	}
	return ""
}

// skip takes modifiers without a meaning here.
func (c *call) skip(modifiers ...string) {
	for _, m := range modifiers {
		c.has(m)
	}
}

// typed takes the last modifier as the type, which must be one of those allowed, as a C++ type.
func (c *call) typed(allowed ...string) string {
	if len(c.left) == 0 {
		c.fail("%s lacks its type", c.instruction)
		return "u32"
	}
	last := len(c.left) - 1
	t := c.left[last]
	if !slices.Contains(allowed, t) {
		c.fail("%s: the type .%s of %s is not supported on the cpu device: %s", c.instruction, t, c.op, behind)
		return "u32"
	}
	c.left = c.left[:last]
	if strings.Contains(t, "f16") {
		c.half = true
	}
	return types[t]
}

// operand takes the next operand.
func (c *call) operand() operand {
	if c.used >= len(c.instruction.operands) {
		c.fail("%s has too few operands", c.instruction)
		return operand{number: "0"}
	}
	c.used++
	return c.instruction.operands[c.used-1]
}

// more reports whether operands are left.
func (c *call) more() bool { return c.used < len(c.instruction.operands) }

// value takes the next operand as a value of a C++ type.
func (c *call) value(kind string) string { return c.valueOf(c.operand(), kind) }

func (c *call) valueOf(o operand, kind string) string {
	switch {
	case o.address != nil || o.second != nil:
		c.fail("%s: an address or a pair stands where a value is expected", c.instruction)
		return "0"
	case o.vector != nil:
		var parts []string
		for _, v := range o.vector {
			parts = append(parts, c.valueOf(v, c.part(kind, len(o.vector))))
		}
		return fmt.Sprintf("pack<%s>(%s)", kind, strings.Join(parts, ", "))
	case o.number != "":
		return c.immediate(o, kind)
	case kind == "bool":
		if o.negated {
			return "!" + c.predicate(o.name)
		}
		return c.predicate(o.name)
	case o.negated:
		c.fail("%s: -%s is not an operand", c.instruction, o.name)
	}
	if r, ok := c.find(o.name); ok {
		if r.constant {
			return fmt.Sprintf("constant<%s>(%s)", kind, r.variable)
		}
		return fmt.Sprintf("get<%s>(%s)", kind, r.variable)
	}
	if text, ok := special(o.name); ok {
		return fmt.Sprintf("get<%s>(%s)", kind, text)
	}
	c.fail("%s: %s is neither an operand, nor a register that the template declares, nor a special register that the cpu device has", c.instruction, o.name)
	return "0"
}

// part returns the type of the elements of which n are packed in a type.
func (c *call) part(kind string, n int) string {
	bits := map[string]int{"u16": 16, "s16": 16, "u32": 32, "s32": 32, "float": 32, "u64": 64, "s64": 64, "double": 64, "u128": 128}[kind]
	if n > 0 && bits%n == 0 {
		switch bits / n {
		case 8, 16, 32, 64:
			return "u" + strconv.Itoa(bits/n)
		}
	}
	c.fail("%s: %d parts do not make one value", c.instruction, n)
	return "u32"
}

var (
	floatBits = regexp.MustCompile(`^0[fF]([0-9a-fA-F]{8})$`)
	wideBits  = regexp.MustCompile(`^0[dD]([0-9a-fA-F]{16})$`)
	decimal   = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
)

// immediate returns a number of a C++ type.
func (c *call) immediate(o operand, kind string) string {
	sign := ""
	if o.negated {
		sign = "-"
	}
	if m := floatBits.FindStringSubmatch(o.number); m != nil {
		return fmt.Sprintf("get<%s>(%sbits<float>(u32{0x%su}))", kind, sign, m[1])
	}
	if m := wideBits.FindStringSubmatch(o.number); m != nil {
		return fmt.Sprintf("get<%s>(%sbits<double>(u64{0x%sull}))", kind, sign, m[1])
	}
	if kind == "bool" || strings.Contains(kind, "f16") {
		c.fail("%s: the number %s stands where a register is expected", c.instruction, o.number)
		return "0"
	}
	if n, err := strconv.ParseUint(strings.TrimRight(o.number, "Uu"), 0, 64); err == nil {
		return fmt.Sprintf("(%s)(%s%dull)", kind, sign, n)
	}
	if decimal.MatchString(o.number) && (kind == "float" || kind == "double") {
		return fmt.Sprintf("(%s)(%s%s)", kind, sign, o.number)
	}
	c.fail("%s: %s is not a number", c.instruction, o.number)
	return "0"
}

// result takes the next operand as the destination, and returns a statement that sets it to a value
// of a C++ type.
func (c *call) result(value string) string { return c.set(c.operand(), value) }

func (c *call) set(o operand, value string) string {
	if o.name == "_" {
		return "(void)(" + value + ");"
	}
	if o.vector != nil {
		var names []string
		for _, v := range o.vector {
			names = append(names, c.variable(v))
		}
		return fmt.Sprintf("unpack(%s, %s);", value, strings.Join(names, ", "))
	}
	return fmt.Sprintf("set(%s, %s);", c.variable(o), value)
}

// variable returns the variable of a destination.
func (c *call) variable(o operand) string {
	if o.name == "_" {
		return "Sink{}"
	}
	if r, ok := c.find(o.name); ok && o.name != "" && !r.constant && !o.negated && o.second == nil {
		return r.variable
	}
	c.fail("%s: its result does not go to a register", c.instruction)
	return "r0"
}

// address takes the next operand as the address of elements of a C++ type.
func (c *call) address(space, kind string) string {
	o := c.operand()
	if o.address == nil {
		c.fail("%s: [address] is expected", c.instruction)
		return "0"
	}
	base := c.wide(o.address.base)
	if by := o.address.by; by != nil {
		if by.number == "" {
			if r, ok := c.find(by.name); !ok || !r.constant {
				c.fail("%s: the offset of an address is a number", c.instruction)
			}
		}
		base += " + " + c.valueOf(*by, "s64")
		if by.negated && by.number == "" {
			c.fail("%s: the offset of an address is a number", c.instruction)
		}
	}
	return fmt.Sprintf("at<%s>(%s(%s))", kind, space, base)
}

// wide returns an address's register as 64 bits.
func (c *call) wide(o operand) string {
	if o.number != "" {
		return c.immediate(o, "u64")
	}
	r, ok := c.find(o.name)
	if !ok || r.constant || r.kind != "u32" && r.kind != "u64" {
		c.fail("%s: [%s] is not the address in a register: pass a pointer as operand", c.instruction, o.name)
	}
	return "(u64)" + r.variable
}
