package symmemtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem"
)

// wholes returns n whole numbers from -1 to 1, as few as leave sums exact in every type, that depend
// on the seed alone.
func wholes(n int, seed uint64) []int {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]int, n)
	for i := range x {
		x[i] = r.IntN(3) - 1
	}
	return x
}

// productOf is the plain model: x, m by k, times y, k by n.
func productOf(x, y []int, m, k, n int) []float64 {
	z := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for l := range k {
				z[i*n+j] += float64(x[i*k+l] * y[l*n+j])
			}
		}
	}
	return z
}

// fusedProductsCase compares the fused products of random shapes with the plain model, and with the
// operations that they are made of.
func fusedProductsCase(t *T) {
	r := rand.New(rand.NewPCG(7, uint64(t.size)))
	for round, d := range []symmem.DType{symmem.F32, symmem.BF16, symmem.F16, symmem.F64, symmem.I32, symmem.I64, symmem.BF16, symmem.F32} {
		m, k, n, n2 := r.IntN(12)+1, r.IntN(28)+1, r.IntN(12)+1, r.IntN(5)+1
		switch round {
		case 1:
			m, k, n = 16, 16, 32
		case 4:
			k = 0
		case 6:
			m = 0
		}
		what := fmt.Sprint(d, " ", m, k, n, ": ")
		rows := make([][]int, t.size)
		var all []int
		for p := range rows {
			rows[p] = wholes(m*k, uint64(100*round+p))
			all = append(all, rows[p]...)
		}
		y, y2 := wholes(k*n, uint64(round)), wholes(k*n2, uint64(round+50))
		want, want2, wantAll := productOf(all, y, t.size*m, k, n), productOf(all, y2, t.size*m, k, n2), productOf(all, []int{1}, len(all), 1, 1)

		a := symmem.Empty(d, m, k).CopyFrom(rows[t.rank])
		symmem.Rendezvous(a)
		b, b2 := symmem.Local(d, k, n).CopyFrom(y), symmem.Local(d, n2, k).CopyFrom(transposed(y2, k, n2))
		got, products := symmem.AllGatherMatMul(a, []*symmem.Tensor{b})
		t.equal(what+"gathered", got.Float64s(), wantAll)
		t.equal(what+"product", products[0].Float64s(), want)
		if shape := products[0].Shape(); !slices.Equal(shape, []int{t.size * m, n}) {
			t.Errorf("%sthe product is %v", what, shape)
		}
		flipped := symmem.Local(d, n, k).CopyFrom(transposed(y, k, n))
		got, products = symmem.AllGatherMatMul(a, []*symmem.Tensor{flipped, b2}, symmem.TransposedB())
		t.equal(what+"gathered for two", got.Float64s(), wantAll)
		t.equal(what+"the first of two", products[0].Float64s(), want)
		t.equal(what+"the second of two", products[1].Float64s(), want2)

		// Into tensors; peers read the rows in a, or at their place in all.
		ordinary, symmetric := symmem.Local(d, t.size*m, k), symmem.Empty(d, t.size*m, k)
		symmem.Rendezvous(symmetric)
		out := symmem.Local(d, t.size*m, n)
		own := symmetric.Slice(t.rank*m, (t.rank+1)*m)
		for _, c := range []struct {
			form   string
			a, all *symmem.Tensor
		}{
			{"from symmetric memory", a, ordinary}, {"between symmetric memory", a, symmetric},
			{"from ordinary memory", symmem.Local(d, m, k).CopyFrom(a), symmetric}, {"in place", own, symmetric},
		} {
			if c.all.Fill(3); c.a == own {
				own.CopyFrom(a)
			}
			out.Fill(5)
			symmem.AllGatherMatMulOut(c.a, []*symmem.Tensor{b}, c.all, []*symmem.Tensor{out})
			t.equal(what+c.form+": gathered", c.all.Float64s(), wantAll)
			t.equal(what+c.form+": product", out.Float64s(), want)
		}

		// Reduce-scatter: this rank multiplies its own factor of t.size*m rows.
		sums, x := make([]float64, t.size*m*n), []int(nil)
		for p := range t.size {
			xp := wholes(t.size*m*k, uint64(1000+100*round+p))
			for i, v := range productOf(xp, y, t.size*m, k, n) {
				sums[i] += v
			}
			if p == t.rank {
				x = xp
			}
		}
		mine := sums[t.rank*m*n : (t.rank+1)*m*n]
		factor := symmem.Local(d, t.size*m, k).CopyFrom(x)
		sum := symmem.MatMulReduceScatter(factor, b, "sum")
		t.equal(what+"sum", sum.Float64s(), mine)
		t.equal(what+"sum of a transposed factor", symmem.MatMulReduceScatter(factor, flipped, "sum", symmem.TransposedB()).Float64s(), mine)
		whole := symmem.Empty(d, t.size*m, n)
		symmem.Rendezvous(whole)
		for _, op := range []string{"sum", "avg"} {
			symmem.MatMul(whole, factor, b)
			apart := symmem.Local(d, m, n).Fill(5)
			symmem.ReduceScatterOut(whole, op, apart)
			out := symmem.Local(d, m, n).Fill(6)
			symmem.MatMulReduceScatterOut(factor, b, op, out)
			t.equal(what+op+" like that of MatMul and ReduceScatter", out.Float64s(), apart.Float64s())
		}
		if d == symmem.BF16 {
			wide := symmem.Local(symmem.F32, m, n)
			symmem.MatMulReduceScatterOut(factor, b, "sum", wide)
			t.equal(what+"sum as f32", wide.Float64s(), mine)
			t.equal(what+"sum accumulated as f32", symmem.MatMulReduceScatter(factor, b, "sum", symmem.AccumulateF32()).Float64s(), mine)
		}
		for _, s := range []*symmem.Tensor{a, symmetric, whole} {
			s.Free()
		}
	}
	x := symmem.Empty(symmem.F32, t.size, 2)
	symmem.Rendezvous(x)
	factor := symmem.Local(symmem.F32, 2, 2)
	got := symmem.Explain(func() { symmem.AllGatherMatMul(x, []*symmem.Tensor{factor}) })
	want := fmt.Sprintf("all_gather_matmul f32[%d] on world (%d ranks, %d bytes): copy engines beside products by ", 2*t.size, t.size, 8*t.size)
	if !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = symmem.Explain(func() { symmem.MatMulReduceScatter(x, factor, "sum") })
	want = fmt.Sprintf("matmul_reduce_scatter f32[%d] sum on world (%d ranks, %d bytes): copy engines beside products by ", 2*t.size, t.size, 8*t.size)
	if !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = symmem.Explain(func() { symmem.ReduceScatter(x, "sum", symmem.CopyEngine()) })
	if want = "copy engines, added up by a kernel, because CopyEngine was given"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	x.Free()

	if t.size > 2 { // a group of the first rank and the last
		if g := symmem.NewGroup(0, t.size-1); g.Rank() >= 0 {
			x := g.Empty(symmem.F32, 2, 2).Fill(g.Rank() + 1)
			symmem.Rendezvous(x, g)
			ones := symmem.Local(symmem.F32, 2, 3).Fill(1)
			_, products := symmem.AllGatherMatMul(x, []*symmem.Tensor{ones})
			t.equal("of a group", products[0].Ints(), []int{2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4})
			t.equal("sum of a group", symmem.MatMulReduceScatter(x, ones, "sum").Ints(), []int{6, 6, 6})
			x.Free()
			g.Free()
		}
	}
}

// fusedScaledCase multiplies 8-bit floats, with scales of tensors, of all rows and of each member's
// rows.
func fusedScaledCase(t *T) {
	for round, size := range [][3]int{{2, 3, 4}, {1, 16, 1}, {16, 32, 48}, {1, 5, 3}} {
		m, k, n := size[0], size[1], size[2]
		var all []int
		for p := range t.size {
			all = append(all, wholes(m*k, uint64(10*round+p))...)
		}
		y := wholes(k*n, uint64(round))
		rows, cols := make([]float64, t.size*m), make([]float64, n)
		for i := range rows {
			rows[i] = []float64{0.5, 1, 4}[i%3]
		}
		for j := range cols {
			cols[j] = []float64{2, 0.25}[j%2]
		}
		byTensor, byRow := productOf(all, y, t.size*m, k, n), make([]float64, t.size*m*n)
		for i, v := range byTensor {
			byTensor[i], byRow[i] = v*0.5*8, v*rows[i/n]*cols[i%n]
		}
		a, ofRows := symmem.Empty(symmem.F8E4M3, m, k).CopyFrom(all[t.rank*m*k:(t.rank+1)*m*k]),
			symmem.Empty(symmem.F32, m, 1).CopyFrom(rows[t.rank*m:(t.rank+1)*m])
		symmem.Rendezvous(a)
		symmem.Rendezvous(ofRows)
		b := symmem.Local(symmem.F8E4M3, n, k).CopyFrom(transposed(y, k, n))
		half, eight := symmem.Local(symmem.F32, 1).Fill(0.5), symmem.Local(symmem.F32, 1).Fill(8)
		allRows, ofCols := symmem.Local(symmem.F32, t.size*m).CopyFrom(rows), symmem.Local(symmem.F32, n).CopyFrom(cols)
		what := fmt.Sprint(size, ": ")
		check := func(by string, want []float64, scales symmem.Option) {
			_, products := symmem.AllGatherMatMul(a, []*symmem.Tensor{b}, symmem.TransposedB(), scales)
			t.equal(what+by, products[0].Float64s(), want)
			if products[0].DType() != symmem.BF16 {
				t.Errorf("%s%s: the product is %v", what, by, products[0].DType())
			}
		}
		check("scales of tensors", byTensor, symmem.Scales(half, eight))
		check("scales of all rows", byRow, symmem.Scales(allRows, ofCols))
		if n > 1 {
			check("scales of each member's rows", byRow, symmem.Scales(ofRows, ofCols))
		}

		// Every rank multiplies all rows: the sums are those of one rank, so many times.
		factor := symmem.Local(symmem.F8E4M3, t.size*m, k).CopyFrom(all)
		sum := func(of []float64) []float64 {
			part := slices.Clone(of[t.rank*m*n : (t.rank+1)*m*n])
			for i := range part {
				part[i] *= float64(t.size)
			}
			return part
		}
		wide := symmem.Local(symmem.F32, m, n)
		symmem.MatMulReduceScatterOut(factor, b, "sum", wide, symmem.TransposedB(), symmem.Scales(half, eight))
		t.equal(what+"sum with scales of tensors", wide.Float64s(), sum(byTensor))
		symmem.MatMulReduceScatterOut(factor, b, "sum", wide, symmem.TransposedB(), symmem.Scales(allRows, ofCols))
		t.equal(what+"sum with scales of rows", wide.Float64s(), sum(byRow))
		a.Free()
		ofRows.Free()
	}
}

// fusedGraphCase replays fused products, with eager ones in between.
func fusedGraphCase(t *T) {
	const m, k, n = 3, 4, 5
	a := symmem.Empty(symmem.I32, m, k)
	symmem.Rendezvous(a)
	b, all, out := symmem.Local(symmem.I32, k, n).Fill(1), symmem.Local(symmem.I32, t.size*m, k), symmem.Local(symmem.I32, t.size*m, n)
	sum := symmem.Local(symmem.I32, m, n)
	step := func() {
		symmem.AllGatherMatMulOut(a, []*symmem.Tensor{b}, all, []*symmem.Tensor{out})
		symmem.MatMulReduceScatterOut(all, b, "sum", sum)
	}
	if t.size > 1 {
		fresh := symmem.NewGroup(symmem.World().Ranks()...) // has no memory for the pieces yet
		t.refused(symmem.KindMisuse, func() { symmem.Capture(func() { symmem.MatMulReduceScatterOut(all, b, "sum", sum, fresh) }) },
			"matmul_reduce_scatter", "make this call before the capture")
		fresh.Free()
	}
	symmem.MatMulReduceScatter(all.Fill(0), b, "sum")
	g := symmem.Capture(step)
	for c := 1; c <= 12; c++ {
		a.Fill(c * (t.rank + 1))
		if c%3 == 0 {
			step()
		} else {
			g.Replay()
		}
		for p := range t.size {
			t.equal(fmt.Sprint("call ", c, ", rows of ", p), out.Slice(p*m, (p+1)*m).Ints(), slices.Repeat([]int{k * c * (p + 1)}, m*n))
		}
		t.equal(fmt.Sprint("the sum of call ", c), sum.Ints(), slices.Repeat([]int{t.size * k * c * (t.rank + 1)}, m*n))
	}
	var got string
	symmem.Capture(func() { got = symmem.Explain(step) }).Free()
	if !strings.Contains(got, "copy engines and products by ") || !strings.Contains(got, "in turns, because a graph that is captured has one stream") {
		t.Errorf("got %q", got)
	}
	g.Free()
	a.Free()
}

// fusedStreamsCase makes many fused products on alternating streams, with other calls of the group.
func fusedStreamsCase(t *T) {
	const m, k, n = 8, 16, 8
	a := symmem.Empty(symmem.I32, m, k)
	symmem.Rendezvous(a)
	b := symmem.Local(symmem.I32, k, n).Fill(1)
	all, out, sum, gathered := symmem.Local(symmem.I32, t.size*m, k), symmem.Local(symmem.I32, t.size*m, n),
		symmem.Local(symmem.I32, m, n), symmem.Local(symmem.I32, t.size*m, k)
	streams := []*symmem.Stream{symmem.NewStream(), symmem.NewStream()}
	ready := symmem.NewEvent()
	ready.Record()
	for c := range 24 {
		s := streams[c%2]
		symmem.OnStream(s, func() {
			ready.Wait()
			a.Fill(c + t.rank)
			symmem.AllGatherMatMulOut(a, []*symmem.Tensor{b}, all, []*symmem.Tensor{out})
			symmem.MatMulReduceScatterOut(all, b, "sum", sum)
			symmem.AllGatherOut(a, gathered)
			ready.Record()
			if c%6 == 5 {
				for p := range t.size {
					t.equal(fmt.Sprint("call ", c, ", rows of ", p), out.Slice(p*m, (p+1)*m).Ints(), slices.Repeat([]int{k * (c + p)}, m*n))
					t.equal(fmt.Sprint("call ", c, ", gathered"), gathered.Slice(p*m, (p+1)*m).Ints(), slices.Repeat([]int{c + p}, m*k))
				}
				t.equal(fmt.Sprint("call ", c, ", sum"), sum.Ints(), slices.Repeat([]int{t.size * k * (c + t.rank)}, m*n))
			}
		})
	}
	symmem.Synchronize()
	t.meet()
	streams[0].Free()
	streams[1].Free()
	ready.Free()
	a.Free()
}

func fusedMisuseCase(t *T) {
	a := symmem.Empty(symmem.F32, 2, 3)
	symmem.Rendezvous(a)
	x := symmem.Local(symmem.F32, 2*t.size, 3)
	b, all, out := symmem.Local(symmem.F32, 3, 4), symmem.Local(symmem.F32, 2*t.size, 3), symmem.Local(symmem.F32, 2*t.size, 4)
	gather, scatter := "all_gather_matmul", "matmul_reduce_scatter"
	refused := func(f func(), words ...string) { t.refused(symmem.KindMisuse, f, words...) }
	list := func(ts ...*symmem.Tensor) []*symmem.Tensor { return ts }
	refused(func() { symmem.AllGatherMatMul(a, nil) }, gather, "there is no factor")
	refused(func() { symmem.AllGatherMatMul(x, list(b)) }, gather, "is not symmetric", "Empty")
	refused(func() { symmem.AllGatherMatMul(a, list(x)) }, gather, "needs one of 3 rows")
	refused(func() { symmem.AllGatherMatMul(a, list(b), symmem.TransposedB()) }, gather, "needs one of 3 columns, because TransposedB was given")
	refused(func() { symmem.AllGatherMatMul(a, list(symmem.Local(symmem.BF16, 3, 4))) }, gather, "of one type")
	refused(func() { symmem.AllGatherMatMul(a.View(6), list(b)) }, gather, "two dimensions")
	refused(func() { symmem.AllGatherMatMulOut(a, list(b), out, list(out)) }, gather, "expected out shape")
	refused(func() { symmem.AllGatherMatMulOut(a, list(b), all, nil) }, gather, "there are 1 factors, and 0 tensors for their products")
	refused(func() { symmem.AllGatherMatMulOut(a, list(b), all, list(all)) }, gather, "out is f32", "expected out shape")
	refused(func() { symmem.AllGatherMatMulOut(a, list(b, b), all, list(out, out)) }, gather, "a product overlaps another tensor")
	refused(func() { symmem.AllGatherMatMul(a, list(b), symmem.Scales(b, b)) }, gather, "Scales are for f8e4m3")
	refused(func() { symmem.MatMulReduceScatter(x, b, "max") }, scatter, `must be "sum" or "avg", not "max"`)
	refused(func() { symmem.MatMulReduceScatter(x, a, "sum") }, scatter, "needs one of 3 rows")
	refused(func() { symmem.MatMulReduceScatterOut(x, b, "sum", out.Slice(0, 1)) }, scatter, "expected out shape [2, 4]")
	refused(func() { symmem.MatMulReduceScatter(x, b, "sum", symmem.AccumulateF32()) }, scatter, "AccumulateF32 is for f16 and bf16")
	if t.size > 1 {
		refused(func() { symmem.MatMulReduceScatter(symmem.Local(symmem.F32, t.size+1, 3), b, "sum") }, scatter, "is not divisible by")
	}
	small := symmem.Empty(symmem.F8E4M3, 2, 2)
	symmem.Rendezvous(small)
	one, three := symmem.Local(symmem.F32, 1), symmem.Local(symmem.F32, 3)
	factor := symmem.Local(symmem.F8E4M3, 2, 2)
	refused(func() { symmem.AllGatherMatMul(small, list(factor, factor), symmem.Scales(one, one)) }, gather, "one for each of the 2 factors after it, not 1")
	refused(func() { symmem.AllGatherMatMul(small, list(factor), symmem.Scales(three, one)) }, gather, "the scales of a are f32[3]")
	a.Free()
	refused(func() { symmem.AllGatherMatMul(a, list(b)) }, gather, "freed")
	small.Free()
}

// fusedTimeoutCase leaves rank 0 alone in each of the fused products, and lets it give up.
func fusedTimeoutCase(t *T) {
	a, b := symmem.Empty(symmem.I32, t.size, 2).Fill(t.rank+1), symmem.Local(symmem.I32, 2, 2).Fill(1)
	symmem.Rendezvous(a)
	symmem.MatMulReduceScatter(a, b, "sum") // makes the memory for the pieces
	symmem.Synchronize()                    // Recover would drop pending work
	for _, op := range []string{"all_gather_matmul", "matmul_reduce_scatter"} {
		if t.rank == 0 {
			limit := symmem.Timeout(150 * time.Millisecond)
			if op == "all_gather_matmul" {
				symmem.AllGatherMatMul(a, []*symmem.Tensor{b}, limit)
			} else {
				symmem.MatMulReduceScatter(a, b, "sum", limit)
			}
			e := t.refused(symmem.KindTimeout, symmem.Synchronize, op, "to come to the copies", "must make the same call")
			if e.Peer < 1 {
				t.Errorf("the peer is %d", e.Peer)
			}
		}
		symmem.Recover()
		_, products := symmem.AllGatherMatMul(a, []*symmem.Tensor{b})
		for p := range t.size {
			t.equal("afterwards", products[0].Slice(p*t.size, (p+1)*t.size).Ints(), slices.Repeat([]int{2 * (p + 1)}, 2*t.size))
		}
		t.equal("the sum afterwards", symmem.MatMulReduceScatter(a, b, "sum").Ints(), slices.Repeat([]int{t.size * (t.size + 1)}, 2))
	}
	a.Free()
}

// fusedTraceCase traces a product of each kind: a trace shows every product, and the copies on
// another stream.
func fusedTraceCase(t *T) {
	a, b := symmem.Empty(symmem.F32, t.size, 4).Fill(1), symmem.Local(symmem.F32, 4, 4).Fill(1)
	symmem.Rendezvous(a)
	symmem.MatMulReduceScatter(a, b, "sum") // makes the memory for the pieces
	for op, call := range []func(){
		func() { symmem.AllGatherMatMul(a, []*symmem.Tensor{b}) },
		func() { symmem.MatMulReduceScatter(a, b, "sum") },
	} {
		t.rt.StartTrace()
		call()
		symmem.Synchronize()
		list := tracedWork(t.rt.StopTrace())
		name := []string{"all_gather_matmul", "matmul_reduce_scatter"}[op]
		products, beside := 0, 0
		for _, o := range list {
			switch {
			case o.Name == "matmul":
				products++
			case o.Name == name && o.Track != list[slices.IndexFunc(list, func(o timeline.Slice) bool { return o.Name == "matmul" })].Track:
				beside++
			}
		}
		if products != t.size || beside < t.size {
			t.Errorf("%s: the trace has %d products and %d parts beside them: %+v", name, products, beside, list)
		}
	}
	a.Free()
}
