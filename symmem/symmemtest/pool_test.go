package symmemtest

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem"
)

// emptyPool begins a case with an unused pool: all ranks recover.
func emptyPool(t *T) {
	symmem.Recover()
	t.equal("an empty pool", symmem.MemPoolStats(), symmem.PoolStats{})
}

// pooled returns a tensor of zeros from the pool.
func pooled(dtype symmem.DType, shape ...int) (x *symmem.Tensor) {
	symmem.UseMemPool(func() { x = symmem.Local(dtype, shape...) })
	return x
}

// memPoolCase takes the same memory twice: the second time it is as clean as new.
func memPoolCase(t *T) {
	emptyPool(t)
	x := pooled(symmem.I32, 1000)
	t.equal("symmetric", x.Symmetric(), true)
	h := symmem.Rendezvous(x)
	t.equal("sizes", []int{h.BufferSize(), h.Offset(), h.SignalPadSize(), h.WorldSize()}, []int{4000, 0, symmem.GetSignalPadSize(), t.size})
	right := (t.rank + 1) % t.size
	h.GetSignalPad(right).Slice(5, 7).Fill(7)
	h.GetRemoteTensor(right).Fill(100 + t.rank)
	h.Barrier(0)
	left := (t.rank + t.size - 1) % t.size
	t.equal("written by a peer", x.Ints(), slices.Repeat([]int{100 + left}, 1000))
	at := x.Ptr()
	x.Free()
	for _, f := range []func(){
		func() { x.Ints() },
		func() { h.GetSignalPad(0) },
		func() { h.Barrier(0) },
		func() { symmem.Rendezvous(x) },
		func() { x.Free() },
	} {
		t.refused(symmem.KindMisuse, f, "was freed")
	}

	y := pooled(symmem.F64, 510) // of the same size class
	k := symmem.Rendezvous(y)
	t.equal("its memory", y.Ptr() == at || y.Ptr()+4080 == at+4000, true) // at its start or, if its end is guarded, at its end
	for p := range t.size {
		t.equal("a peer's zeros", k.GetRemoteTensor(p).Ints(), make([]int, 510))
		t.equal("a peer's pad", k.GetSignalPad(p).Ints(), make([]int, symmem.GetSignalPadSize()/4))
	}
	t.refused(symmem.KindMisuse, func() { h.Barrier(0) }, "i32[1000] was freed")
	k.Barrier(0)
	t.equal("statistics", symmem.MemPoolStats(), symmem.PoolStats{Blocks: 1, Taken: 1, Bytes: 4096, TakenBytes: 4096, Takes: 2, Frees: 1})
	y.Free()
	t.equal("statistics", symmem.MemPoolStats(), symmem.PoolStats{Blocks: 1, Bytes: 4096, Takes: 2, Frees: 2})
}

func memPoolTensorFactoryCase(t *T) {
	x := pooled(symmem.F32, 1024).Arange()
	symmem.Rendezvous(x)
	var want []int
	for i := range 1024 {
		want = append(want, i*t.size)
	}
	symmem.UseMemPool(func() {
		sum := symmem.OneShotAllReduce(x, "sum")
		t.equal("a result is symmetric", sum.Symmetric(), true)
		t.equal("sum", sum.Ints(), want)
		sum.Free()
	})
	t.equal("outside of the pool", symmem.OneShotAllReduce(x, "sum").Symmetric(), false)
	x.Free()
}

func memPoolComputeOpsCase(t *T) {
	a, b := symmem.Local(symmem.F32, 8, 8).Fill(1), symmem.Local(symmem.F32, 8, 8).Fill(2)
	out := pooled(symmem.F32, 8, 8)
	symmem.MatMul(out, a, b)
	symmem.Rendezvous(out)
	symmem.AllReduce(out, "sum")
	t.equal("sum of products", out.Ints(), slices.Repeat([]int{16 * t.size}, 64))
	out.Free()
}

func memPoolLargeBarrierCase(t *T) {
	x := pooled(symmem.U8, 16<<20)
	h := symmem.Rendezvous(x)
	for i := range 3 {
		x.Slice(16<<20-1, 16<<20).Fill(10*i + t.rank)
		h.Barrier(0)
		for p := range t.size {
			t.equal("the last byte", h.GetRemoteTensor(p).Slice(16<<20-1, 16<<20).Ints(), []int{10*i + p})
		}
		h.Barrier(0)
	}
	x.Free()
}

// memPoolNoMeetingCase: rank 0 takes, rendezvouses and frees while the host code of the other ranks
// waits until it is done.
func memPoolNoMeetingCase(t *T) {
	emptyPool(t)
	word := symmem.Empty(symmem.I32, 1)
	h := symmem.Rendezvous(word)
	pooled(symmem.I32, 100).Free()
	one := symmem.Local(symmem.I32, 1) // it is zeroed before the stream waits
	symmem.Synchronize()
	t.meet()
	use := func() {
		x := pooled(symmem.I32, 100)
		symmem.Rendezvous(x).Barrier(3)
		x.Free()
	}
	if t.rank == 0 {
		use()
		s := symmem.NewStream()
		for p := 1; p < t.size; p++ {
			symmem.OnStream(s, func() { h.PutWithSignal(p, one, 0, 1) })
		}
		symmem.Synchronize()
		s.Free()
	} else {
		h.WaitForSignal(0, "==", 1)
		symmem.Synchronize()
		use()
		symmem.Synchronize()
	}
	t.equal("blocks", symmem.MemPoolStats().Blocks, 1)
	t.meet()
	word.Free()
}

func memPoolGrowthCase(t *T) {
	emptyPool(t)
	for i := range 20 {
		a, b, c := pooled(symmem.U8, 100+i), pooled(symmem.U8, 3000), pooled(symmem.U8, 500)
		t.equal("zeros", a.Ints(), make([]int, 100+i))
		a.Fill(i + 1)
		b.Free()
		a.Free()
		c.Free()
	}
	t.equal("statistics", symmem.MemPoolStats(), symmem.PoolStats{Blocks: 3, Bytes: 512 + 4096 + 512, Takes: 60, Frees: 60})
}

// memPoolStreamsCase: memory that another stream still writes is not reused before that stream is
// done.
func memPoolStreamsCase(t *T) {
	s := symmem.NewStream()
	const n = 1 << 18
	right := (t.rank + 1) % t.size
	for i := range 5 {
		x := pooled(symmem.I32, n)
		h := symmem.Rendezvous(x)
		h.Barrier(0)
		y := symmem.Local(symmem.I32, n).Fill(7 + i)
		symmem.Synchronize()
		for range 3 {
			h.Put(right, y, s)
		}
		x.Free()
		z := pooled(symmem.I32, n)
		t.equal("zeros", z.Ints(), make([]int, n))
		z.Free()
	}
	symmem.Synchronize()
	s.Free()
}

// memPoolOrderCase: the ranks free two tensors in different order, or take different ones.
func memPoolOrderCase(t *T) {
	odd := t.rank == 1
	check := func(words ...string) {
		e := t.refused(symmem.KindMismatch, symmem.Synchronize, append(words, "in the memory pool of world rank ", "Recover")...)
		if odd {
			t.equal("differs from another", e.Peer != 1, true)
		} else {
			t.equal("who differs", e.Peer, 1)
		}
		t.refused(symmem.KindPeer, func() { pooled(symmem.I32, 4) }, append(words, "out of step")...)
	}
	emptyPool(t)
	x, y := pooled(symmem.I32, 4), pooled(symmem.I32, 5)
	if odd {
		y.Free()
		check("rank 1 freed block 1 where rank", "freed block 0")
	} else {
		x.Free()
		check("freed block 0 where rank 1 freed block 1")
	}
	t.refused(symmem.KindMismatch, func() { symmem.Empty(symmem.U8, 1) },
		"rank 0: Empty u8[1], after 2 takes and 1 frees of the memory pool, the last: free i32[4] (block 0)",
		"rank 1: Empty u8[1], after 2 takes and 1 frees of the memory pool, the last: free i32[5] (block 1)")

	emptyPool(t)
	x, y = pooled(symmem.I32, 4), pooled(symmem.I32, 1000)
	x.Free()
	y.Free()
	symmem.Synchronize()
	if odd {
		pooled(symmem.I32, 1000)
		check("rank 1 took block 1 where rank", "took block 0")
	} else {
		pooled(symmem.I32, 4)
		check("took block 0 where rank 1 took block 1")
	}

	emptyPool(t)
	pooled(symmem.I32, 4).Free()
	symmem.Synchronize()
	pooled(symmem.I32, 4+min(t.rank, 1))
	t.refused(symmem.KindMismatch, symmem.Synchronize, "took block 0 where rank", "took block 0 for other elements")
	emptyPool(t)
}

// memPoolHistoryCase: if only one rank grows its pool, the error lists the calls of the others.
func memPoolHistoryCase(t *T) {
	emptyPool(t)
	x := pooled(symmem.I32, 4)
	symmem.Synchronize()
	t.refused(symmem.KindMismatch, func() {
		if t.rank == 1 {
			x = pooled(symmem.I32, 3000)
		} else {
			symmem.Empty(symmem.U8, 1)
		}
	}, "Local i32[3000] from the memory pool, in a new block of 16384 bytes", "Empty u8[1]",
		"after 1 takes and 0 frees of the memory pool, the last: take i32[4] (block 0)")
	x.Free()
	t.equal("statistics", symmem.MemPoolStats(), symmem.PoolStats{Blocks: 1, Bytes: 512, Takes: 1, Frees: 1})
}

func memPoolRecoverCase(t *T) {
	emptyPool(t)
	x, y := pooled(symmem.I32, 4).Fill(t.rank), pooled(symmem.I32, 4)
	h := symmem.Rendezvous(x)
	y.Free()
	symmem.Synchronize()
	emptyPool(t)
	t.equal("kept", x.Ints(), slices.Repeat([]int{t.rank}, 4))
	h.Barrier(0)
	t.equal("a peer's", h.GetRemoteTensor(t.size-1).Ints(), slices.Repeat([]int{t.size - 1}, 4))
	h.Barrier(0)
	symmem.Synchronize()
	if t.rank == 0 {
		x.Free() // not collective
	}
	t.meet()
	if t.rank != 0 {
		x.Free()
	}
	z := pooled(symmem.I32, 4)
	t.equal("a new block", symmem.MemPoolStats(), symmem.PoolStats{Blocks: 1, Taken: 1, Bytes: 512, TakenBytes: 512, Takes: 1})
	z.Free()
}

// memPoolGroupCase: each group has its own pool.
func memPoolGroupCase(t *T) {
	emptyPool(t)
	g := symmem.NewGroup(0, 2)
	if g.Rank() >= 0 {
		var x *symmem.Tensor
		for range 3 {
			symmem.UseMemPool(func() { x = symmem.Local(symmem.I32, 6).Fill(t.rank) }, g)
			symmem.Rendezvous(x)
			t.equal("max", symmem.OneShotAllReduce(x, "max").Ints(), slices.Repeat([]int{2}, 6))
			t.refused(symmem.KindMisuse, g.Free, "i32[6] of group 0,2 is still allocated")
			x.Free()
		}
		t.equal("the group's", symmem.MemPoolStats(g), symmem.PoolStats{Blocks: 1, Bytes: 512, Takes: 3, Frees: 3})
	} else {
		t.refused(symmem.KindMisuse, func() { symmem.UseMemPool(func() {}, g) }, "is not in group 0,2")
	}
	t.equal("the world's", symmem.MemPoolStats(), symmem.PoolStats{})
	symmem.Synchronize()
	g.Free()
	t.meet()
}

func memPoolMisuseCase(t *T) {
	x := pooled(symmem.I32, 4)
	h := symmem.Rendezvous(x)
	for _, f := range []func(){
		func() { pooled(symmem.I32, 4) },
		func() { x.Free() },
	} {
		t.refused(symmem.KindMisuse, func() { symmem.Capture(f) }, "captured")
	}
	t.refused(symmem.KindMisuse, func() { x.Slice(0, 2).Free() }, "part")
	symmem.UseMemPool(func() { h.BufferPtrsDev() }) // takes no memory from the pool
	g := symmem.Capture(func() { x.Fill(3) })
	g.Replay()
	t.equal("a graph", x.Ints(), []int{3, 3, 3, 3})
	x.Free()
	t.refused(symmem.KindMisuse, func() { g.Replay() }, "was freed")
	g.Free()
}

// memPoolEmptyCase: Empty, and every operation that returns a tensor, take from the pool in use; the
// pool is a value.
func memPoolEmptyCase(t *T) {
	emptyPool(t)
	p := symmem.GetMemPool()
	t.equal("its group", p.Group(), symmem.World())
	alone := symmem.NewGroup(t.rank)
	takes := 0
	took := func(what string, n int) {
		takes += n
		t.equal(what, int(p.Stats().Takes), takes)
	}
	for range 3 {
		var list []*symmem.Tensor
		take := func(what string, f func() *symmem.Tensor) {
			x := f()
			list = append(list, x)
			took(what, 1)
			t.equal(what+" is symmetric", x.Symmetric(), true)
		}
		p.Use(func() {
			take("Empty", func() *symmem.Tensor { return symmem.Empty(symmem.F32, 8) })
			t.equal("zeros", list[0].Ints(), make([]int, 8))
			x := list[0].Fill(t.rank + 1)
			take("Group.Empty", func() *symmem.Tensor { return symmem.World().Empty(symmem.F32, 8) })
			take("Local", func() *symmem.Tensor { return symmem.Local(symmem.F32, 8) })
			take("Map", func() *symmem.Tensor { return symmem.Map("2*x0", x) })
			take("Add", func() *symmem.Tensor { return symmem.Add(x, 1) })
			take("Reduce", func() *symmem.Tensor { return symmem.Reduce("sum(x0)", x) })
			take("Concatenate", func() *symmem.Tensor { return symmem.Concatenate(0, x, x) })
			take("AllGather", func() *symmem.Tensor { return symmem.AllGather(x.Slice(0, 2)) })
			t.equal("gathered", list[len(list)-1].Ints(), each(2*t.size, func(i int) int { return 1 + i/2 }))
			other := alone.Empty(symmem.F32, 4) // another group's
			took("Empty of another group", 0)
			other.Free()
		})
		take("MemPool.Empty", func() *symmem.Tensor { return p.Empty(symmem.F32, 8) })
		t.equal("zeros again", list[len(list)-1].Ints(), make([]int, 8))
		outside := symmem.Empty(symmem.F32, 8)
		took("Empty outside", 0)
		outside.Free()
		for _, x := range list {
			x.Free()
		}
		t.equal("all are back", p.Stats().Taken, 0)
	}
	t.equal("the same blocks", p.Stats().Frees, p.Stats().Takes)
	t.equal("as a string", p.String(), fmt.Sprintf("memory pool of world: 0 of %d blocks taken, 0 of %d bytes", p.Stats().Blocks, p.Stats().Bytes))
	alone.Free()
	t.refused(symmem.KindPeer, func() { symmem.GetMemPool(alone) }, "cannot be used: it was freed")
}

// memPoolPutsCase uses memory of the pool again and again for what peers put there.
func memPoolPutsCase(t *T) {
	emptyPool(t)
	right, left := (t.rank+1)%t.size, (t.rank+t.size-1)%t.size
	for i := range 8 {
		x := pooled(symmem.I32, 300)
		h := symmem.Rendezvous(x)
		h.Barrier(1)
		t.equal("zeros", slices.Compact(x.Ints()), []int{0})
		h.Barrier(1)
		h.PutWithSignal(right, symmem.Local(symmem.I32, 300).Fill(100*i+t.rank), 5, 7)
		h.WaitForSignal(5, "==", 7)
		t.equal("put", slices.Compact(x.Ints()), []int{100*i + left})
		h.Barrier(1)
		symmem.AllReduce(x, "max")
		t.equal("max", slices.Compact(x.Ints()), []int{100*i + t.size - 1})
		x.Free()
	}
	symmem.Synchronize()
	t.equal("blocks", symmem.MemPoolStats().Blocks, 1)
	x := pooled(symmem.I32, 8).Fill(t.rank)
	symmem.Synchronize()
	symmem.Recover()
	t.equal("after Recover", slices.Compact(symmem.AllReduce(x, "max").Ints()), []int{t.size - 1})
	x.Free()
}
