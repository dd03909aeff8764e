package symmem

import (
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// MultimemAllReduce sums the copies of a symmetric tensor of all members and puts the result in place of every
// copy, by NVLink multicast: the switch adds, in f32 for 16-bit types, and every member sees the same bits. op
// is "sum" or "avg". It returns t.
//
// PyTorch: multimem_all_reduce_
//
// Shapes: t is F32, F16 or BF16, and was rendezvoused by the group, or is a part of a tensor that was, the same
// part on all ranks, that begins and ends at a multiple of 4 bytes.
//
// Synchronises: collective over the group and ordered on the stream: it begins when all members have come to it,
// and t may be overwritten by what the stream does next.
//
// Options: *Group (by default the one that allocated t), *Stream, Timeout.
//
// Capture: yes.
//
// Errors: KindMisuse where multicast is off, with the reason, which [Runtime.Caps] has too, and for a t or an op
// that is not such; and what ends a wait. [Runtime.AllReduce] needs no multicast.
//
// Back ends: GPUs with NVLink multicast; the cpu device emulates it.
func (rt *Runtime) MultimemAllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	rt.multimemReduce(multimemName, t, op, -1, t, opts)
	return t
}

// MultimemOneShotAllReduce is [Runtime.MultimemAllReduce] into an ordinary tensor, which it returns; t keeps its
// values. Every member loads the sums itself; where the switch does not add in a fixed order they may differ in
// the last bit.
//
// PyTorch: multimem_one_shot_all_reduce
//
// Shapes: as [Runtime.MultimemAllReduce].
//
// Synchronises: as [Runtime.MultimemAllReduce].
//
// Options: as [Runtime.MultimemAllReduce].
//
// Capture: refused, because the result is allocated: capture [Runtime.MultimemOneShotAllReduceOut].
//
// Errors: as [Runtime.MultimemAllReduce].
//
// Back ends: as [Runtime.MultimemAllReduce].
func (rt *Runtime) MultimemOneShotAllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	return rt.multimemReduce(multimemOneShotName, t, op, -1, nil, opts)
}

// MultimemOneShotAllReduceOut is [Runtime.MultimemOneShotAllReduce] into out.
//
// PyTorch: multimem_one_shot_all_reduce_out
//
// Shapes: t as in [Runtime.MultimemAllReduce]; out has its type and number of elements, is symmetric or not,
// does not overlap t and begins at a multiple of 4 bytes.
//
// Synchronises: as [Runtime.MultimemAllReduce].
//
// Options: as [Runtime.MultimemAllReduce].
//
// Capture: yes.
//
// Errors: as [Runtime.MultimemAllReduce]; KindMisuse for an out that is not such.
//
// Back ends: as [Runtime.MultimemAllReduce].
func (rt *Runtime) MultimemOneShotAllReduceOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	out.live(multimemOneShotName)
	rt.multimemReduce(multimemOneShotName, t, op, -1, out, opts)
}

// MultimemOneShotReduceOut is [Runtime.MultimemOneShotAllReduceOut] on the root alone, a rank of the group; the
// other members' out keeps its values.
//
// PyTorch: multimem_one_shot_reduce_out
//
// Shapes: as [Runtime.MultimemOneShotAllReduceOut].
//
// Synchronises: as [Runtime.MultimemAllReduce].
//
// Options: as [Runtime.MultimemAllReduce].
//
// Capture: yes.
//
// Errors: as [Runtime.MultimemOneShotAllReduceOut]; KindMisuse for a root that is not a rank of the group.
//
// Back ends: as [Runtime.MultimemAllReduce].
func (rt *Runtime) MultimemOneShotReduceOut(t *Tensor, op string, root int, out *Tensor, opts ...Option) {
	const name = "multimem_one_shot_reduce"
	out.live(name)
	rt.multimemReduce(name, t, op, max(root, -1), out, opts)
}

// MultimemAllGatherOut is [Runtime.AllGatherOut] by NVLink multicast: every member's elements leave it once.
//
// PyTorch: multimem_all_gather_out
//
// Shapes: out is symmetric and rendezvoused by the group; t may be any tensor of the same type that does not
// overlap it. Both begin at a multiple of 4 bytes, and t's size is one.
//
// Synchronises: as [Runtime.MultimemAllReduce].
//
// Options: *Group (by default the one that allocated out), *Stream, Timeout.
//
// Capture: yes.
//
// Errors: KindMisuse where multicast is off, with the reason, and for a t or an out that is not such; and what
// ends a wait.
//
// Back ends: as [Runtime.MultimemAllReduce].
func (rt *Runtime) MultimemAllGatherOut(t, out *Tensor, opts ...Option) {
	const op = "multimem_all_gather"
	out.live(op)
	e := rt.exchange(op, t, out, ordered, opts)
	shape := append([]int{len(e.g.ranks)}, t.shape...)
	if len(t.shape) > 0 {
		shape = t.Shape()
		shape[0] *= len(e.g.ranks)
	}
	e.checkOut(shape, false)
	e.checkMulticast(t, out)
	defer e.enter().leave()
	h := e.mapped(out)
	e.record.on(out)
	e.begin()
	if t.n == 0 {
		return
	}
	l, c := e.g.meetingGrid(t.Bytes(), false, e.admit(t, out))
	e.launch(op, 0, l, bytesOf(&multimemGatherArgs{
		context: c, signals: e.g.work.meetings, out: h.multicast(out), in: t.pointer(), offset: uint64(e.g.rank * t.Bytes()), n: uint64(t.Bytes()),
	}))
}

const (
	multimemName        = "multimem_all_reduce"
	multimemOneShotName = "multimem_one_shot_all_reduce"
)

// multicastTypes are the values of symm::MulticastType.
var multicastTypes = map[DType]uint64{F32: 0, F16: 1, BF16: 2}

// checkMulticast refuses what multicast cannot do, first of all where there is none.
func (c *call) checkMulticast(tensors ...*Tensor) {
	if !c.rt.info.Multicast {
		panic(c.misuse("", "the same operation without multimem in its name does without it", "NVLink multicast is off: %s", c.rt.info.MulticastWhy))
	}
	for _, t := range tensors {
		if t.pointer()%4 != 0 || t.Bytes()%4 != 0 {
			panic(c.misuse("tensor", "", "the tensor %v must begin and end at a multiple of 4 bytes", t.kind()))
		}
	}
}

// multimemReduce reduces t to everybody's copy of it if out is t, else into out, which it makes if it is nil;
// on the root alone, if root is not -1.
func (rt *Runtime) multimemReduce(op string, t *Tensor, reduction string, root int, out *Tensor, opts []Option) *Tensor {
	r := rt.reduction(op, t, reduction, ordered, opts)
	g := r.opts.group
	inPlace := op == multimemName
	if out != nil && !inPlace {
		r.checkOut(out)
	}
	if op == "multimem_one_shot_reduce" {
		g.peer(op, "root", root)
	}
	r.checkMulticast(t)
	kind, ok := multicastTypes[t.dtype]
	if !ok || r.code&255 > reductions["avg"] {
		panic(r.misuse("tensor", "use AllReduce", "the switch computes sum and avg of f32, f16 and bf16, not %s of %v", reduction, t.dtype))
	}
	defer r.enter().leave()
	h := r.mapped(t)
	r.begin()
	if out == nil {
		out = r.fresh(t.dtype, t.shape, t.n)
	}
	if t.n == 0 {
		return out
	}
	part, lo, hi := t.Bytes(), 0, t.Bytes()
	if inPlace {
		world := len(g.ranks)
		part = ((t.Bytes()+world-1)/world + 15) &^ 15
		lo = min(g.rank*part, hi)
		hi = min(lo+part, hi)
	} else if root >= 0 && root != g.rank {
		hi = 0
	}
	l, c := g.meetingGrid(part, false, r.admit(t, out))
	a := &multimemArgs{
		context: c, signals: g.work.meetings, tensor: h.multicast(t), offset: uint64(lo), n: uint64(hi - lo), kind: kind, average: truth(reduction == "avg"),
	}
	if !inPlace {
		a.out = out.pointer()
	}
	r.launch("multimem_reduce", 0, l, bytesOf(a))
	return out
}

// multicast is what kernels need to reach all copies of t, which belongs to the handle's allocation, at once.
func (h *Handle) multicast(t *Tensor) multicast {
	m := multicast{address: device.Ptr(h.MulticastPtr())}
	for i := range h.g.ranks {
		m.copies[i] = h.at(i, t)
	}
	return m
}

// multicast is symm::Multicast.
type multicast struct {
	address device.Ptr
	copies  ptrs
}

// multimemArgs is MultimemArgs of multimem_reduce.cu.
type multimemArgs struct {
	context kernelContext
	signals ptrs
	tensor  multicast
	out     device.Ptr
	offset  uint64
	n       uint64
	kind    uint64
	average uint64
}

// multimemGatherArgs is MultimemGatherArgs of multimem_all_gather.cu.
type multimemGatherArgs struct {
	context kernelContext
	signals ptrs
	out     multicast
	in      device.Ptr
	offset  uint64
	n       uint64
}
