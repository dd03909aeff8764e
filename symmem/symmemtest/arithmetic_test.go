package symmemtest

import (
	"fmt"
	"math"
	"slices"

	"github.com/symmrepl/symmrepl/symmem"
)

var everyType = []symmem.DType{symmem.F16, symmem.BF16, symmem.F32, symmem.F64, symmem.I8, symmem.U8, symmem.I32, symmem.U32,
	symmem.I64, symmem.U64, symmem.F8E4M3, symmem.F8E5M2, symmem.I16, symmem.U16}

// mapCase calculates formulas whose values are small whole numbers, which every type has.
func mapCase(t *T) {
	for _, d := range everyType {
		for _, n := range []int{1, 7, 1000} {
			x, y := symmem.Local(d, n), symmem.Empty(d, n)
			a, b := make([]int, n), make([]int, n)
			for i := range n {
				a[i], b[i] = i%3, 1+i%2
			}
			x.CopyFrom(a)
			y.CopyFrom(b)
			want := func(f func(a, b int) int) []int {
				out := make([]int, n)
				for i := range out {
					out[i] = f(a[i], b[i])
				}
				return out
			}
			what := fmt.Sprintf("%v[%d]: ", d, n)
			t.equal(what+"x0*x1 + rank", symmem.Map("x0*x1 + rank", x, y).Ints(), want(func(a, b int) int { return a*b + t.rank }))
			if got := symmem.Map("x0*x1 + rank", x, y).DType(); got != d {
				t.Errorf("the result of %v is %v", d, got)
			}
			if d != symmem.F32 && d != symmem.BF16 && d != symmem.I8 { // TestNumpy has all types
				y.Free()
				continue
			}
			t.equal(what+"x0 >= x1", symmem.Map("x0 >= x1", x, y).Ints(), want(func(a, b int) int {
				if a >= b {
					return 1
				}
				return 0
			}))
			// in place, and into another type
			z := symmem.Local(symmem.F32, n)
			symmem.Map("x0 * 3", x, symmem.Into(z))
			t.equal(what+"into f32", z.Ints(), want(func(a, b int) int { return 3 * a }))
			x.Add(y, symmem.Into(x))
			t.equal(what+"in place", x.Ints(), want(func(a, b int) int { return a + b }))
			y.Free()
		}
	}
	// a part that begins at no multiple of 16 bytes
	x := symmem.Local(symmem.F32, 1001).Arange()
	t.equal("a part", symmem.Map("x0 + 1", x.Slice(1, 1001)).Ints()[:3], []int{2, 3, 4})
	t.equal("i and n", symmem.Map("n - i", symmem.Into(symmem.Local(symmem.I32, 3))).Ints(), []int{3, 2, 1})
	t.equal("size", symmem.Map("size", symmem.Into(symmem.Local(symmem.I32, 1))).Ints(), []int{t.size})
}

// broadcastingCase repeats dimensions.
func broadcastingCase(t *T) {
	for _, d := range []symmem.DType{symmem.F32, symmem.U8} {
		for _, cols := range []int{3, 32} {
			x := symmem.Local(d, 4, cols).CopyFrom(sequence(4*cols, 5))
			row, column := symmem.Local(d, cols).CopyFrom(sequence(cols, 4)), symmem.Local(d, 4, 1).CopyFrom(sequence(4, 4))
			want := make([]int, 4*cols)
			for i := range want {
				want[i] = i%5 + i%cols%4
			}
			t.equal("a row", x.Add(row).Ints(), want)
			for i := range want {
				want[i] = i%5 + i/cols
			}
			t.equal("a column", x.Add(column).Ints(), want)
			for i := range want {
				want[i] = i/cols + i%cols%4
			}
			t.equal("both", column.Add(row).Ints(), want)
			for i := range want {
				want[i] = i%5 + 3
			}
			t.equal("one element", x.Add(symmem.Local(d, 1).Fill(3)).Ints(), want)
		}
	}
	x := symmem.Local(symmem.I32, 2, 3, 4).Arange()
	y := x.Transpose()
	t.equal("transposed", y.Shape(), []int{4, 3, 2})
	want := make([]int, 24)
	for i := range want {
		want[i] = i%2*12 + i/2%3*4 + i/6
	}
	t.equal("transposed", y.Ints(), want)
	t.equal("back", y.Transpose().Equal(x), true)
	t.equal("order", x.Transpose(1, 0, 2).Shape(), []int{3, 2, 4})
	for _, d := range []symmem.DType{symmem.U8, symmem.BF16, symmem.F32, symmem.F64} { // tiles, and what is left of them
		m := symmem.Local(d, 70, 130).Fill(1)
		m.Slice(69, 70).Fill(2)
		v := m.Transpose()
		t.equal("shape", v.Shape(), []int{130, 70})
		t.equal("values", slices.Equal(v.Slice(129, 130).Ints(), append(slices.Repeat([]int{1}, 69), 2)) && slices.Equal(v.Transpose().Ints(), m.Ints()), true)
	}
	for _, d := range []symmem.DType{symmem.U8, symmem.F32} { // 4 MiB: more than caches of the cpu device
		rows, cols := 1040, 4096/d.Size()+24
		m, want := symmem.Local(d, rows, cols), symmem.Local(d, cols, rows)
		symmem.Map("i % 251", symmem.Into(m))
		symmem.Map(fmt.Sprintf("((i %% %d) * %d + i / %[1]d) %% 251", rows, cols), symmem.Into(want))
		t.equal("a large transpose", m.Transpose().Equal(want), true)
	}
	m, turned := symmem.Local(symmem.BF16, 260, 2, 4200), symmem.Local(symmem.BF16, 4200, 2, 260) // every second row is at no multiple of 16 bytes
	symmem.Map("i % 251", symmem.Into(m))
	symmem.Map("(i % 260 * 8400 + i / 260 % 2 * 4200 + i / 520) % 251", symmem.Into(turned))
	t.equal("a large transpose of three dimensions", m.Transpose().Equal(turned), true)
	many, sums := symmem.Local(symmem.F16, 3, 5000), symmem.Local(symmem.F16, 5000) // more columns than a strip
	symmem.Map("i % 101", symmem.Into(many))
	symmem.Map("i % 101 + (i + 5000) % 101 + (i + 10000) % 101", symmem.Into(sums))
	t.equal("sums of columns", many.Sum(symmem.Along(0)).Equal(sums), true)
	t.equal("rows", symmem.Concatenate(0, x.Slice(0, 1), x).Shape(), []int{3, 3, 4})
	c := symmem.Concatenate(2, x, x.Add(100))
	t.equal("columns", c.View(6, 8).Slice(1, 2).Ints(), []int{4, 5, 6, 7, 104, 105, 106, 107})
	// into memory of their own, of another type too, at no multiple of 16 bytes, and into symmetric
	// memory
	for _, d := range []symmem.DType{symmem.BF16} {
		m := symmem.Local(d, 160, 144)
		symmem.Map("(i + i/144) % 100", symmem.Into(m))
		v, odd, wide := symmem.Local(d, 144, 160), symmem.Local(d, 144*160+1).Slice(1, 144*160+1).View(144, 160), symmem.Local(symmem.F64, 144, 160)
		s := symmem.Empty(d, 144, 160)
		for _, into := range []*symmem.Tensor{v, odd, wide, s} {
			if m.Transpose(symmem.Into(into)) != into || !into.Equal(m.Transpose(1, 0)) || !into.Transpose([]int{1, 0}).Equal(m) {
				t.Errorf("the transpose of %v into %v differs by %v", m.Shape(), into.DType(), into.MaxDiff(m.Transpose()))
			}
		}
		s.Free()
		both, parts := symmem.Local(d, 160, 288), []*symmem.Tensor{m, symmem.Sub(99, m)}
		symmem.Concatenate(1, parts, symmem.Into(both))
		t.equal("side by side", both.Equal(symmem.Concatenate(1, parts[0], parts[1])) && both.Convert(symmem.F64).Sum().Item() == 160*144*99, true)
	}
}

func sequence(n, m int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i % m
	}
	return out
}

// reduceCase reduces whole tensors and dimensions; the values are small whole numbers.
func reduceCase(t *T) {
	for _, d := range []symmem.DType{symmem.F32, symmem.BF16, symmem.I8, symmem.F64} {
		for _, shape := range [][]int{{1}, {37}, {20000}, {3, 5}, {64, 48}, {300, 7}, {2, 1000}, {2, 3, 16}} {
			n := 1
			for _, s := range shape {
				n *= s
			}
			a := make([]int, n)
			for i := range a {
				a[i] = (i*7 + i/3) % 5 / 4 // one in five is 1
			}
			x := symmem.Local(d, shape...).CopyFrom(a)
			for dim := -1; dim < len(shape); dim++ {
				outer, length, inner := 1, n, 1
				var opts []symmem.Option
				if dim >= 0 {
					opts = append(opts, symmem.Along(dim))
					length = shape[dim]
					for _, s := range shape[dim+1:] {
						inner *= s
					}
					outer = n / length / inner
				}
				sums, most, first := make([]int, outer*inner), make([]int, outer*inner), make([]int, outer*inner)
				for i, v := range a {
					at := i/(length*inner)*inner + i%inner
					r := i / inner % length
					sums[at] += v
					if v > most[at] {
						most[at], first[at] = v, r
					}
				}
				what := fmt.Sprintf("%v%v along %d: ", d, shape, dim)
				args := []any{x}
				for _, o := range opts {
					args = append(args, o)
				}
				if slices.Max(sums) <= 256 || d != symmem.BF16 {
					t.equal(what+"sum", x.Sum(opts...).Ints(), sums)
				}
				t.equal(what+"argmax", x.ArgMax(opts...).Ints(), first)
				if d == symmem.F32 {
					t.equal(what+"max", x.Max(opts...).Ints(), most)
					t.equal(what+"count", symmem.Reduce("sum(x0 > 0)", args...).Ints(), sums)
				}
			}
		}
	}
	x := symmem.Local(symmem.F32, 5).CopyFrom([]float64{3, -4, 0, 12, 0})
	t.equal("norm", x.Norm().Item(), 13.0)
	t.equal("mean", x.Mean().Item(), float64(float32(2.2)))
	t.equal("dot", x.Dot(x).Item(), 169.0)
	t.equal("largest", symmem.Reduce("max(abs(x0))", x).Item(), 12.0)
	t.equal("least", x.ArgMin().Ints(), []int{1})
	t.equal("any, all", []float64{symmem.Reduce("any(x0 > 11)", x).Item(), symmem.Reduce("all(x0 > 11)", x).Item()}, []float64{1, 0})
	t.equal("rank", symmem.Reduce("sum(x0) + rank", x).Item(), 11+float64(t.rank))
	t.equal("nothing", symmem.Local(symmem.F32, 0).Sum().Item(), 0.0)
	nan := symmem.Local(symmem.F32, 100).Fill(1)
	nan.Slice(70, 71).Fill(math.NaN())
	if got := nan.Max().Item(); got == got {
		t.Errorf("the largest among NaN is %v", got)
	}
	t.equal("NaN", nan.ArgMax().Ints(), []int{70})
	// comparisons
	y := x.Add(0)
	t.equal("equal", x.Equal(y) && x.AllClose(y) && x.MaxDiff(y) == 0 && !x.Equal(x.Slice(0, 4)), true)
	y.Slice(3, 4).Fill(12.5)
	t.equal("differs", []float64{x.MaxDiff(y), truth(x.Equal(y)), truth(x.AllClose(y)), truth(x.AllClose(y, 0, 0.5))}, []float64{0.5, 0, 0, 1})
}

// comparedRanksCase compares a peer's memory with this rank's.
func comparedRanksCase(t *T) {
	s := symmem.Empty(symmem.F32, 1000).Fill(t.rank)
	h := symmem.Rendezvous(s)
	h.Barrier(0)
	right := (t.rank + 1) % t.size
	t.equal("a peer", s.MaxDiff(h.GetRemoteTensor(right)), math.Abs(float64(right-t.rank)))
	t.equal("sums", symmem.Map("x0 + x1", s, h.GetRemoteTensor(right)).Slice(999, 1000).Ints(), []int{right + t.rank})
	h.Barrier(0)
	s.Free()
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// arithmeticGraphCase captures calculations, which allocate nothing, and replays them on another
// stream.
func arithmeticGraphCase(t *T) {
	x, out, sum := symmem.Local(symmem.F32, 100000).Fill(1), symmem.Local(symmem.F32, 100000), symmem.Local(symmem.F32)
	turned, both := symmem.Local(symmem.F32, 400, 250), symmem.Local(symmem.F32, 200000)
	g := symmem.Capture(func() {
		x.Add(1, symmem.Into(x))
		x.Mul(x, symmem.Into(out))
		out.Sum(symmem.Into(sum))
		out.View(250, 400).Transpose(symmem.Into(turned))
		symmem.Concatenate(0, x, out, symmem.Into(both))
	})
	for i := range 3 {
		g.Replay()
		v := float64(i + 2)
		t.equal("replayed", sum.Item(), v*v*100000)
		t.equal("transposed and joined", turned.Equal(v*v) && both.Slice(0, 100000).Equal(v) && both.Slice(100000, 200000).Equal(v*v), true)
	}
	s := symmem.NewStream()
	symmem.Synchronize()
	g.Replay(s)
	symmem.Synchronize()
	t.equal("on another stream", sum.Item(), 25.0*100000)
	t.refused(symmem.KindMisuse, func() { symmem.Capture(func() { x.Add(1) }) }, "Add", "memory cannot be allocated", "Into")
	t.refused(symmem.KindMisuse, func() { symmem.Capture(func() { turned.Transpose() }) }, "Transpose", "memory cannot be allocated", "Into")
	t.refused(symmem.KindMisuse, func() { symmem.Capture(func() { symmem.Concatenate(0, x, x) }) }, "Concatenate", "memory cannot be allocated", "Into")
	t.refused(symmem.KindMisuse, func() { symmem.Capture(func() { x.MaxDiff(1) }) }, "MaxDiff", "not allowed while a graph is captured")
	symmem.OnStream(s, func() { t.equal("a stream", x.Sum().Item(), 5.0*100000) })
	g.Free()
	s.Free()
}

// generatedCase fills tensors.
func generatedCase(t *T) {
	for _, d := range []symmem.DType{symmem.F32, symmem.F64, symmem.F16, symmem.BF16} {
		t.equal("linspace", symmem.Local(d, 5).Linspace(-1, 1).Float64s(), []float64{-1, -0.5, 0, 0.5, 1})
		t.equal("one", symmem.Local(d, 1).Linspace(3, 4).Float64s(), []float64{3})
		x := symmem.Local(d, 100000).Normal(7)
		mean, deviation := symmem.Reduce("f64(sum(x0)) / n", x.Convert(symmem.F64)).Item(), symmem.Reduce("sqrt(sum(x0*x0) / n)", x.Convert(symmem.F64)).Item()
		if math.Abs(mean) > 0.02 || math.Abs(deviation-1) > 0.02 {
			t.Errorf("%v: the mean is %v, the deviation %v", d, mean, deviation)
		}
		t.equal("the same seed", x.Equal(symmem.Local(d, 100000).Normal(7)), true)
		t.equal("another seed", x.Equal(symmem.Local(d, 100000).Normal(8)), false)
	}
}

// statisticsCase compares statistics and extremes with those of Go.
func statisticsCase(t *T) {
	const rows, columns = 7, 103
	elements := sequence(rows*columns, 8)
	elements[50], elements[700] = 80, 96
	sum := 0
	for _, v := range elements {
		sum += v
	}
	for _, d := range []symmem.DType{symmem.F32, symmem.I32, symmem.F8E4M3} { // their kernels take long to compile
		x := symmem.Local(d, rows, columns).CopyFrom(elements)
		t.equal(fmt.Sprintf("%v: statistics", d), x.Stats(), symmem.Stats{N: rows * columns, Max: 96, Mean: float64(sum) / (rows * columns)})
		for _, parts := range []int{1, 2, 100, 721, 5000} {
			least, greatest := x.Extremes(parts)
			equalExtremes(t, fmt.Sprintf("%v in %d", d, parts), x, 1, rows*columns, 1, parts, least, greatest)
		}
		if d == symmem.I32 {
			continue
		}
		least, greatest := x.Extremes(3, 20)
		equalExtremes(t, fmt.Sprintf("%v in 3, 20", d), x, rows, columns, 3, 20, least, greatest)
		x.Slice(0, 1).View(columns).Slice(0, 5).Fill(math.NaN())
		if d == symmem.F32 { // the other one has no infinity
			x.Slice(1, 2).View(columns).Slice(0, 4).Fill(math.Inf(-1))
		}
		least, greatest = x.Extremes(rows, 25) // rectangles of 1, 5
		equalExtremes(t, fmt.Sprintf("%v with NaN", d), x, rows, columns, rows, 25, least, greatest)
		t.equal("NaN", x.Stats().NaN, 5)
		if got := x.Stats().Min; d == symmem.F32 && !math.IsInf(got, -1) {
			t.Errorf("%v: the least element is %v", d, got)
		}
	}
	t.equal("text", symmem.Local(symmem.F32, 4).CopyFrom([]float64{1, 2, math.NaN(), 4.5}).Stats().String(), "4 elements from 1 to 4.5, mean 2.5, 1 NaN")
	t.equal("only NaN", symmem.Local(symmem.F32, 2).Fill(math.NaN()).Stats().String(), "2 elements, 2 NaN")
	t.equal("nothing", symmem.Local(symmem.I8, 0, 3).Stats().String(), "0 elements")
	least, greatest := symmem.Local(symmem.I8, 0, 3).Extremes(4)
	t.equal("nothing", len(least)+len(greatest), 0)
	least, _ = symmem.Local(symmem.I8).Fill(3).Extremes(4, 4)
	t.equal("no dimensions", least, []float64{3})
}

// equalExtremes compares extremes of a tensor, as a matrix, with those that Go finds.
func equalExtremes(t *T, what string, x *symmem.Tensor, rows, columns, down, across int, least, greatest []float64) {
	all := x.Float64s()
	high, wide := (rows+min(down, rows)-1)/min(down, rows), (columns+min(across, columns)-1)/min(across, columns)
	at := 0
	for r := 0; r < rows; r += high {
		for c := 0; c < columns; c += wide {
			lo, hi := math.Inf(1), math.Inf(-1)
			for i := r; i < min(r+high, rows); i++ {
				for _, v := range all[i*columns+c : i*columns+min(c+wide, columns)] {
					if !math.IsNaN(v) && !math.IsInf(v, 0) {
						lo, hi = min(lo, v), max(hi, v)
					}
				}
			}
			if lo > hi {
				lo, hi = math.NaN(), math.NaN()
			}
			if at >= len(least) || at >= len(greatest) || fmt.Sprint(least[at], greatest[at]) != fmt.Sprint(lo, hi) {
				t.Errorf("%s: part %d of %d and %d is not from %v to %v", what, at, len(least), len(greatest), lo, hi)
				return
			}
			at++
		}
	}
	if at != len(least) || at != len(greatest) {
		t.Errorf("%s: there are %d and %d parts, not %d", what, len(least), len(greatest), at)
	}
}

// arithmeticMisuseCase is refused before anything is launched.
func arithmeticMisuseCase(t *T) {
	misuse := symmem.KindMisuse
	x, y := symmem.Local(symmem.F32, 4), symmem.Local(symmem.F32, 3)
	u8 := symmem.Local(symmem.U8, 4)
	t.refused(misuse, func() { symmem.Map("x0 +", x) }, "map", "ends where a value is expected")
	t.refused(misuse, func() { symmem.Map("system(x0)", x) }, "there is no function system")
	t.refused(misuse, func() { symmem.Map(`x0); __trap(`, x) }, "is expected")
	t.refused(misuse, func() { symmem.Map("x0 + x1", x) }, "there is no operand x1")
	t.refused(misuse, func() { symmem.Map("x0", x, y) }, "has no operand x1")
	t.refused(misuse, func() { symmem.Map("sum(x0)", x) }, "reduces", "call Reduce")
	t.refused(misuse, func() { symmem.Reduce("x0", x) }, "has no reduction")
	t.refused(misuse, func() { x.Add(y) }, "Add", "do not fit", "f32[4]", "f32[3]")
	t.refused(misuse, func() { x.Add("2") }, "a tensor or a number, not string")
	t.refused(misuse, func() { u8.Add(300) }, "300 is out of the range of u8")
	t.refused(misuse, func() { u8.Mul(0.5, symmem.Into(u8)) }, "drop fractions")
	t.refused(misuse, func() { x.Add(1, symmem.Into(y)) }, "the result is f32[4]")
	big := symmem.Local(symmem.F32, 8)
	t.refused(misuse, func() { big.Slice(0, 4).Add(1, symmem.Into(big.Slice(1, 5))) }, "overlaps x0")
	t.refused(misuse, func() { x.Sum(symmem.Into(x.Slice(0, 1).View())) }, "overlaps x0")
	t.refused(misuse, func() { x.Sum(symmem.Along(1)) }, "the dimensions are 0 to 0")
	t.refused(misuse, func() { x.Add(1, symmem.Along(0)) }, "Along is an option of Reduce")
	t.refused(misuse, func() { symmem.Local(symmem.F32, 0).Max() }, "of no elements")
	t.refused(misuse, func() { x.Item() }, "has 4 elements")
	t.refused(misuse, func() { x.Dot(y) }, "of the same size")
	t.refused(misuse, func() { x.MaxDiff(y) }, "different shapes")
	t.refused(misuse, func() { x.Transpose(1) }, "no order of the 1 dimension of")
	t.refused(misuse, func() { x.Transpose("0") }, "string is no dimension")
	t.refused(misuse, func() { x.Extremes() }, "0 numbers of parts", "rows and columns")
	t.refused(misuse, func() { x.Extremes(1, 0) }, "must be positive, not 0")
	square := big.View(2, 4)
	t.refused(misuse, func() { square.Transpose(symmem.Into(square)) }, "the result is f32[4, 2]")
	t.refused(misuse, func() { square.Transpose(symmem.Into(big.View(4, 2))) }, "overlaps x0")
	t.refused(misuse, func() { square.Transpose(symmem.Into(symmem.Local(symmem.I32, 4, 2))) }, "drop fractions")
	t.refused(misuse, func() { symmem.Concatenate(0, x, x, symmem.Into(x)) }, "the result is f32[8]")
	t.refused(misuse, func() { symmem.Concatenate(0, big.Slice(0, 4), x, symmem.Into(big)) }, "overlaps tensor 0")
	t.refused(misuse, func() { symmem.Concatenate(0, x, 1) }, "int is no tensor")
	t.refused(misuse, func() { symmem.Concatenate(0) }, "nothing to join")
	t.refused(misuse, func() { symmem.Concatenate(0, (*symmem.Tensor)(nil)) }, "nil")
	t.refused(misuse, func() { symmem.Concatenate(0, x, u8) }, "does not continue")
	t.refused(misuse, func() { symmem.Concatenate(1, x) }, "no dimension 1")
	t.refused(misuse, func() { u8.Normal(1) }, "integers")
	t.refused(misuse, func() { x.AllClose(x, -1) }, "not negative")
	t.refused(misuse, func() { x.Add((*symmem.Tensor)(nil)) }, "nil")
}
