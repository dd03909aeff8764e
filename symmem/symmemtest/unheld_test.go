package symmemtest

import (
	"os"
	"runtime"
	"strings"

	"github.com/symmrepl/symmrepl/symmem"
)

// drops is the number of tensors that the cases below make and forget: more than lie between two
// runs of the garbage collector for them.
const drops = 200

// near reports whether a peer's memory is mapped here.
func near(h *symmem.Handle, peer int) bool { return h.BufferPtrs()[peer] != 0 }

// dropTensors makes tensors, lets a peer write to them, and forgets them.
func dropTensors(t *T, n int) {
	right := (t.rank + 1) % t.size
	for i := range n {
		x := symmem.Empty(symmem.I32, 1000)
		h := symmem.Rendezvous(x)
		if got := x.Sum().Item() + h.GetSignalPad(t.rank).Slice(0, 8).Sum().Item(); got != 0 {
			t.Fatalf("tensor %d begins with %v", i, got)
		}
		h.Barrier(0) // all have looked
		h.Put(right, symmem.Local(symmem.I32, 1000).Fill(i+1))
		if near(h, right) {
			h.GetSignalPad(right).Slice(5, 7).Fill(7)
		}
		h.Barrier(0)
	}
	symmem.Meet()
}

// unheldCase forgets many tensors. Those that a rank still holds, by a view, a handle or a graph, stay;
// the memory of the others comes back.
func unheldCase(t *T) {
	descriptors := func() int {
		list, _ := os.ReadDir("/proc/self/fd")
		return len(list)
	}
	view := symmem.Empty(symmem.I32, 1000).Fill(11).Slice(400, 402)
	handle := symmem.Rendezvous(symmem.Empty(symmem.I32, 1000).Fill(22 + t.rank))
	peer := t.rank
	if right := (t.rank + 1) % t.size; near(handle, right) {
		peer = right
	}
	remote := symmem.Rendezvous(symmem.Empty(symmem.I32, 1000).Fill(33 + t.rank)).GetRemoteTensor(peer)
	window := symmem.Window(symmem.Empty(symmem.I32, 1000).Fill(44))
	x := symmem.Empty(symmem.I32, 1000)
	graph := symmem.Capture(func() { x.Fill(55) })
	result := symmem.Empty(symmem.I32, 1000)
	sum := symmem.Capture(func() { result.CopyFrom(x) })
	x = nil
	var mine *symmem.Tensor
	if x := symmem.Empty(symmem.I32, 1000).Fill(66); t.rank == t.size-1 {
		mine = x
	}
	dropTensors(t, drops)
	before := descriptors()
	dropTensors(t, 2*drops)
	if after := descriptors(); strings.HasPrefix(symmem.Caps().Device, "cpu") && after > before+drops { // of the descriptors of 2*drops
		t.Errorf("%d descriptors after %d tensors, %d after %d", before, drops, after, 3*drops)
	}
	t.equal("a view", view.Ints(), []int{11, 11})
	t.equal("a handle's tensor", handle.GetRemoteTensor(t.rank).Slice(0, 1).Ints(), []int{22 + t.rank})
	handle.Barrier(0)
	t.equal("a peer's", remote.Slice(7, 8).Ints(), []int{33 + peer})
	t.equal("a window's", window.Handle().GetRemoteTensor(t.rank).Slice(0, 1).Ints(), []int{44})
	graph.Replay()
	sum.Replay()
	t.equal("a graph's", result.Slice(998, 1000).Ints(), []int{55, 55})
	if mine != nil {
		t.equal("the last rank's", mine.Slice(0, 2).Ints(), []int{66, 66})
	}
	runtime.KeepAlive(window)
}

// unheldHandleCase gets the handle of a tensor again after some ranks have dropped theirs: they need
// not meet those that still have one.
func unheldHandleCase(t *T) {
	x := symmem.Empty(symmem.I32, 10)
	h := symmem.Rendezvous(x)
	kept := h
	if t.rank%2 == 0 {
		h, kept = nil, nil
		runtime.GC()
	}
	if t.rank%2 == 0 {
		h = symmem.Rendezvous(x) // alone
	} else {
		t.equal("the same handle", symmem.Rendezvous(x) == kept, true)
	}
	h.Put((t.rank+1)%t.size, symmem.Local(symmem.I32, 10).Fill(1+t.rank))
	h.Barrier(0)
	t.equal("what the left one wrote", x.Slice(0, 1).Ints(), []int{1 + (t.rank+t.size-1)%t.size})
	x.Free()
	t.refused(symmem.KindMisuse, func() { h.Barrier(0) }, "was freed")
}

// unheldWorkCase forgets a tensor that a kernel still waits to write: its memory is not taken before.
func unheldWorkCase(t *T) {
	s, gate := symmem.NewStream(), symmem.Local(symmem.I32, 1)
	held := symmem.Local(symmem.I32, 1000)
	wait := symmem.Compile(`extern "C" __global__ void wait(volatile int* gate) { while (!*gate) __nanosleep(1000); }`)
	symmem.OnStream(s, func() {
		x := symmem.Empty(symmem.I32, 1000)
		wait.Launch(symmem.Grid(1), symmem.Block(1), gate)
		x.Fill(5)
		held.CopyFrom(x)
	})
	for range 3 {
		runtime.GC()
		for range drops / 2 {
			x := symmem.Empty(symmem.I32, 1000)
			if got := x.Sum().Item(); got != 0 {
				t.Fatalf("new memory has the sum %v", got)
			}
		}
	}
	gate.Fill(1)
	s.Synchronize()
	t.equal("what the kernel wrote", held.Slice(998, 1000).Ints(), []int{5, 5})
	s.Free()
}

// unheldGroupCase frees a group whose tensors nobody holds, and recovers with memory that waits.
func unheldGroupCase(t *T) {
	g := symmem.NewGroup(0, 1)
	if t.rank < 2 {
		for range 5 {
			symmem.Rendezvous(g.Empty(symmem.I32, 100)).Barrier(0)
		}
		x := g.Empty(symmem.I32, 100)
		t.refused(symmem.KindMisuse, func() { g.Free() }, "i32[100]", "still allocated")
		runtime.KeepAlive(x)
		x = nil
		g.Free()
	}
	dropTensors(t, drops)
	symmem.Recover()
	dropTensors(t, drops)
	t.stillSums()
}

// unheldSanitizedCase lets the sanitizer watch memory that tensors of another size had.
func unheldSanitizedCase(t *T) {
	if !strings.HasPrefix(symmem.Caps().Device, "cpu") {
		return // a sanitizer is the cpu device's
	}
	defer t.rt.Sanitize(os.Getenv(sanitizeVariable) != "", 0)
	t.rt.Sanitize(true, 0)
	for i := range 2 * drops {
		x := symmem.Empty(symmem.I32, 1+i%4)
		symmem.Rendezvous(x, symmem.LSA()).Barrier(0)
		x.Fill(1)
	}
	symmem.Meet()
	t.rt.Sanitize(false, 0)
	t.equal("findings", len(t.rt.Findings()), 0)
}
