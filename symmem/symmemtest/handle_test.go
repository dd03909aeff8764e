package symmemtest

import (
	"slices"

	"github.com/symmrepl/symmrepl/symmem"
)

func handleFieldsCase(t *T) {
	x := symmem.Empty(symmem.BF16, 4, 256)
	h := symmem.Rendezvous(x)
	t.equal("rank", []int{h.Rank(), h.WorldSize()}, []int{t.rank, t.size})
	t.equal("sizes", []int{h.BufferSize(), h.Offset(), h.SignalPadSize()}, []int{2048, 0, symmem.GetSignalPadSize()})
	if caps := symmem.Caps(); len(caps.Sharing.Ranks) == 0 && len(caps.Hosts) == 1 {
		t.equal("multicast", h.MulticastPtr() != 0, caps.Multicast)
	}
	buffers, pads := h.BufferPtrs(), h.SignalPadPtrs()
	t.equal("pointers", []int{len(buffers), len(pads)}, []int{t.size, t.size})
	t.equal("own buffer", buffers[t.rank], x.Ptr())
	for i := range buffers {
		if buffers[i]%256 != 0 || buffers[i] == 0 || pads[i] == 0 || pads[i] >= buffers[i] {
			t.Errorf("rank %d has its buffer at %#x and its pad at %#x", i, buffers[i], pads[i])
		}
	}
	if slices.Sort(buffers); len(slices.Compact(buffers)) != t.size {
		t.Errorf("buffers coincide: %v", buffers)
	}
	if symmem.Rendezvous(x) != h {
		t.Errorf("a second rendezvous gives another handle")
	}
	part := x.Slice(1, 3)
	p := symmem.Rendezvous(part)
	t.equal("part", []int{p.Offset(), p.BufferSize()}, []int{512, 2048})
	t.equal("part's buffer", p.BufferPtrs()[t.rank], x.Ptr()+512)

	// The device's own tables hold the same pointers.
	out := symmem.Local(symmem.U64, 2*t.size)
	symmem.Compile(`__global__ void tables(void** buffers, void** pads, unsigned long long* out, int n) {
		for (int i = 0; i < n; i++) out[i] = (unsigned long long)buffers[i], out[n + i] = (unsigned long long)pads[i];
	}`).Launch(symmem.Grid(1), symmem.Block(1), h.BufferPtrsDev(), h.SignalPadPtrsDev(), out, t.size)
	var want []int
	for _, q := range append(h.BufferPtrs(), pads...) {
		want = append(want, int(q))
	}
	t.equal("tables", out.Ints(), want)
	t.meet()
	x.Free()
}

func peerMemoryCase(t *T) {
	x := symmem.Empty(symmem.F32, 3, 4).Fill(t.rank)
	part := x.Slice(1, 3)
	h, p := symmem.Rendezvous(x), symmem.Rendezvous(part)
	symmem.Synchronize()
	t.meet()
	for peer := range t.size {
		t.equal("remote", h.GetRemoteTensor(peer).Ints(), slices.Repeat([]int{peer}, 12))
		t.equal("remote part", p.GetRemoteTensor(peer).Shape(), []int{2, 4})
		t.equal("part's address", p.GetRemoteTensor(peer).Ptr()-h.GetRemoteTensor(peer).Ptr(), uintptr(16))
		// GetBuffer starts at the allocation, whatever the handle's offset.
		t.equal("buffer", p.GetBuffer(peer, symmem.F32, 12).Ptr(), h.BufferPtrs()[peer])
		t.equal("smaller", h.GetBuffer(peer, symmem.U8, 5).Numel(), 5)
		t.equal("from an element on", p.GetBufferAt(peer, 8, symmem.F32, 2, 2).Ptr(), h.BufferPtrs()[peer]+32)
		t.equal("its values", h.GetBufferAt(peer, 8, symmem.F32, 2, 2).Ints(), slices.Repeat([]int{peer}, 4))
		t.equal("at its end", h.GetBufferAt(peer, 12, symmem.F32, 0).Numel(), 0)
	}
	for peer, remote := range p.GetRemoteTensors() {
		t.equal("all remote tensors", []any{remote.Shape(), remote.Ptr()}, []any{[]int{2, 4}, p.BufferPtrs()[peer]})
	}
	t.meet()
	// The peer sees data written to its memory.
	right := (t.rank + 1) % t.size
	h.GetRemoteTensor(right).Slice(2, 3).Fill(100 + t.rank)
	symmem.Synchronize()
	t.meet()
	left := float64((t.rank + t.size - 1) % t.size)
	r := float64(t.rank)
	t.equal("written", x.Float64s(), []float64{r, r, r, r, r, r, r, r, 100 + left, 100 + left, 100 + left, 100 + left})
	view := h.GetRemoteTensor(right)
	t.refused(symmem.KindMisuse, func() { view.Free() }, "view of memory of rank")
	t.refused(symmem.KindMisuse, func() { symmem.Rendezvous(h.GetBuffer(t.rank, symmem.F32, 12)) }, "not symmetric")
	t.meet()
	x.Free()
	t.refused(symmem.KindMisuse, func() { view.Ints() }, "was freed")
	t.refused(symmem.KindMisuse, func() { h.GetRemoteTensor(0) }, "was freed")
}

func signalPadsCase(t *T) {
	before := symmem.GetSignalPadSize()
	t.equal("default", before, 9216)
	symmem.SetSignalPadSize(1 << 20)
	t.equal("set", symmem.GetSignalPadSize(), 1<<20)
	x := symmem.Empty(symmem.U8, 1000).Fill(255)
	symmem.SetSignalPadSize(before)
	h := symmem.Rendezvous(x)
	t.equal("pad size", h.SignalPadSize(), 1<<20)
	symmem.Synchronize()
	t.meet()
	for peer := range t.size {
		pad := h.GetSignalPad(peer)
		t.equal("view", []any{pad.DType(), pad.Shape()}, []any{symmem.U32, []int{1 << 18}})
		t.equal("shaped", pad.Slice(0, 64).View(8, 8).Shape(), []int{8, 8})
		t.equal("as u64", pad.As(symmem.U64).Shape(), []int{1 << 17})
		part := h.GetSignalPadAt(peer, 64, symmem.U64, 8, 8)
		t.equal("a part", []any{part.DType(), part.Shape(), part.Ptr()}, []any{symmem.U64, []int{8, 8}, pad.Ptr() + 512})
		t.equal("the rest", h.GetSignalPadAt(peer, 1<<17-3, symmem.U64).Shape(), []int{3})
		t.equal("as bytes", h.GetSignalPadAt(peer, 0, symmem.U8).Shape(), []int{1 << 20})
		for i, v := range pad.Ints() { // filling the data did not change the pad
			if v != 0 {
				t.Fatalf("word %d of rank %d's pad is %d", i, peer, v)
			}
		}
	}
	t.meet()
	h.GetSignalPad((t.rank+1)%t.size).Slice(7, 8).Fill(40 + t.rank)
	symmem.Synchronize()
	t.meet()
	t.equal("own pad", h.GetSignalPad(t.rank).Slice(6, 9).Ints(), []int{0, 40 + (t.rank+t.size-1)%t.size, 0})
	t.equal("data", x.Ints(), slices.Repeat([]int{255}, 1000))
	for _, n := range []int{0, -8, 12} {
		t.refused(symmem.KindMisuse, func() { symmem.SetSignalPadSize(n) }, "multiple of 8")
	}
	t.meet()
	x.Free()
	// Reused memory has a clean pad.
	y := symmem.Empty(symmem.U8, 1000)
	for i, v := range symmem.Rendezvous(y).GetSignalPad(t.rank).Ints() {
		if v != 0 {
			t.Fatalf("word %d of a new pad is %d", i, v)
		}
	}
	y.Free()
}

func handleMisuseCase(t *T) {
	misuse := symmem.KindMisuse
	t.refused(misuse, func() { symmem.Rendezvous(symmem.Local(symmem.F32, 4)) }, "Rendezvous", "not symmetric", "Empty")
	x := symmem.Empty(symmem.F32, 4)
	h := symmem.Rendezvous(x)
	for _, peer := range []int{-1, t.size} {
		for _, f := range []func(){
			func() { h.GetBuffer(peer, symmem.F32, 1) },
			func() { h.GetRemoteTensor(peer) },
			func() { h.GetSignalPad(peer) },
			func() { h.GetBufferAt(peer, 0, symmem.F32, 1) },
			func() { h.GetSignalPadAt(peer, 0, symmem.U32, 1) },
			func() { h.PutSignal(peer, 0) },
			func() { h.WaitSignal(peer, 0) },
			func() { h.Put(peer, symmem.Local(symmem.F32, 4)) },
			func() { h.Get(peer, symmem.Local(symmem.F32, 4)) },
			func() { h.PutWithSignal(peer, symmem.Local(symmem.F32, 4), 0, 1) },
		} {
			t.refused(misuse, f, "must be in [0, ")
		}
	}
	t.refused(misuse, func() { h.GetBuffer(0, symmem.F32, 5) }, "exceeds the allocated size")
	t.refused(misuse, func() { h.GetBufferAt(0, 3, symmem.F32, 2) }, "from element 3 on exceeds the allocated size of 16 bytes: 1 element left")
	t.refused(misuse, func() { h.GetBufferAt(0, -1, symmem.F32, 1) }, "the offset must be in [0, 4], not -1")
	t.refused(misuse, func() { h.GetBufferAt(0, 5, symmem.F32, 0) }, "the offset must be in [0, 4], not 5")
	t.refused(misuse, func() { h.GetSignalPadAt(0, 1, symmem.U64, h.SignalPadSize()/8) }, "exceeds the allocated size")
	t.refused(misuse, func() { h.GetSignalPadAt(0, -1, symmem.U64) }, "the offset must be in [0, ")
	t.refused(misuse, func() { h.GetBuffer(0, symmem.F32, -5) }, "negative")
	t.refused(misuse, func() { h.Put(0, symmem.Local(symmem.F32, 5)) }, "put", "5 elements")
	t.refused(misuse, func() { h.Put(0, symmem.Local(symmem.F16, 4)) }, "f16", "f32")
	t.refused(misuse, func() { h.Get(0, symmem.Local(symmem.I32, 4)) }, "i32")
	t.refused(misuse, func() { h.Barrier(0, symmem.Timeout(-1)) }, "positive")
	t.refused(misuse, func() { x.Slice(0, 2).Free() }, "part")
	x.Free()
	for _, f := range []func(){
		func() { h.Barrier(0) },
		func() { h.PutSignal(0, 0) },
		func() { h.Put(0, symmem.Local(symmem.F32, 4)) },
		func() { h.BufferPtrs() },
		func() { symmem.Rendezvous(x) },
		func() { symmem.OneShotAllReduce(x, "sum") },
		func() { x.Free() },
	} {
		t.refused(misuse, f, "was freed")
	}
}

func largeTensorCase(t *T) {
	n := 64 << 20
	if symmem.GetBackend() != "CPU" {
		n = 2 << 30
	}
	x := symmem.Empty(symmem.U8, n)
	h := symmem.Rendezvous(x)
	right := (t.rank + 1) % t.size
	h.GetRemoteTensor(right).Slice(n-3, n).CopyFrom([]int{t.rank, 7, 200})
	symmem.Synchronize()
	t.meet()
	t.equal("the last bytes", x.Slice(n-4, n).Ints(), []int{0, (t.rank + t.size - 1) % t.size, 7, 200})
	t.meet()
	x.Free()
}

// freeWithWorkPendingCase frees while kernels of this rank and of a peer may still use the tensor.
func freeWithWorkPendingCase(t *T) {
	for i := range 5 {
		x := symmem.Empty(symmem.I32, 1<<18)
		h := symmem.Rendezvous(x)
		y := symmem.Local(symmem.I32, 1<<18).Fill(i)
		for range 5 {
			h.Put((t.rank+1)%t.size, y)
			x.Fill(i)
		}
		x.Free()
	}
}

func mismatchCase(t *T) {
	both := []string{"rank 0: Empty f32[4]", "rank 1: Empty f32[5]"}
	e := t.refused(symmem.KindMismatch, func() { symmem.Empty(symmem.F32, 4+min(t.rank, 1)) }, both...)
	t.equal("op", e.Op, "Empty")
	t.refused(symmem.KindMismatch, func() { symmem.Empty([]symmem.DType{symmem.F16, symmem.BF16}[min(t.rank, 1)], 4) }, "f16[4]", "bf16[4]")

	x, y := symmem.Empty(symmem.F32, 8), symmem.Empty(symmem.F32, 8)
	t.refused(symmem.KindMismatch, func() { symmem.Rendezvous([]*symmem.Tensor{x, y}[min(t.rank, 1)]) }, "Rendezvous")
	t.refused(symmem.KindMismatch, func() { symmem.Rendezvous(x.Slice(t.rank, t.rank+1)) }, "at byte 4")
	t.refused(symmem.KindMismatch, func() { []*symmem.Tensor{x, y}[min(t.rank, 1)].Free() }, "Free")
	t.refused(symmem.KindMismatch, func() {
		if t.rank == 0 {
			x.Free()
		} else {
			symmem.Empty(symmem.U8, 1)
		}
	}, "Empty u8[1]", "Free f32[8]")
	// The refused calls have done nothing, and all operations still work.
	symmem.Rendezvous(x).Barrier(0)
	y.Free()
	x.Free()
}

// backEndsCase asks tensors and groups for their back end.
func backEndsCase(t *T) {
	x := symmem.Empty(symmem.F32, 4)
	g := symmem.NewGroup(0)
	t.equal("back ends", []string{x.Backend(), x.Slice(1, 2).Backend(), symmem.World().Backend()}, slices.Repeat([]string{symmem.GetBackend()}, 3))
	want := symmem.GetBackend()
	if want == "NVSHMEM" {
		want = "CUDA"
	}
	t.equal("of another group", g.Backend(), want)
	t.equal("of ordinary memory", symmem.Local(symmem.F32, 4).Backend(), "")
	x.Free()
	g.Free()
}

// multicastPtrCase gives a kernel the multicast address of a tensor and of a part of it.
func multicastPtrCase(t *T) {
	x := symmem.Empty(symmem.F32, 64)
	h := symmem.Rendezvous(x)
	part := symmem.Rendezvous(x.Slice(16, 48))
	if h.MulticastPtr() == 0 {
		x.Free()
		return // handleFieldsCase compares it with Caps
	}
	t.equal("again", h.MulticastPtr(), h.MulticastPtr())
	out := symmem.Local(symmem.F32, 32)
	sum := symmem.Compile(`#include "nccl_device.h"
	extern "C" __global__ void sum(const float* all, float* out) { out[threadIdx.x] = symm::multimem_sum(all + threadIdx.x); }
	extern "C" __global__ void store(float* all, float value) { symm::multimem_store(all + threadIdx.x, value); }`)
	x.CopyFrom(each(64, func(i int) int { return (t.rank + 1) * i }))
	h.Barrier(0)
	sum.Launch(symmem.Grid(1), symmem.Block(32), part.MulticastPtr(), out)
	t.equal("sum", out.Ints(), each(32, func(i int) int { return t.size * (t.size + 1) / 2 * (16 + i) }))
	h.Barrier(0)
	if t.rank == t.size-1 {
		sum.Kernel("store").Launch(symmem.Grid(1), symmem.Block(32), part.MulticastPtr(), 7)
	}
	h.Barrier(0)
	t.equal("stored", x.Slice(16, 48).Ints(), slices.Repeat([]int{7}, 32))
	t.equal("before it", x.Slice(15, 16).Ints(), []int{15 * (t.rank + 1)})
	h.Barrier(0)
	symmem.Synchronize()
	x.Free()
	t.refused(symmem.KindMisuse, func() { h.MulticastPtr() }, "was freed")
}

// each lists the values of f.
func each(n int, f func(i int) int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = f(i)
	}
	return list
}
