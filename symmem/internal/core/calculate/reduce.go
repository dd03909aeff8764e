package calculate

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/expression"
)

// Reduce describes the kernels of a reduction. The elements are [outer, len, inner], and len is
// what is reduced. It is divided into chunks, each for one thread or for the lanes of one result;
// if there are several chunks, their partial results lie in memory as [outer, chunks, inner], and
// the kernel Finish joins them.
type Reduce struct {
	Formula  *expression.Checked
	Out      element.Type
	Operands []Operand // Flat, One or Number
	Columns  bool      // inner is not 1: a thread has neighbouring results
	Width    int       // elements that a thread loads at once in the first kernel
}

// PartialBytes is the most that a partial result takes.
const PartialBytes = 16

// Text is the text of the reduction's kernels. The parameters are the result, the partial results,
// the operands, n, rank and size, outer, len, inner, chunks, share (the elements of a chunk) and
// lanes; Finish has those, too.
func (r *Reduce) Text() string {
	w := &writer{operands: r.Operands}
	w.begin()
	inner, of := r.Formula.Inner()
	name, reduced := r.Formula.Reduction()
	partial := partialType(name, of, reduced)
	w.line("static SYMM_CALC %s each(i64 i, i64 n, i64 rank, i64 size%s) { return calc::to<%[1]s>(%[3]s); }", partial, w.valueParams(), inner)
	w.line("typedef calc::%s<%s> Part;", parts[name], partial)
	outer, outerOf := r.Formula.Outer()
	w.line("static SYMM_CALC %s result(const Part& part, i64 n, i64 rank, i64 size%s) {", expression.Storage(r.Out), w.numberParams())
	w.line("  const %s reduced = calc::to<%[1]s>(part.value());", expression.CUDA(reduced, true))
	w.line("  return calc::round<%s>(%s);\n}", expression.Storage(r.Out), rounded(outer, outerOf, r.Out))
	params := []string{expression.Storage(r.Out) + "* __restrict__ out", "Part* __restrict__ partial"}
	params = append(params, w.params()...)
	for _, p := range []string{"n", "rank", "size", "outer", "len", "inner", "chunks", "share", "lanes"} {
		params = append(params, "i64 "+p)
	}
	list, names := strings.Join(params, ", "), argumentNames(params)
	w.line("template <int W> static SYMM_CALC void some(Part* a, i64 at, i64 first, bool apart, %s) {", list)
	for i, o := range r.Operands {
		switch o.Access {
		case Flat:
			w.line("  const calc::Some<%s, W> a%d = calc::load_some<W>(x%[2]d + at);", expression.Storage(o.Type), i)
		case One:
			w.line("  const calc::Some<%s, W> a%d = calc::splat<W>(x%[2]d[0]);", expression.Storage(o.Type), i)
		}
	}
	w.line("#pragma unroll\n  for (int k = 0; k < W; k++) a[k].take(each(at + k, n, rank, size%s), first + (apart ? 0 : k));\n}", w.values("k"))
	w.line("static SYMM_CALC void put(const Part& a, i64 item, i64 place, %s) {", list)
	w.line("  if (chunks == 1) out[place] = result(a, len, rank, size%s);\n  else partial[item] = a;\n}", w.numbers())
	if r.Columns {
		r.columns(w, list, names)
	} else {
		r.rows(w, list, names)
	}
	for _, k := range []struct {
		name  string
		width int
	}{{Wider, r.Width}, {Single, 1}} {
		w.line("extern \"C\" __global__ void %s(%s) { run<%d>(%s); }", k.name, list, k.width, names)
	}
	w.line("static SYMM_CALC void join(Part* a, i64 item, i64 lane, %s) {", list)
	w.line("  const i64 o = item / inner, c = item %% inner;")
	w.line("  for (i64 k = lane; k < chunks; k += lanes) a->join(partial[(o * chunks + k) * inner + c]);\n}")
	w.line("extern \"C\" __global__ void %s(%s) {", Finish, list)
	w.together("outer * inner", "join(&a, item, lane, "+names+");", fmt.Sprintf("out[item] = result(a, len, rank, size%s);", w.numbers()))
	w.line("}")
	return w.b.String()
}

// rows writes run for results whose elements lie in a row.
func (r *Reduce) rows(w *writer, list, names string) {
	w.line("template <int W> static SYMM_CALC void part(Part* into, i64 item, i64 lane, %s) {", list)
	w.line("  const i64 row = item / chunks, lo = item %% chunks * share, hi = lo + share < len ? lo + share : len, base = row * len;")
	w.line("  Part a[W];\n  for (int k = 0; k < W; k++) a[k].clear();")
	w.line("  i64 at = lo + lane * W;")
	w.line("#pragma unroll 4\n  for (; at + W <= hi; at += lanes * W) some<W>(a, base + at, at, false, %s);", names)
	w.line("  if (W > 1) for (at = lo + (hi > lo ? (hi - lo) / W * W : 0) + lane; at < hi; at += lanes) some<1>(a, base + at, at, false, %s);", names)
	w.line("  for (int k = 0; k < W; k++) into->join(a[k]);\n}")
	w.line("template <int W> static SYMM_CALC void run(%s) {", list)
	w.together("outer * chunks", "part<W>(&a, item, lane, "+names+");", "put(a, item, item, "+names+");")
	w.line("}")
}

// columns writes run for results that are neighbours.
func (r *Reduce) columns(w *writer, list, names string) {
	w.line("template <int W> static SYMM_CALC void run(%s) {", list)
	w.line("  const i64 groups = inner / W;")
	w.line("  SYMM_EACH(item, (u64)(outer * chunks * groups)) {")
	w.line("    const i64 g = item %% groups * W, rest = item / groups, chunk = rest %% chunks, o = rest / chunks;")
	w.line("    const i64 lo = chunk * share, hi = lo + share < len ? lo + share : len;")
	w.line("    Part a[W];\n    for (int k = 0; k < W; k++) a[k].clear();")
	w.line("#pragma unroll 4\n    for (i64 r = lo; r < hi; r++) some<W>(a, (o * len + r) * inner + g, r, true, %s);", names)
	w.line("    for (int k = 0; k < W; k++) put(a[k], (o * chunks + chunk) * inner + g + k, o * inner + g + k, %s);", names)
	w.line("  }\n}")
}

// together writes the body of a kernel in which lanes threads work on each item, from a cleared a.
func (w *writer) together(items, work, end string) {
	w.line("  const i64 items = %s;", items)
	w.line("#ifdef SYMM_CPU\n  SYMM_EACH(item, (u64)items) {\n    const i64 lane = 0;\n    Part a;\n    a.clear();\n    %s\n    %s\n  }", work, end)
	w.line("#else\n  const i64 lane = threadIdx.x %% lanes, item = blockIdx.x * (i64)(blockDim.x / lanes) + threadIdx.x / lanes;")
	w.line("  Part a;\n  a.clear();\n  if (item < items) {\n    %s\n  }\n  calc::gather(&a, (int)lanes);\n  if (lane == 0 && item < items) {\n    %s\n  }\n#endif", work, end)
}

// numberParams are the parameters of a function of the operands that are numbers, and numbers its
// arguments; each has a comma before.
func (w *writer) numberParams() string {
	var b strings.Builder
	for i, o := range w.operands {
		if o.Access == Number {
			fmt.Fprintf(&b, ", %s v%d", o.value(), i)
		}
	}
	return b.String()
}

func (w *writer) numbers() string {
	var b strings.Builder
	for i, o := range w.operands {
		if o.Access == Number {
			fmt.Fprintf(&b, ", v%d", i)
		}
	}
	return b.String()
}

// partialType is the type in which a reduction takes values.
func partialType(name string, of, reduced element.Type) string {
	switch name {
	case "sum", "prod":
		return expression.CUDA(reduced, true)
	case "any", "all":
		return "bool"
	case "argmin", "argmax":
		return expression.CUDA(of, false)
	}
	return expression.CUDA(reduced, false)
}

// parts are the partial results of reductions in calculate.cuh.
var parts = map[string]string{"sum": "Sum", "prod": "Prod", "min": "Min", "max": "Max", "argmin": "ArgMin", "argmax": "ArgMax", "any": "Any", "all": "All"}
