package calculate

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/expression"
)

// The texts for the cpu device, which has a few threads. Each thread works on neighbouring elements,
// block by block: one loop converts an operand's elements into an array if they need a conversion, one
// loop calculates the formula, and one converts and stores the values. The compiler vectorises these
// loops. Operands by strides are read row by row, so that no index is divided.

// converted reports whether elements of a type are calculated as values of another one.
func converted(t element.Type) bool {
	return expression.Storage(t) != expression.CUDA(t, false)
}

// both writes a kernel in two forms: one for all processors, and one for processors with AVX2.
func (w *writer) both(list, names string) {
	w.line("SYMM_CALC_WIDE static void wide(%s) { run<true>(%s); }", list, names)
	w.line("extern \"C\" __global__ void %s(%s) { calc::wide() ? wide(%s) : run<false>(%[3]s); }", Single, list, names)
}

// block writes the loads of a block of m elements, before its loop, and returns the arguments of
// the function each in the loop over k. at is the first element of Flat operands; offset names the
// offset of the other operands.
func (w *writer) block(indent, at string, offset func(i int) string) (arguments string) {
	var b strings.Builder
	for i, o := range w.operands {
		value := expression.CUDA(o.Type, false)
		if w.moves {
			value = expression.Storage(o.Type)
		}
		convert := converted(o.Type) && !w.moves
		from := at
		if o.Access.Strided() {
			from = offset(i)
		}
		switch {
		case o.Access == Number:
			fmt.Fprintf(&b, ", v%d", i)
		case o.Access == One || o.Access == Across:
			if o.Access == One {
				from = "0"
			}
			load := "calc::load"
			if w.moves {
				load = ""
			}
			w.line("%sconst %s v%d = %s(x%[3]d[%[5]s]);", indent, value, i, load, from)
			fmt.Fprintf(&b, ", v%d", i)
		case o.Access == Apart:
			load := fmt.Sprintf("calc::load(p%d[k * apart%[1]d])", i)
			if w.moves {
				load = fmt.Sprintf("p%d[k * apart%[1]d]", i)
			}
			w.line("%sconst %s* const p%d = x%[3]d + %s;", indent, expression.Storage(o.Type), i, from)
			fmt.Fprintf(&b, ", %s", load)
		case convert:
			w.line("%s%s v%d[calc::kBlock];\n%[1]scalc::load_block<kWide>(v%[3]d, x%[3]d + %[4]s, m);", indent, value, i, from)
			fmt.Fprintf(&b, ", v%d[k]", i)
		default:
			w.line("%sconst %s* __restrict__ const p%d = x%[3]d + %s;", indent, value, i, from)
			fmt.Fprintf(&b, ", p%d[k]", i)
		}
	}
	return b.String()
}

// host returns the text of a map for the cpu device.
func (m *Map) host(w *writer, params []string, value string) {
	list, names := strings.Join(params, ", "), argumentNames(params)
	last := m.Dims - 1
	strided := map[string]Access{} // by the name in the strides' names
	var order []string
	add := func(name string, a Access) {
		if a.Strided() {
			strided[name] = a
			order = append(order, name)
		}
	}
	add("out", m.Access)
	for i, o := range m.Operands {
		add(fmt.Sprint(i), o.Access)
	}
	w.line("template <bool kWide> static SYMM_CALC void run(%s) {", list)
	w.line("  const u64 me = blockIdx.x * (u64)blockDim.x + threadIdx.x, all = gridDim.x * (u64)blockDim.x;")
	w.line("  const i64 end = (i64)symm::part(n, me + 1, all);\n  i64 at = (i64)symm::part(n, me, all);")
	if m.Dims > 0 {
		w.line("  if (at >= end) return;\n  i64 rest = at;")
		for d := last; d > 0; d-- {
			w.line("  i64 c%d = rest %% d%[1]d; rest /= d%[1]d;", d)
		}
		w.line("  i64 c0 = rest;")
		for _, name := range order {
			var terms []string
			for d := range m.Dims {
				terms = append(terms, fmt.Sprintf("c%d * s%s_%[1]d", d, name))
			}
			w.line("  i64 o%s = %s;\n  const i64 apart%[1]s = s%[1]s_%[3]d;", name, strings.Join(terms, " + "), last)
		}
	}
	w.line("  while (at < end) {\n    const i64 left = %s;\n    const int m = left < calc::kBlock ? (int)left : calc::kBlock;",
		map[bool]string{true: fmt.Sprintf("d%d - c%[1]d < end - at ? d%[1]d - c%[1]d : end - at", last), false: "end - at"}[m.Dims > 0])
	arguments := w.block("    ", "at", func(i int) string { return fmt.Sprintf("o%d", i) })
	out := "out + at"
	if m.Access.Strided() {
		out = "out + oout"
	}
	stage := converted(m.Out) && value == "float"
	target, each := "q[k]", fmt.Sprintf("each(at + k, n, rank, size%s)", arguments)
	switch {
	case stage:
		w.line("    float q[calc::kBlock];")
	case m.Access == Apart:
		w.line("    %s* const q = %s;", expression.Storage(m.Out), out)
		target = "q[k * apartout]"
	default:
		w.line("    %s* __restrict__ const q = %s;", expression.Storage(m.Out), out)
	}
	w.line("#pragma omp simd\n    for (int k = 0; k < m; k++) %s = %s;", target, each)
	switch {
	case stage && m.Access == Apart:
		w.line("    for (int k = 0; k < m; k++) (%s)[k * apartout] = calc::round<%s>(q[k]);", out, expression.Storage(m.Out))
	case stage:
		w.line("    calc::store_block<kWide>(%s, q, m);", out)
	}
	w.line("    at += m;")
	if m.Dims > 0 {
		w.line("    c%d += m;", last)
		for _, name := range order {
			w.line("    o%s += m * apart%[1]s;", name)
		}
		for d := last; d > 0; d-- {
			w.line("    if (c%d == d%[1]d) {\n      c%[1]d = 0, c%d++;", d, d-1)
			for _, name := range order {
				w.line("      o%s += s%[1]s_%d - d%d * s%[1]s_%[3]d;", name, d-1, d)
			}
			w.line("    }")
		}
	}
	w.line("  }\n}")
	w.both(list, names)
}

// asLoaded reports whether a reduction takes the values of its only operand as they are loaded.
func (r *Reduce) asLoaded(partial string) bool {
	inner, _ := r.Formula.Inner()
	o := r.Operands[0]
	return inner == "v0" && o.Access == Flat && o.value() == partial
}

// host returns the text of a reduction's kernels for the cpu device. A thread works on one chunk; with
// columns, on one chunk of up to kStrip neighbouring columns.
func (r *Reduce) host(w *writer, partial, list, names string) {
	// values returns the values of m elements, which it calculates into room unless they are the
	// values of an operand.
	w.line("template <bool kWide> static SYMM_CALC const %s* values(%[1]s* room, i64 at, int m, %s) {", partial, list)
	switch o := r.Operands[0]; {
	case !r.asLoaded(partial):
		arguments := w.block("  ", "at", nil)
		w.line("#pragma omp simd\n  for (int k = 0; k < m; k++) room[k] = each(at + k, n, rank, size%s);", arguments)
		w.line("  return room;\n}")
	case converted(o.Type):
		w.line("  calc::load_block<kWide>(room, x0 + at, m);\n  return room;\n}")
	default:
		w.line("  return x0 + at;\n}")
	}
	w.line("static SYMM_CALC void put(const Part& a, i64 item, i64 place, %s) {", list)
	w.line("  if (chunks == 1) out[place] = result(a, len, rank, size%s);\n  else partial[item] = a;\n}", w.numbers())
	w.line("template <bool kWide> static SYMM_CALC void run(%s) {\n  %s room[calc::kBlock];", list, partial)
	if r.Columns {
		w.line("  i64 cols = calc::kStrip<Part>;\n  while (cols > 16 && outer * chunks * ((inner + cols - 1) / cols) < gridDim.x) cols /= 2;")
		w.line("  const i64 groups = (inner + cols - 1) / cols;")
		w.line("  SYMM_EACH(item, (u64)(outer * chunks * groups)) {")
		w.line("    const i64 g = item %% groups * cols, rest = item / groups, chunk = rest %% chunks, o = rest / chunks;")
		w.line("    const i64 lo = chunk * share, hi = lo + share < len ? lo + share : len;\n    const int m = (int)(inner - g < cols ? inner - g : cols);")
		w.line("    calc::Strip<Part> a;\n    a.clear(m);\n    for (i64 r = lo; r < hi; r++) {")
		w.line("      for (int k = 0; k < m; k += calc::kBlock) {\n        const int some = m - k < calc::kBlock ? m - k : calc::kBlock;")
		for i, operand := range r.Operands {
			if operand.Access == Flat {
				w.line("        calc::expect(x%d + (o * len + r + 1) * inner + g + k, some);", i)
			}
		}
		w.line("        a.take(values<kWide>(room, (o * len + r) * inner + g + k, some, %s), k, some, r);\n      }\n    }", names)
		w.line("    for (int k = 0; k < m; k++) put(a.of(k), (o * chunks + chunk) * inner + g + k, o * inner + g + k, %s);\n  }\n}", names)
	} else {
		w.line("  SYMM_EACH(item, (u64)(outer * chunks)) {")
		w.line("    const i64 lo = item %% chunks * share, hi = lo + share < len ? lo + share : len, base = item / chunks * len;")
		w.line("    calc::Lanes<Part> a;\n    a.clear();\n    i64 at = lo;")
		w.line("    while (at < hi) {\n      const int m = hi - at < calc::kBlock ? (int)(hi - at) : calc::kBlock;")
		w.line("      a.take(values<kWide>(room, base + at, m, %s), at, m);\n      at += m;\n    }", names)
		w.line("    Part all;\n    all.clear();\n    a.join_to(&all);\n    put(all, item, item, %s);\n  }\n}", names)
	}
	w.both(list, names)
	w.line("extern \"C\" __global__ void %s(%s) {", Finish, list)
	w.line("  SYMM_EACH(item, (u64)(outer * inner)) {\n    const i64 o = item / inner, c = item %% inner;\n    Part a;\n    a.clear();")
	w.line("    for (i64 k = 0; k < chunks; k++) a.join(partial[(o * chunks + k) * inner + c]);")
	w.line("    out[item] = result(a, len, rank, size%s);\n  }\n}", w.numbers())
}
