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
			symmem.MatMul(out, a, b)
			t.equal(what, out.Float64s(), want)
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
	for _, d := range []symmem.DType{symmem.F8E4M3, symmem.F8E5M2} {
		small := symmem.Local(d, 3, 3)
		t.refused(misuse, func() { symmem.MatMul(symmem.Local(symmem.F32, 3, 3), small, small) }, "matmul",
			d.String()+" is a storage type: it can be filled, copied and read")
	}
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
