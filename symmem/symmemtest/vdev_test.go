package symmemtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// untouched is the value in out where no row arrived.
const untouched = -1

// vdev holds tensors for the operations that send rows by splits on the device.
type vdev struct {
	width                      int
	in, out, splits, outSplits *symmem.Tensor
	back, backSplits           *symmem.Tensor // for the inverse
}

func (t *T) newVDev(d symmem.DType, experts, width, inRows, outRows int) *vdev {
	n := t.size * experts
	v := &vdev{width: width,
		in: symmem.Empty(d, inRows, width), out: symmem.Empty(d, outRows, width), back: symmem.Empty(d, inRows, width),
		splits: symmem.Local(symmem.I64, n), outSplits: symmem.Local(symmem.I64, 2, n), backSplits: symmem.Local(symmem.I64, 2, n)}
	symmem.Rendezvous(v.out)
	symmem.Rendezvous(v.back)
	return v
}

func (v *vdev) free() {
	v.in.Free()
	v.out.Free()
	v.back.Free()
}

// row returns row i of rank r.
func row(r, i, width int) []int { return slices.Repeat([]int{r*100 + i}, width) }

// rows returns n rows of rank r, from lo on.
func rows(r, lo, n, width int) (all []int) {
	for i := range n {
		all = append(all, row(r, lo+i, width)...)
	}
	return all
}

// fill fills in with the rows' names and out with untouched.
func (v *vdev) fill(rank int, splits []int) {
	v.splits.CopyFrom(splits)
	v.in.CopyFrom(rows(rank, 0, v.in.Shape()[0], v.width))
	v.out.Fill(untouched)
}

// dispatched returns the data that rank me must receive for the given splits: out, counts, offsets.
func dispatched(splits [][]int, me, experts, width, outRows, align int) (out, outSplits []int, need int) {
	world := len(splits)
	out = slices.Repeat([]int{untouched}, outRows*width)
	outSplits = make([]int, 2*world*experts)
	region := 0
	for e := range experts {
		at := region
		for q := range world {
			lo := 0
			for _, n := range splits[q][:me*experts+e] {
				lo += n
			}
			n := splits[q][me*experts+e]
			outSplits[e*world+q], outSplits[world*experts+e*world+q] = n, at
			if (at+n)*width <= len(out) {
				copy(out[at*width:], rows(q, lo, n, width))
			}
			at += n
		}
		if align > 0 {
			at = region + max((at-region+align-1)/align*align, align)
		}
		region = at
	}
	return out, outSplits, region
}

func prefix(list []int) []int {
	sum, out := 0, []int{}
	for _, n := range list {
		out = append(out, sum)
		sum += n
	}
	return out
}

// vdevExampleCase runs examples of PyTorch's semantics: all_to_all_vdev among three ranks,
// all_to_all_vdev_2d among two.
func vdevExampleCase(t *T) {
	examples := []struct {
		world, experts, align int
		splits                [][]int
		out                   [][]int
		outSplits, offsets    [][]int
		need                  []int
	}{
		{3, 1, 0, [][]int{{2, 1, 3}, {1, 0, 2}, {3, 2, 1}},
			[][]int{{0, 1, 100, 200, 201, 202}, {2, 203, 204}, {3, 4, 5, 101, 102, 205}},
			[][]int{{2, 1, 3}, {1, 0, 2}, {3, 2, 1}}, [][]int{{0, 2, 3}, {0, 1, 1}, {0, 3, 5}}, []int{6, 3, 6}},
		{2, 2, 4, [][]int{{2, 1, 0, 3}, {1, 0, 0, 2}},
			[][]int{{0, 1, 100, -1, 2, -1, -1, -1}, {-1, -1, -1, -1, 3, 4, 5, 101, 102, -1, -1, -1}},
			[][]int{{2, 1, 1, 0}, {0, 0, 3, 2}}, [][]int{{0, 2, 4, 5}, {0, 0, 4, 7}}, []int{8, 12}},
		{2, 2, 1, [][]int{{2, 1, 0, 3}, {1, 0, 0, 2}},
			[][]int{{0, 1, 100, 2}, {-1, 3, 4, 5, 101, 102}},
			[][]int{{2, 1, 1, 0}, {0, 0, 3, 2}}, [][]int{{0, 2, 3, 4}, {0, 0, 1, 4}}, []int{4, 6}},
	}
	for _, x := range examples {
		if x.world > t.size {
			continue
		}
		for me := range x.world { // the model of the other cases agrees with the examples
			out, outSplits, need := dispatched(x.splits, me, x.experts, 1, len(x.out[me]), x.align)
			t.equal("the model", out, x.out[me])
			t.equal("the model's counts and offsets", outSplits, slices.Concat(x.outSplits[me], x.offsets[me]))
			t.equal("the rows the model needs", need, x.need[me])
		}
		g := symmem.NewGroup([]int{0, 1, 2}[:x.world]...)
		in, out, back := symmem.Empty(symmem.I32, 6), symmem.Empty(symmem.I32, 12), symmem.Empty(symmem.I32, 6)
		if t.rank < x.world {
			symmem.Rendezvous(out, g)
			symmem.Rendezvous(back, g)
			n := x.world * x.experts
			splits, outSplits, backSplits := symmem.Local(symmem.I64, n).CopyFrom(x.splits[t.rank]), symmem.Local(symmem.I64, 2, n),
				symmem.Local(symmem.I64, 2, n)
			in.CopyFrom(rows(t.rank, 0, 6, 1))
			out.Fill(untouched)
			if x.experts == 1 {
				symmem.AllToAllVDev(in, out, splits, outSplits, g)
			} else {
				symmem.AllToAllVDev2D(in, out, splits, outSplits, g, symmem.MajorAlign(x.align))
			}
			want := append(slices.Clone(x.out[t.rank]), slices.Repeat([]int{untouched}, 12-len(x.out[t.rank]))...)
			t.equal("out", out.Ints(), want)
			t.equal("counts and offsets", outSplits.Ints(), slices.Concat(x.outSplits[t.rank], x.offsets[t.rank]))
			back.Fill(untouched)
			symmem.AllToAllVDev2DOffset(out, back, outSplits, backSplits, g)
			sum := 0
			for _, k := range x.splits[t.rank] {
				sum += k
			}
			t.equal("back", back.Ints(), append(rows(t.rank, 0, sum, 1), slices.Repeat([]int{untouched}, 6-sum)...))
			t.equal("counts and offsets back", backSplits.Ints(), slices.Concat(x.splits[t.rank], prefix(x.splits[t.rank])))
			symmem.Synchronize()
		}
		t.meet()
		in.Free()
		out.Free()
		back.Free()
	}
}

// randomSplits returns n random splits of every rank, with a sum of at most rows.
func randomSplits(seed, world, n, rows int) [][]int {
	all := make([][]int, world)
	for q := range all {
		r := rand.New(rand.NewPCG(uint64(seed), uint64(q)))
		all[q] = make([]int, n)
		switch {
		case seed%7 == 3 && q == seed%world: // an idle rank
		case seed%5 == 4: // all rows to one rank
			all[q][seed%n] = rows
		default:
			for left, i := rows, 0; left > 0 && i < 2*n; i++ {
				k := min(r.IntN(10), left)
				if r.IntN(3) > 0 {
					all[q][r.IntN(n)] += k
					left -= k
				}
			}
		}
	}
	return all
}

// vdevRandomCase compares random splits with the model, and sends all rows back. The calls follow
// each other without a barrier in between, and their inputs are overwritten at once.
func vdevRandomCase(t *T) {
	seeds := 24
	if t.size > 4 {
		seeds = 8
	}
	for k, experts := range []int{1, 2, 5, 8} {
		const most = 40
		align := []int{1, 8, 16, 3}[k]
		d, width := vdevTypes[k], []int{3, 16, 4, 8}[k]
		out := t.size*most + 2*experts*align
		v := t.newVDev(d, experts, width, most, out)
		var got, want [][]int
		for seed := range seeds {
			splits := randomSplits(seed, t.size, t.size*experts, most)
			v.fill(t.rank, splits[t.rank])
			var o, s []int
			if experts == 1 {
				symmem.AllToAllVDev(v.in, v.out, v.splits, v.outSplits)
				o, s, _ = dispatched(splits, t.rank, 1, width, out, 0)
			} else {
				symmem.AllToAllVDev2D(v.in, v.out, v.splits, v.outSplits, symmem.MajorAlign(align))
				o, s, _ = dispatched(splits, t.rank, experts, width, out, align)
			}
			v.in.Fill(-7)
			v.splits.Fill(-7)
			first := symmem.Local(d, out, width).CopyFrom(v.out)
			counts := v.outSplits.Ints()
			v.back.Fill(untouched)
			symmem.AllToAllVDev2DOffset(v.out, v.back, v.outSplits, v.backSplits)
			v.out.Fill(-7)
			got = append(got, first.Ints(), counts, v.back.Ints(), v.backSplits.Ints())
			sum := 0
			for _, n := range splits[t.rank] {
				sum += n
			}
			back := append(rows(t.rank, 0, sum, width), slices.Repeat([]int{untouched}, (most-sum)*width)...)
			want = append(want, o, s, back, slices.Concat(splits[t.rank], prefix(splits[t.rank])))
		}
		for i := range got {
			t.equal(fmt.Sprint(experts, " experts, seed ", i/4, ", ",
				[]string{"out", "counts and offsets", "back", "counts and offsets back"}[i%4]), got[i], want[i])
		}
		v.free()
	}
}

// vdevTypes are types that can hold the rows' names.
var vdevTypes = []symmem.DType{symmem.I32, symmem.I64, symmem.F32, symmem.I32}

// vdevBytesCase moves rows of every size of element and any number of bytes, between places with
// every alignment.
func vdevBytesCase(t *T) {
	for k, d := range exchangeTypes {
		for _, width := range []int{1, 3, 7, 16, 33, 1040} {
			inAt, outAt, rows := (k+width)%3, (2*k+width)%4, 3*t.size+6
			in, out := symmem.Local(d, rows*width+4), symmem.Empty(d, rows*width+4)
			symmem.Rendezvous(out)
			part := t.fillPattern(in).Slice(inAt, inAt+rows*width).View(rows, width)
			splits, outSplits := symmem.Local(symmem.I64, t.size), symmem.Local(symmem.I64, 2, t.size)
			// Every rank sends 3 rows to each of the others and 9 to itself.
			counts := func(q int) []int {
				c := slices.Repeat([]int{3}, t.size)
				c[q] = 9
				return c
			}
			splits.CopyFrom(counts(t.rank))
			out.Fill(3)
			symmem.AllToAllVDev(part, out.Slice(outAt, outAt+rows*width).View(rows, width), splits, outSplits)
			want := slices.Repeat([]float64{3}, rows*width+4)
			at := outAt
			for q := range t.size {
				lo := inAt + prefix(counts(q))[t.rank]*width
				for i := range counts(q)[t.rank] * width {
					want[at] = pattern(d, q, lo+i)
					at++
				}
			}
			t.equal(fmt.Sprint(d, " rows of ", width, " at ", inAt, " to ", outAt), out.Float64s(), want)
			out.Free()
		}
	}
}

// expertRoundTripCase is a mixture of experts: tokens go to the experts that a router chose, the
// experts transform them in place, and they return in their order; the result equals a local
// computation.
func expertRoundTripCase(t *T) {
	const tokens, width = 24, 16
	for _, experts := range []int{1, 3, 8} {
		n, align := experts*t.size, 4
		v := t.newVDev(symmem.F32, experts, width, tokens, t.size*tokens+2*experts*align)
		// The router: token i of rank r goes to expert (7i + 3r) mod n. Tokens are sorted by
		// expert.
		chosen := make([]int, tokens)
		for i := range chosen {
			chosen[i] = (7*i + 3*t.rank) % n
		}
		slices.Sort(chosen)
		counts := make([]int, n)
		x, want := make([]float32, tokens*width), make([]float32, tokens*width)
		for i, e := range chosen {
			counts[e]++
			for j := range width {
				x[i*width+j] = float32(t.rank*64 + i)
				want[i*width+j] = x[i*width+j]*2 + float32(e)
			}
		}
		v.splits.CopyFrom(counts)
		v.in.CopyFrom(x)
		symmem.AllToAllVDev2D(v.in, v.out, v.splits, v.outSplits, symmem.MajorAlign(align))
		// Expert e of this rank computes 2x + its number, over its whole region.
		transform := symmem.Compile(`extern "C" __global__ void transform(float* x, int width, const long long* counts, int world, int first) {
			int e = blockIdx.x, n = world * gridDim.x;
			long long lo = counts[n + e * world], last = e * world + world - 1, hi = counts[n + last] + counts[last];
			for (long long i = lo * width + threadIdx.x; i < hi * width; i += blockDim.x) x[i] = 2 * x[i] + first + e;
		}`)
		transform.Launch(symmem.Grid(experts), symmem.Block(64), v.out, width, v.outSplits, t.size, t.rank*experts)
		symmem.AllToAllVDev2DOffset(v.out, v.back, v.outSplits, v.backSplits)
		t.equal(fmt.Sprint(experts, " experts"), v.back.Float32s(), want)
		t.equal("the counts", v.backSplits.Ints()[:n], counts)
		v.free()
	}
}

// dispatchNeighbourCase sends every token of a rank to the next rank's expert and back.
func dispatchNeighbourCase(t *T) {
	const tokens, width = 16, 64
	v := t.newVDev(symmem.BF16, 1, width, tokens, t.size*tokens)
	splits := make([]int, t.size)
	splits[(t.rank+1)%t.size] = tokens
	v.splits.CopyFrom(splits)
	v.in.Fill(t.rank + 1)
	symmem.AllToAllVDev2D(v.in, v.out, v.splits, v.outSplits)
	before := (t.rank + t.size - 1) % t.size
	t.equal("dispatched", v.out.Slice(0, tokens).Ints(), slices.Repeat([]int{before + 1}, tokens*width))
	t.equal("the count", v.outSplits.Ints()[before], tokens)
	symmem.AllToAllVDev2DOffset(v.out, v.back, v.outSplits, v.backSplits)
	t.equal("combined", v.back.Ints(), slices.Repeat([]int{t.rank + 1}, tokens*width))
	v.free()
}

// vdevMixedCase sends few rows, which travel as packets, and many, which do not, by turns: the calls
// follow each other without a barrier, and one rank with many rows for one other is enough.
func vdevMixedCase(t *T) {
	const experts, width, most = 2, 32, 2400
	n := t.size * experts
	even := func(k int) [][]int { return slices.Repeat([][]int{slices.Repeat([]int{k}, n)}, t.size) }
	crowd := func(from, split, k int) [][]int {
		all := even(1)
		all[from] = slices.Clone(all[from])
		all[from][split] = k
		return all
	}
	out := 2*most + 4*n
	v := t.newVDev(symmem.I64, experts, width, most, out)
	for i, splits := range [][][]int{even(1), even(2), crowd(0, n-1, most-n), even(1), crowd(t.size-1, 0, 700), crowd(0, 0, 700), even(0), even(3), even(20)} {
		v.fill(t.rank, splits[t.rank])
		symmem.AllToAllVDev2D(v.in, v.out, v.splits, v.outSplits)
		v.in.Fill(-7)
		v.back.Fill(untouched)
		symmem.AllToAllVDev2DOffset(v.out, v.back, v.outSplits, v.backSplits)
		want, counts, _ := dispatched(splits, t.rank, experts, width, out, 1)
		t.equal(fmt.Sprint("out ", i), v.out.Ints(), want)
		t.equal(fmt.Sprint("counts and offsets ", i), v.outSplits.Ints(), counts)
		sum := 0
		for _, k := range splits[t.rank] {
			sum += k
		}
		t.equal(fmt.Sprint("back ", i), v.back.Ints(), append(rows(t.rank, 0, sum, width), slices.Repeat([]int{untouched}, (most-sum)*width)...))
	}
	v.free()
}

// vdevGapsCase sends rows with gaps between them.
func vdevGapsCase(t *T) {
	const experts = 2
	n := t.size * experts
	v := t.newVDev(symmem.I32, experts, 4, 10*n, 3*n)
	back := symmem.Empty(symmem.I32, 3*n, 4).Fill(untouched)
	symmem.Rendezvous(back)
	table := symmem.Local(symmem.I64, 2, n)
	counts, offsets := make([]int, n), make([]int, n)
	for i := range n { // in any order
		counts[i], offsets[i] = (i+t.rank)%4, 10*(n-1-i)+t.rank%5
	}
	table.CopyFrom(slices.Concat(counts, offsets))
	v.in.CopyFrom(rows(t.rank, 0, 10*n, 4))
	symmem.AllToAllVDev2DOffset(v.in, back, table, v.outSplits)
	var want, wantCounts []int
	for q := range t.size {
		for e := range experts {
			i := e*t.size + t.rank
			k := (i + q) % 4
			wantCounts = append(wantCounts, k)
			want = append(want, rows(q, 10*(n-1-i)+q%5, k, 4)...)
		}
	}
	want = append(want, slices.Repeat([]int{untouched}, 3*n*4-len(want))...)
	t.equal("out", back.Ints(), want)
	t.equal("counts and offsets", v.outSplits.Ints(), slices.Concat(wantCounts, prefix(wantCounts)))
	back.Free()
	v.free()
}

// vdevGraphCase replays a dispatch and a combine while a kernel changes the splits.
func vdevGraphCase(t *T) {
	const experts, width, most = 2, 8, 30
	n := t.size * experts
	v := t.newVDev(symmem.I32, experts, width, most, t.size*most+experts)
	table := symmem.Local(symmem.I64, 5, n)
	splits := make([][][]int, 5)
	var flat []int
	for k := range splits {
		splits[k] = randomSplits(k, t.size, n, most)
		flat = append(flat, splits[k][t.rank]...)
	}
	table.CopyFrom(flat)
	count := symmem.Local(symmem.I32, 1).Fill(-1)
	next := symmem.Compile(`extern "C" __global__ void pick(long long* splits, const long long* table, int n, int* count) {
		int k = ++*count;
		for (int i = 0; i < n; i++) splits[i] = table[k * n + i];
	}`)
	f := func() {
		next.Launch(symmem.Grid(1), symmem.Block(1), v.splits, table, n, count)
		symmem.AllToAllVDev2D(v.in, v.out, v.splits, v.outSplits)
		symmem.AllToAllVDev2DOffset(v.out, v.back, v.outSplits, v.backSplits)
	}
	check := func(k int) {
		out, counts, _ := dispatched(splits[k], t.rank, experts, width, t.size*most+experts, 1)
		t.equal(fmt.Sprint("out ", k), v.out.Ints(), out)
		t.equal(fmt.Sprint("counts and offsets ", k), v.outSplits.Ints(), counts)
		sum := 0
		for _, c := range splits[k][t.rank] {
			sum += c
		}
		t.equal(fmt.Sprint("back ", k), v.back.Slice(0, sum).Ints(), append([]int{}, rows(t.rank, 0, sum, width)...))
	}
	v.fill(t.rank, splits[0][t.rank])
	f()
	check(0)
	g := symmem.Capture(f)
	for k := 1; k < 5; k++ {
		v.out.Fill(untouched)
		g.Replay()
		check(k)
	}
	g.Free()
	v.free()
}

// vdevRefusedCase uses invalid values. All ranks get an error, which also gives the number of rows
// of a rank whose input is shorter than the others'; no row moves, and the group stays usable.
func vdevRefusedCase(t *T) {
	v := t.newVDev(symmem.I32, 2, 4, 10, 10*t.size)
	n, bad := 2*t.size, t.size-1
	good := make([]int, n)
	good[0] = 2
	in, small := v.in, v.out.Slice(0, 3)
	if t.rank == bad {
		in = v.in.Slice(0, 9)
	}
	table := symmem.Local(symmem.I64, 2, n)
	for _, c := range []struct {
		splits  []int // splits of rank bad; the others have good splits
		offsets []int
		out     *symmem.Tensor
		peer    int
		words   []string
	}{
		{append(slices.Repeat([]int{0}, n-1), -3), nil, v.out, bad,
			[]string{fmt.Sprintf("split %d of rank %d is -3: it must be in [0, 9], the rows of its input", n-1, bad)}},
		{append([]int{10}, slices.Repeat([]int{0}, n-1)...), nil, v.out, bad,
			[]string{fmt.Sprintf("split 0 of rank %d is 10: it must be in [0, 9]", bad)}},
		{append([]int{6, 4}, slices.Repeat([]int{0}, n-2)...), nil, v.out, bad,
			[]string{fmt.Sprintf("the splits of rank %d add up to 10 rows, its input has 9", bad)}},
		{good, nil, small, 0, []string{fmt.Sprintf("rank 0 would receive %d rows, its out has 3", 2*t.size+1), "longer out"}},
		{good, append([]int{9}, slices.Repeat([]int{0}, n-1)...), v.out, bad,
			[]string{fmt.Sprintf("the rows of split 0 of rank %d begin at row 9 and are not all among the 9 of its input", bad)}},
		{good, append([]int{-1}, slices.Repeat([]int{0}, n-1)...), v.out, bad, []string{"begin at row -1"}},
	} {
		if c.out == small && t.size == 1 {
			continue // two rows and an empty region fit
		}
		splits, offsets := good, make([]int, n)
		if t.rank == bad {
			splits = c.splits
			if c.offsets != nil {
				offsets = c.offsets
			}
		}
		v.fill(t.rank, splits)
		op := "all_to_all_vdev_2d"
		if c.offsets != nil {
			op = "all_to_all_vdev_2d_offset"
			table.CopyFrom(slices.Concat(splits, offsets))
			symmem.AllToAllVDev2DOffset(in, c.out, table, v.outSplits)
		} else {
			symmem.AllToAllVDev2D(in, c.out, v.splits, v.outSplits)
		}
		e := t.refused(symmem.KindMisuse, symmem.Synchronize, append(c.words, op)...)
		t.equal("the peer", e.Peer, c.peer)
		t.equal("out", v.out.Ints(), slices.Repeat([]int{untouched}, v.out.Numel()))
	}
	v.fill(t.rank, slices.Repeat([]int{11 + t.rank}, n))
	symmem.AllToAllVDev2D(v.in, v.out, v.splits, v.outSplits)
	const first = "split 0 of rank 0 is 11: it must be in [0, 10], the rows of its input"
	t.equal("the first of many", t.refused(symmem.KindMisuse, symmem.Synchronize).Msg, first)
	g := symmem.Capture(func() { symmem.AllToAllVDev2D(v.in, v.out, v.splits, v.outSplits) })
	g.Replay()
	t.equal("in a replay", t.refused(symmem.KindMisuse, symmem.Synchronize).Msg, first+"; captured in a graph")
	g.Free()
	v.fill(t.rank, good)
	symmem.AllToAllVDev2D(v.in, v.out, v.splits, v.outSplits)
	if t.rank == 0 {
		t.equal("afterwards", v.out.Slice(0, 2).Ints(), rows(0, 0, 2, 4))
	}
	symmem.Synchronize()
	v.free()
}

// vdevMisuseCase makes calls that the host refuses.
func vdevMisuseCase(t *T) {
	v := t.newVDev(symmem.I32, 2, 4, 10, 10*t.size)
	n := 2 * t.size
	one := symmem.Local(symmem.I64, t.size)
	for _, c := range []struct {
		f     func()
		words []string
	}{
		{func() { symmem.AllToAllVDev(v.in, v.out, v.splits, v.outSplits) },
			[]string{"all_to_all_vdev", "inSplits must be", fmt.Sprintf("i64[%d]", t.size)}},
		{func() { symmem.AllToAllVDev(v.in, v.out, one, v.outSplits) }, []string{"outSplitsOffsets must be", fmt.Sprintf("i64[2, %d]", t.size)}},
		{func() { symmem.AllToAllVDev2D(v.in, v.out, symmem.Local(symmem.I32, n), v.outSplits) }, []string{"inSplits must be", "i32"}},
		{func() { symmem.AllToAllVDev2D(v.in, v.out, symmem.Local(symmem.I64, 513*t.size), v.outSplits) }, []string{"at most 512"}},
		{func() { symmem.AllToAllVDev2D(v.in, v.out, symmem.Local(symmem.I64, n, 1), v.outSplits) }, []string{"inSplits must be"}},
		{func() { symmem.AllToAllVDev2D(v.in, v.out, v.splits, v.outSplits, symmem.MajorAlign(0)) }, []string{"MajorAlign must be positive"}},
		{func() { symmem.AllToAllVDev2D(v.in, v.out, v.splits, v.outSplits, symmem.MajorAlign(1<<62)) },
			[]string{"MajorAlign is 4611686018427387904", fmt.Sprintf("out has %d rows", 10*t.size), "longer out"}},
		{func() { symmem.AllToAllVDev(v.in, v.out, one, v.outSplits, symmem.MajorAlign(2)) }, []string{"option of AllToAllVDev2D"}},
		{func() { symmem.AllToAllVDev2DOffset(v.in, v.out, v.splits, v.outSplits) }, []string{"inSplitsOffsets must be", "i64[2, n]"}},
		{func() { symmem.AllToAllVDev2DOffset(v.in, v.out, v.backSplits, v.backSplits) }, []string{"outSplitsOffsets overlaps inSplitsOffsets"}},
		{func() { symmem.AllToAllVDev2D(v.in, symmem.Local(symmem.I32, 10*t.size, 4), v.splits, v.outSplits) }, []string{"not symmetric"}},
		{func() { symmem.AllToAllVDev2D(v.in, v.in, v.splits, v.outSplits) }, []string{"out overlaps in"}},
		{func() { symmem.AllToAllVDev2D(v.in.View(5, 8), v.out, v.splits, v.outSplits) }, []string{"i32[5, 8]", "must be the same"}},
		{func() { symmem.AllToAllVDev2D(v.in.As(symmem.F32), v.out, v.splits, v.outSplits) }, []string{"f32[10, 4]", "must be the same"}},
		{func() {
			symmem.AllToAllVDev2D(v.in, v.out, v.splits, v.outSplits, symmem.AccumulateF32())
		}, []string{"is an option of reductions"}},
	} {
		t.refused(symmem.KindMisuse, c.f, c.words...)
	}
	v.free()
}

// vdevTimeoutCase lets a rank wait for the others' splits in vain.
func vdevTimeoutCase(t *T) {
	v := t.newVDev(symmem.I32, 1, 4, 10, 10*t.size)
	v.fill(t.rank, make([]int, t.size))
	if t.rank == 0 {
		symmem.AllToAllVDev(v.in, v.out, v.splits, v.outSplits, symmem.Timeout(50*time.Millisecond))
		what := "data of rank"
		if len(symmem.Caps().Hosts) > 1 {
			what = map[bool]string{true: "for chunk 1 of rank", false: "to come to the barrier on channel 0"}[symmem.LSA().Size() == 1]
		}
		e := t.refused(symmem.KindTimeout, symmem.Synchronize, "all_to_all_vdev", what, "must make the same call")
		if e.Peer < 1 {
			t.Errorf("the peer is %d", e.Peer)
		}
	}
	symmem.Recover()
	splits := slices.Repeat([]int{1}, t.size)
	v.fill(t.rank, splits)
	symmem.AllToAllVDev(v.in, v.out, v.splits, v.outSplits)
	var want []int
	for q := range t.size {
		want = append(want, row(q, t.rank, 4)...)
	}
	t.equal("afterwards", v.out.Slice(0, t.size).Ints(), want)
	v.free()
}
