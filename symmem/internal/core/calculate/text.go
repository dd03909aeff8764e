package calculate

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/expression"
)

// Map describes the kernels of a map.
type Map struct {
	Formula  *expression.Checked
	Out      element.Type
	Access   Access // to the result
	Operands []Operand
	Dims     int  // dimensions of the strided accesses
	Width    int  // elements that a thread loads at once in the first kernel
	Wide     bool // the number of elements exceeds 32 bits
	Host     bool // for the cpu device, whose text has the kernel Single only, and no Width
}

// The names of the kernels. On a GPU, the second kernel of a text reads one element at a time, for
// memory that is not aligned and for accesses without neighbours.
const (
	Wider  = "calculate"
	Single = "calculate_single"
	Finish = "calculate_finish"
)

// SingleOnly reports whether the map has an operand whose elements are read one at a time.
func (m *Map) SingleOnly() bool {
	apart := m.Access == Apart
	for _, o := range m.Operands {
		apart = apart || o.Access == Apart
	}
	return apart
}

// Text returns the text of the map's kernels. Their parameters are the result, the operands, n,
// rank and size, the dimensions, and the strides of all strided accesses.
func (m *Map) Text() string {
	w := &writer{operands: m.Operands}
	formula, of := m.Formula.Stored(m.Out)
	w.moves = formula == "v0" && m.Operands[0].Access != Number && m.Operands[0].Type == m.Out
	w.begin()
	stored := expression.Storage(m.Out)
	switch value := expression.CUDA(of, false); {
	case w.moves:
	case m.Host && converted(m.Out) && value == "float": // rounded when a block is stored
		stored = value
	default:
		formula = fmt.Sprintf("calc::round<%s>(%s)", stored, rounded(formula, of, m.Out))
	}
	w.line("static SYMM_CALC %s each(i64 i, i64 n, i64 rank, i64 size%s) { return %s; }", stored, w.valueParams(), formula)
	params := []string{expression.Storage(m.Out) + "* __restrict__ out"}
	params = append(params, w.params()...)
	params = append(params, "i64 n", "i64 rank", "i64 size")
	for d := range m.Dims {
		params = append(params, fmt.Sprintf("i64 d%d", d))
	}
	strided := func(name string) {
		for d := range m.Dims {
			params = append(params, fmt.Sprintf("i64 s%s_%d", name, d))
		}
	}
	if m.Access.Strided() {
		strided("out")
	}
	for i, o := range m.Operands {
		if o.Access.Strided() {
			strided(fmt.Sprint(i))
		}
	}
	if m.Host {
		m.host(w, params, stored)
		return w.b.String()
	}
	list := strings.Join(params, ", ")
	index := "symm::u32"
	if m.Wide {
		index = "u64"
	}
	w.line("template <int W> static SYMM_CALC void step(i64 at, %s) {", list)
	if m.Dims > 0 {
		w.line("  %s rest = (%[1]s)at;", index)
		for d := m.Dims - 1; d > 0; d-- {
			w.line("  const %s c%d = rest %% (%[1]s)d%[2]d; rest /= (%[1]s)d%[2]d;", index, d)
		}
		w.line("  const %s c0 = rest;", index)
	}
	offset := func(name string) string {
		var terms []string
		for d := range m.Dims {
			terms = append(terms, fmt.Sprintf("(i64)c%d * s%s_%[1]d", d, name))
		}
		return strings.Join(terms, " + ")
	}
	for i, o := range m.Operands {
		storage := expression.Storage(o.Type)
		switch o.Access {
		case Number:
		case Flat:
			w.line("  const calc::Some<%s, W> a%d = calc::load_some<W>(x%[2]d + at);", storage, i)
		case One:
			w.line("  const calc::Some<%s, W> a%d = calc::splat<W>(x%[2]d[0]);", storage, i)
		case Across:
			w.line("  const calc::Some<%s, W> a%d = calc::splat<W>(x%[2]d[%s]);", storage, i, offset(fmt.Sprint(i)))
		default:
			w.line("  const calc::Some<%s, W> a%d = calc::load_some<W>(x%[2]d + (%s));", storage, i, offset(fmt.Sprint(i)))
		}
	}
	w.line("  calc::Some<%s, W> r;", expression.Storage(m.Out))
	w.line("#pragma unroll\n  for (int k = 0; k < W; k++) r.v[k] = each(at + k, n, rank, size%s);", w.values("", "k"))
	if m.Access.Strided() {
		w.line("  calc::store_some<W>(out + (%s), r);\n}", offset("out"))
	} else {
		w.line("  calc::store_some<W>(out + at, r);\n}")
	}
	names := argumentNames(params)
	if !m.SingleOnly() {
		w.line(`extern "C" __global__ void %s(%s) {`, Wider, list)
		w.line("  const i64 whole = n / %d;", m.Width)
		w.line("  const i64 all = gridDim.x * (i64)blockDim.x;\n  i64 g = blockIdx.x * (i64)blockDim.x + threadIdx.x;")
		w.line("  for (; g + all < whole; g += 2 * all) {\n    step<%d>(g * %[1]d, %s);\n    step<%[1]d>((g + all) * %[1]d, %[2]s);\n  }", m.Width, names)
		w.line("  if (g < whole) step<%d>(g * %[1]d, %s);", m.Width, names)
		w.line("  SYMM_EACH(t, (u64)(n - whole * %d)) step<1>(whole * %[1]d + t, %s);\n}", m.Width, names)
	}
	w.line(`extern "C" __global__ void %s(%s) {`, Single, list)
	w.line("  SYMM_EACH(t, (u64)n) step<1>(t, %s);\n}", names)
	return w.b.String()
}

// rounded returns a value of a formula as an argument of calculate.cuh's round for an element type.
func rounded(formula string, of, out element.Type) string {
	if of == expression.Truth && out.IsFloat() {
		return "calc::to<symm::i32>(" + formula + ")"
	}
	return formula
}

// writer writes the common parts of all texts.
type writer struct {
	b        strings.Builder
	operands []Operand
	moves    bool // elements are copied bit by bit
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

func (w *writer) begin() {
	w.line("#include \"symm/calculate.cuh\"\nnamespace calc = symm::calculate;\nusing symm::i64;\nusing symm::u64;")
}

// value returns the type in which an operand is calculated.
func (o Operand) value() string { return expression.CUDA(o.Type, false) }

// params returns a kernel's parameters for the operands: x0 for a tensor, v0 for a number.
func (w *writer) params() (params []string) {
	for i, o := range w.operands {
		if o.Access == Number {
			params = append(params, fmt.Sprintf("%s v%d", o.value(), i))
		} else {
			params = append(params, fmt.Sprintf("const %s* __restrict__ x%d", expression.Storage(o.Type), i))
		}
	}
	return params
}

// valueParams returns a function's parameters for the values of all operands. A comma precedes each.
func (w *writer) valueParams() string {
	var b strings.Builder
	for i, o := range w.operands {
		of := o.value()
		if w.moves {
			of = expression.Storage(o.Type)
		}
		fmt.Fprintf(&b, ", %s v%d", of, i)
	}
	return b.String()
}

// values returns the arguments for valueParams: element k of the loaded elements, which from names.
func (w *writer) values(from, k string) string {
	var b strings.Builder
	for i, o := range w.operands {
		switch {
		case o.Access == Number:
			fmt.Fprintf(&b, ", v%d", i)
		case w.moves:
			fmt.Fprintf(&b, ", %sa%d.v[%s]", from, i, k)
		default:
			fmt.Fprintf(&b, ", calc::load(%sa%d.v[%s])", from, i, k)
		}
	}
	return b.String()
}

// argumentNames are the names of parameters.
func argumentNames(params []string) string {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p[strings.LastIndexAny(p, " *")+1:]
	}
	return strings.Join(names, ", ")
}
