package symmemtest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// wayBytes returns a size for each algorithm of an all-reduce on this device: packets in one shot;
// lines in two shots; and the algorithm for large messages, which is chunks in two shots on GPUs,
// and two shots between barriers on the cpu device. If two shots are asked for, the cpu device
// sends chunks at this size too.
func wayBytes() [3]int {
	if symmem.GetBackend() != "CPU" {
		return [3]int{64 << 10, 1536 << 10, 8<<20 + 4096}
	}
	return [3]int{1 << 10, 5000, 40 << 10}
}

// some returns all of the types, or two of them if there are many ranks.
func (t *T) some(types []symmem.DType) []symmem.DType {
	if t.size > 4 {
		return types[:2]
	}
	return types
}

// checkInPlace reduces n elements of x at an offset by f, which returns the result's place, and
// checks the elements around them.
func (t *T) checkInPlace(what string, f func(part *symmem.Tensor, op string) *symmem.Tensor, x *symmem.Tensor, inputs [][]float64,
	op string, offset, n int) {
	x.Rand(1000 + t.rank)
	out := f(x.Slice(offset, offset+n), op)
	whole := x.Float64s()
	var got []float64
	if out == nil {
		got = whole[offset : offset+n]
	} else {
		got = out.Float64s()
		t.equal(what+": the input", whole[offset:offset+n], inputs[t.rank][offset:offset+n])
	}
	t.equal(what+": before", whole[:offset], inputs[t.rank][:offset])
	t.equal(what+": after", whole[offset+n:], inputs[t.rank][offset+n:])
	values := make([]float64, t.size)
	for i, v := range got {
		for p := range values {
			values[p] = inputs[p][offset+i]
		}
		if want := t.reduced(x.DType(), op, values); v != want {
			t.Fatalf("%s: %v %s of %d at %d: element %d of %v is %v, want %v", what, x.DType(), op, n, offset, i, values, v, want)
		}
	}
}

// allReduceWaysCase runs every algorithm with every type and reduction, at sizes with and without
// remainders.
func allReduceWaysCase(t *T) {
	ways, large := wayBytes(), 2 // number of types for sizes that take long to check
	switch {
	case shared(): // too slow on shared GPUs
		large = 0
	case t.size > 4:
		large = 1
	}
	for i, d := range t.some(computing) {
		most := ways[2]/d.Size() + 64
		x, y := symmem.Empty(d, most), symmem.Empty(d, most)
		symmem.Rendezvous(x)
		symmem.Rendezvous(y)
		inputs := t.inputsOf(x)
		all := func(part *symmem.Tensor, op string) *symmem.Tensor { symmem.AllReduce(part, op); return nil }
		two := func(part *symmem.Tensor, op string) *symmem.Tensor { symmem.TwoShotAllReduce(part, op); return nil }
		for k, n := range []int{0, 1, 7, 63, 97, ways[0]/d.Size() - 3, ways[1]/d.Size() + 1, ways[2]/d.Size() + 5, ways[2] / d.Size()} {
			if i >= large && n*d.Size() > 1<<20 {
				continue
			}
			op, offset := reductions[(i+k)%4], []int{0, 1, 8, 5}[k%4]
			out := func(part *symmem.Tensor, op string) *symmem.Tensor {
				to := y.Fill(0).Slice(offset+3, offset+3+n)
				symmem.TwoShotAllReduceOut(part, op, to)
				return to
			}
			t.checkInPlace("all_reduce", all, x, inputs, op, offset, n)
			t.checkInPlace("two_shot_all_reduce", two, x, inputs, reductions[k%4], offset, n)
			t.checkInPlace("two_shot_all_reduce_out", out, x, inputs, op, offset, n)
		}
		x.Free()
		y.Free()
	}
}

// accumulateCase uses values for which the two ways to add 16-bit floats differ, with every
// algorithm of the operations.
func accumulateCase(t *T) {
	for _, d := range []symmem.DType{symmem.BF16, symmem.F16} {
		big := map[symmem.DType]int{symmem.BF16: 256, symmem.F16: 2048}[d]
		for _, bytes := range wayBytes() {
			n := bytes / 2
			x := symmem.Empty(d, n)
			symmem.Rendezvous(x)
			fill := func() *symmem.Tensor { return x.Fill([]int{big, 1, 1, 1}[min(t.rank, 3)]) }
			each := func(want int, opts ...symmem.Option) {
				for name, r := range map[string]*symmem.Tensor{
					"one shot":       symmem.OneShotAllReduce(fill(), "sum", opts...),
					"reduce-scatter": symmem.ReduceScatter(fill(), "sum", opts...),
					"two shots":      symmem.TwoShotAllReduce(fill(), "sum", opts...),
				} {
					if name != "reduce-scatter" || n%t.size == 0 {
						t.equal(fmt.Sprint(name, d, opts), r.Ints(), slices.Repeat([]int{want}, r.Numel()))
					}
				}
				t.equal("all_reduce", symmem.AllReduce(fill(), "sum", opts...).Ints(), slices.Repeat([]int{want}, n))
			}
			each(big)
			each(big+4, symmem.AccumulateF32())
			symmem.Synchronize()
			t.meet()
			x.Free()
		}
	}
}

func reduceScatterCase(t *T) {
	for i, d := range t.some(computing) {
		for k, rows := range []int{0, 1, 7, 63, 1025, wayBytes()[2] / d.Size() / t.size} {
			if i > 1 && rows*t.size*d.Size() > 1<<20 {
				continue
			}
			op := reductions[(i+k)%4]
			x := symmem.Empty(d, 2+rows*t.size)
			symmem.Rendezvous(x)
			inputs := t.inputsOf(x)
			offset := k % 3
			part := x.Slice(offset, offset+rows*t.size)
			want := make([]float64, rows)
			at := func(i int) float64 {
				values := make([]float64, t.size)
				for p := range values {
					values[p] = inputs[p][offset+i]
				}
				return t.reduced(d, op, values)
			}
			for i := range want {
				want[i] = at(t.rank*rows + i)
			}
			frame := symmem.Local(d, rows+2).Fill(guard)
			symmem.ReduceScatterOut(part, op, frame.Slice(1, rows+1))
			t.equal(fmt.Sprint(d, op, rows, " out"), frame.Float64s(), slices.Concat([]float64{guard}, want, []float64{guard}))
			t.equal(fmt.Sprint(d, op, rows), symmem.ReduceScatter(part, op).Float64s(), want)

			// Rows of 3*size columns, of which each rank gets 3; and of a width that allows
			// vectors.
			for _, width := range []int{3, 16} {
				if rows*t.size < 5*width*t.size {
					continue
				}
				grid := part.Slice(0, 5*width*t.size).View(5, width*t.size)
				got := symmem.ReduceScatter(grid, op, symmem.SplitLastDim())
				t.equal("shape", got.Shape(), []int{5, width})
				for i, v := range got.Float64s() {
					if w := at(i/width*width*t.size + t.rank*width + i%width); v != w {
						t.Fatalf("%v %s, columns of %d: element %d is %v, want %v", d, op, width, i, v, w)
					}
				}
			}
			t.equal("the input", x.Float64s(), inputs[t.rank])
			x.Free()
		}
	}
	x := symmem.Empty(symmem.F32, t.size, 2, 3)
	symmem.Rendezvous(x)
	t.equal("shape", symmem.ReduceScatter(x, "sum").Shape(), []int{1, 2, 3})
	x.Free()
}

// float8Case scatters sums of 8-bit floats: by stores and by copy engines, of rows and of columns, at
// every offset. All values and sums of 32-bit floats are exact, and the result is rounded once: a sum
// that rounds at every step would stay at 16, whatever is added to it.
func float8Case(t *T) {
	const most = 16 // of which all whole numbers up to it are exact in F8E4M3, and up to 8 in F8E5M2
	for _, d := range []symmem.DType{symmem.F8E4M3, symmem.F8E5M2} {
		value := func(r, i int) int {
			if i%3 == 0 { // 16 and many ones
				return map[bool]int{true: most, false: 1}[r == 0]
			}
			return (5*r+i)%17 - 8
		}
		for k, rows := range []int{0, 1, 7, 64, 4099} {
			n, offset := rows*t.size, k%3
			x := symmem.Empty(d, n+2)
			symmem.Rendezvous(x)
			part := x.Slice(offset, offset+n).CopyFrom(series(n, func(i int) int { return value(t.rank, i) }))
			for _, op := range reductions {
				at := func(i int) float64 {
					values := make([]float64, t.size)
					for p := range values {
						values[p] = float64(value(p, i))
					}
					return rounded(d, t.reduced(symmem.F32, op, values))
				}
				want := func(of func(i int) int, n int) []float64 {
					list := make([]float64, n)
					for i := range list {
						list[i] = at(of(i))
					}
					return list
				}
				what := fmt.Sprint(d, " ", op, " ", rows)
				mine := want(func(i int) int { return t.rank*rows + i }, rows)
				t.equal(what, symmem.ReduceScatter(part, op).Float64s(), mine)
				t.equal(what+", accumulated as f32", symmem.ReduceScatter(part, op, symmem.AccumulateF32()).Float64s(), mine)
				frame := symmem.Local(d, rows+2).Fill(3)
				symmem.ReduceScatterOut(part, op, frame.Slice(1, rows+1))
				t.equal(what+" out", frame.Float64s(), slices.Concat([]float64{3}, mine, []float64{3}))
				opts := []symmem.Option{symmem.CopyEngine()}
				if len(hostsOf(t.size)) > 1 {
					opts = []symmem.Option{symmem.Via("flat"), symmem.Via("hierarchical")}
				}
				for i, opt := range opts {
					t.equal(fmt.Sprint(what, ", another way ", i), symmem.ReduceScatter(part, op, opt).Float64s(), mine)
				}
				if rows > 0 && rows%t.size == 0 {
					width := rows / t.size
					t.equal(what+" columns", symmem.ReduceScatter(part.View(t.size, rows), op, symmem.SplitLastDim()).Float64s(),
						want(func(i int) int { return i/width*rows + t.rank*width + i%width }, t.size*width))
				}
			}
			x.Free()
		}
	}
	// What the types do not have.
	x := symmem.Empty(symmem.F8E4M3, t.size).Fill(448)
	y := symmem.Empty(symmem.F8E5M2, t.size).Fill(57344)
	symmem.Rendezvous(x)
	symmem.Rendezvous(y)
	if t.size > 1 {
		over, infinite := symmem.ReduceScatter(x, "sum").Float64s()[0], symmem.ReduceScatter(y, "sum").Float64s()[0]
		t.equal("too large", []bool{math.IsNaN(over), math.IsInf(infinite, 1)}, []bool{true, true})
	}
	t.equal("the average of the largest", symmem.ReduceScatter(x, "avg").Float64s(), []float64{448})
	t.equal("explained", strings.Contains(symmem.Explain(func() { symmem.ReduceScatter(x, "avg") }), "accumulated as f32"), true)
	x.Free()
	y.Free()
}

// pattern returns the value of rank r at element i of the input of copying operations.
func pattern(d symmem.DType, r, i int) float64 {
	if d == symmem.F8E5M2 {
		return float64(r % 4) // tensors of storage types can only be filled
	}
	return float64((r*37 + i) % 100)
}

func (t *T) fillPattern(x *symmem.Tensor) *symmem.Tensor {
	if x.DType() == symmem.F8E5M2 {
		return x.Fill(t.rank % 4)
	}
	values := make([]float64, x.Numel())
	for i := range values {
		values[i] = pattern(x.DType(), t.rank, i)
	}
	return x.CopyFrom(values)
}

// exchangeTypes are types with every size of element.
var exchangeTypes = []symmem.DType{symmem.U8, symmem.BF16, symmem.F32, symmem.I64, symmem.F8E5M2}

func allGatherCase(t *T) {
	for k, d := range t.some(exchangeTypes) {
		for _, n := range []int{0, 1, 7, 63, 4095, 4096 + 16} {
			offset := (k + n) % 3
			x := symmem.Empty(d, n+4)
			y := symmem.Empty(d, t.size*n+8)
			symmem.Rendezvous(x)
			symmem.Rendezvous(y)
			part := t.fillPattern(x).Slice(offset, offset+n)
			var want []float64
			for r := range t.size {
				for i := range n {
					want = append(want, pattern(d, r, offset+i))
				}
			}
			what := fmt.Sprint(d, n, " at ", offset, ": ")
			t.equal(what+"fresh", symmem.AllGather(part).Float64s(), append([]float64{}, want...))
			framed := slices.Concat([]float64{3, 3}, want, slices.Repeat([]float64{3}, 6))
			local := symmem.Local(d, t.size*n+8).Fill(3)
			symmem.AllGatherOut(part, local.Slice(2, 2+t.size*n))
			t.equal(what+"into ordinary memory", local.Float64s(), framed)
			y.Fill(3)
			symmem.AllGatherOut(part, y.Slice(2, 2+t.size*n))
			t.equal(what+"into symmetric memory", y.Float64s(), framed)
			symmem.AllGatherOut(symmem.Local(d, n).CopyFrom(part), y.Fill(3).Slice(2, 2+t.size*n))
			t.equal(what+"from ordinary memory", y.Float64s(), framed)
			own := y.Fill(3).Slice(2+t.rank*n, 2+(t.rank+1)*n).CopyFrom(part)
			symmem.AllGatherOut(own, y.Slice(2, 2+t.size*n))
			t.equal(what+"in place", y.Float64s(), framed)
			x.Free()
			y.Free()
		}
	}
	x := symmem.Empty(symmem.F32, 3, 2).Fill(t.rank)
	symmem.Rendezvous(x)
	t.equal("shape", symmem.AllGather(x).Shape(), []int{3 * t.size, 2})
	one := symmem.Empty(symmem.I32).Fill(t.rank)
	symmem.Rendezvous(one)
	t.equal("of no dimension", symmem.AllGather(one).Shape(), []int{t.size})
	t.refused(symmem.KindMisuse, func() { symmem.AllGatherOut(x, symmem.Local(symmem.F32, 6*t.size+1)) }, "all_gather",
		"expected out shape", fmt.Sprintf("f32[%d, 2]", 3*t.size))
	t.refused(symmem.KindMisuse, func() { symmem.AllGatherOut(x, symmem.Local(symmem.I32, 6*t.size)) }, "expected out shape")
	y := symmem.Empty(symmem.F32, 6*t.size+1)
	symmem.Rendezvous(y)
	t.refused(symmem.KindMisuse, func() { symmem.AllGatherOut(y.Slice(1+6*t.rank, 7+6*t.rank), y.Slice(0, 6*t.size)) }, "overlaps")
	y.Free()
	x.Free()
	one.Free()
}

func allToAllCase(t *T) {
	for k, d := range t.some(exchangeTypes) {
		for _, rows := range []int{0, 1, 7, 63, 1025, 2048} {
			n, offset := rows*t.size, (k+rows)%3
			x, y := symmem.Empty(d, n+4), symmem.Empty(d, n+4)
			symmem.Rendezvous(x)
			symmem.Rendezvous(y)
			part := t.fillPattern(x).Slice(offset, offset+n)
			want := []float64{}
			for r := range t.size {
				for i := range rows {
					want = append(want, pattern(d, r, offset+t.rank*rows+i))
				}
			}
			what := fmt.Sprint(d, rows, " at ", offset, ": ")
			t.equal(what+"fresh", symmem.AllToAll(part).Float64s(), want)
			framed := slices.Concat([]float64{3}, want, []float64{3, 3, 3})
			symmem.AllToAllOut(part, y.Fill(3).Slice(1, 1+n))
			t.equal(what+"into symmetric memory", y.Float64s(), framed)
			symmem.AllToAllOut(symmem.Local(d, n).CopyFrom(part), y.Fill(3).Slice(1, 1+n))
			t.equal(what+"from ordinary memory", y.Float64s(), framed)
			local := symmem.Local(d, n+4).Fill(3)
			symmem.AllToAllOut(part, local.Slice(1, 1+n))
			t.equal(what+"into ordinary memory", local.Float64s(), framed)
			x.Free()
			y.Free()
		}
	}
	x := symmem.Empty(symmem.F32, t.size, 5)
	symmem.Rendezvous(x)
	t.equal("shape", symmem.AllToAll(x).Shape(), []int{t.size, 5})
	t.refused(symmem.KindMisuse, func() { symmem.AllToAllOut(x, x) }, "all_to_all", "overlaps")
	x.Free()
}

func broadcastCase(t *T) {
	for k, d := range exchangeTypes {
		for _, n := range []int{0, 1, 7, 63, 4095, 4096 + 16} {
			offset, root := (k+n)%3, (k+n)%t.size
			x := symmem.Empty(d, n+4)
			symmem.Rendezvous(x)
			want := make([]float64, n+4)
			for i := range want {
				want[i] = pattern(d, t.rank, i)
				if i >= offset && i < offset+n {
					want[i] = pattern(d, root, i)
				}
			}
			symmem.Broadcast(t.fillPattern(x).Slice(offset, offset+n), root)
			t.equal(fmt.Sprint(d, n, " at ", offset, " from ", root), x.Float64s(), want)
			x.Free()
		}
	}
	x := symmem.Empty(symmem.F32, 5)
	symmem.Rendezvous(x)
	for _, root := range []int{-1, t.size} {
		t.refused(symmem.KindMisuse, func() { symmem.Broadcast(x, root) }, "broadcast", fmt.Sprintf("root must be in [0, %d)", t.size))
	}
	x.Free()
}

// denseGroupsCase runs the operations in groups that overlap, in which the ranks' numbers differ
// from the world's.
func denseGroupsCase(t *T) {
	evens, tail := []int{}, []int{}
	for r := range t.size {
		if r%2 == 0 {
			evens = append(evens, r)
		}
		if r > 0 {
			tail = append(tail, r)
		}
	}
	x, y := symmem.Empty(symmem.I32, 24*64), symmem.Empty(symmem.I32, t.size*24*64)
	for _, members := range [][]int{evens, tail} {
		g := symmem.NewGroup(members...)
		me := slices.Index(members, t.rank)
		if me < 0 {
			t.refused(symmem.KindMisuse, func() { symmem.AllReduce(x, "sum", g) }, "is not in")
			t.meet()
			continue
		}
		symmem.Rendezvous(x, g)
		symmem.Rendezvous(y, g)
		sum := 0
		for _, r := range members {
			sum += r + 1
		}
		for _, n := range []int{1, 7, 1500} {
			part := x.Slice(0, n)
			t.equal("all_reduce", symmem.AllReduce(part.Fill(t.rank+1), "sum", g).Ints(), slices.Repeat([]int{sum}, n))
			t.equal("two shots", symmem.TwoShotAllReduce(part.Fill(t.rank+1), "max", g).Ints(),
				slices.Repeat([]int{members[len(members)-1] + 1}, n))
			t.equal("broadcast", symmem.Broadcast(part.Fill(t.rank), len(members)-1, g).Ints(), slices.Repeat([]int{members[len(members)-1]}, n))
			part.Fill(t.rank)
			want := []int{}
			for _, r := range members {
				want = append(want, slices.Repeat([]int{r}, n)...)
			}
			t.equal("all_gather", symmem.AllGather(part, g).Ints(), want)
			symmem.AllGatherOut(part, y.Slice(0, len(want)), g)
			t.equal("all_gather out", y.Slice(0, len(want)).Ints(), want)
		}
		n := 8 * len(members)
		x.Slice(0, n).Arange()
		t.equal("reduce_scatter", symmem.ReduceScatter(x.Slice(0, n), "avg", g).Ints(), x.Slice(8*me, 8*me+8).Ints())
		got := symmem.AllToAll(x.Slice(0, n), g).Ints()
		for i, v := range got {
			if v != 8*me+i%8 {
				t.Fatalf("all_to_all: element %d is %d", i, v)
			}
		}
		symmem.Synchronize()
		t.meet()
	}
	x.Free()
	y.Free()
}

// denseGraphCase captures all operations together with a user's kernel, and replays them while the
// input changes.
func denseGraphCase(t *T) {
	for _, bytes := range wayBytes() {
		n := bytes / 4 / t.size * t.size
		x, y, z := symmem.Empty(symmem.I32, n), symmem.Empty(symmem.I32, n), symmem.Empty(symmem.I32, n)
		part, all := symmem.Local(symmem.I32, n/t.size), symmem.Empty(symmem.I32, n*t.size)
		for _, s := range []*symmem.Tensor{x, y, z, all} {
			symmem.Rendezvous(s)
		}
		count := symmem.Local(symmem.I32, 1)
		next := symmem.Compile(`extern "C" __global__ void next(int* x, int n, const int* count, int rank) {
			for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = *count * (rank + 1) + i % 5;
		}
		extern "C" __global__ void add(int* count) { ++*count; }`)
		f := func() {
			next.Kernel("add").Launch(symmem.Grid(1), symmem.Block(1), count)
			next.Launch(symmem.Grid(2), symmem.Block(128), x, n, count, t.rank)
			symmem.TwoShotAllReduceOut(x, "sum", y)
			symmem.OneShotAllReduceOut(x, "max", z)
			symmem.AllGatherOut(x, all)
			symmem.ReduceScatterOut(x, "sum", part)
			symmem.AllReduce(x, "sum")
			symmem.Broadcast(z, t.size-1)
			symmem.AllToAllOut(y, z)
		}
		f()
		g := symmem.Capture(f)
		for range 4 {
			g.Replay()
		}
		c, sum := 5, t.size*(t.size+1)/2
		want := func(i int) int { return c*sum + t.size*(i%5) }
		for i, v := range x.Ints() {
			if v != want(i) {
				t.Fatalf("all_reduce of %d: element %d is %d, want %d", n, i, v, want(i))
			}
		}
		t.equal("two shots", y.Ints(), x.Ints())
		rows := n / t.size
		for i, v := range part.Ints() {
			if w := want(t.rank*rows + i); v != w {
				t.Fatalf("reduce_scatter of %d: element %d is %d, want %d", n, i, v, w)
			}
		}
		for i, v := range z.Ints() {
			if w := want(t.rank*rows + i%rows); v != w {
				t.Fatalf("all_to_all of %d: element %d is %d, want %d", n, i, v, w)
			}
		}
		for i, v := range all.Ints() {
			if w := c*(i/n+1) + i%n%5; v != w {
				t.Fatalf("all_gather of %d: element %d is %d, want %d", n, i, v, w)
			}
		}
		g.Free()
		for _, s := range []*symmem.Tensor{x, y, z, all} {
			s.Free()
		}
	}
}

// denseManyCase issues operations of changing sizes and algorithms without waiting in between.
func denseManyCase(t *T) {
	ways := wayBytes()
	x := symmem.Empty(symmem.I32, ways[2]/4)
	symmem.Rendezvous(x)
	sizes := []int{1, ways[1] / 4, 3, ways[2] / 4, ways[0] / 4, 97, ways[1]/4 - 5, 200}
	type result struct {
		t    *symmem.Tensor
		want int
	}
	var results []result
	for i := range 48 {
		part := x.Slice(0, sizes[i%len(sizes)]).Fill(i * (t.rank + 1))
		want := i * t.size * (t.size + 1) / 2
		switch i % 3 {
		case 0:
			symmem.AllReduce(part, "sum")
		case 1:
			symmem.TwoShotAllReduce(part, "sum")
		case 2:
			symmem.Broadcast(part, i%t.size)
			want = i * (i%t.size + 1)
		}
		results = append(results, result{symmem.Local(symmem.I32, part.Numel()).CopyFrom(part), want})
	}
	for i, r := range results {
		for k, v := range r.t.Ints() {
			if v != r.want {
				t.Fatalf("call %d: element %d of %d is %d, want %d", i, k, r.t.Numel(), v, r.want)
			}
		}
	}
	x.Free()
}

func denseMisuseCase(t *T) {
	misuse := symmem.KindMisuse
	x := symmem.Empty(symmem.F32, 8*t.size)
	local := symmem.Local(symmem.F32, 8*t.size)
	other := symmem.Empty(symmem.F32, 8*t.size)
	unmapped := symmem.Rendezvous(other)
	calls := map[string]func(x *symmem.Tensor, opts ...symmem.Option){
		"all_reduce":          func(x *symmem.Tensor, opts ...symmem.Option) { symmem.AllReduce(x, "sum", opts...) },
		"two_shot_all_reduce": func(x *symmem.Tensor, opts ...symmem.Option) { symmem.TwoShotAllReduce(x, "sum", opts...) },
		"reduce_scatter":      func(x *symmem.Tensor, opts ...symmem.Option) { symmem.ReduceScatter(x, "sum", opts...) },
		"all_gather":          func(x *symmem.Tensor, opts ...symmem.Option) { symmem.AllGather(x, opts...) },
		"all_to_all":          func(x *symmem.Tensor, opts ...symmem.Option) { symmem.AllToAll(x, opts...) },
		"broadcast":           func(x *symmem.Tensor, opts ...symmem.Option) { symmem.Broadcast(x, 0, opts...) },
	}
	for op, f := range calls {
		t.refused(misuse, func() { symmem.Capture(func() { f(x) }) }, op, "was not rendezvoused by world",
			"before the capture, call Rendezvous on it or make the call once")
		t.refused(misuse, func() { symmem.Capture(func() { f(local) }) }, op, "is not symmetric, and a graph would copy it in every replay", "Empty")
		t.refused(misuse, func() { f(unmapped.GetRemoteTensor(t.size - 1)) }, op, "is a view of memory of rank")
		t.refused(misuse, func() { f(x, symmem.Timeout(-1)) }, op, "must be positive")
	}
	symmem.Rendezvous(x)
	for op, f := range calls {
		t.refused(misuse, func() { f(x, symmem.AccumulateF32()) }, op, "AccumulateF32")
	}
	for _, op := range []func(*symmem.Tensor, string, ...symmem.Option) *symmem.Tensor{symmem.AllReduce, symmem.TwoShotAllReduce,
		symmem.ReduceScatter} {
		t.refused(misuse, func() { op(x, "prod") }, `not "prod"`)
	}
	t.refused(misuse, func() { symmem.Capture(func() { symmem.TwoShotAllReduceOut(x, "sum", local) }) }, "two_shot_all_reduce", "not symmetric")
	other.Free()
	t.refused(misuse, func() { symmem.TwoShotAllReduceOut(x, "sum", x) }, "overlaps")
	t.refused(misuse, func() { symmem.TwoShotAllReduceOut(x, "sum", symmem.Local(symmem.F32, 1)) }, "out is f32[1]")
	t.refused(misuse, func() { symmem.ReduceScatterOut(x, "sum", symmem.Local(symmem.F32, 9)) }, "expected out shape f32[8]")
	t.refused(misuse, func() { symmem.ReduceScatterOut(x, "sum", x.Slice(0, 8)) }, "overlaps")
	if t.size > 1 {
		t.refused(misuse, func() { symmem.ReduceScatter(x.Slice(0, t.size+1), "sum") }, "not divisible by the", "pad it")
		t.refused(misuse, func() { symmem.AllToAll(x.Slice(0, t.size+1)) }, "not divisible by the")
	}
	fp8 := symmem.Empty(symmem.F8E4M3, 8*t.size)
	symmem.Rendezvous(fp8)
	for _, op := range []string{"all_reduce", "two_shot_all_reduce"} {
		t.refused(misuse, func() { calls[op](fp8) }, op, "storage type", "use ReduceScatter")
	}
	// A function that returns a fresh tensor cannot be captured, and its error names one that can.
	for _, f := range []func(){func() { symmem.ReduceScatter(x, "sum") }, func() { symmem.AllGather(x) }, func() { symmem.AllToAll(x) }} {
		t.refused(misuse, func() { symmem.Capture(f) }, "cannot be allocated", "use the Out form")
	}
	t.equal("afterwards", symmem.AllReduce(x.Fill(1), "sum").Ints(), slices.Repeat([]int{t.size}, 8*t.size))
	fp8.Free()
	x.Free()
}

// denseTimeoutCase leaves rank 0 alone in every kind of wait.
func denseTimeoutCase(t *T) {
	ways := wayBytes()
	x := symmem.Empty(symmem.F32, ways[2]/4).Fill(t.rank)
	symmem.Rendezvous(x)
	symmem.Synchronize() // Recover would drop pending work
	limit := symmem.Timeout(50 * time.Millisecond)
	for op, f := range map[string]func(){
		"two_shot_all_reduce f32": func() { symmem.TwoShotAllReduce(x.Slice(0, 100), "sum", limit) },
		"all_reduce f32":          func() { symmem.AllReduce(x, "sum", limit) },
		"reduce_scatter f32":      func() { symmem.ReduceScatter(x.Slice(0, t.size), "sum", limit) },
		"all_gather f32":          func() { symmem.AllGather(x, limit) },
		"broadcast f32":           func() { symmem.Broadcast(x, 1, limit) },
	} {
		if t.rank == 0 {
			f()
			e := t.refused(symmem.KindTimeout, symmem.Synchronize, strings.Fields(op)[0], "waited", "must make the same call")
			if e.Peer < 1 {
				t.Errorf("%s: the peer is %d", op, e.Peer)
			}
			t.refused(symmem.KindPeer, func() { symmem.AllReduce(x, "sum") }, "out of step")
		}
		symmem.Recover()
		t.equal(op, x.Slice(0, 5).Ints(), slices.Repeat([]int{t.rank}, 5))
	}
	want := t.size * (t.size - 1) / 2
	t.equal("afterwards", symmem.AllReduce(x, "sum").Ints(), slices.Repeat([]int{want}, x.Numel()))
	x.Free()
}

// denseExplainCase checks the algorithm that Explain reports for each size.
func denseExplainCase(t *T) {
	ways := wayBytes()
	x := symmem.Empty(symmem.F32, ways[2]/4+1)
	symmem.Rendezvous(x)
	y := symmem.Empty(symmem.F32, x.Numel()*t.size)
	symmem.Rendezvous(y)
	paths := []string{"one shot by packets", "two shots by lines", "two shots between barriers"}
	if symmem.GetBackend() != "CPU" {
		paths[2] = "two shots by chunks"
	}
	if t.rt.Sharing().Ranks != nil {
		paths[1] = "two shots by packets" // lines need links
	}
	for i, bytes := range []int{ways[0], ways[1], ways[2] + 4} {
		got := symmem.Explain(func() { symmem.AllReduce(x.Slice(0, bytes/4), "avg") })
		want := fmt.Sprintf("all_reduce f32[%d] avg on world (%d ranks, %d bytes): %s, because ", bytes/4, t.size, bytes, paths[i])
		if !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	n := 300 // more than goes as packets
	if symmem.GetBackend() != "CPU" {
		n = 1 << 19
	}
	for _, c := range []struct {
		f         func()
		call, way string
	}{
		{func() { symmem.AllGather(x.Slice(0, n)) }, "all_gather f32[%d]", "loads between barriers, because out is not symmetric"},
		{func() { symmem.AllGatherOut(x.Slice(0, n), y.Slice(0, n*t.size)) }, "all_gather f32[%d]", "stores between barriers, because out is symmetric"},
		{func() { symmem.Broadcast(x.Slice(0, n), t.size-1) }, "broadcast f32[%d] from " + strconv.Itoa(t.size-1), "slices between barriers, because "},
	} {
		want := fmt.Sprintf(c.call+" on world (%d ranks, %d bytes): %s", n, t.size, 4*n, c.way)
		if got := symmem.Explain(c.f); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	x.Free()
	y.Free()
}
