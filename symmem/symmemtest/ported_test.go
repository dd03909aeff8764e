package symmemtest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// manyAllocationsCase rendezvouses 256 tensors that live at the same time, each with a signal in
// the tensor's own pad.
func manyAllocationsCase(t *T) {
	const n = 256
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	var all []*symmem.Tensor
	for i := range n {
		x := symmem.Empty(symmem.I32, 3).Fill(1000*t.rank + i)
		h := symmem.Rendezvous(x)
		h.Barrier(0) // all have filled
		h.PutWithSignal(right, symmem.Local(symmem.I32, 1).Fill(-i), 1, uint64(i+1))
		h.WaitForSignal(1, "==", uint64(i+1), symmem.Timeout(20*time.Second))
		all = append(all, x)
	}
	for i, x := range all {
		t.equal("put", x.Ints(), []int{-i, 1000*t.rank + i, 1000*t.rank + i})
	}
	h := symmem.Rendezvous(all[n-1])
	h.Barrier(0)
	t.equal("the left one's last", h.GetRemoteTensor(left).Ints(), []int{1 - n, 1000*left + n - 1, 1000*left + n - 1})
	h.Barrier(0)
	symmem.Synchronize()
	t.meet()
	for _, x := range all {
		x.Free()
	}
}

// allocationOnStreamCase: new memory is zeroed before the next work of the allocating stream.
func allocationOnStreamCase(t *T) {
	s := symmem.NewStream()
	const n = 1 << 20
	for range 3 {
		var x *symmem.Tensor
		symmem.OnStream(s, func() {
			x = symmem.Empty(symmem.I32, n)
			x.Slice(n-2, n).Fill(5)
			symmem.Rendezvous(x).Barrier(0)
		})
		s.Synchronize()
		t.equal("filled", x.Slice(n-4, n).Ints(), []int{0, 0, 5, 5})
		x.Fill(9) // so that reused memory is not zero by chance
		symmem.Synchronize()
		t.meet()
		x.Free()
	}
	s.Free()
}

// fillAndSignalCase: rank 1's stores into rank 0's memory are visible after its signal, and its
// next stores after a barrier.
func fillAndSignalCase(t *T) {
	x := symmem.Empty(symmem.F32, 1000)
	h := symmem.Rendezvous(x)
	if t.rank == 1 {
		h.GetRemoteTensor(0).Fill(42)
		h.PutSignal(0, 0)
	}
	if t.rank == 0 {
		h.WaitSignal(1, 0, symmem.Timeout(20*time.Second))
		t.equal("after the signal", x.Ints(), slices.Repeat([]int{42}, 1000))
	}
	h.Barrier(0)
	if t.rank == 1 {
		h.GetRemoteTensor(0).Fill(43)
	}
	h.Barrier(0)
	if t.rank == 0 {
		t.equal("after the barrier", x.Ints(), slices.Repeat([]int{43}, 1000))
	}
	x.Free()
}

// getHalfCase gets a peer's whole tensor, its second half, and into a part of the receiving tensor.
func getHalfCase(t *T) {
	x := symmem.Empty(symmem.F32, 100)
	values := make([]int, 100)
	for i := range values {
		values[i] = 1000*t.rank + i
	}
	x.CopyFrom(values)
	whole, half := symmem.Rendezvous(x), symmem.Rendezvous(x.Slice(50, 100))
	whole.Barrier(0)
	peer := (t.rank + 1) % t.size
	all, part := symmem.Local(symmem.F32, 100), symmem.Local(symmem.F32, 100).Fill(-1)
	whole.Get(peer, all)
	half.Get(peer, part.Slice(0, 50))
	want := slices.Repeat([]int{-1}, 100)
	for i := range 100 {
		values[i] = 1000*peer + i
		if i < 50 {
			want[i] = 1000*peer + 50 + i
		}
	}
	t.equal("whole", all.Ints(), values)
	t.equal("from the middle on", part.Ints(), want)
	t.refused(symmem.KindMisuse, func() { half.Get(peer, symmem.Local(symmem.F32, 51)) }, "get", "51 elements")
	whole.Barrier(0)
	symmem.Synchronize()
	x.Free()
}

// groupRecycledCase makes a group of the members of a freed group: no state of the old one is
// reused.
func groupRecycledCase(t *T) {
	x := symmem.Empty(symmem.I32, 4).Fill(t.rank)
	for i := range 3 {
		g := symmem.NewGroup(0, 1)
		if g.Rank() >= 0 {
			y := g.Empty(symmem.I32, 4).Fill(10*i + t.rank)
			h, k := symmem.Rendezvous(y), symmem.Rendezvous(x, g)
			h.Barrier(0)
			t.equal("the group's tensor", h.GetRemoteTensor(1-t.rank).Ints(), slices.Repeat([]int{10*i + 1 - t.rank}, 4))
			t.equal("the world's tensor", k.GetRemoteTensor(1-t.rank).Ints(), slices.Repeat([]int{1 - t.rank}, 4))
			h.Barrier(0)
			symmem.Synchronize()
			y.Free()
		}
		t.meet()
		g.Free()
	}
	x.Free()
}

// goroutinesCase issues barriers and signals of one group from several goroutines at once, each on
// its own stream.
func goroutinesCase(t *T) {
	x := symmem.Empty(symmem.I32, 4)
	h := symmem.Rendezvous(x)
	streams := []*symmem.Stream{symmem.NewStream(), symmem.NewStream(), symmem.NewStream()}
	var all sync.WaitGroup
	for _, s := range streams {
		all.Go(func() {
			for range 10 {
				h.Barrier(0, s)
			}
		})
	}
	all.Wait()
	symmem.Synchronize()
	t.meet()
	for _, s := range streams {
		s.Free()
	}
	x.Free()
}

// captureWithoutReplayCase drops graphs that were never replayed: the signals that they would have
// used are unchanged.
func captureWithoutReplayCase(t *T) {
	x, y := symmem.Empty(symmem.I32, 100).Fill(t.rank+1), symmem.Local(symmem.I32, 100)
	h := symmem.Rendezvous(x)
	step := func() {
		h.PutSignal((t.rank+1)%t.size, 1)
		h.WaitSignal((t.rank+t.size-1)%t.size, 1)
		h.Barrier(1)
		symmem.OneShotAllReduceOut(x, "sum", y)
	}
	for range 3 {
		symmem.Capture(step).Free()
		symmem.Synchronize()
		t.meet()
		t.equal("signals", symmem.PendingSignals(), []string(nil))
		t.meet()
	}
	step()
	t.equal("sum", y.Ints(), slices.Repeat([]int{t.size * (t.size + 1) / 2}, 100))
	x.Free()
}

// graphsOnStreamsCase replays two graphs of one group and one of another on streams of their own,
// with rank 0 late each time.
func graphsOnStreamsCase(t *T) {
	x, y := symmem.Empty(symmem.I32, 300), symmem.Empty(symmem.I32, 300)
	symmem.Rendezvous(x)
	symmem.Rendezvous(y)
	pair := symmem.NewGroup(0, 1)
	streams := []*symmem.Stream{symmem.NewStream(), symmem.NewStream(), symmem.NewStream()}
	gathered := symmem.Local(symmem.I32, 300*t.size)
	graphs := []*symmem.Graph{
		symmem.Capture(func() { symmem.AllReduce(x, "sum") }),
		symmem.Capture(func() { symmem.AllGatherOut(y, gathered, symmem.CopyEngine()) }),
	}
	var z *symmem.Tensor
	if pair.Rank() >= 0 {
		z = pair.Empty(symmem.I32, 300)
		symmem.Rendezvous(z)
		graphs = append(graphs, symmem.Capture(func() { symmem.AllReduce(z, "max") }))
	}
	for i := range 4 {
		x.Fill(i + t.rank)
		y.Fill(10*i + t.rank)
		if z != nil {
			z.Fill(100*i + t.rank)
		}
		symmem.Synchronize()
		if t.rank == 0 {
			time.Sleep(20 * time.Millisecond)
		}
		for k, g := range graphs {
			g.Replay(streams[k])
		}
		symmem.Synchronize()
		t.equal("sum", x.Ints(), slices.Repeat([]int{t.size*i + t.size*(t.size-1)/2}, 300))
		for r := range t.size {
			t.equal("gathered", gathered.Slice(300*r, 300*r+300).Ints(), slices.Repeat([]int{10*i + r}, 300))
		}
		if z != nil {
			t.equal("max of the pair", z.Ints(), slices.Repeat([]int{100*i + 1}, 300))
		}
		t.meet()
	}
	for _, g := range graphs {
		g.Free()
	}
	if z != nil {
		z.Free()
	}
	symmem.Synchronize()
	t.meet()
	pair.Free()
	for _, s := range streams {
		s.Free()
	}
	x.Free()
	y.Free()
}

// reduceScatterSizesCase reduces messages of 128, 8192 and 589824 bytes, split either way, and
// chunks filled with their number.
func reduceScatterSizesCase(t *T) {
	for _, d := range []symmem.DType{symmem.F32, symmem.BF16} {
		for _, bytes := range []int{128, 8192, 589824} {
			n := bytes / d.Size() / t.size
			x := symmem.Empty(d, t.size, n)
			symmem.Rendezvous(x)
			for q := range t.size {
				x.Slice(q, q+1).Fill(q)
			}
			t.equal(fmt.Sprint(d, bytes, " sum"), symmem.ReduceScatter(x, "sum").Ints(), slices.Repeat([]int{t.rank * t.size}, n))
			t.equal(fmt.Sprint(d, bytes, " avg"), symmem.ReduceScatter(x, "avg").Ints(), slices.Repeat([]int{t.rank}, n))
			rows := 4
			part := n / rows
			grid := x.View(t.size*n).Slice(0, rows*part*t.size).View(rows, part*t.size)
			for i := range rows {
				for q := range t.size {
					grid.View(rows*part*t.size).Slice((i*t.size+q)*part, (i*t.size+q+1)*part).Fill(10*i + q)
				}
			}
			var want []int
			for i := range rows {
				want = append(want, slices.Repeat([]int{t.size * (10*i + t.rank)}, part)...)
			}
			t.equal(fmt.Sprint(d, bytes, " columns"), symmem.ReduceScatter(grid, "sum", symmem.SplitLastDim()).Ints(), want)
			symmem.Synchronize()
			t.meet()
			x.Free()
		}
	}
}

// copyEngineStreamCase: on the current stream and on another, copy engines give the same results as
// multiprocessors, and Explain reports that they did it.
func copyEngineStreamCase(t *T) {
	n := 64 << 10
	if symmem.GetBackend() != "CPU" {
		n = 32 << 20
	}
	x := symmem.Empty(symmem.F32, n*t.size)
	symmem.Rendezvous(x)
	x.Rand(t.rank)
	side := symmem.NewStream()
	symmem.Synchronize()
	for _, name := range []string{"all_gather", "all_to_all"} { // in one order on all ranks
		f := func(o ...symmem.Option) *symmem.Tensor { return symmem.AllGather(x.Slice(0, n), o...) }
		if name == "all_to_all" {
			f = func(o ...symmem.Option) *symmem.Tensor { return symmem.AllToAll(x, o...) }
		}
		want := f().Float32s()
		var here, there *symmem.Tensor
		if said := symmem.Explain(func() { here = f(symmem.CopyEngine()) }); !strings.Contains(said, ": copy engines, because ") {
			t.Errorf("%s: %s", name, said)
		}
		symmem.OnStream(side, func() { there = f(symmem.CopyEngine()) })
		side.Synchronize()
		if !slices.Equal(here.Float32s(), want) || !slices.Equal(there.Float32s(), want) {
			t.Errorf("%s by copy engines differs from that by multiprocessors", name)
		}
	}
	symmem.Synchronize()
	t.meet()
	side.Free()
	x.Free()
}

// tileSquareCase reduces a square that every rank fills with its number: whole, as quarters, and
// with half of the ranks as roots.
func tileSquareCase(t *T) {
	n := 256
	if symmem.GetBackend() != "CPU" {
		n = 2048
	}
	x, out := symmem.Empty(symmem.F32, n, n).Fill(t.rank), symmem.Empty(symmem.F32, n, n)
	symmem.Rendezvous(x)
	sum, half := t.size*(t.size-1)/2, n/2
	// expect checks that out is sum in one rectangle and zero elsewhere.
	expect := func(what string, row, col, size int) {
		for i, v := range out.Float32s() {
			want := 0
			if r, c := i/n-row, i%n-col; r >= 0 && r < size && c >= 0 && c < size {
				want = sum
			}
			if v != float32(want) {
				t.Fatalf("%s: element %d, %d is %v, want %d", what, i/n, i%n, v, want)
			}
		}
	}
	root := t.size - 1
	symmem.TileReduce(x.Tile(0, n, 0, n), out.Fill(0).Tile(0, n, 0, n), root, "sum")
	if t.rank != root {
		expect("not the root", 0, 0, 0)
	} else {
		expect("the root", 0, 0, n)
	}
	for _, roots := range [][]int{{0, 1, 2, 3}, {1, 0}, {t.size / 2}} {
		roots = slices.DeleteFunc(slices.Clone(roots), func(r int) bool { return r >= t.size })
		var tiles []*symmem.Tile
		for i := range roots {
			row, col := i/2*half, i%2*half
			tiles = append(tiles, x.Tile(row, row+half, col, col+half))
		}
		out.Fill(0)
		own := slices.Index(roots, t.rank)
		row, col := max(own, 0)/2*half, max(own, 0)%2*half
		symmem.MultiRootTileReduce(tiles, out.Tile(row, row+half, col, col+half), roots, "sum")
		if own < 0 {
			expect(fmt.Sprint(roots, ": no root"), 0, 0, 0)
		} else {
			expect(fmt.Sprint(roots, ": a root"), row, col, half)
		}
	}
	symmem.Synchronize()
	t.meet()
	x.Free()
	out.Free()
}
