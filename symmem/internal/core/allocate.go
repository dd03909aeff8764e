package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Tensors are made and freed: ordinary ones by this rank alone, and symmetric ones by the members of a
// group.

// Local returns a tensor of zeros in ordinary device memory, for this rank alone. It is not
// collective. No shape means one element.
func (rt *Runtime) Local(dtype DType, shape ...int) *Tensor {
	const op = "Local"
	dtype = rt.typed(dtype)
	n := rt.numel(op, dtype, shape)
	c := rt.ownCall(op)
	defer c.Enter().Leave()
	c.PickStream()
	if rt.pooling != nil {
		return rt.makes(rt.pooling.takePooled(&c, dtype, slices.Clone(shape), n, true))
	}
	return rt.makes(c.zeros(dtype, slices.Clone(shape), n))
}

// zeros allocates a tensor of zeros in ordinary memory, also where a memory pool is in use.
func (rt *Runtime) zeros(op string, dtype DType, shape []int, n int) *Tensor {
	c := rt.ownCall(op)
	defer c.Enter().Leave()
	c.PickStream()
	return c.zeros(dtype, shape, n)
}

func (c *Call) zeros(dtype DType, shape []int, n int) *Tensor {
	t := c.rt.ordinary(c.Record.Op, c.stream, dtype, shape, n)
	c.issued(c.stream.set0(t.pointer(), t.Bytes()))
	return t
}

// ordinary allocates a tensor of undefined values in ordinary memory, for use on s. rt.mu is held.
func (rt *Runtime) ordinary(op string, s *Stream, dtype DType, shape []int, n int) *Tensor {
	bytes := n * dtype.Size()
	b := rt.take(op, s, bytes)
	st := rt.newStorage(b, bytes)
	rt.locateOrdinary(b, st, dtype, shape)
	rt.markBlock(b, st)
	return &Tensor{rt: rt, st: st, dtype: dtype, shape: shape, n: n}
}

// Empty returns a symmetric tensor of zeros, which peers can map by Rendezvous. It is collective
// over all ranks, with equal arguments. No shape means one element.
//
// It lives until Free, or until no member holds it, a view of it, or a handle: its memory is then
// taken by a later Empty of the same size, which maps nothing anew, or is given back. Addresses do
// not hold it, such as those that Ptr and BufferPtrs return, except for work that was issued before
// the next Empty.
//
// Within [Runtime.UseMemPool] of the same group the memory is the pool's, and the members do not
// meet on the host.
func (rt *Runtime) Empty(dtype DType, shape ...int) *Tensor { return rt.all.Empty(dtype, shape...) }

// Empty is [Runtime.Empty] for the members of a group.
func (g *Group) Empty(dtype DType, shape ...int) *Tensor {
	const op = "Empty"
	g.exists(op)
	return g.rt.makes(g.emptyLike(op, dtype, shape))
}

// emptyLike is Empty, for op.
func (g *Group) emptyLike(op string, dtype DType, shape []int) *Tensor {
	rt := g.rt
	dtype = rt.typed(dtype)
	rt.numel(op, dtype, shape)
	g.usable(op)
	rt.mu.Lock()
	pad, pooling := rt.padSize, rt.pooling == g
	rt.mu.Unlock()
	if pooling {
		return g.emptyPooled(op, dtype, shape)
	}
	desc := dtype.element().Shaped(shape)
	if pad != defaultPadSize {
		desc += fmt.Sprintf(" with a signal pad of %d bytes", pad)
	}
	if g.takesHeap() {
		return g.emptyIn(op, dtype, shape, pad, desc, func(n int) (device.Segment, error) { return rt.heap.Segment(members{g}, op, desc, n) })
	}
	return g.empty(op, dtype, shape, pad, desc)
}

// Free frees the memory. For a symmetric tensor it is collective over the group that allocated the
// tensor, waits for all work of this rank, and ends every handle and view of the tensor. A tensor
// of a memory pool is returned to the pool in the order of the stream: see [Runtime.UseMemPool].
// For any other tensor Free returns at once, and is safe while work is pending.
func (t *Tensor) Free() {
	const op = "Free"
	t.usable(op)
	if t.st.alloc != nil && !t.Symmetric() {
		panic(t.rt.misuse(op, "", "free the tensor that Empty returned", "this is a view of memory of rank %d", t.st.peer))
	}
	if (t.offset != 0 || t.Bytes() != t.st.size) && !(t.st.alloc != nil && t.st.alloc.lent) {
		panic(t.rt.misuse(op, "", "free the whole tensor", "this tensor is a part of another one"))
	}
	if t.st.alloc != nil {
		t.st.alloc.free(op)
		return
	}
	t.giveBack()
}

// free gives an allocation back. It is collective over the group, unless the allocation is stale.
func (a *allocation) free(op string) {
	rt := a.rt
	rt.hostCall(op)
	rt.mu.Lock()
	pooled, alone := a.block != nil, a.alone
	rt.mu.Unlock()
	if pooled {
		a.freePooled(op)
		return
	}
	rt.synchronize(op)
	if a.stale.Load() == nil && !alone {
		a.group.usable(op)
		if a.group.split.Spans() {
			rt.fence(op)
		}
		a.group.meet(op, a.desc+", "+a.id, nil)
	}
	if !a.freed.CompareAndSwap(false, true) {
		panic(rt.misuse(op, "tensor", "", "the tensor %s was freed", a.desc))
	}
	if err := a.end(op); err != nil {
		panic(rt.failure(op, err))
	}
	a.unmap()
}
