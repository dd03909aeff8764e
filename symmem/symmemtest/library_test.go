package symmemtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// libraryCases test collectives by NCCL. cmd/symmrepl tests them without a GPU.
var libraryCases = []testCase{
	{name: "LibraryReduce", run: libraryReduceCase},
	{name: "LibraryCopies", run: libraryCopiesCase},
	{name: "LibraryGraph", run: libraryGraphCase},
	{name: "LibraryStreams", run: libraryStreamsCase},
	{name: "LibraryGroups", run: libraryGroupsCase},
	{name: "LibraryMany", run: libraryManyCase},
	{name: "LibraryAbort", run: libraryAbortCase},
	{name: "LibraryMisuse", run: libraryMisuseCase},
	{name: "LibraryHeaders", run: libraryHeadersCase},
	{name: "LibraryPuts", run: libraryPutsCase},
}

// viaNCCL is the option for collectives by NCCL.
var viaNCCL = symmem.Via("NCCL")

// TestNCCL runs the cases of collectives by NCCL on GPUs, on one host and between simulated ones.
func TestNCCL(t *testing.T) {
	if !slices.Contains(devices(t), "cuda") {
		t.Skip("two GPUs are needed")
	}
	for _, b := range (symmem.DeviceKind{Name: "cuda"}).Backends() {
		if b.Name == "NCCL" && !b.Available {
			t.Skip(b)
		}
	}
	for _, c := range []struct {
		ranks int
		hosts string
	}{{1, ""}, {2, ""}, {2, "2"}, {4, ""}, {4, "2"}} {
		t.Run(fmt.Sprintf("%dranks/hosts%s", c.ranks, c.hosts), func(t *testing.T) {
			needRanks(t, "cuda", c.ranks)
			if shared() && os.Getenv("NCCL_MULTI_RANK_GPU_ENABLE") != "1" {
				t.Skip("NCCL needs a GPU for each rank, or NCCL_MULTI_RANK_GPU_ENABLE=1")
			}
			w := startOn(t, "cuda", c.ranks, c.hosts, "null")
			for _, l := range libraryCases {
				if c.ranks == 1 && l.name != "LibraryHeaders" && l.name != "LibraryPuts" {
					continue // these cases are about several hosts
				}
				t.Run(l.name, func(t *testing.T) { w.run(t, l.name) })
			}
		})
	}
}

// libraryHeadersCase runs a kernel that was compiled with NCCL's own nccl_device.h: its pointers
// refer to the same memory as ours, and its barriers order its accesses.
func libraryHeadersCase(t *T) {
	if symmem.LSA().Size() < t.size {
		return // the kernel works on one host only
	}
	const n, blocks = 5000, 4
	x, sums := symmem.Empty(symmem.I32, n+1024), symmem.Empty(symmem.I32, n)
	h, in, out := symmem.Rendezvous(x), symmem.Window(x.Slice(1024, n+1024)), symmem.Window(sums)
	comm := symmem.DevComm(symmem.DevReqs{LsaBarriers: blocks})
	k := symmem.Compile(`
#include <nccl_device.h>
extern "C" __global__ void own(ncclWindow_t in, ncclWindow_t out, int n, ncclDevComm comm, int* version) {
	*version = NCCL_VERSION_CODE + (sizeof(comm) << 20);
	ncclLsaBarrierSession<ncclCoopCta> bar{ncclCoopCta(), comm, ncclTeamTagLsa(), blockIdx.x};
	const int first = threadIdx.x + blockDim.x * blockIdx.x, step = blockDim.x * gridDim.x;
	for (int p = 0; p < comm.lsaSize; p++)  // to each rank, what the one before it wants there
		if (p == (comm.lsaRank + 1) % comm.lsaSize)
			for (int i = first; i < n; i += step) ((int*)ncclGetLsaPointer(in, 0, p))[i] = 10 * p + i;
	bar.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
	for (int i = first; i < n; i += step) {
		int v = 0;
		for (int p = 0; p < comm.lsaSize; p++) v += ((int*)ncclGetPeerPointer(in, 0, p))[i];
		((int*)ncclGetLocalPointer(out, 0))[i] = v;
	}
	bar.sync(ncclCoopCta(), cuda::memory_order_release);
}`)
	version := symmem.Local(symmem.I32, 1)
	launch := func() {
		x.Fill(-1)
		symmem.Synchronize()
		symmem.Meet()
		k.Launch(symmem.Grid(blocks), symmem.Block(128), in, out, n, comm, version, symmem.Timeout(20*time.Second))
		symmem.Synchronize()
		symmem.Meet()
		for p := range t.size {
			got := h.GetBuffer(p, symmem.I32, n+1024).Ints()
			t.equal("where ours lead", []int{got[1023], got[1024], got[n+1023]}, []int{-1, 10 * p, 10*p + n - 1})
		}
		sum := sums.Ints()
		t.equal("the sums", []int{sum[0], sum[n-1]}, []int{5 * t.size * (t.size - 1), t.size * (5*(t.size-1) + n - 1)})
	}
	said := symmem.Explain(launch)
	own := strings.Contains(said, "'s nccl_device.h, because the back end is NCCL") && strings.Contains(said, ": NCCL 2.")
	switch caps := symmem.Caps(); {
	case caps.Backend != "NCCL":
		t.equal("what Explain says", said, "")
	case own:
		t.equal("the version", version.Ints()[0]&(1<<20-1) >= 22907, true)
	default:
		t.equal("what Explain says", strings.Contains(said, "symmrepl's nccl_device.h, because "), true)
	}
	symmem.Recover()
	launch()
	graph := symmem.Capture(func() {
		k.Launch(symmem.Grid(blocks), symmem.Block(128), in, out, n, comm, version)
	})
	for range 10 {
		graph.Replay()
	}
	t.equal("after 10 replays", sums.Ints()[1], t.size*(5*(t.size-1)+1))
	symmem.Synchronize()
	symmem.Meet()
	graph.Free()
	if own && t.size > 1 {
		if t.rank == 0 { // not collective
			k.Launch(symmem.Grid(blocks), symmem.Block(128), in, out, n, comm, version, symmem.Timeout(200*time.Millisecond))
			t.refused(symmem.KindTimeout, symmem.Synchronize, "own", "waited", "for NCCL")
		}
		symmem.Recover()
		launch()
	}
	comm.Free()
	x.Free()
	sums.Free()
}

// libraryPutsCase puts around the ring by NCCL, if it has puts: with many sizes, many at once, and
// after the world gave up.
func libraryPutsCase(t *T) {
	const n = 1 << 20
	x, u := symmem.Empty(symmem.I32, n+8), symmem.Empty(symmem.I32, n+3)
	h := symmem.Rendezvous(x.Slice(5, n+5))
	symmem.Rendezvous(u)
	next, last := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	if err := symmem.Maybe(func() { h.Put(next, u.Slice(0, 0), viaNCCL) }); err != nil {
		if caps := symmem.Caps(); caps.Backend == "NCCL" && len(caps.Hosts) == 1 && !strings.Contains(err.Error(), "2.29.7 and later") {
			t.Errorf("with windows on one host: %v", err)
		}
		return
	}
	mine := make([]int, n)
	for i := range mine {
		mine[i] = 1_000_000*t.rank + i%99_991
	}
	u.Slice(3, n+3).CopyFrom(mine)
	for i, size := range []int{1, 31, 1000, 1 << 16, n} {
		x.Fill(-1)
		symmem.Synchronize()
		symmem.Meet()
		h.PutWithSignal(next, u.Slice(3, 3+size), 2, uint64(i+1), viaNCCL)
		h.WaitForSignal(2, "==", uint64(i+1))
		got := x.Ints()
		for j, v := range got {
			want := -1
			if j >= 5 && j < 5+size {
				want = 1_000_000*last + (j-5)%99_991
			}
			if v != want {
				t.Fatalf("of %d elements from rank %d: element %d is %d, want %d", size, last, j, v, want)
			}
		}
		symmem.Meet()
	}
	for i := range 200 {
		h.Put(next, u.Slice(3+i, 4+i), viaNCCL)
	}
	h.Barrier(0)
	t.equal("the last of 200", x.Slice(5, 6).Ints(), []int{1_000_000*last + 199})
	symmem.Meet()
	if t.rank == 0 { // queued behind a wait that gives up
		h.WaitForSignal(3, "==", 1)
		h.Put(next, u.Slice(3, n+3), viaNCCL)
		time.AfterFunc(50*time.Millisecond, func() { t.rt.Abort("the test wants it") })
		t.refused(symmem.KindInterrupted, symmem.Synchronize, "wait_for_signal", "the test wants it")
	}
	symmem.Recover()
	t.refused(symmem.KindMisuse, func() { h.Put(next, u.Slice(0, 1), viaNCCL) }, "no communicator of NCCL since Recover", "Broadcast")
	symmem.Broadcast(u, 0, viaNCCL)
	h.PutWithSignal(next, u.Fill(50+t.rank).Slice(3, 4), 2, 77, viaNCCL)
	h.WaitForSignal(2, "==", 77)
	t.equal("after Recover", x.Slice(5, 6).Ints(), []int{50 + last})
	symmem.Synchronize()
	symmem.Meet()
	x.Free()
	u.Free()
}

// libraryReduceCase runs every type and reduction, with many sizes and offsets. The values are
// small integers.
func libraryReduceCase(t *T) {
	value := func(rank, i int) int { return (i+rank)%5 + 1 }
	for i, d := range computing {
		x := symmem.Empty(d, 1<<16+64)
		symmem.Rendezvous(x)
		for k, n := range []int{0, t.size, 63 * t.size, 1024 * t.size, 1 << 16} {
			for r, op := range reductions {
				if op == "avg" && d != symmem.F16 && d != symmem.BF16 && d != symmem.F32 && d != symmem.F64 {
					continue
				}
				part := x.Slice([]int{0, 16, 5}[(i+k)%3], []int{0, 16, 5}[(i+k)%3]+n)
				mine := make([]float64, n)
				for j := range mine {
					mine[j] = float64(value(t.rank, j))
				}
				want := func(j int) float64 {
					v := make([]float64, t.size)
					sum := 0.0
					for q := range v {
						v[q] = float64(value(q, j))
						sum += v[q]
					}
					return []float64{sum, sum / float64(t.size), slices.Max(v),
						slices.Min(v)}[slices.Index([]string{"sum", "avg", "max", "min"}, op)]
				}
				check := func(what string, got []float64, first int) {
					for j, g := range got {
						if g != want(first+j) {
							t.Fatalf("%s %s of %d %v: element %d is %v, want %v", what, op, n, d, j, g, want(first+j))
						}
					}
				}
				if err := symmem.Maybe(func() {
					check("all_reduce", symmem.AllReduce(part.CopyFrom(mine), op, viaNCCL).Float64s(), 0)
					if r%2 == k%2 {
						check("reduce_scatter", symmem.ReduceScatter(part.CopyFrom(mine), op, viaNCCL).Float64s(), t.rank*n/t.size)
					}
				}); err != nil {
					t.Fatalf("%s of %d %v: %v", op, n, d, err)
				}
			}
		}
		symmem.Synchronize()
		t.meet()
		x.Free()
	}
}

// libraryCopiesCase gathers, exchanges and broadcasts, into symmetric memory and into ordinary
// memory.
func libraryCopiesCase(t *T) {
	x, all := symmem.Empty(symmem.I32, 1<<16), symmem.Empty(symmem.I32, t.size<<16)
	symmem.Rendezvous(x)
	symmem.Rendezvous(all)
	value := func(rank, i int) int { return 1000*rank + i%997 }
	for _, n := range []int{1, 3, 1000, 1 << 16} {
		fill := func() *symmem.Tensor {
			mine := make([]int, n)
			for i := range mine {
				mine[i] = value(t.rank, i)
			}
			return x.Slice(0, n).CopyFrom(mine)
		}
		check := func(what string, got []int, want func(i int) int) {
			for i, v := range got {
				if v != want(i) {
					t.Fatalf("%s of %d: element %d is %d, want %d", what, n, i, v, want(i))
				}
			}
		}
		out := all.Slice(0, t.size*n)
		gathered := func(i int) int { return value(i/n, i%n) }
		symmem.AllGatherOut(fill(), out.Fill(-1), viaNCCL)
		check("all_gather into symmetric memory", out.Ints(), gathered)
		check("all_gather", symmem.AllGather(fill(), viaNCCL).Ints(), gathered)
		symmem.AllGatherOut(out.Fill(-1).Slice(t.rank*n, (t.rank+1)*n).CopyFrom(fill()), out, viaNCCL)
		check("all_gather in place", out.Ints(), gathered)
		for root := range t.size {
			check(fmt.Sprint("broadcast from ", root), symmem.Broadcast(fill(), root, viaNCCL).Ints(), func(i int) int { return value(root, i) })
		}
		for r := range t.size {
			out.Slice(r*n, (r+1)*n).Fill(100*t.rank + r)
		}
		check("all_to_all", symmem.AllToAll(out, viaNCCL).Ints(), func(i int) int { return 100*(i/n) + t.rank })
	}
	bytes := symmem.Empty(symmem.F8E4M3, 3)
	symmem.Rendezvous(bytes)
	t.equal("a storage type", symmem.AllGather(bytes.Fill(t.rank+1), viaNCCL).Float64s()[3*t.size-1], float64(t.size))
	symmem.Synchronize()
	t.meet()
	x.Free()
	all.Free()
	bytes.Free()
}

// libraryGraphCase captures calls, replays them many times between other calls, and loses them with
// the communicator.
func libraryGraphCase(t *T) {
	x := symmem.Empty(symmem.I64, 1000)
	symmem.Rendezvous(x)
	symmem.AllReduce(x.Fill(1), "max", viaNCCL) // this makes the communicator
	graph := symmem.Capture(func() {
		symmem.AllReduce(x, "sum", viaNCCL)
		symmem.Broadcast(x, t.size-1, viaNCCL)
	})
	want := 1
	for range 20 {
		graph.Replay()
		want *= t.size
	}
	t.equal("after 20 replays", x.Ints()[999], want)
	symmem.AllReduce(x.Fill(1), "sum", viaNCCL)
	graph.Replay()
	t.equal("after a call and a replay", x.Ints()[0], t.size*t.size)
	symmem.Recover()
	t.refused(symmem.KindPeer, func() { graph.Replay() }, "another communicator of NCCL since the graph was captured", "capture it again")
	t.refused(symmem.KindMisuse, func() { symmem.Capture(func() { symmem.AllReduce(x, "sum", viaNCCL) }) },
		"has no communicator of NCCL yet", "make the call once before the capture")
	graph.Free()
	symmem.AllReduce(x.Fill(t.rank), "max", viaNCCL)
	t.equal("by another communicator", x.Ints()[0], t.size-1)
	x.Free()
}

// libraryStreamsCase issues calls on two streams, and between symmrepl's own calls.
func libraryStreamsCase(t *T) {
	x, y := symmem.Empty(symmem.I32, 4096), symmem.Empty(symmem.I32, 4096)
	symmem.Rendezvous(x)
	h := symmem.Rendezvous(y)
	s := symmem.NewStream()
	x.Fill(1)
	y.Fill(1)
	symmem.Synchronize()
	for range 10 {
		symmem.AllReduce(x, "sum", viaNCCL, s)
		symmem.AllReduce(y, "sum", viaNCCL)
		h.Barrier(0)
	}
	symmem.Synchronize()
	want := 1
	for range 10 {
		want *= t.size
	}
	t.equal("on a stream", []int{x.Ints()[0], x.Ints()[4095], y.Ints()[0], y.Ints()[4095]}, []int{want, want, want, want})
	s.Free()
	t.meet()
	x.Free()
	y.Free()
}

// libraryGroupsCase uses communicators of several groups at once.
func libraryGroupsCase(t *T) {
	x := symmem.Empty(symmem.I32, 8)
	symmem.Rendezvous(x)
	alone := symmem.NewGroup(t.size - 1)
	if alone.Rank() >= 0 {
		symmem.Rendezvous(x, alone)
		t.equal("a group of one", symmem.AllReduce(x.Fill(7), "sum", alone, viaNCCL).Ints()[0], 7)
	}
	pair := symmem.NewGroup(0, t.size-1)
	if pair.Rank() >= 0 {
		symmem.Rendezvous(x, pair)
		t.equal("a group of two", symmem.AllReduce(x.Fill(5), "sum", pair, viaNCCL).Ints()[0], 10)
	}
	t.equal("all", symmem.AllReduce(x.Fill(3), "sum", viaNCCL).Ints()[0], 3*t.size)
	symmem.Synchronize()
	t.meet()
	alone.Free()
	pair.Free()
	t.equal("all, without the groups", symmem.AllReduce(x.Fill(2), "sum", viaNCCL).Ints()[0], 2*t.size)
	x.Free()
}

// libraryManyCase issues calls of changing sizes without waiting in between.
func libraryManyCase(t *T) {
	x := symmem.Empty(symmem.I32, 1<<18)
	symmem.Rendezvous(x)
	var results []*symmem.Tensor
	for i := range 200 {
		part := x.Slice(0, []int{1, 1 << 18, 37, 1024}[i%4]).Fill(i * (t.rank + 1))
		if i%3 == 0 {
			symmem.Broadcast(part, i%t.size, viaNCCL)
		} else {
			symmem.AllReduce(part, "sum", viaNCCL)
		}
		results = append(results, symmem.Local(symmem.I32, 1).CopyFrom(part.Slice(part.Numel()-1, part.Numel())))
	}
	for i, r := range results {
		want := i * t.size * (t.size + 1) / 2
		if i%3 == 0 {
			want = i * (i%t.size + 1)
		}
		t.equal(fmt.Sprint("call ", i), r.Ints(), []int{want})
	}
	x.Free()
}

// libraryAbortCase: a call that waits for others is listed and ends when the world gives up, and
// the next call works.
func libraryAbortCase(t *T) {
	x := symmem.Empty(symmem.I32, 1<<18)
	symmem.Rendezvous(x)
	for round := range 2 {
		t.equal("before", symmem.AllReduce(x.Fill(1), "sum", viaNCCL).Ints()[0], t.size)
		if t.rank == 0 {
			symmem.AllReduce(x, "sum", viaNCCL)
			var waits []symmem.Wait
			for end := time.Now().Add(20 * time.Second); len(waits) == 0 && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
				waits = t.rt.Waits()
			}
			if len(waits) != 1 || waits[0].Op != "all_reduce i32[262144] sum" || waits[0].Group != "world" ||
				len(waits[0].Peers) != t.size-1 || !strings.HasPrefix(waits[0].For, "NCCL 2.") {
				t.Errorf("waits: %+v", waits)
			}
			time.AfterFunc(50*time.Millisecond, func() { t.rt.Abort("the test wants it") })
			begun := time.Now()
			t.refused(symmem.KindInterrupted, symmem.Synchronize, "all_reduce", "for NCCL, and gave up: the test wants it")
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("round %d: the call ended after %v", round, took)
			}
			t.refused(symmem.KindInterrupted, func() { symmem.AllReduce(x, "sum", viaNCCL) }, "the test wants it")
		}
		symmem.Recover()
	}
	t.equal("afterwards", symmem.AllReduce(x.Fill(t.rank), "max", viaNCCL).Ints()[1<<18-1], t.size-1)
	x.Free()
}

// libraryMisuseCase makes calls that are refused; the group stays usable.
func libraryMisuseCase(t *T) {
	x := symmem.Empty(symmem.I32, 4, t.size)
	t.refused(symmem.KindMisuse, func() { symmem.Capture(func() { symmem.AllReduce(x, "sum", viaNCCL) }) }, "was not rendezvoused by world",
		"before the capture, call Rendezvous on it or make the call once")
	symmem.Rendezvous(x)
	t.refused(symmem.KindMisuse, func() { symmem.AllReduce(x, "avg", viaNCCL) }, "NCCL does not do this: it has no avg of integers",
		"leave it out")
	t.refused(symmem.KindMisuse, func() { symmem.AllReduce(x, "sum", viaNCCL, symmem.Timeout(time.Second)) }, "its waits have no Timeout")
	t.refused(symmem.KindMisuse, func() { symmem.AllGather(x, viaNCCL, symmem.CopyEngine()) }, "NCCL does not do this: its copy engines need ")
	t.refused(symmem.KindMisuse, func() { symmem.ReduceScatter(x, "sum", viaNCCL, symmem.SplitLastDim()) }, "it splits the first dimension only")
	t.refused(symmem.KindMisuse, func() { symmem.OneShotAllReduce(x, "sum", viaNCCL) }, "Via is an option of")
	explained := symmem.Explain(func() { symmem.AllReduce(x.Fill(1), "sum", viaNCCL) })
	if want := fmt.Sprintf("all_reduce i32[%d] sum on world (%d ranks, %d bytes): NCCL 2.", x.Numel(), t.size,
		x.Bytes()); !strings.HasPrefix(explained, want) || !strings.HasSuffix(explained, ", because the call asks for it by Via") {
		t.Errorf("Explain says %q, want %q", explained, want)
	}
	if hosts := len(symmem.Caps().Hosts); hosts > 1 {
		explained = symmem.Explain(func() { symmem.AllReduce(x, "sum") })
		if want := fmt.Sprintf(", because the group spans %d hosts", hosts); !strings.Contains(explained, ": NCCL 2.") ||
			!strings.HasSuffix(explained, want) {
			t.Errorf("Explain says %q, want %q", explained, want)
		}
		t.equal("avg of integers", symmem.AllReduce(x.Fill(2*t.rank), "avg").Ints()[0], t.size-1)
	}
	symmem.Synchronize()
	x.Free()
}
