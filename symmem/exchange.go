package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// AllGather returns the members' tensors one after the other, in the order of the ranks, as an ordinary tensor:
// the first dimension is as many times longer.
//
// PyTorch: all_gather_into_tensor
//
// Shapes: t was rendezvoused by the group, or is a part of a tensor that was, the same part on all ranks; of any
// type, number of elements and offset.
//
// Synchronises: collective over the group and ordered on the stream: it begins when all members have come to it,
// and t may be overwritten by what the stream does next.
//
// Options: *Group (by default the one that allocated t), *Stream, Timeout, CopyEngine.
//
// Capture: refused, because the result is allocated: capture [Runtime.AllGatherOut].
//
// Errors: KindMisuse for a t that the group has not rendezvoused; and what ends a wait.
func (rt *Runtime) AllGather(t *Tensor, opts ...Option) *Tensor {
	return rt.allGather(t, nil, opts)
}

// AllGatherOut is [Runtime.AllGather] into out. If out is symmetric, every member stores into everybody's, which
// is quicker than reading.
//
// PyTorch: all_gather_into_tensor; with CopyEngine _low_contention_all_gather
//
// Shapes: out has the type of t and as many elements as all members' t. One of the two is symmetric and
// rendezvoused by the group. If out is, t may be an ordinary tensor, or this member's part of out; otherwise
// they do not overlap.
//
// Synchronises: as [Runtime.AllGather].
//
// Options: as [Runtime.AllGather].
//
// Capture: yes.
//
// Errors: as [Runtime.AllGather]; KindMisuse for an out of another type or size, or that overlaps t elsewhere
// than in this member's part.
func (rt *Runtime) AllGatherOut(t, out *Tensor, opts ...Option) {
	out.live("all_gather")
	rt.allGather(t, out, opts)
}

func (rt *Runtime) allGather(t, out *Tensor, opts []Option) *Tensor {
	const op = "all_gather"
	e := rt.exchange(op, t, out, ordered|copyEngine, opts)
	world := len(e.g.ranks)
	shape := []int{world}
	if len(t.shape) > 0 {
		shape = t.Shape()
		shape[0] *= world
	}
	n := t.Bytes()
	own := out != nil && out.n == world*t.n && out.dtype == t.dtype && t.pointer() == out.pointer()+device.Ptr(e.g.rank*n)
	e.checkOut(shape, own)
	return e.run(shape, n, func(push bool) {
		for i := range e.g.ranks {
			p := (e.g.rank + i) % world
			if push {
				e.piece(t.pointer(), e.to.at(p, out)+device.Ptr(e.g.rank*n))
			} else if e.staged {
				e.piece(e.from.at(p, out)+device.Ptr(p*n), e.out.pointer()+device.Ptr(p*n))
			} else {
				e.piece(e.from.at(p, t), e.out.pointer()+device.Ptr(p*n))
			}
		}
		e.args.same = truth(push)
	})
}

// AllToAll splits every member's tensor along its first dimension into a part for each member and returns the
// parts that were for this one, in the order of the ranks, as an ordinary tensor of the same shape.
//
// PyTorch: all_to_all_single with equal splits; nvshmem_all_to_all
//
// Shapes: as [Runtime.AllGather]; the number of members divides the first dimension.
//
// Synchronises: as [Runtime.AllGather].
//
// Options: as [Runtime.AllGather].
//
// Capture: refused, because the result is allocated: capture [Runtime.AllToAllOut].
//
// Errors: as [Runtime.AllGather]; KindMisuse for a first dimension that the number of members does not divide.
func (rt *Runtime) AllToAll(t *Tensor, opts ...Option) *Tensor {
	return rt.allToAll(t, nil, opts)
}

// AllToAllOut is [Runtime.AllToAll] into out. If out is symmetric, every member stores into everybody's, which
// is quicker than reading.
//
// PyTorch: all_to_all_single with equal splits; nvshmem_all_to_all
//
// Shapes: out has the type of t and as many elements, and does not overlap it. One of the two is symmetric and
// rendezvoused by the group; if out is, t may be an ordinary tensor, but for CopyEngine. The number of members
// divides the first dimension of t.
//
// Synchronises: as [Runtime.AllGather].
//
// Options: as [Runtime.AllGather].
//
// Capture: yes.
//
// Errors: as [Runtime.AllToAll]; KindMisuse for an out of another type or size, or that overlaps t.
func (rt *Runtime) AllToAllOut(t, out *Tensor, opts ...Option) {
	out.live("all_to_all")
	rt.allToAll(t, out, opts)
}

func (rt *Runtime) allToAll(t, out *Tensor, opts []Option) *Tensor {
	const op = "all_to_all"
	e := rt.exchange(op, t, out, ordered|copyEngine, opts)
	e.parts(t, 0)
	e.checkOut(t.shape, false)
	world := len(e.g.ranks)
	n := t.Bytes() / world
	return e.run(t.shape, n, func(push bool) {
		for i := range e.g.ranks {
			p := (e.g.rank + i) % world
			if push {
				e.piece(t.pointer()+device.Ptr(p*n), e.to.at(p, out)+device.Ptr(e.g.rank*n))
			} else {
				e.piece(e.from.at(p, t)+device.Ptr(e.g.rank*n), e.out.pointer()+device.Ptr(p*n))
			}
		}
	})
}

// Broadcast gives every member the root's values of a symmetric tensor, in place; root is a rank of the group.
// Every other member fetches a slice and hands it on to the rest, so that the root sends the tensor once, however
// many members there are. It returns t.
//
// PyTorch: broadcast; nvshmem_broadcast
//
// Shapes: t was rendezvoused by the group, or is a part of a tensor that was, the same part on all ranks; of any
// type, number of elements and offset.
//
// Synchronises: collective over the group and ordered on the stream: it begins when all members have come to it,
// and t may be overwritten by what the stream does next.
//
// Options: *Group (by default the one that allocated t), *Stream, Timeout.
//
// Capture: yes.
//
// Errors: KindMisuse for a t that the group has not rendezvoused, or a root that is not a rank of the group; and
// what ends a wait.
func (rt *Runtime) Broadcast(t *Tensor, root int, opts ...Option) *Tensor {
	const op = "broadcast"
	e := rt.exchange(op, t, t, ordered, opts)
	e.g.peer(op, "root", root)
	e.record.detail = fmt.Sprintf("from %d", root)
	world := len(e.g.ranks)
	// The others share the work, so that nothing leaves the root twice; one other shares it with the root.
	sharers, place := world, e.g.rank
	if world > 2 {
		sharers--
		place = (e.g.rank - root - 1 + 2*world) % world // the root has none
	}
	slice := sliceBytes(t, sharers)
	lo := min(place*slice, t.Bytes())
	hi := min(lo+slice, t.Bytes())
	return e.run(t.shape, slice, func(bool) {
		for i := range e.g.ranks {
			if p := (e.g.rank + i) % world; p != root && place < sharers {
				e.piece(e.from.at(root, t)+device.Ptr(lo), e.from.at(p, t)+device.Ptr(lo))
			}
		}
		e.args.same, e.args.n = 1, uint64(hi-lo)
	})
}

// exchange is a call of an operation that copies between members without computing.
type exchange struct {
	call
	t, out   *Tensor // out may be nil until it runs
	g        *Group
	from, to *Handle       // of t and out, where these are symmetric and mapped
	staged   bool          // t was copied into its place in out, where peers read it
	args     *exchangeArgs // apart: what a launch reads may hold no Go pointers
}

// exchange checks what all exchanges have in common.
func (rt *Runtime) exchange(op string, t, out *Tensor, taken optionSet, opts []Option) *exchange {
	t.live(op)
	home := t
	if out != nil && !t.Symmetric() {
		home = out
	}
	e := &exchange{call: rt.newCall(op, collective, rt.home(home), taken, opts), t: t, out: out, args: new(exchangeArgs)}
	e.g, e.record.dtype, e.record.n = e.opts.group, t.dtype, t.n
	return e
}

// checkOut refuses an out that is not of this shape or overlaps t, unless own says that t is its place in it.
func (e *exchange) checkOut(shape []int, own bool) {
	if e.out == nil {
		return
	}
	if e.out.dtype != e.t.dtype || e.out.n != numelOf(shape) {
		panic(e.misuse("out", "", "out is %v, expected out shape %v", e.out.kind(), kindOf(e.t.dtype, shape)))
	}
	if !own && overlap(e.t, e.out) {
		panic(e.misuse("out", "", "out overlaps the tensor"))
	}
}

// piece adds a copy of this member's.
func (e *exchange) piece(src, dst device.Ptr) {
	e.args.src[e.args.pieces], e.args.dst[e.args.pieces] = src, dst
	e.args.pieces++
}

// Ways of an exchange.
var (
	pushWay = &way{"stores between barriers", "out is symmetric, and stores into peers' memory are quicker than loads from it"}
	pullWay = &way{"loads between barriers", "out is not symmetric, so that peers cannot store into it"}
	handOn  = &way{"slices between barriers", "the root sends every byte once, and the others hand their slices on"}
)

// run launches the exchange of pieces of n bytes at most, which lay adds. push says that out is symmetric.
func (e *exchange) run(shape []int, n int, lay func(push bool)) *Tensor {
	if e.opts.has(copyEngine) {
		return e.byEngines(shape, n, lay)
	}
	defer e.enter().leave()
	w := pullWay
	if e.out != nil && e.out.Symmetric() && e.out.st.alloc.mapping(e.g) != nil {
		e.to, w = e.mapped(e.out), pushWay
		e.record.on(e.out)
	}
	if e.to == nil || e.out == e.t {
		e.from = e.mapped(e.t)
		e.record.on(e.t)
	}
	e.begin()
	if e.out == nil {
		e.out = e.fresh(e.t.dtype, slices.Clone(shape), numelOf(shape))
	}
	if n == 0 {
		return e.out
	}
	c := e.admit(e.t, e.out)
	push := w == pushWay
	loads := e.out == e.t
	if loads {
		w = handOn
	}
	e.chose(e.t.Bytes(), w)
	e.args.n = uint64(n)
	lay(push)
	l, c := e.g.meetingGrid(n, loads, c)
	e.args.context, e.args.signals = c, e.g.work.meetings
	e.launch("exchange", 0, l, bytesOf(e.args))
	return e.out
}

// sliceBytes is the size of the slices by which members share a tensor. All begin at the same distance from a line of memory: links carry lines, and
// parts of lines cost as much.
func sliceBytes(t *Tensor, sharers int) int {
	const line = 128
	return ((t.Bytes()+sharers-1)/sharers + line - 1) &^ (line - 1)
}

func numelOf(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// exchangeArgs is ExchangeArgs of exchange.cu.
type exchangeArgs struct {
	context  kernelContext
	signals  ptrs
	src, dst ptrs
	pieces   uint64
	n        uint64
	same     uint64
}
