package symmemtest

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/symmrepl/symmrepl/symmem"
)

func ringCase(t *T) {
	x := symmem.Empty(symmem.I32, 8)
	h := symmem.Rendezvous(x)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	for i := range 20 {
		h.Put(right, symmem.Local(symmem.I32, 8).Fill(100*i+t.rank))
		h.PutSignal(right, 0)
		h.WaitSignal(left, 0)
		t.equal("received", x.Ints(), slices.Repeat([]int{100*i + left}, 8))
		h.Barrier(1) // no rank may overwrite before all have read
	}
	x.Free()
}

// barrierCase checks that every rank sees all writes from before the barrier, many times without a
// host-side wait.
func barrierCase(t *T) {
	x := symmem.Empty(symmem.I32, t.size)
	h := symmem.Rendezvous(x)
	rounds := 10
	seen := symmem.Local(symmem.I32, rounds, t.size)
	mine := symmem.Local(symmem.I32, 1)
	for i := range rounds {
		mine.Fill(1000*i + t.rank)
		for p := range t.size {
			h.GetRemoteTensor(p).Slice(t.rank, t.rank+1).CopyFrom(mine)
		}
		h.Barrier(i % 3)
		seen.Slice(i, i+1).View(t.size).CopyFrom(x)
		h.Barrier(i % 2)
	}
	got := seen.Ints()
	for i := range rounds {
		for p := range t.size {
			if v := got[i*t.size+p]; v != 1000*i+p {
				t.Fatalf("round %d: rank %d's value is %d", i, p, v)
			}
		}
	}
	x.Free()
}

// signalsInOrderCase sends many signals on one channel: each put waits until the previous signal
// was consumed.
func signalsInOrderCase(t *T) {
	x := symmem.Empty(symmem.I32, 1)
	h := symmem.Rendezvous(x)
	const n = 50
	switch t.rank {
	case 0:
		for i := range n {
			h.Put(1, symmem.Local(symmem.I32, 1).Fill(i))
			h.PutSignal(1, 3)
			h.WaitSignal(1, 4)
		}
	case 1:
		got := symmem.Local(symmem.I32, n)
		for i := range n {
			h.WaitSignal(0, 3)
			got.Slice(i, i+1).CopyFrom(x)
			h.PutSignal(0, 4)
		}
		want := make([]int, n)
		for i := range want {
			want[i] = i
		}
		t.equal("received", got.Ints(), want)
	}
	t.meet()
	x.Free()
}

func signalOfAnotherTensorCase(t *T) {
	x, y := symmem.Empty(symmem.I32, 4), symmem.Empty(symmem.F64, 4)
	h, g := symmem.Rendezvous(x), symmem.Rendezvous(y)
	if t.rank == 0 {
		h.PutSignal(1, 5)
	}
	if t.rank == 1 {
		g.WaitSignal(0, 5, symmem.Timeout(20*time.Second)) // signals belong to the group
		symmem.Synchronize()
	}
	t.meet()
	x.Free()
	y.Free()
}

func channelsCase(t *T) {
	x := symmem.Empty(symmem.I32, 4)
	h := symmem.Rendezvous(x)
	limit := h.Group().Channels()
	t.equal("limit", limit, 9216/4/t.size)
	for _, f := range []func(int){
		func(ch int) { h.Barrier(ch) },
		func(ch int) { h.PutSignal(0, ch) },
		func(ch int) { h.WaitSignal(0, ch) },
	} {
		t.refused(symmem.KindMisuse, func() { f(-1) }, "must be non-negative", "-1")
		t.refused(symmem.KindMisuse, func() { f(limit) }, "maximum supported channel")
		t.refused(symmem.KindMisuse, func() { f(math.MaxInt32) }, "maximum supported channel")
	}
	h.Barrier(limit - 1)
	next, last := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	h.PutSignal(next, limit-1)
	h.WaitSignal(last, limit-1)
	symmem.Synchronize()
	t.meet()
	x.Free()
}

// putTwiceCase: a second put without a wait in between times out, and the first signal is still
// valid.
func putTwiceCase(t *T) {
	x := symmem.Empty(symmem.I32, 4).Fill(t.rank)
	h := symmem.Rendezvous(x)
	if t.rank == 0 {
		h.PutSignal(1, 2)
		symmem.Synchronize()
		h.PutSignal(1, 2, symmem.Timeout(100*time.Millisecond))
		e := t.refused(symmem.KindTimeout, symmem.Synchronize, "put_signal", "rank 0 waited",
			"for rank 1 to consume the previous signal on channel 2")
		t.equal("peer", e.Peer, 1)
	}
	t.meet()
	if t.rank == 1 {
		h.WaitSignal(0, 2, symmem.Timeout(20*time.Second))
		symmem.Synchronize()
		h.WaitSignal(0, 2, symmem.Timeout(100*time.Millisecond)) // there was only one signal
		t.refused(symmem.KindTimeout, symmem.Synchronize, "wait_signal", "a signal of rank 0 on channel 2, which never came")
	}
	t.meet()
	t.equal("data", x.Ints(), slices.Repeat([]int{t.rank}, 4))
	x.Free()
}

func signalTimeoutCase(t *T) {
	x := symmem.Empty(symmem.I32, 4).Fill(40 + t.rank)
	h := symmem.Rendezvous(x)
	if t.rank == 1 {
		start := time.Now()
		h.WaitSignal(0, 3, symmem.Timeout(200*time.Millisecond))
		e := t.refused(symmem.KindTimeout, func() { x.Ints() }, "wait_signal on rank 1", "rank 1 waited",
			"for a signal of rank 0 on channel 3, which never came", "rank 0 must put it")
		t.equal("op and peer", []any{e.Op, e.Peer}, []any{"wait_signal", 0})
		if d := time.Since(start); d < 200*time.Millisecond || d > 20*time.Second {
			t.Errorf("the wait of 200 ms took %v", d)
		}
	}
	// The error was reported once; the data and the signals are unchanged.
	t.equal("data", x.Ints(), slices.Repeat([]int{40 + t.rank}, 4))
	t.meet()
	h.Barrier(3)
	symmem.Synchronize()
	x.Free()
}

// barrierTimeoutCase: a barrier that only one rank enters leaves signals behind, so communication
// is refused until all recover.
func barrierTimeoutCase(t *T) {
	x := symmem.Empty(symmem.I32, 4).Fill(7)
	h := symmem.Rendezvous(x)
	symmem.Synchronize() // Recover would drop pending work
	if t.rank == 0 {
		h.Barrier(1, symmem.Timeout(100*time.Millisecond))
		t.refused(symmem.KindTimeout, symmem.Synchronize, "barrier", "rank 0 waited")
		t.refused(symmem.KindPeer, func() { h.Barrier(1) }, "out of step", "Recover")
	}
	symmem.Recover()
	t.equal("data", x.Ints(), slices.Repeat([]int{7}, 4))
	for range 3 {
		h.Barrier(1, symmem.Timeout(20*time.Second))
	}
	symmem.Synchronize()
	x.Free()
}

func signalWordsCase(t *T) {
	x := symmem.Empty(symmem.F32, 100)
	h := symmem.Rendezvous(x)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	src := symmem.Local(symmem.F32, 100)
	for i := 1; i <= 10; i++ {
		h.PutWithSignal(right, src.Fill(10*i+t.rank), 0, uint64(i))
		cmp := "=="
		if i%2 == 0 {
			cmp = ">="
		}
		h.WaitForSignal(0, cmp, uint64(i), symmem.Timeout(20*time.Second))
		t.equal("received", x.Ints(), slices.Repeat([]int{10*i + left}, 100))
		h.Barrier(0)
	}
	// A shorter source, and one large enough for the copy engine.
	big := symmem.Empty(symmem.I64, 20000)
	b := symmem.Rendezvous(big)
	last := h.SignalPadSize()/8 - 1
	b.PutWithSignal(right, symmem.Local(symmem.I64, 19999).Arange(), last, math.MaxUint64)
	b.WaitForSignal(last, "==", math.MaxUint64, symmem.Timeout(20*time.Second))
	got := big.Ints()
	for i, v := range got {
		if want := i; v != want && (i < 19999 || v != 0) {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	// The word keeps its value, so a wait for an older value ends with >= and times out with ==.
	b.WaitForSignal(last, ">=", 5, symmem.Timeout(20*time.Second))
	symmem.Synchronize()
	b.WaitForSignal(last, "==", 5, symmem.Timeout(50*time.Millisecond))
	t.refused(symmem.KindTimeout, symmem.Synchronize, "wait_for_signal", "to become 5")

	t.refused(symmem.KindMisuse, func() { h.WaitForSignal(0, "<", 1) }, `"=="`, `">="`, `"<"`)
	t.refused(symmem.KindMisuse, func() { h.WaitForSignal(last+1, "==", 1) }, "signal must be in [0, ")
	t.refused(symmem.KindMisuse, func() { h.PutWithSignal(0, src, -1, 1) }, "signal must be in [0, ")
	t.meet()
	big.Free()
	x.Free()
}

func putAndGetCase(t *T) {
	for _, d := range computing {
		x := symmem.Empty(d, 50).Fill(t.rank)
		h := symmem.Rendezvous(x)
		h.Barrier(0)
		whole, head := symmem.Local(d, 50), symmem.Local(d, 10).Fill(99)
		for p := range t.size {
			h.Get(p, whole)
			t.equal("got", whole.Ints(), slices.Repeat([]int{p}, 50))
		}
		h.Get(t.size-1, head.Slice(2, 6))
		t.equal("a part", head.Ints(), []int{99, 99, t.size - 1, t.size - 1, t.size - 1, t.size - 1, 99, 99, 99, 99})
		h.Barrier(0)
		// Each rank puts to every rank's own slice.
		for p := range t.size {
			part := symmem.Local(d, 3).Fill(10 + t.rank)
			h.GetRemoteTensor(p).Slice(3*t.rank, 3*t.rank+3).CopyFrom(part)
		}
		h.Barrier(0)
		got := x.Ints()
		for i, v := range got {
			want := t.rank
			if i < 3*t.size {
				want = 10 + i/3
			}
			if v != want {
				t.Fatalf("%v: element %d is %d, want %d", d, i, v, want)
			}
		}
		h.Barrier(0)
		symmem.Synchronize()
		x.Free()
	}
	// A handle of a part puts into that part.
	x := symmem.Empty(symmem.I32, 10)
	h := symmem.Rendezvous(x.Slice(4, 8))
	h.Put((t.rank+1)%t.size, symmem.Local(symmem.I32, 3).Fill(5))
	h.Barrier(0)
	t.equal("a part of the tensor", x.Ints(), []int{0, 0, 0, 0, 5, 5, 5, 0, 0, 0})
	other, next := symmem.Rendezvous(x.Slice(2, 4)), (t.rank+1)%t.size
	h.Barrier(0)
	h.PutWithSignal(next, symmem.Local(symmem.I32, 8).Arange().Slice(6, 8), 2, 7)
	other.PutWithSignal(next, symmem.Local(symmem.I32, 1).Fill(9), 1, 8)
	h.WaitForSignal(2, "==", 7)
	other.WaitForSignal(1, "==", 8)
	t.equal("parts by put_with_signal", x.Ints(), []int{0, 0, 9, 0, 6, 7, 5, 0, 0, 0})
	t.equal("the pad that they share", symmem.Rendezvous(x).GetSignalPad(t.rank).Slice(2, 6).Ints(), []int{8, 0, 7, 0})
	t.equal("the handle of a part", h.String(), "handle of i32[4], elements 4 to 7 of a tensor whose signal pad it shares, in world")
	x.Free()
}

func abortCase(t *T) {
	x := symmem.Empty(symmem.I32, 4).Fill(t.rank)
	h := symmem.Rendezvous(x)
	h.Barrier(0)         // a collective call, which has a number
	symmem.Synchronize() // Recover would drop pending work
	if t.rank == 0 {
		h.WaitSignal(1, 0)
		var waits []symmem.Wait
		for end := time.Now().Add(20 * time.Second); len(waits) == 0 && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
			waits = t.rt.Waits()
		}
		if len(waits) != 1 {
			t.Fatalf("waits: %+v", waits)
		}
		w := waits[0]
		what, _, _ := strings.Cut(w.For, " (network to rank 1: ") // networkAbortCase checks the rest
		t.equal("wait", []any{w.Op, w.Ordinal, w.Group, w.Peers, what},
			[]any{"wait_signal", uint64(0), "world", []int{1}, "a signal on channel 0"})
		time.AfterFunc(50*time.Millisecond, func() { t.rt.Abort("the test wants it") })
		e := t.refused(symmem.KindInterrupted, symmem.Synchronize, "wait_signal", "gave up: the test wants it")
		t.equal("peer", e.Peer, 1)
		t.equal("no wait is left", len(t.rt.Waits()), 0)
		t.refused(symmem.KindInterrupted, func() { h.WaitSignal(1, 0) }, "refused: the test wants it")
		t.refused(symmem.KindInterrupted, func() { symmem.Empty(symmem.I32, 1) }, "the test wants it")
	}
	symmem.Recover()
	t.equal("data", x.Ints(), slices.Repeat([]int{t.rank}, 4))

	// A host-side wait ends too, and is listed while it lasts.
	if t.rank == 1 {
		time.AfterFunc(300*time.Millisecond, func() {
			for _, w := range t.rt.Waits() {
				if w.Op != "Empty" || slices.Contains(w.Peers, 1) || !slices.Contains(w.Peers, 0) || w.For != "the same call" {
					t.Errorf("wait: %+v", w)
				}
			}
			t.rt.Abort("enough")
		})
		t.refused(symmem.KindInterrupted, func() { symmem.Empty(symmem.I32, 1) }, "Empty", "enough")
	}
	symmem.Recover()
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
}

// abortLoopCase ends a kernel that does not even wait, which only the cpu device can do.
func abortLoopCase(t *T) {
	if symmem.GetBackend() == "CPU" {
		x := symmem.Local(symmem.I32, 4).Fill(3)
		symmem.Compile(`extern "C" __global__ void spin(volatile int* x) { while (x[0] == 3) x[1]++; }`).Launch(symmem.Grid(1),
			symmem.Block(1), x)
		time.AfterFunc(50*time.Millisecond, func() { t.rt.Abort("the test wants it") })
		t.refused(symmem.KindInterrupted, symmem.Synchronize, "kernel spin")
	}
	symmem.Recover()
	t.equal("the device works", symmem.Local(symmem.I32, 2).Fill(4).Ints(), []int{4, 4})
}

func capsCase(t *T) {
	c := symmem.Caps()
	t.equal("back end", c.Backend, symmem.GetBackend())
	t.equal("ranks", c.MaxRanks, 72)
	t.equal("channels", c.Channels, 9216/4/t.size)
	for _, line := range []string{"back end", "device", "multicast", "signal pad"} {
		if !strings.Contains(c.String(), line) {
			t.Errorf("no %q in\n%v", line, c)
		}
	}
	symmem.SetBackend(c.Backend)
	other := map[string]string{"CPU": "CUDA", "CUDA": "CPU", "NCCL": "CPU", "NVSHMEM": "CPU"}[c.Backend]
	t.refused(symmem.KindMisuse, func() { symmem.SetBackend(other) }, "SetBackend", other, "device")
	if c.Backend == "CPU" {
		t.refused(symmem.KindMisuse, func() { symmem.SetBackend("NVSHMEM") }, "the back end NVSHMEM needs the cuda device")
		t.equal("NVSHMEM", symmem.IsNvshmemAvailable(), false)
	}
	t.refused(symmem.KindMisuse, func() { symmem.SetBackend("MPI") }, `no back end "MPI"`)
	t.equal("back ends", c.Backends, symmem.Backends())
	var names []string
	for _, b := range c.Backends {
		names = append(names, b.Name)
		t.equal(b.Name+" and why not", b.Available, b.Why == "")
		if !b.Available && b.Hint == "" {
			t.Errorf("no hint for %v", b)
		}
		if b.Name == c.Backend && !b.Available {
			t.Errorf("the back end of this world is not available: %v", b)
		}
	}
	t.equal("their names", names, []string{"CUDA", "NCCL", "NVSHMEM", "CPU"})
	top, err := t.rt.Top()
	if err != nil || !strings.Contains(top, "held by this rank") {
		t.Errorf("top: %q, %v", top, err)
	}
}
