package symmemtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

// heapCases test the back end NVSHMEM. They launch no kernels of symmem's, so that they also run on
// the stand-ins for the driver and the library, which have none.
var heapCases = []testCase{
	{"HeapMemory", 1, true, heapMemoryCase},
	{"HeapPuts", 1, true, heapPutsCase},
	{"HeapGets", 1, true, heapGetsCase},
	{"HeapSignals", 1, true, heapSignalsCase},
	{"HeapBarrier", 1, true, heapBarrierCase},
	{"HeapStreams", 1, true, heapStreamsCase},
	{"HeapGraph", 1, true, heapGraphCase},
	{"HeapTimeouts", 2, true, heapTimeoutsCase},
	{"HeapAbort", 2, true, heapAbortCase},
	{"HeapMisuse", 1, true, heapMisuseCase},
	{"HeapCompare", 2, true, heapCompareCase},
}

// viaNVSHMEM is the option for calls by NVSHMEM.
var viaNVSHMEM = symmem.Via("NVSHMEM")

// TestNVSHMEM runs the cases on GPUs.
func TestNVSHMEM(t *testing.T) {
	if symmem.GPUs() == 0 {
		t.Skip("a GPU is needed")
	}
	for _, b := range (symmem.DeviceKind{Name: "cuda"}).Backends() {
		if b.Name == "NVSHMEM" && !b.Available {
			t.Skip(b)
		}
	}
	for _, n := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("%dranks", n), func(t *testing.T) {
			needRanks(t, "cuda", n)
			if shared() {
				t.Skip("NVSHMEM needs a GPU for each PE")
			}
			runHeapCases(t, n)
		})
	}
}

// TestNVSHMEMStandIn runs them on the stand-ins.
func TestNVSHMEMStandIn(t *testing.T) {
	if symmem.GPUs() > 0 {
		t.Skip("TestNVSHMEM runs them on GPUs")
	}
	dir := t.TempDir()
	for source, library := range map[string]string{"fakecuda.c": "libcuda.so.1", "fakenvshmem.c": "libnvshmem_host.so.3"} {
		if out, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-o", filepath.Join(dir, library),
			"../internal/cuda/testdata/"+source, "-lpthread").CombinedOutput(); err != nil {
			t.Skipf("the stand-in cannot be built: %v\n%s", err, out)
		}
	}
	t.Setenv("SYMMREPL_CUDA", filepath.Join(dir, "libcuda.so.1"))
	t.Setenv("FAKE_CUDA_DEVICES", "4")
	t.Setenv("SYMMREPL_NVSHMEM", dir)
	for _, n := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("%dranks", n), func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			runHeapCases(t, n)
			// A world that is closed leaves the heap, in which there is then the block of signals alone.
			var environs []string
			for r := range n {
				environs = append(environs,
					fmt.Sprintf("RANK=%d WORLD_SIZE=%d SYMMREPL_DEVICE=cuda TORCH_SYMMMEM=NVSHMEM FAKE_CUDA_DEVICES=4 FAKE_NVSHMEM_LOG=%s SYMMREPL_CUDA=%s SYMMREPL_NVSHMEM=%s",
						r, n, log, os.Getenv("SYMMREPL_CUDA"), dir))
			}
			for r, said := range startAll(t, "heap", environs...) {
				if want := fmt.Sprintf("[%d 7]\nstatus 0", (r+n-1)%n); said != want {
					t.Errorf("rank %d: %q, want %q", r, said, want)
				}
			}
			said, err := os.ReadFile(log)
			if want := fmt.Sprintf("0 of %d nvshmemx_hostlib_finalize, 1 blocks\n", n); err != nil || !strings.Contains(string(said), want) {
				t.Errorf("the log lacks %q: %v\n%s", want, err, said)
			}
		})
	}
}

// runHeapCases runs the cases in a world of n ranks.
func runHeapCases(t *testing.T, n int) {
	t.Setenv("TORCH_SYMMMEM", "NVSHMEM")
	w := start(t, "cuda", n)
	for _, c := range heapCases {
		if n >= c.min {
			t.Run(c.name, func(t *testing.T) { w.run(t, c.name) })
		}
	}
}

// heapProgram puts around the ring by NVSHMEM.
func heapProgram(world *symmem.Runtime) {
	x := symmem.Empty(symmem.I32, 2)
	h, next := symmem.Rendezvous(x), (symmem.Rank()+1)%symmem.WorldSize()
	h.Put(next, symmem.Local(symmem.I32, 2).CopyFrom([]int{symmem.Rank(), 7}), viaNVSHMEM)
	h.Barrier(0, viaNVSHMEM)
	fmt.Println(x.Ints())
	symmem.Meet()
	x.Free()
	world.Close()
	os.Exit(0)
}

// heapCompareCase: Compare runs calls of handles by NVSHMEM too, if it can do all of them.
func heapCompareCase(t *T) {
	x := symmem.Empty(symmem.I32, 2)
	h, next, before := symmem.Rendezvous(x), (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	mine := symmem.Local(symmem.I32, 2).CopyFrom([]int{t.rank, 7})
	compared := func(f func()) (names []string) {
		c := symmem.Compare(f)
		t.equal("all ways are equal", c.Same(), true)
		for _, w := range c.Ways {
			if names = append(names, w.Name); w.Refused != "" {
				t.Errorf("%s cannot: %s", w.Name, w.Refused)
			}
		}
		return names
	}
	put := func() { // Meet is a barrier without a kernel
		symmem.Meet()
		h.Put(next, mine)
		symmem.Meet()
	}
	if got := compared(put); len(got) != 2 || got[1] != "NVSHMEM" {
		t.Errorf("the ways of a put are %q", got)
	}
	t.equal("values afterwards", x.Ints(), []int{before, 7})
	mixed := func() {
		symmem.Meet()
		if t.rank == 0 {
			h.Put(next, mine, viaNVSHMEM)
		} else {
			h.Put(next, mine)
		}
		symmem.Meet()
	}
	if got := compared(mixed); len(got) != 2 {
		t.Errorf("the ways of a put that names its way on one rank are %q", got)
	}
	if got := compared(symmem.Meet); len(got) != 1 {
		t.Errorf("the ways without calls of handles are %q", got)
	}
	symmem.Meet()
	x.Free()
}

// heapMemoryCase: memory of the heap is zero, also where it is used again; peers' pointers reach it;
// handles of parts share it; other groups' memory is the driver's.
func heapMemoryCase(t *T) {
	t.equal("the back end", []any{symmem.GetBackend(), symmem.World().Backend(), symmem.IsNvshmemAvailable()}, []any{"NVSHMEM", "NVSHMEM", true})
	for i := range 20 {
		n := []int{1, 5, 1000, 1 << 16}[i%4]
		x := symmem.Empty(symmem.I64, n)
		t.equal("zeros", slices.Max(x.Ints()), 0)
		h := symmem.Rendezvous(x)
		t.equal("the tensor", []any{x.Backend(), h.BufferSize(), h.BufferPtrs()[t.rank] == x.Ptr(), h.MulticastPtr()},
			[]any{"NVSHMEM", 8 * n, true, uintptr(0)})
		mine := make([]int, n)
		for j := range mine {
			mine[j] = 1_000_000*t.rank + j
		}
		x.CopyFrom(mine)
		symmem.Meet()
		for p := range t.size {
			got := h.GetRemoteTensor(p).Ints()
			t.equal("a peer's", []int{got[0], got[n-1]}, []int{1_000_000 * p, 1_000_000*p + n - 1})
		}
		symmem.Meet()
		if part := x.Slice(n/2, n); part.Numel() > 0 {
			t.equal("a part", symmem.Rendezvous(part).BufferPtrs()[t.size-1], h.BufferPtrs()[t.size-1]+uintptr(8*(n/2)))
		}
		x.Free()
	}
	group := symmem.NewGroup(0)
	if t.rank == 0 {
		x := group.Empty(symmem.I32, 4)
		t.equal("a group of one", []any{x.Backend(), group.Backend(), symmem.Rendezvous(x, group).BufferPtrs()[0] != 0}, []any{"CUDA", "CUDA", true})
		x.Free()
		group.Free()
	}
	symmem.Meet()
}

// heapPutsCase puts around the ring with many sizes.
func heapPutsCase(t *T) {
	const n = 1 << 18
	x, u := symmem.Empty(symmem.I32, n+8), symmem.Local(symmem.I32, n+3)
	h := symmem.Rendezvous(x.Slice(5, n+5))
	next, last := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	mine, blank := make([]int, n+3), slices.Repeat([]int{-1}, n+8)
	for i := range mine {
		mine[i] = 1_000_000*t.rank + i%99_991
	}
	u.CopyFrom(mine)
	for i, size := range []int{0, 1, 31, 1000, 1 << 16, n} {
		x.CopyFrom(blank)
		symmem.Synchronize()
		symmem.Meet()
		if i%2 == 0 {
			h.PutWithSignal(next, u.Slice(3, 3+size), 2, uint64(i+1)<<33, viaNVSHMEM)
		} else {
			h.Put(next, u.Slice(3, 3+size), viaNVSHMEM)
			h.SignalAdd(next, 2, 1<<33, viaNVSHMEM)
		}
		h.WaitForSignal(2, "==", uint64(i+1)<<33, viaNVSHMEM)
		for j, v := range x.Ints() {
			want := -1
			if j >= 5 && j < 5+size {
				want = 1_000_000*last + (j-5+3)%99_991
			}
			if v != want {
				t.Fatalf("of %d elements from rank %d: element %d is %d, want %d", size, last, j, v, want)
			}
		}
		symmem.Meet()
	}
	for i := range 200 {
		h.Put(next, u.Slice(i, i+1), viaNVSHMEM)
	}
	h.Barrier(0, viaNVSHMEM)
	t.equal("the last of 200", x.Slice(5, 6).Ints(), []int{1_000_000*last + 199})
	symmem.Meet()
	x.Free()
}

// heapGetsCase gets from each rank.
func heapGetsCase(t *T) {
	x, into := symmem.Empty(symmem.F64, 100), symmem.Local(symmem.F64, 100)
	h := symmem.Rendezvous(x)
	mine := make([]float64, 100)
	for i := range mine {
		mine[i] = float64(1000*t.rank + i)
	}
	x.CopyFrom(mine)
	h.Barrier(1, viaNVSHMEM)
	for p := range t.size {
		h.Get(p, into, viaNVSHMEM)
		got := into.Float64s()
		t.equal("all", []float64{got[0], got[99]}, []float64{float64(1000 * p), float64(1000*p + 99)})
		symmem.Rendezvous(x.Slice(10, 20)).Get(p, into.Slice(50, 55), viaNVSHMEM)
		t.equal("a part", into.Slice(49, 56).Float64s(),
			[]float64{got[49], float64(1000*p + 10), float64(1000*p + 11), float64(1000*p + 12), float64(1000*p + 13), float64(1000*p + 14), got[55]})
	}
	h.Barrier(1, viaNVSHMEM)
	symmem.Synchronize()
	x.Free()
}

// heapSignalsCase: signals reach the words of the pad that they are for and no other, add up, and
// those of channels are counted for each rank and channel.
func heapSignalsCase(t *T) {
	x := symmem.Empty(symmem.I32, 1)
	h := symmem.Rendezvous(x)
	for p := range t.size {
		h.SignalAdd(p, 10+t.rank, uint64(1+t.rank), viaNVSHMEM)
		h.SignalAdd(p, 30, 1<<40, viaNVSHMEM)
	}
	h.WaitForSignal(30, "==", uint64(t.size)<<40, viaNVSHMEM)
	h.WaitForSignal(30, ">=", 1<<40, viaNVSHMEM)
	for p := range t.size {
		h.WaitForSignal(10+p, "==", uint64(1+p), viaNVSHMEM)
	}
	t.equal("the words beside", []uint64{h.GetSignal(9), h.GetSignal(10 + t.size), h.GetSignal(29), h.GetSignal(31)}, []uint64{0, 0, 0, 0})
	// Each rank signals each other one three times on two channels, before anyone consumes.
	for range 3 {
		for p := range t.size {
			h.PutSignal(p, 0, viaNVSHMEM)
			h.PutSignal(p, 7, viaNVSHMEM)
		}
	}
	for range 3 {
		for p := range t.size {
			h.WaitSignal(p, 7, viaNVSHMEM)
			h.WaitSignal(p, 0, viaNVSHMEM)
		}
	}
	symmem.Synchronize()
	h.WaitSignal(t.rank, 0, viaNVSHMEM, symmem.Timeout(50*time.Millisecond)) // none is left
	t.refused(symmem.KindTimeout, symmem.Synchronize, "wait_signal", fmt.Sprintf("for a signal of rank %d on channel 0, which never came", t.rank))
	symmem.Recover()
	x.Free()
}

// heapBarrierCase checks that every rank sees all writes from before a barrier, many times without
// a host-side wait.
func heapBarrierCase(t *T) {
	const rounds = 20
	x, seen := symmem.Empty(symmem.I32, t.size), symmem.Local(symmem.I32, rounds*t.size)
	h, part := symmem.Rendezvous(x), make([]*symmem.Handle, t.size)
	for p := range part {
		part[p] = symmem.Rendezvous(x.Slice(p, p+1))
	}
	var mine []*symmem.Tensor
	for i := range rounds {
		mine = append(mine, symmem.Local(symmem.I32, 1).CopyFrom([]int{1000*i + t.rank}))
	}
	symmem.Synchronize()
	for i := range rounds {
		for p := range t.size {
			part[t.rank].Put(p, mine[i], viaNVSHMEM)
		}
		h.Barrier(i%3, viaNVSHMEM)
		h.Get(t.rank, seen.Slice(i*t.size, (i+1)*t.size), viaNVSHMEM)
		h.Barrier(i%2, viaNVSHMEM)
	}
	for i, v := range seen.Ints() {
		if want := 1000*(i/t.size) + i%t.size; v != want {
			t.Fatalf("round %d: rank %d's value is %d, want %d", i/t.size, i%t.size, v, want)
		}
	}
	symmem.Meet()
	x.Free()
}

// heapStreamsCase: barriers and waits of several streams do not mix.
func heapStreamsCase(t *T) {
	x := symmem.Empty(symmem.I32, 1)
	h := symmem.Rendezvous(x)
	streams := []*symmem.Stream{symmem.NewStream(), symmem.NewStream(), symmem.NewStream()}
	next := (t.rank + 1) % t.size
	for i, s := range streams { // the first waits for what comes last
		h.WaitForSignal(1+i, "==", 1, viaNVSHMEM, s)
		h.Barrier(i, viaNVSHMEM, s)
	}
	for i := range streams {
		h.SignalAdd(next, 1+len(streams)-1-i, 1, viaNVSHMEM)
	}
	for _, s := range streams {
		s.Synchronize()
		s.Free()
	}
	symmem.Meet()
	x.Free()
}

// heapGraphCase replays puts and signals.
func heapGraphCase(t *T) {
	x := symmem.Empty(symmem.I32, 2)
	h, u := symmem.Rendezvous(x), symmem.Local(symmem.I32, 2)
	next, last := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	g := symmem.Capture(func() {
		h.PutWithSignal(next, u, 1, 5, viaNVSHMEM)
		h.Put(next, u, viaNVSHMEM)
		h.SignalAdd(next, 2, 1, viaNVSHMEM)
	})
	for i := range 5 {
		u.CopyFrom([]int{100*i + t.rank, 7})
		g.Replay()
		h.WaitForSignal(2, "==", uint64(i+1), viaNVSHMEM)
		h.WaitForSignal(1, "==", 5, viaNVSHMEM)
		t.equal("replayed", x.Ints(), []int{100*i + last, 7})
		h.Barrier(0, viaNVSHMEM)
	}
	symmem.Synchronize()
	symmem.Meet()
	for name, f := range map[string]func(){
		"barrier":         func() { h.Barrier(0, viaNVSHMEM) },
		"wait_signal":     func() { h.WaitSignal(0, 0, viaNVSHMEM) },
		"wait_for_signal": func() { h.WaitForSignal(0, "==", 0, viaNVSHMEM) },
	} {
		t.refused(symmem.KindMisuse, func() { symmem.Capture(f) }, name, "waits by NVSHMEM cannot be captured")
	}
	x.Free()
}

// heapTimeoutsCase: waits by NVSHMEM have deadlines, after which the data is as it was, and the calls
// work again after Recover.
func heapTimeoutsCase(t *T) {
	x := symmem.Empty(symmem.I32, 1).CopyFrom([]int{40 + t.rank})
	h := symmem.Rendezvous(x)
	symmem.Synchronize()
	if t.rank == 1 {
		h.WaitForSignal(3, "==", 1<<35+9, viaNVSHMEM, symmem.Timeout(100*time.Millisecond))
		t.refused(symmem.KindTimeout, symmem.Synchronize, "wait_for_signal", "for signal word 3 to become 34359738377; it is 0")
		h.WaitSignal(0, 3, viaNVSHMEM, symmem.Timeout(100*time.Millisecond))
		e := t.refused(symmem.KindTimeout, symmem.Synchronize, "wait_signal", "for a signal of rank 0 on channel 3, which never came")
		t.equal("the peer", e.Peer, 0)
	}
	symmem.Recover()
	if t.rank == 0 {
		h.Barrier(1, viaNVSHMEM, symmem.Timeout(100*time.Millisecond))
		t.refused(symmem.KindTimeout, symmem.Synchronize, "barrier", "to come to the barrier on channel 1")
		t.refused(symmem.KindPeer, func() { h.Barrier(1, viaNVSHMEM) }, "out of step", "Recover")
	}
	symmem.Recover()
	for range 3 {
		h.Barrier(1, viaNVSHMEM, symmem.Timeout(20*time.Second))
	}
	t.equal("data", x.Ints(), []int{40 + t.rank})
	symmem.Meet()
	x.Free()
}

// heapAbortCase: an abort ends all waits by NVSHMEM, those behind them in their streams too, and is
// listed before.
func heapAbortCase(t *T) {
	x := symmem.Empty(symmem.I32, 1)
	h := symmem.Rendezvous(x)
	next := (t.rank + 1) % t.size
	for range 3 {
		if t.rank == 0 {
			s := symmem.NewStream()
			for i := range 5 {
				h.WaitForSignal(3, "==", uint64(10+i), viaNVSHMEM, s)
				h.WaitForSignal(4+i, ">=", 1, viaNVSHMEM)
			}
			for begun := time.Now(); len(t.rt.Waits()) < 2; time.Sleep(time.Millisecond) {
				if time.Since(begun) > caseLimit/2 {
					t.Fatalf("the waits are %v", t.rt.Waits())
				}
			}
			t.equal("a wait", t.rt.Waits()[0].Op, "wait_for_signal")
			t.rt.Abort("the test wants it")
			t.refused(symmem.KindInterrupted, symmem.Synchronize, "wait_for_signal", "the test wants it")
			s.Synchronize()
		}
		symmem.Recover()
		t.equal("the words", []uint64{h.GetSignal(3), h.GetSignal(4), h.GetSignal(8)}, []uint64{0, 0, 0})
		symmem.Meet()
		h.SignalAdd(next, 3, 2, viaNVSHMEM)
		h.WaitForSignal(3, "==", 2, viaNVSHMEM)
		h.Barrier(0, viaNVSHMEM)
		symmem.Synchronize()
	}
	x.Free()
}

// heapMisuseCase: calls that NVSHMEM does not do are refused before anything is issued.
func heapMisuseCase(t *T) {
	x := symmem.Empty(symmem.I32, 4)
	h := symmem.Rendezvous(x)
	t.refused(symmem.KindMisuse, func() { h.Put(t.size, x, viaNVSHMEM) }, "dst must be in [0, ")
	t.refused(symmem.KindMisuse, func() { h.Put(0, symmem.Local(symmem.I32, 5), viaNVSHMEM) }, "src has 5 elements")
	t.refused(symmem.KindMisuse, func() { h.SignalAdd(0, -1, 1, viaNVSHMEM) }, "the signal must be in")
	t.refused(symmem.KindMisuse, func() { h.Barrier(-1, viaNVSHMEM) }, "the channel must be non-negative")
	t.refused(symmem.KindMisuse, func() { h.Get(0, x, symmem.Via("NCCL")) }, "NCCL does not do this operation")
	t.refused(symmem.KindMisuse, func() { h.Barrier(0, symmem.Via("NCCL")) }, "NCCL does not do this operation")
	t.refused(symmem.KindMisuse, func() { h.SignalAdd(0, 0, 1, symmem.Via("flat")) }, `Via of signal_add must be "NVSHMEM", not "flat"`)
	t.refused(symmem.KindMisuse, func() { symmem.AllReduce(x, "sum", viaNVSHMEM) }, "NVSHMEM does not do this operation")
	t.refused(symmem.KindMisuse, func() { symmem.SetBackend("CUDA") }, "symmetric memory was made by NVSHMEM already")
	t.refused(symmem.KindMisuse, func() { x.ExportTo("/nosuch") }, "in NVSHMEM's heap", "back end CUDA")
	symmem.Synchronize()
	symmem.Meet()
	x.Free()
}
