package symmemtest

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symmrepl/symmrepl/symmem"
	"github.com/symmrepl/symmrepl/symmem/internal/net"
)

// moreWorlds enables tests on worlds that take long: they run the cases of other worlds once more.
var moreWorlds = flag.Bool("worlds", false, "test also on 2 and 8 ranks, all cases on 3, and on more worlds that span hosts, which takes long")

// longWorld skips a test on a world that takes long, unless -worlds is given.
func longWorld(t *testing.T, isLong bool) {
	t.Helper()
	if isLong && !*moreWorlds {
		t.Skip("give -worlds; make test-long does")
	}
}

// overHostsCases test collectives in groups that span hosts.
var overHostsCases = []testCase{
	{name: "OverHostsAllReduce", run: overHostsAllReduceCase},
	{name: "OverHostsAllReduceLarge", run: overHostsAllReduceLargeCase},
	{name: "OverHostsAccumulate", run: overHostsAccumulateCase},
	{name: "OverHostsReduceScatter", run: overHostsReduceScatterCase},
	{name: "OverHostsCopies", run: overHostsCopiesCase},
	{name: "OverHostsMany", run: overHostsManyCase},
	{name: "OverHostsGraph", run: overHostsGraphCase},
	{name: "OverHostsGroups", run: overHostsGroupsCase},
	{name: "OverHostsStreams", run: overHostsStreamsCase},
	{name: "OverHostsExplain", run: overHostsExplainCase},
	{name: "OverHostsMisuse", run: overHostsMisuseCase},
	{name: "OverHostsTiles", run: overHostsTilesCase},
	{name: "OverHostsPermute", run: overHostsPermuteCase},
	{name: "OverHostsRows", run: overHostsRowsCase},
	{name: "OverHostsRowsGraph", run: overHostsRowsGraphCase},
	{name: "OverHostsRowsExplain", run: overHostsRowsExplainCase},
	{name: "OverHostsTokens", run: overHostsTokensCase},
}

// alsoOverHosts are cases of one host whose operations cross hosts too.
var alsoOverHosts = []string{
	"ReduceScatter", "ReduceScatterFloat8", "AllGather", "AllToAll", "Broadcast", "Operands", "MemPoolEmpty", "MemPoolPuts", "MemPoolGrowth",
	"VDevExamples", "VDevRandom", "VDevBytes", "VDevGaps", "ExpertRoundTrip", "DispatchNeighbour", "VDevGraph", "VDevRefused",
	"VDevMisuse", "VDevTimeout",
	"TokenRandom", "TokenAgain", "TokenGraph", "TokenSend", "TokenQuantised", "TokenInto", "TokenGroup", "TokenRefused",
	"TokenTimeout", "TokenExplain",
	"TileExamples", "TileSquare", "TileReduce", "TileMultiRoot", "TileGraph", "ReduceScatterOffset", "Permute", "TileTimeout",
}

// vias are the values of Via for a collective; "" is none.
var vias = []string{"", "flat", "hierarchical"}

// by returns the option for a way.
func by(via string) []symmem.Option {
	if via == "" {
		return nil
	}
	return []symmem.Option{symmem.Via(via)}
}

// TestOverHosts runs the cases of collectives between simulated hosts, without NCCL, which is the
// default on GPUs: see TestNCCL.
func TestOverHosts(t *testing.T) {
	t.Setenv("SYMMREPL_NCCL", t.TempDir()) // a folder without NCCL
	for _, device := range devices(t) {
		for _, c := range []struct {
			ranks, hosts int
			network      string
			many         bool // takes long
		}{
			{4, 2, "null", false}, {4, 4, "null reorder=on seed=4", false}, {4, 2, "ucx", false},
			{4, 2, "null reorder=on seed=5 delay=100us", true}, {2, 2, "null", true}, {8, 2, "null", true}, {8, 4, "null", true}, {4, 4, "ucx", true},
		} {
			t.Run(fmt.Sprintf("%s/%dranks/%dhosts/%s", device, c.ranks, c.hosts, c.network), func(t *testing.T) {
				briefly(t, c.network == "null")
				needRanks(t, device, c.ranks)
				if shared() && (c.ranks != 4 || c.hosts != 2) {
					t.Skip("4 ranks on 2 hosts are enough for GPUs that are shared")
				}
				if _, err := net.Available(); c.network == "ucx" && err != nil {
					t.Skip(err)
				}
				longWorld(t, c.many || device == "cpu" && c.network == "ucx") // TestNetwork covers UCX itself
				w := startOn(t, device, c.ranks, strconv.Itoa(c.hosts), c.network)
				// TestHosts runs these cases in the same world of the cpu device, but not with -short.
				if inHosts := device == "cpu" && c.ranks == 4 && c.network == "null" && c.hosts == 2; !inHosts || testing.Short() {
					for _, name := range alsoOverHosts {
						t.Run(name, func(t *testing.T) { w.run(t, name) })
					}
				}
				for _, c := range overHostsCases {
					t.Run(c.name, func(t *testing.T) { w.run(t, c.name) })
				}
			})
		}
	}
}

// overHostsAllReduceCase runs every type and reduction each way, with sizes and offsets that divide
// evenly and unevenly.
func overHostsAllReduceCase(t *T) {
	for i, d := range computing {
		x := symmem.Empty(d, 2300)
		symmem.Rendezvous(x)
		inputs := t.inputsOf(x)
		for k, n := range []int{0, 1, 7, 63, 129, 1021, 2048} {
			for v, via := range vias {
				op, offset := reductions[(i+k+v)%4], []int{0, 1, 16, 5}[(k+v)%4]
				t.checkInPlace("all_reduce "+via, func(part *symmem.Tensor, op string) *symmem.Tensor {
					symmem.AllReduce(part, op, by(via)...)
					return nil
				}, x, inputs, op, offset, n)
			}
		}
		x.Free()
	}
}

// overHostsAllReduceLargeCase reduces many chunks. Both ways give the same bits.
func overHostsAllReduceLargeCase(t *T) {
	for _, d := range []symmem.DType{symmem.BF16, symmem.F32} {
		n := 5<<20/d.Size() + 3
		x := symmem.Empty(d, n)
		symmem.Rendezvous(x)
		inputs := t.inputsOf(x)
		for _, op := range []string{"sum", "avg"} {
			var results [][]float64
			for _, via := range vias {
				results = append(results, symmem.AllReduce(x.Rand(1000+t.rank), op, by(via)...).Float64s())
			}
			t.equal("the ways agree", slices.Equal(results[0], results[1]) && slices.Equal(results[1], results[2]), true)
			values := make([]float64, t.size)
			for i := 0; i < n; i += 997 {
				for p := range values {
					values[p] = inputs[p][i]
				}
				if want := t.reduced(d, op, values); results[0][i] != want {
					t.Fatalf("%v %s: element %d is %v, want %v", d, op, i, results[0][i], want)
				}
			}
		}
		x.Free()
	}
}

// overHostsAccumulateCase keeps float sums of 16-bit floats between hosts.
func overHostsAccumulateCase(t *T) {
	for _, d := range []symmem.DType{symmem.BF16, symmem.F16} {
		for _, n := range []int{5, 1000, 300_000} {
			x := symmem.Empty(d, n)
			symmem.Rendezvous(x)
			inputs := t.inputsOf(x)
			want := make([]float64, n)
			values := make([]float64, t.size)
			for i := range want {
				for p := range values {
					values[p] = inputs[p][i]
				}
				want[i] = rounded(d, t.reduced(symmem.F32, "sum", values))
			}
			for _, via := range vias {
				got := symmem.AllReduce(x.Rand(1000+t.rank), "sum", append(by(via), symmem.AccumulateF32())...).Float64s()
				t.equal(fmt.Sprint(d, n, via), slices.Equal(got, want), true)
			}
			x.Free()
		}
	}
}

// overHostsReduceScatterCase is reduceScatterCase each way, with the result in symmetric or in
// ordinary memory.
func overHostsReduceScatterCase(t *T) {
	for i, d := range computing {
		for k, rows := range []int{1, 63, 1025} {
			op := reductions[(i+k)%4]
			x := symmem.Empty(d, 2+rows*t.size)
			symmem.Rendezvous(x)
			inputs := t.inputsOf(x)
			part := x.Slice(k%2, k%2+rows*t.size)
			var want []float64
			for e := range rows {
				values := make([]float64, t.size)
				for p := range values {
					values[p] = inputs[p][k%2+t.rank*rows+e]
				}
				want = append(want, t.reduced(d, op, values))
			}
			for _, via := range vias {
				t.equal(fmt.Sprint(d, op, rows, via), symmem.ReduceScatter(part, op, by(via)...).Float64s(), want)
			}
			x.Free()
		}
	}
	// Columns.
	x := symmem.Empty(symmem.I32, 300, 16*t.size)
	symmem.Rendezvous(x)
	x.Arange()
	for _, via := range vias {
		for i, v := range symmem.ReduceScatter(x, "sum", append(by(via), symmem.SplitLastDim())...).Ints() {
			if want := t.size * (i/16*16*t.size + 16*t.rank + i%16); v != want {
				t.Fatalf("columns %s: element %d is %d, want %d", via, i, v, want)
			}
		}
	}
	x.Free()
}

// overHostsCopiesCase moves tensors of many chunks each way.
func overHostsCopiesCase(t *T) {
	for _, n := range []int{1, 1000, 700_001} {
		x, all := symmem.Empty(symmem.I32, n), symmem.Empty(symmem.I32, n*t.size)
		symmem.Rendezvous(x)
		symmem.Rendezvous(all)
		value := func(r, i int) int { return r*1_000_003 + i*7 }
		fill := func() *symmem.Tensor {
			mine := make([]int32, n)
			for i := range mine {
				mine[i] = int32(value(t.rank, i))
			}
			return x.CopyFrom(mine)
		}
		check := func(what string, got []int, want func(i int) int) {
			for i, v := range got {
				if v != want(i) {
					t.Fatalf("%s of %d: element %d is %d, want %d", what, n, i, v, want(i))
				}
			}
		}
		for k, via := range vias {
			symmem.AllGatherOut(fill(), all.Fill(-1), by(via)...)
			check("all_gather "+via, all.Ints(), func(i int) int { return value(i/n, i%n) })
			check("all_gather to an ordinary tensor "+via, symmem.AllGather(fill(), by(via)...).Ints(),
				func(i int) int { return value(i/n, i%n) })
			for _, root := range []int{k % t.size, t.size - 1} {
				check(fmt.Sprint("broadcast ", via, " from ", root), symmem.Broadcast(fill(), root, by(via)...).Ints(),
					func(i int) int { return value(root, i) })
			}
		}
		// A rank's slices for the other ranks lie one after the other.
		for r := range t.size {
			part := all.Slice(r*n, (r+1)*n)
			part.CopyFrom(fill())
			part.Slice(0, 1).Fill(100*t.rank + r)
		}
		swapped := func(i int) int {
			if i%n == 0 {
				return 100*(i/n) + t.rank
			}
			return value(i/n, i%n)
		}
		for _, via := range vias {
			check("all_to_all "+via, symmem.AllToAll(all, by(via)...).Ints(), swapped)
		}
		// From ordinary memory to symmetric.
		own := symmem.Local(symmem.I32, n*t.size).CopyFrom(all)
		for _, via := range vias {
			symmem.AllToAllOut(own, all.Fill(-1), by(via)...)
			check("all_to_all from an ordinary tensor "+via, all.Ints(), swapped)
		}
		own.Free()
		symmem.Synchronize()
		t.meet()
		x.Free()
		all.Free()
	}
}

// overHostsManyCase issues calls of changing sizes and ways without waiting in between.
func overHostsManyCase(t *T) {
	const most = 600_000
	x, all := symmem.Empty(symmem.I32, most), symmem.Empty(symmem.I32, most*t.size)
	symmem.Rendezvous(x)
	symmem.Rendezvous(all)
	type result struct {
		t    *symmem.Tensor
		want int
	}
	var results []result
	for i := range 60 {
		part := x.Slice(0, []int{1, most, 37, 1024, 70_000}[i%5]).Fill(i * (t.rank + 1))
		want := i * t.size * (t.size + 1) / 2
		via := vias[i%3]
		switch i % 4 {
		case 0, 1:
			symmem.AllReduce(part, "sum", by(via)...)
		case 2:
			symmem.Broadcast(part, i%t.size, by(via)...)
			want = i * (i%t.size + 1)
		case 3:
			out := all.Slice(0, part.Numel()*t.size)
			if i%8 == 7 {
				symmem.AllToAllOut(symmem.AllGather(part, by(via)...), out, by(vias[(i+1)%3])...)
				part, want = out.Slice((t.size-1)*part.Numel(), t.size*part.Numel()), i*(t.rank+1)
				break
			}
			symmem.AllGatherOut(part, out, by(via)...)
			part, want = out.Slice((t.size-1)*part.Numel(), t.size*part.Numel()), i*t.size
		}
		results = append(results, result{symmem.Local(symmem.I32, part.Numel()).CopyFrom(part), want})
	}
	for i, r := range results {
		for k, v := range r.t.Ints() {
			if v != r.want {
				t.Fatalf("call %d: element %d of %d is %d, want %d", i, k, r.t.Numel(), v, r.want)
			}
		}
		r.t.Free()
	}
	x.Free()
	all.Free()
}

// overHostsGraphCase captures operations each way and replays them while the input changes.
func overHostsGraphCase(t *T) {
	for _, n := range []int{8, 50_000 * 8} {
		x, y, all := symmem.Empty(symmem.I32, n), symmem.Empty(symmem.I32, n), symmem.Empty(symmem.I32, n*t.size)
		for _, s := range []*symmem.Tensor{x, y, all} {
			symmem.Rendezvous(s)
		}
		count, part, swapped := symmem.Local(symmem.I32, 1), symmem.Local(symmem.I32, n/t.size), symmem.Empty(symmem.I32, n)
		symmem.Rendezvous(swapped)
		together, gathered := symmem.Local(symmem.I32, n), symmem.Local(symmem.I32, n*t.size)
		next := symmem.Compile(`extern "C" __global__ void next(int* x, int* y, int n, const int* count, int rank) {
			for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = y[i] = *count * (rank + 1) + i % 5;
		}
		extern "C" __global__ void add(int* count) { ++*count; }`)
		f := func() {
			next.Kernel("add").Launch(symmem.Grid(1), symmem.Block(1), count)
			next.Launch(symmem.Grid(2), symmem.Block(128), x, y, n, count, t.rank)
			symmem.AllReduce(x, "sum", symmem.Via("hierarchical"))
			symmem.ReduceScatterOut(y, "sum", part)
			symmem.AllGatherOut(y, all)
			symmem.AllToAllOut(y, swapped)
			symmem.AllReduce(y, "sum", symmem.Via("flat"))
			symmem.Broadcast(swapped, t.size-1)
		}
		f()
		g := symmem.Capture(f)
		for range 50 {
			g.Replay()
		}
		c, sum, rows := 51, t.size*(t.size+1)/2, n/t.size
		want := func(i int) int { return c*sum + t.size*(i%5) }
		for i, v := range x.Ints() {
			if v != want(i) {
				t.Fatalf("all_reduce of %d: element %d is %d, want %d", n, i, v, want(i))
			}
		}
		t.equal("flat", slices.Equal(y.Ints(), x.Ints()), true)
		for i, v := range part.Ints() {
			if w := want(t.rank*rows + i); v != w {
				t.Fatalf("reduce_scatter of %d: element %d is %d, want %d", n, i, v, w)
			}
		}
		for i, v := range all.Ints() {
			if w := c*(i/n+1) + i%n%5; v != w {
				t.Fatalf("all_gather of %d: element %d is %d, want %d", n, i, v, w)
			}
		}
		for i, v := range swapped.Ints() {
			if w := c*(i/rows+1) + ((t.size-1)*rows+i%rows)%5; v != w {
				t.Fatalf("all_to_all and broadcast of %d: element %d is %d, want %d", n, i, v, w)
			}
		}
		g.Free()
		// With fewer replays: operations for which the ranks of a host meet for each chunk.
		g = symmem.Capture(func() {
			next.Kernel("add").Launch(symmem.Grid(1), symmem.Block(1), count)
			next.Launch(symmem.Grid(2), symmem.Block(128), x, y, n, count, t.rank)
			symmem.AllToAllOut(y, together, symmem.Via("hierarchical"))
			symmem.AllGatherOut(y, gathered, symmem.Via("hierarchical"))
		})
		for range 10 {
			g.Replay()
		}
		c += 10
		for i, v := range gathered.Ints() {
			if w := c*(i/n+1) + i%n%5; v != w {
				t.Fatalf("all_gather of %d to an ordinary tensor: element %d is %d, want %d", n, i, v, w)
			}
		}
		for i, v := range together.Ints() {
			if w := c*(i/rows+1) + (t.rank*rows+i%rows)%5; v != w {
				t.Fatalf("hierarchical all_to_all of %d: element %d is %d, want %d", n, i, v, w)
			}
		}
		g.Free()
		for _, s := range []*symmem.Tensor{x, y, all, swapped} {
			s.Free()
		}
	}
}

// overHostsGroupsCase uses groups with more members on one host than on another, and also rails.
func overHostsGroupsCase(t *T) {
	lists := [][]int{symmem.Rail().Ranks()}
	if t.size > 2 {
		lists = append(lists, []int{0, t.size / 2, t.size - 1})
	}
	for _, members := range lists {
		g := symmem.NewGroup(members...)
		me := g.Rank()
		if me < 0 {
			t.meet()
			continue
		}
		n := 40_000 * len(members)
		x, all := g.Empty(symmem.I32, n), g.Empty(symmem.I32, n*len(members))
		symmem.Rendezvous(x, g)
		symmem.Rendezvous(all, g)
		sum := 0
		for i := range members {
			sum += i + 1
		}
		t.equal("all_reduce", symmem.AllReduce(x.Fill(me+1), "sum", g).Ints(), slices.Repeat([]int{sum}, n))
		t.equal("reduce_scatter", symmem.ReduceScatter(x.Fill(me+1), "sum", g).Ints(), slices.Repeat([]int{sum}, n/len(members)))
		t.equal("broadcast", symmem.Broadcast(x.Fill(me), len(members)-1, g).Ints(), slices.Repeat([]int{len(members) - 1}, n))
		symmem.AllGatherOut(x.Fill(me), all, g)
		got := all.Ints()
		for i := range members {
			t.equal("all_gather", got[i*n:(i+1)*n], slices.Repeat([]int{i}, n))
		}
		swapped := symmem.AllToAll(x.Fill(me), g).Ints()
		for i := range members {
			t.equal("all_to_all", swapped[i*n/len(members):(i+1)*n/len(members)], slices.Repeat([]int{i}, n/len(members)))
		}
		grid, tall := x.View(len(members), 40_000), []int{40_000 * len(members), 1}
		block := symmem.Local(symmem.I32, 1, 40_000)
		symmem.ReduceScatterOffset(grid.Fill(me+1), []*symmem.Tensor{block}, 0, nil, nil, "sum", g)
		t.equal("reduce_scatter_offset", block.Ints(), slices.Repeat([]int{sum}, 40_000))
		root := len(members) - 1
		symmem.TileReduce(grid.Tile(0, 1, 3, 40_000), block.Fill(0).Tile(0, 1, 3, 40_000), root, "max", g)
		if me == root {
			t.equal("tile_reduce", block.Ints()[2:5], []int{0, root + 1, root + 1})
		}
		turned := symmem.Local(symmem.I32, 40_000, len(members))
		symmem.AllToAllPermute(x.Fill(me).View(tall...), turned, 0, 1, g)
		t.equal("all_to_all_permute", turned.Ints(), slices.Repeat(each(len(members), func(i int) int { return i }), 40_000))
		x.Free()
		all.Free()
		g.Free()
		t.meet()
	}
}

// overHostsStreamsCase runs collectives of two groups at the same time, and of one group on two
// streams.
func overHostsStreamsCase(t *T) {
	const n = 100_000
	g := symmem.NewGroup(symmem.World().Ranks()...)
	x, y, z := symmem.Empty(symmem.I32, n), g.Empty(symmem.I32, n), symmem.Empty(symmem.I32, n)
	symmem.Rendezvous(x)
	symmem.Rendezvous(y, g)
	symmem.Rendezvous(z)
	a, b := symmem.NewStream(), symmem.NewStream()
	want := 1
	for i := range 10 {
		want *= t.size
		if i == 0 {
			symmem.OnStream(a, func() { x.Fill(1) })
			symmem.OnStream(b, func() { y.Fill(1); z.Fill(1) })
		}
		symmem.AllReduce(x, "sum", a)
		symmem.AllReduce(y, "sum", g, b)
		symmem.AllReduce(z, "sum", b)
	}
	a.Synchronize()
	b.Synchronize()
	for _, s := range []*symmem.Tensor{x, y, z} {
		t.equal("sum", s.Ints(), slices.Repeat([]int{int(int32(want))}, n))
	}
	a.Free()
	b.Free()
	y.Free()
	g.Free()
	x.Free()
	z.Free()
}

// withoutNCCL is the beginning of the text that Explain adds on GPUs.
const withoutNCCL = "; NCCL does not carry it: "

// overHostsExplainCase checks Explain's descriptions of the ways.
func overHostsExplainCase(t *T) {
	x := symmem.Empty(symmem.F32, 1<<18)
	symmem.Rendezvous(x)
	hosts := len(symmem.Caps().Hosts)
	here := t.size / hosts
	network := symmem.Caps().Between
	for i, via := range vias[1:] {
		bytes := []int{(t.size - here) << 20, (hosts - 1) * (1 << 20 / here)}[i]
		want := fmt.Sprintf("all_reduce f32[%d] sum on world (%d ranks, %d bytes): %s, %d bytes of this rank over %s, because the call asks for it by Via",
			x.Numel(), t.size, x.Bytes(), via, bytes, network)
		t.equal("Explain", symmem.Explain(func() { symmem.AllReduce(x, "sum", symmem.Via(via)) }), want)
	}
	bytes := (t.size - here) << 20 / t.size // the same for both ways
	call := fmt.Sprintf("all_to_all f32[%d] on world (%d ranks, %d bytes): ", x.Numel(), t.size, x.Bytes())
	for _, via := range vias[1:] {
		want := fmt.Sprintf("%s%s, %d bytes of this rank over %s, because the call asks for it by Via", call, via, bytes, network)
		t.equal("Explain", symmem.Explain(func() { symmem.AllToAll(x, symmem.Via(via)) }), want)
	}
	tile := x.View(512, 512).Tile(0, 512, 0, 512)
	for i, via := range vias[1:] { // a tile crosses to its root from every far rank, or once from every host
		bytes := 0
		if t.rank >= here && (i == 0 || t.rank%here == 0) {
			bytes = x.Bytes()
		}
		want := fmt.Sprintf("tile_reduce f32[%d] sum to [0] on world (%d ranks, %d bytes): %s, %d bytes of this rank over %s, because the call asks for it by Via",
			x.Numel(), t.size, x.Bytes(), via, bytes, network)
		out := symmem.Local(symmem.F32, 512, 512).Tile(0, 512, 0, 512)
		t.equal("Explain", symmem.Explain(func() { symmem.TileReduce(tile, out, 0, "sum", symmem.Via(via)) }), want)
	}
	want := fmt.Sprintf("%shierarchical, %d bytes of this rank over %s, because the messages of a host's ranks for a rank of another host cross as one", call, bytes, network)
	unasked, _, _ := strings.Cut(symmem.Explain(func() { symmem.AllToAll(x) }), withoutNCCL)
	t.equal("Explain", unasked, want)
	if t.size == 4 && hosts == 2 {
		g := symmem.NewGroup(0, 2, 3)
		if g.Rank() >= 0 {
			symmem.Rendezvous(x, g)
			want := fmt.Sprintf("broadcast f32[%d] from 0 on group 0,2,3 (3 ranks, %d bytes): flat, %d bytes of this rank over %s, because the group has more ranks on one host than on another",
				x.Numel(), x.Bytes(), map[bool]int{true: 2 << 20}[t.rank == 0], network)
			got, _, _ := strings.Cut(symmem.Explain(func() { symmem.Broadcast(x, 0, g) }), withoutNCCL)
			t.equal("Explain", got, want)
			t.refused(symmem.KindMisuse, func() { symmem.AllReduce(x, "sum", g, symmem.Via("hierarchical")) },
				"more members on one host than on another: 0 and 2,3", "leave it out")
			symmem.Synchronize()
		}
		t.meet()
		if g.Rank() >= 0 {
			g.Free()
		}
	}
	x.Free()
}

// overHostsMisuseCase makes calls that are refused; the group stays usable.
func overHostsMisuseCase(t *T) {
	x := symmem.Empty(symmem.F32, 8*t.size)
	all := func(opts ...symmem.Option) { symmem.AllReduce(x, "sum", opts...) }
	t.refused(symmem.KindMisuse, func() { symmem.Capture(func() { all() }) }, "was not rendezvoused by world", "Rendezvous")
	h := symmem.Rendezvous(x)
	t.refused(symmem.KindMisuse, func() { all(symmem.Via("ring")) }, `the ways are "flat", "hierarchical", "NCCL" and "NVSHMEM", not "ring"`)
	if symmem.GetBackend() == "CPU" {
		t.refused(symmem.KindMisuse, func() { all(symmem.Via("NCCL")) }, "NCCL needs the cuda device, this is cpu")
	}
	t.refused(symmem.KindMisuse, func() { symmem.OneShotAllReduce(x, "sum", symmem.Via("flat")) }, "Via is an option of")
	t.refused(symmem.KindMisuse, func() { symmem.AllGather(x, symmem.CopyEngine()) }, "copy engines do not reach", "g.LSA()")
	for _, c := range []struct {
		f       func()
		instead string
	}{
		{func() { symmem.OneShotAllReduce(x, "sum") }, "AllReduce goes over hosts"},
		{func() { symmem.TwoShotAllReduce(x, "sum") }, "AllReduce goes over hosts"},
		{func() { symmem.MultimemAllReduce(x, "sum") }, "AllReduce goes over hosts"},
		{func() { symmem.MultimemOneShotAllReduce(x, "sum") }, "AllReduce goes over hosts"},
		{func() { symmem.MultimemOneShotReduceOut(x, "sum", 0, x) }, "TileReduce goes over hosts, with the whole tensor as a tile"},
		{func() { symmem.MultimemAllGatherOut(x.Slice(0, 8), x) }, "AllGather goes over hosts"},
		{func() { h.GetRemoteTensor(t.size - 1 - t.rank) }, "Put and Get need none"},
	} {
		t.refused(symmem.KindMisuse, c.f, "is on another host", c.instead+"; or use the ranks of this host", "g.LSA()")
	}
	splits, both := symmem.Local(symmem.I64, t.size), symmem.Local(symmem.I64, 2, t.size)
	t.refused(symmem.KindMisuse, func() {
		symmem.AllToAllVDev(symmem.Local(symmem.F32, 8), x, splits, both, symmem.Via("hierarchical"))
	}, "all_to_all_vdev", "it has no hierarchical way here: every row goes straight into its place", "leave it out")
	t.refused(symmem.KindMisuse, func() {
		symmem.AllToAllVDev(symmem.Local(symmem.F32, 8), x, splits, both, symmem.Via("NCCL"))
	}, "all_to_all_vdev", "NCCL does not do this operation", "leave it out")
	if symmem.LSA().Size() > 1 {
		symmem.Rendezvous(x, symmem.LSA())
		t.refused(symmem.KindMisuse, func() { all(symmem.LSA(), symmem.Via("flat")) }, "are on one host", "leave it out")
	}
	all()
	x.Free()
}

// overHostsTilesCase reduces tiles of many chunks and of none each way: one for a rank, one for every
// rank, and blocks of different sizes for some ranks. All ways give the same bits.
func overHostsTilesCase(t *T) {
	for _, d := range []symmem.DType{symmem.BF16, symmem.F32, symmem.I8} {
		each, cols := 384/t.size, 1001 // rows of a rank
		rows := each * t.size
		x, y := symmem.Empty(d, rows, cols), symmem.Empty(d, rows, 1040)
		symmem.Rendezvous(x)
		symmem.Rendezvous(y)
		inputs, others := t.inputsOf(x.View(-1)), t.inputsOf(y.View(-1))
		check := func(what, op string, wide bool, got []float64, at func(i int) (inputs [][]float64, e int)) {
			values := make([]float64, t.size)
			for i := 0; i < len(got); i += 13 {
				from, e := at(i)
				for p := range values {
					values[p] = from[p][e]
				}
				want := t.reduced(d, op, values)
				if wide {
					want = rounded(d, t.reduced(symmem.F32, op, values))
				}
				if got[i] != want {
					t.Fatalf("%v %s %s: element %d is %v, want %v", d, op, what, i, got[i], want)
				}
			}
		}
		for k, via := range vias {
			op, opts := reductions[k], by(via)
			wide := d == symmem.BF16 && k > 0
			if wide {
				op, opts = "sum", append(opts, symmem.AccumulateF32())
			}
			root := (t.size - 1 + k) % t.size
			out := symmem.Local(d, rows-2, 960).Fill(guard)
			symmem.TileReduce(x.Tile(1, rows-1, 16, 976), out.Tile(0, rows-2, 0, 960), root, op, opts...)
			if t.rank != root {
				t.equal("out of the others", slices.ContainsFunc(out.Float64s(), func(v float64) bool { return v != guard }), false)
			} else {
				check("tile_reduce "+via, op, wide, out.Float64s(), func(i int) ([][]float64, int) { return inputs, (1+i/960)*cols + 16 + i%960 })
			}

			// Every second tile is of another tensor.
			var tiles []*symmem.Tile
			var roots []int
			for i := range t.size {
				of := []*symmem.Tensor{x, y}[i%2]
				tiles, roots = append(tiles, of.Tile(each*i, each*i+each, 5, 905)), append(roots, (i+k)%t.size)
			}
			mine := slices.Index(roots, t.rank)
			part := symmem.Local(d, each, 900)
			symmem.MultiRootTileReduce(tiles, part.Tile(0, each, 0, 900), roots, op, opts...)
			check("multi_root_tile_reduce "+via, op, wide, part.Float64s(), func(i int) ([][]float64, int) {
				from, pitch := inputs, cols
				if mine%2 == 1 {
					from, pitch = others, 1040
				}
				return from, (each*mine+i/900)*pitch + 5 + i%900
			})

			// The last rank gets a small block, an empty one and the largest; the first gets the
			// rest; others get none.
			for dim := range 2 {
				length := x.Shape()[dim]
				offsets, to := []int{3, 3, length / 4, length}, []int{t.size - 1, t.size - 1, 0, t.size - 1}
				var blocks []*symmem.Tensor
				var from []int
				for i, hi := range offsets {
					lo := 0
					if i > 0 {
						lo = offsets[i-1]
					}
					if shape := x.Shape(); to[i] == t.rank {
						shape[dim] = hi - lo
						blocks, from = append(blocks, symmem.Local(d, shape...)), append(from, lo)
					}
				}
				symmem.ReduceScatterOffset(x, blocks, dim, offsets, to, op, opts...)
				for j, b := range blocks {
					width := b.Shape()[1]
					check(fmt.Sprint("reduce_scatter_offset ", via, " along ", dim), op, wide, b.Float64s(), func(i int) ([][]float64, int) {
						row, col := i/width, i%width
						if dim == 0 {
							return inputs, (from[j]+row)*cols + col
						}
						return inputs, row*cols + from[j] + col
					})
				}
			}
		}
		symmem.Synchronize()
		t.meet()
		x.Free()
		y.Free()
	}
}

// overHostsPermuteCase moves dimensions each way, of blocks of many chunks and of few bytes, between
// symmetric and ordinary memory.
func overHostsPermuteCase(t *T) {
	for _, c := range []struct {
		d          symmem.DType
		rows, cols int
	}{{symmem.I32, 2800 / t.size, 1003}, {symmem.I32, 333, 2}, {symmem.U8, 80_001 / t.size, 5}, {symmem.BF16, 256 / t.size, 4096}} {
		n := t.size * c.rows * c.cols
		in, out := symmem.Empty(c.d, n), symmem.Empty(c.d, n)
		symmem.Rendezvous(in)
		symmem.Rendezvous(out)
		own, local := symmem.Local(c.d, n), symmem.Local(c.d, n)
		t.fillPattern(in)
		own.CopyFrom(in)
		wide, tall := []int{c.rows, t.size * c.cols}, []int{t.size * c.rows, c.cols}
		for k, via := range vias {
			for scatter := range 2 {
				from, to := []*symmem.Tensor{in, own}[k%2], []*symmem.Tensor{out, local}[(k+scatter)%2]
				shapes := [][]int{tall, wide}
				symmem.AllToAllPermute(from.View(shapes[scatter]...), to.Fill(0).View(shapes[1-scatter]...), scatter, 1-scatter, by(via)...)
				for i, v := range to.Float64s() {
					p, row, col := i/(c.rows*c.cols), i/c.cols%c.rows, i%c.cols // out[p][row][col] is in[row][me][col] of p
					e := (row*t.size+t.rank)*c.cols + col
					if scatter == 0 { // out[row][p][col] is in[me][row][col] of p
						row, p = i/(t.size*c.cols), i/c.cols%t.size
						e = (t.rank*c.rows+row)*c.cols + col
					}
					if want := pattern(c.d, p, e); v != want {
						t.Fatalf("%v %d rows of %d, scatter %d %s: element %d is %v, want %v", c.d, c.rows, c.cols, scatter, via, i, v, want)
					}
				}
			}
		}
		symmem.Synchronize()
		t.meet()
		for _, s := range []*symmem.Tensor{in, out, own, local} {
			s.Free()
		}
	}
}
