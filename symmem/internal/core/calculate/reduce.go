package calculate

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/expression"
)

// Reduce describes the kernels of a reduction. The elements are [outer, len, inner], and the dimension
// len is reduced. It is divided into chunks, each for one thread or for `lanes` threads of a block. If
// there are several chunks, their partial results lie in memory as [outer, chunks, inner], and the
// kernel Finish joins them. The launch of Finish may overlap with the first kernel's.
type Reduce struct {
	Formula  *expression.Checked
	Out      element.Type
	Operands []Operand // Flat, One or Number
	Columns  bool      // inner is not 1: a thread has neighbouring results
	Width    int       // elements that a thread loads at once in the first kernel
	Host     bool      // for the cpu device, whose text has the kernels Single and Finish, and no Width
}

// PartialBytes is the maximum size of a partial result.
const PartialBytes = 16

// Text returns the text of the reduction's kernels. The parameters of all of them are the result, the
// partial results, the operands, n, rank and size, outer, len, inner, chunks, share (the elements of a
// chunk) and lanes.
func (r *Reduce) Text() string {
	w := &writer{operands: r.Operands}
	w.begin()
	inner, of := r.Formula.Inner()
	name, reduced := r.Formula.Reduction()
	partial := partialType(name, of, reduced)
	w.line("static SYMM_CALC %s each(i64 i, i64 n, i64 rank, i64 size%s) { return calc::to<%[1]s>(%[3]s); }", partial,
		w.valueParams(), inner)
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
	if r.Host {
		r.host(w, partial, list, names)
		return w.b.String()
	}
	// Read holds the elements that a thread loads at once, and values returns their W values.
	w.line("template <int W> struct Read {")
	for i, o := range r.Operands {
		if o.Access != Number {
			w.line("  calc::Some<%s, W> a%d;", expression.Storage(o.Type), i)
		}
	}
	w.line("};\ntemplate <int W> static SYMM_CALC Read<W> read(i64 at, %s) {\n  Read<W> some;", list)
	for i, o := range r.Operands {
		switch o.Access {
		case Flat:
			w.line("  some.a%d = calc::load_some<W>(x%[1]d + at);", i)
		case One:
			w.line("  some.a%d = calc::splat<W>(x%[1]d[0]);", i)
		}
	}
	w.line("  return some;\n}")
	w.line("template <int W> static SYMM_CALC void values(%s* v, const Read<W>& some, i64 at, %s) {", partial, list)
	w.line("#pragma unroll\n  for (int k = 0; k < W; k++) v[k] = each(at + k, n, rank, size%s);\n}", w.values("some.", "k"))
	w.line("static SYMM_CALC void put(const Part& a, i64 item, i64 place, %s) {", list)
	w.line("  if (chunks == 1) out[place] = result(a, len, rank, size%s);\n  else partial[item] = a;\n}", w.numbers())
	w.line("constexpr int kAhead = %d;", r.ahead())
	if r.Columns {
		r.columns(w, partial, list, names)
	} else {
		r.rows(w, partial, list, names)
	}
	for _, k := range []struct {
		name  string
		width int
	}{{Wider, r.Width}, {Single, 1}} {
		w.line("extern \"C\" __global__ void __launch_bounds__(%d, %d) %s(%s) {\n  calc::next();\n  run<%d>(%s);\n}", Threads,
			r.Blocks(), k.name, list, k.width, names)
	}
	// Finish may start before the kernel whose results it reads has ended. Its pointers are not
	// restrict, so that the compiler moves no load before the wait.
	w.line("static SYMM_CALC void join(Part* a, i64 item, i64 lane, %s) {", strings.ReplaceAll(list, " __restrict__", ""))
	w.line("  const i64 o = item / inner, c = item %% inner;")
	w.line("#pragma unroll 4\n  for (i64 k = lane; k < chunks; k += lanes) a->join(partial[(o * chunks + k) * inner + c]);\n}")
	w.line("extern \"C\" __global__ void %s(%s) {\n  symm::begin();", Finish, strings.ReplaceAll(list, " __restrict__", ""))
	w.together("outer * inner", "join(&a, item, lane, "+names+");", fmt.Sprintf("out[item] = result(a, len, rank, size%s);", w.numbers()))
	w.line("}")
	return w.b.String()
}

// ahead returns the number of loads of 16 bytes that a thread of a GPU issues per operand before it
// uses the first: up to 4 for all operands together.
func (r *Reduce) ahead() int {
	flat := 0
	for _, o := range r.Operands {
		if o.Access == Flat {
			flat++
		}
	}
	return max(4/max(flat, 1), 1)
}

// Blocks returns the number of blocks of the kernels that fit on a multiprocessor of a GPU. The
// registers of a thread hold its partial results, each of up to PartialBytes, and the elements that
// it has loaded.
func (r *Reduce) Blocks() int {
	words := 2 * r.Width
	if name, _ := r.Formula.Reduction(); strings.HasPrefix(name, "arg") && r.Columns {
		words *= 2
	}
	switch {
	case words > 32:
		return 2
	case words == 32:
		return 3
	}
	return 4
}

// Lanes returns the minimum and maximum number of threads of a block of a GPU that should share a
// result or, with columns, a group of neighbouring results, so that a warp reads 512 contiguous bytes.
func (r *Reduce) Lanes(groups int) (low, high int) {
	if !r.Columns {
		return 32, Threads
	}
	row := 32
	for row > groups {
		row /= 2
	}
	return 32 / row, Threads / row
}

// rows writes the function run for results whose elements are contiguous.
func (r *Reduce) rows(w *writer, partial, list, names string) {
	w.line("template <int W> static SYMM_CALC void part(Part* into, i64 item, i64 lane, %s) {", list)
	w.line("  const i64 row = item / chunks, lo = item %% chunks * share, hi = lo + share < len ? lo + share : len, base = row * len, step = lanes * W;")
	w.line("  calc::Row<Part, W> a;\n  a.clear();\n  %s v[W];\n  i64 at = lo + lane * W;", partial)
	w.line("  for (; kAhead > 1 && at + (kAhead - 1) * step + W <= hi; at += kAhead * step) {\n    Read<W> some[kAhead];")
	w.line("#pragma unroll\n    for (int u = 0; u < kAhead; u++) some[u] = read<W>(base + at + u * step, %s);", names)
	w.line("#pragma unroll\n    for (int u = 0; u < kAhead; u++) {\n      values<W>(v, some[u], base + at + u * step, %s);\n      a.take(v, at + u * step);\n    }\n  }", names)
	w.line("  for (; at + W <= hi; at += step) {\n    values<W>(v, read<W>(base + at, %s), base + at, %[1]s);\n    a.take(v, at);\n  }", names)
	w.line("  if (W > 1) for (at = lo + (hi > lo ? (hi - lo) / W * W : 0) + lane; at < hi; at += lanes) {\n    values<1>(v, read<1>(base + at, %s), base + at, %[1]s);\n    a.one(v[0], at);\n  }", names)
	w.line("  a.join_to(into);\n}")
	w.line("template <int W> static SYMM_CALC void run(%s) {", list)
	w.together("outer * chunks", "part<W>(&a, item, lane, "+names+");", "put(a, item, item, "+names+");")
	w.line("}")
}

// columns writes the function run for neighbouring results.
func (r *Reduce) columns(w *writer, partial, list, names string) {
	w.line("template <int W> static SYMM_CALC void part(Part* a, i64 lo, i64 hi, i64 lane, i64 base, %s) {", list)
	w.line("  for (int k = 0; k < W; k++) a[k].clear();\n  %s v[W];\n  i64 r = lo + lane;", partial)
	w.line("  for (; kAhead > 1 && r + (kAhead - 1) * lanes < hi; r += kAhead * lanes) {\n    Read<W> some[kAhead];")
	w.line("#pragma unroll\n    for (int u = 0; u < kAhead; u++) some[u] = read<W>(base + (r + u * lanes) * inner, %s);", names)
	w.line("#pragma unroll\n    for (int u = 0; u < kAhead; u++) {\n      values<W>(v, some[u], base + (r + u * lanes) * inner, %s);", names)
	w.line("#pragma unroll\n      for (int k = 0; k < W; k++) a[k].take(v[k], r + u * lanes);\n    }\n  }")
	w.line("  for (; r < hi; r += lanes) {\n    values<W>(v, read<W>(base + r * inner, %s), base + r * inner, %[1]s);", names)
	w.line("#pragma unroll\n    for (int k = 0; k < W; k++) a[k].take(v[k], r);\n  }\n}")
	w.line("template <int W> static SYMM_CALC void run(%s) {", list)
	w.line("  const i64 groups = inner / W, items = outer * chunks * groups;")
	w.line("  const i64 apart = blockDim.x / lanes, lane = threadIdx.x / apart, item = blockIdx.x * apart + threadIdx.x %% apart;")
	w.line("  const i64 g = item %% groups * W, rest = item / groups, chunk = rest %% chunks, o = rest / chunks;")
	w.line("  const i64 lo = chunk * share, hi = item >= items ? lo : lo + share < len ? lo + share : len;")
	w.line("  Part a[W];\n  part<W>(a, lo, hi, lane, o * len * inner + g, %s);\n  calc::gather_columns<W>(a, (int)lanes);", names)
	w.line("  if (lane == 0 && item < items) for (int k = 0; k < W; k++) put(a[k], (o * chunks + chunk) * inner + g + k, o * inner + g + k, %s);\n}", names)
}

// together writes the body of a kernel in which `lanes` threads work on each item, after a is cleared.
func (w *writer) together(items, work, end string) {
	w.line("  const i64 items = %s;", items)
	w.line("  const i64 lane = threadIdx.x %% lanes, item = blockIdx.x * (i64)(blockDim.x / lanes) + threadIdx.x / lanes;")
	w.line("  Part a;\n  a.clear();\n  if (item < items) {\n    %s\n  }\n  calc::gather(&a, (int)lanes);\n  if (lane == 0 && item < items) {\n    %s\n  }", work, end)
}

// numberParams returns a function's parameters for the operands that are numbers, and numbers the
// arguments. A comma precedes each.
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

// partialType returns the type of the values that a reduction takes.
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

// parts are the types of partial results in calculate.cuh.
var parts = map[string]string{"sum": "Sum", "prod": "Prod", "min": "Min", "max": "Max", "argmin": "ArgMin", "argmax": "ArgMax",
	"any": "Any", "all": "All"}
