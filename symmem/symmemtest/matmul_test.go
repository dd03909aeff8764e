package symmemtest

import (
	"fmt"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// matMulCase multiplies small whole numbers, so that every type is exact.
func matMulCase(t *T) {
	for i, d := range []symmem.DType{symmem.F32, symmem.BF16, symmem.F16, symmem.F64, symmem.I32} {
		for j, size := range [][3]int{{1, 1, 1}, {3, 5, 7}, {16, 32, 8}, {64, 48, 40}, {2, 0, 2}, {0, 3, 2}} {
			m, k, n := size[0], size[1], size[2]
			x, y := make([]int, m*k), make([]int, k*n)
			for i := range x {
				x[i] = (i*7+t.rank)%5 - 2
			}
			for i := range y {
				y[i] = (i*3+j)%3 - 1
			}
			want := make([]float64, m*n)
			for r := range m {
				for c := range n {
					for l := range k {
						want[r*n+c] += float64(x[r*k+l] * y[l*n+c])
					}
				}
			}
			a, b := symmem.Local(d, m, k).CopyFrom(x), symmem.Local(d, k, n).CopyFrom(y)
			what := fmt.Sprint(d, size)
			out := symmem.Local(d, m, n).Fill(9)
			if got := symmem.MatMul(out, a, b); got != out {
				t.Errorf("%s: MatMul returned another tensor", what)
			}
			t.equal(what, out.Float64s(), want)
			flipped := symmem.Local(d, n, k).CopyFrom(transposed(y, k, n))
			symmem.MatMul(out.Fill(9), a, flipped, symmem.TransposedB())
			t.equal(what+" of a transposed factor", out.Float64s(), want)
			if i == 1 || i == 2 {
				wide := symmem.Local(symmem.F32, m, n).Fill(9)
				symmem.MatMul(wide, a, b)
				t.equal(what+" into f32", wide.Float64s(), want)
			}
			g := symmem.Capture(func() { symmem.MatMul(out.Fill(9), a, b) })
			g.Replay()
			t.equal(what+" in a graph", out.Float64s(), want)
			g.Free()
		}
	}
	// 16-bit floats are added up as f32: 256 ones and a step that bf16 alone would lose.
	ones := symmem.Local(symmem.BF16, 1, 260).Fill(1)
	sum := symmem.Local(symmem.BF16, 1, 1)
	symmem.MatMul(sum, ones, ones.View(260, 1))
	t.equal("a long sum", sum.Float64s(), []float64{260})
	s := symmem.NewStream()
	zeros := symmem.Local(symmem.BF16, 260, 1)
	symmem.Synchronize() // the tensors are zeroed on the first stream
	symmem.MatMul(sum, ones.Slice(0, 1), zeros, s)
	s.Synchronize()
	t.equal("on a stream", sum.Float64s(), []float64{0})
	s.Free()
	a := symmem.Local(symmem.F32, 2, 3)
	misuse := symmem.KindMisuse
	t.refused(misuse, func() { symmem.MatMul(symmem.Local(symmem.F32, 2, 2), a, a) }, "matmul", "needs one of 3 rows")
	t.refused(misuse, func() { symmem.MatMul(a, a, a.View(3, 2)) }, "expected out shape [2, 2]")
	t.refused(misuse, func() { symmem.MatMul(symmem.Local(symmem.F32, 4), a, a.View(3, 2)) }, "two dimensions")
	small := symmem.Local(symmem.F8E5M2, 3, 3)
	t.refused(misuse, func() { symmem.MatMul(symmem.Local(symmem.F32, 3, 3), small, small) }, "matmul",
		"f8e5m2 is a storage type: it can be filled, copied and read")
	t.refused(misuse, func() { symmem.MatMul(symmem.Local(symmem.F64, 2, 2), a, a.View(3, 2)) }, "out is f64[2, 2]")
	t.refused(misuse, func() { symmem.MatMul(symmem.Local(symmem.F32, 2, 2), a, symmem.Local(symmem.F64, 3, 2)) }, "of one type")
	q := symmem.Local(symmem.F32, 3, 3)
	t.refused(misuse, func() { symmem.MatMul(q, q, symmem.Local(symmem.F32, 3, 3)) }, "overlaps")
	want := map[string]string{"CPU": "plain kernel, because the cpu device has none", "CUDA": "cuBLASLt, because",
		"NCCL": "cuBLASLt, because"}[symmem.GetBackend()]
	got := symmem.Explain(func() { symmem.MatMul(q, symmem.Local(symmem.F32, 3, 2), symmem.Local(symmem.F32, 2, 3)) })
	if !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// transposed returns the columns of a matrix of rows and cols as rows.
func transposed(x []int, rows, cols int) []int {
	y := make([]int, len(x))
	for i := range x {
		y[i%cols*rows+i/cols] = x[i]
	}
	return y
}

// matMulScaledCase multiplies 8-bit floats, with scales that are powers of two: exact but for the
// rounding at the end.
func matMulScaledCase(t *T) {
	for i, size := range [][3]int{{1, 1, 1}, {3, 5, 7}, {16, 32, 48}, {64, 128, 32}, {2, 0, 2}, {0, 3, 2}} {
		m, k, n := size[0], size[1], size[2]
		x, y := make([]int, m*k), make([]int, k*n)
		for j := range x {
			x[j] = (j*7+t.rank)%9 - 4
		}
		for j := range y {
			y[j] = (j*5+i)%5 - 2
		}
		rows, cols := make([]float64, m), make([]float64, n)
		for r := range rows {
			rows[r] = []float64{0.5, 1, 4}[r%3]
		}
		for c := range cols {
			cols[c] = []float64{2, 0.25}[c%2]
		}
		plain, byTensor, byRow := make([]float64, m*n), make([]float64, m*n), make([]float64, m*n)
		for r := range m {
			for c := range n {
				at := r*n + c
				for l := range k {
					plain[at] += float64(x[r*k+l] * y[l*n+c])
				}
				byTensor[at], byRow[at] = plain[at]*0.5*8, plain[at]*rows[r]*cols[c]
			}
		}
		a, b, flipped := symmem.Local(symmem.F8E4M3, m, k).CopyFrom(x), symmem.Local(symmem.F8E4M3, k, n).CopyFrom(y),
			symmem.Local(symmem.F8E4M3, n, k).CopyFrom(transposed(y, k, n))
		half, eight := symmem.Local(symmem.F32, 1).Fill(0.5), symmem.Local(symmem.F32).Fill(8)
		ofRows, ofCols := symmem.Local(symmem.F32, m, 1).CopyFrom(rows), symmem.Local(symmem.F32, n).CopyFrom(cols)
		for _, d := range []symmem.DType{symmem.F32, symmem.BF16, symmem.F16} {
			out := symmem.Local(d, m, n)
			check := func(what string, want []float64, opts ...symmem.Option) {
				t.equal(fmt.Sprint(what, d, size), symmem.MatMul(out.Fill(9), a, b, opts...).Float64s(), want)
				t.equal(fmt.Sprint(what, d, size, " of a transposed factor"),
					symmem.MatMul(out.Fill(9), a, flipped, append(opts, symmem.TransposedB())...).Float64s(), want)
			}
			rounded := func(of []float64) []float64 { return symmem.Local(d, m, n).CopyFrom(of).Float64s() }
			check("no scales ", rounded(plain))
			check("scales of tensors ", rounded(byTensor), symmem.Scales(half, eight))
			check("scales of rows ", rounded(byRow), symmem.Scales(ofRows, ofCols))
		}
	}
	// The sum is f32 and is rounded once, after it was scaled: 65 * 64 / 16 = 260 is a bf16, and
	// 4160 + 64 / 4 is none.
	ones, many := symmem.Local(symmem.F8E4M3, 1, 64).Fill(1), symmem.Local(symmem.F8E4M3, 1, 64).Fill(64)
	sum := symmem.MatMul(symmem.Local(symmem.BF16, 1, 1), ones, many, symmem.TransposedB(),
		symmem.Scales(symmem.Local(symmem.F32, 1).Fill(0.0625), symmem.Local(symmem.F32, 1).Fill(1.015625)))
	t.equal("one rounding", sum.Float64s(), []float64{260})

	misuse := symmem.KindMisuse
	a, out := symmem.Local(symmem.F8E4M3, 2, 2), symmem.Local(symmem.BF16, 2, 2)
	one, two := symmem.Local(symmem.F32, 1), symmem.Local(symmem.F32, 2)
	refused := func(out, a *symmem.Tensor, scales symmem.Option, want string) {
		t.refused(misuse, func() { symmem.MatMul(out, a, a, scales) }, "matmul", want)
	}
	refused(symmem.Local(symmem.F64, 2, 2), a, symmem.Scales(one, one), "a product of f8e4m3 is bf16, f16 or f32")
	refused(a, a, symmem.Scales(one, one), "a product of f8e4m3 is bf16, f16 or f32")
	refused(out, a, symmem.Scales(one), "one for each of the 1 factors after it, not 0")
	refused(out, a, symmem.Scales(one, two), "the scales of b are f32[2], expected 1")
	refused(out, a, symmem.Scales(two, one), "the scales of b are f32[1], expected 2")
	refused(out, a, symmem.Scales(symmem.Local(symmem.F32, 3), one), "the scales of a are f32[3], expected 1, or 2, one for each row")
	refused(out, a, symmem.Scales(symmem.Local(symmem.F64, 1), one), "scales are f32")
	refused(out, symmem.Local(symmem.BF16, 2, 2), symmem.Scales(one, one), "Scales are for f8e4m3")
}
