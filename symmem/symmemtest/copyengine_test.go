package symmemtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

func copyEngineGatherCase(t *T) {
	engines := symmem.CopyEngine()
	for k, d := range []symmem.DType{symmem.U8, symmem.BF16, symmem.F64} {
		for _, n := range []int{0, 1, 63, 4097} {
			offset := (k + n) % 3
			x, y := symmem.Empty(d, n+4), symmem.Empty(d, t.size*n+8)
			symmem.Rendezvous(x)
			symmem.Rendezvous(y)
			part := t.fillPattern(x).Slice(offset, offset+n)
			want := []float64{}
			for r := range t.size {
				for i := range n {
					want = append(want, pattern(d, r, offset+i))
				}
			}
			what := fmt.Sprint(d, n, " at ", offset, ": ")
			t.equal(what+"fresh", symmem.AllGather(part, engines).Float64s(), want)
			framed := slices.Concat([]float64{3, 3}, want, slices.Repeat([]float64{3}, 6))
			local := symmem.Local(d, t.size*n+8).Fill(3)
			symmem.AllGatherOut(part, local.Slice(2, 2+t.size*n), engines)
			t.equal(what+"into ordinary memory", local.Float64s(), framed)
			symmem.AllGatherOut(part, y.Fill(3).Slice(2, 2+t.size*n), engines)
			t.equal(what+"into symmetric memory", y.Float64s(), framed)
			symmem.AllGatherOut(symmem.Local(d, n).CopyFrom(part), y.Fill(3).Slice(2, 2+t.size*n), engines)
			t.equal(what+"from ordinary memory", y.Float64s(), framed)
			own := y.Fill(3).Slice(2+t.rank*n, 2+(t.rank+1)*n).CopyFrom(part)
			symmem.AllGatherOut(own, y.Slice(2, 2+t.size*n), engines)
			t.equal(what+"in place", y.Float64s(), framed)
			x.Free()
			y.Free()
		}
	}
	x := symmem.Empty(symmem.F32, 8*t.size).Fill(1)
	symmem.Rendezvous(x)
	misuse := symmem.KindMisuse
	t.refused(misuse, func() { symmem.AllReduce(x, "sum", engines) }, "all_reduce", "CopyEngine is an option of ReduceScatter, AllGather and AllToAll")
	t.refused(misuse, func() { symmem.Broadcast(x, 0, engines) }, "broadcast", "CopyEngine is an option of")
	got := symmem.Explain(func() { symmem.AllGather(x, engines) })
	if want := fmt.Sprintf("all_gather f32[%d] on world (%d ranks, %d bytes): copy engines, because ", 8*t.size, t.size,
		32*t.size); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	x.Free()
}

func copyEngineAllToAllCase(t *T) {
	for _, rows := range []int{0, 1, 63, 1025} {
		n := rows * t.size
		x, y := symmem.Empty(symmem.I32, n+4), symmem.Local(symmem.I32, n+4)
		symmem.Rendezvous(x)
		part := t.fillPattern(x).Slice(1, 1+n)
		want := []float64{}
		for r := range t.size {
			for i := range rows {
				want = append(want, pattern(symmem.I32, r, 1+t.rank*rows+i))
			}
		}
		what := fmt.Sprint(rows, " rows: ")
		t.equal(what+"fresh", symmem.AllToAll(part, symmem.CopyEngine()).Float64s(), want)
		symmem.AllToAllOut(part, y.Fill(3).Slice(2, 2+n), symmem.CopyEngine())
		t.equal(what+"out", y.Float64s(), slices.Concat([]float64{3, 3}, want, []float64{3, 3}))
		x.Free()
	}
}

// copyEngineGraphCase replays copies, with eager calls of the same and other kinds in between.
func copyEngineGraphCase(t *T) {
	const n = 1000
	x, out := symmem.Empty(symmem.I32, n), symmem.Local(symmem.I32, n*t.size)
	symmem.Rendezvous(x)
	count := symmem.Local(symmem.I32, 1)
	next := symmem.Compile(`extern "C" __global__ void next(int* x, int n, int* count, int rank) {
		int c = *count + 1;
		for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = c * 10 + rank;
		__syncthreads();
		if (threadIdx.x == 0) *count = c;
	}`)
	step := func() {
		next.Launch(symmem.Grid(1), symmem.Block(256), x, n, count, t.rank)
		symmem.AllGatherOut(x, out, symmem.CopyEngine())
	}
	check := func(what string, c int) {
		for i, v := range out.Ints() {
			if want := c*10 + i/n; v != want {
				t.Fatalf("%s: element %d is %d, want %d", what, i, v, want)
			}
		}
	}
	g := symmem.Capture(step)
	other := symmem.NewStream()
	for c := 1; c <= 12; c++ {
		switch c % 4 {
		case 0:
			symmem.OnStream(other, step)
			symmem.AllGather(x)
		case 1:
			step()
		case 2:
			g.Replay(other)
		default:
			g.Replay()
		}
		symmem.Synchronize()
		check(fmt.Sprint("call ", c), c)
	}
	for range 30 {
		g.Replay()
	}
	step()
	g.Replay()
	check("in a row", 44)
	if d := g.Elapsed(3); d <= 0 {
		t.Errorf("a replay took %v", d)
	}
	check("timed", 47)
	t.refused(symmem.KindMisuse, func() { g.Elapsed(0) }, "must be positive")
	g.Free()
	symmem.Synchronize()
	t.meet()
	other.Free()
	x.Free()
}

// copyEngineTimeoutCase leaves rank 0 alone, lets it give up, and checks the results of the others.
func copyEngineTimeoutCase(t *T) {
	x, out := symmem.Empty(symmem.F32, 100).Fill(t.rank), symmem.Local(symmem.F32, 100*t.size)
	symmem.Rendezvous(x)
	symmem.Synchronize() // Recover would drop pending work
	if t.rank == 0 {
		symmem.AllGatherOut(x, out, symmem.CopyEngine(), symmem.Timeout(150*time.Millisecond))
		e := t.refused(symmem.KindTimeout, symmem.Synchronize, "all_gather", "to come to the copies", "must make the same call")
		if e.Peer < 1 {
			t.Errorf("the peer is %d", e.Peer)
		}
		t.refused(symmem.KindPeer, func() { symmem.AllGather(x, symmem.CopyEngine()) }, "out of step")
	}
	symmem.Recover()
	t.equal("x", x.Ints(), slices.Repeat([]int{t.rank}, 100))
	symmem.AllGatherOut(x, out, symmem.CopyEngine())
	for r := range t.size {
		t.equal("afterwards", out.Slice(100*r, 100*r+100).Ints(), slices.Repeat([]int{r}, 100))
	}
	x.Free()
}

// copyEngineAbortCase interrupts a rank whose peers never come, with more copies queued, once Waits
// lists the wait.
func copyEngineAbortCase(t *T) {
	x, out := symmem.Empty(symmem.F32, 100).Fill(t.rank), symmem.Local(symmem.F32, 100*t.size)
	symmem.Rendezvous(x)
	symmem.Synchronize() // Recover would drop pending work
	if t.rank == 0 {
		for range 3 {
			symmem.AllGatherOut(x, out, symmem.CopyEngine())
		}
		told := false
		for end := time.Now().Add(20 * time.Second); !told && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			told = slices.ContainsFunc(t.rt.Waits(), func(w symmem.Wait) bool {
				return strings.HasPrefix(w.Op, "all_gather") && strings.Contains(w.For, "come to the copies")
			})
		}
		if !told {
			t.Errorf("Waits did not tell of the wait")
		}
		t.rt.Abort("the user pressed Ctrl-C")
		t.refused(symmem.KindInterrupted, symmem.Synchronize, "all_gather", "rank 1 to come to the copies", "gave up: the user pressed Ctrl-C")
	}
	symmem.Recover()
	symmem.AllGatherOut(x, out, symmem.CopyEngine())
	for r := range t.size {
		t.equal("afterwards", out.Slice(100*r, 100*r+100).Ints(), slices.Repeat([]int{r}, 100))
	}
	x.Free()
}

// copyEngineReduceScatterCase compares the reduce-scatter by copy engines with that by a kernel.
func copyEngineReduceScatterCase(t *T) {
	for k, d := range []symmem.DType{symmem.BF16, symmem.F32, symmem.I64} {
		for _, rows := range []int{0, 1, 63, 1025} {
			n := rows * t.size
			x := symmem.Empty(d, n+3)
			symmem.Rendezvous(x)
			part := t.fillPattern(x).Slice(k, k+n)
			for _, op := range []string{"sum", "avg", "max", "min"} {
				want := symmem.ReduceScatter(part, op).Float64s()
				what := fmt.Sprint(d, " ", rows, " ", op)
				t.equal(what, symmem.ReduceScatter(part, op, symmem.CopyEngine()).Float64s(), want)
				out := symmem.Local(d, rows+2).Fill(3)
				symmem.ReduceScatterOut(part, op, out.Slice(1, 1+rows), symmem.CopyEngine())
				t.equal(what+" out", out.Float64s(), slices.Concat([]float64{3}, want, []float64{3}))
			}
			if d == symmem.BF16 {
				t.equal("accumulated", symmem.ReduceScatter(part, "sum", symmem.CopyEngine(), symmem.AccumulateF32()).Float64s(),
					symmem.ReduceScatter(part, "sum", symmem.AccumulateF32()).Float64s())
			}
			x.Free()
		}
	}
	x := symmem.Empty(symmem.F32, t.size, t.size)
	symmem.Rendezvous(x)
	t.refused(symmem.KindMisuse, func() { symmem.ReduceScatter(x, "sum", symmem.CopyEngine(), symmem.SplitLastDim()) },
		"reduce_scatter", "CopyEngine moves whole rows")
	x.Free()
}
