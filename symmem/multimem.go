package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/multimem"
	"github.com/symmrepl/symmrepl/kernels/reduce"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// multimemWay is the only way of the operations of this file.
var multimemWay = &tuning.Way{Path: "multicast", Why: "the call asks for it by its name"}

// MultimemAllReduce sums the copies of a symmetric tensor of all members and puts the result in
// place of every copy, by NVLink multicast: the switch adds, in f32 for 16-bit types, and every
// member sees the same bits. op is "sum" or "avg". It returns t.
//
// PyTorch: multimem_all_reduce_
//
// Shapes: t is F32, F16 or BF16, symmetric, or a part of a symmetric tensor, the same part on all
// ranks, or of ordinary memory, and begins and ends at a multiple of 4 bytes.
//
// Synchronises: collective over the group and ordered on the stream: it begins when all members
// have come to it, and the stream's next work may overwrite t.
//
// Options: *Group (by default the group that allocated t), *Stream, Timeout.
//
// Capture: yes.
//
// Errors: KindMisuse where multicast is off, with the reason, which [Runtime.Caps] has too, where
// the tensor has no multicast address, with the reason, and for a t or an op that does not fit; and
// the errors of waits. [Runtime.AllReduce] needs no multicast.
//
// Back ends: GPUs with NVLink multicast, in groups of one host whose ranks have a GPU each; no
// machine with it has run this yet. The cpu device emulates it.
func (rt *Runtime) MultimemAllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	rt.multimemReduce(operators.MultimemAllReduce, t, op, -1, t, opts)
	return t
}

// MultimemOneShotAllReduce is [Runtime.MultimemAllReduce] into an ordinary tensor, which it
// returns; t keeps its values. Every member loads the sums itself; where the switch does not add in
// a fixed order they may differ in the last bit.
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
	return rt.multimemReduce(operators.MultimemOneShotAllReduce, t, op, -1, nil, opts)
}

// MultimemOneShotAllReduceOut is [Runtime.MultimemOneShotAllReduce] into out.
//
// PyTorch: multimem_one_shot_all_reduce_out
//
// Shapes: t as in [Runtime.MultimemAllReduce]; out has its type and number of elements, is
// symmetric or not, does not overlap t and begins at a multiple of 4 bytes.
//
// Synchronises: as [Runtime.MultimemAllReduce].
//
// Options: as [Runtime.MultimemAllReduce].
//
// Capture: yes.
//
// Errors: as [Runtime.MultimemAllReduce]; KindMisuse for an out that does not fit.
//
// Back ends: as [Runtime.MultimemAllReduce].
func (rt *Runtime) MultimemOneShotAllReduceOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	rt.core.Usable(operators.MultimemOneShotAllReduce.Name, out)
	rt.multimemReduce(operators.MultimemOneShotAllReduce, t, op, -1, out, opts)
}

// MultimemOneShotReduceOut is [Runtime.MultimemOneShotAllReduceOut] on the root alone, a rank of
// the group; the other members' out keeps its values.
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
// Errors: as [Runtime.MultimemOneShotAllReduceOut]; KindMisuse for a root that is not a rank of the
// group.
//
// Back ends: as [Runtime.MultimemAllReduce].
func (rt *Runtime) MultimemOneShotReduceOut(t *Tensor, op string, root int, out *Tensor, opts ...Option) {
	rt.core.Usable(operators.MultimemOneShotReduce.Name, out)
	rt.multimemReduce(operators.MultimemOneShotReduce, t, op, max(root, -1), out, opts)
}

// MultimemAllGatherOut is [Runtime.AllGatherOut] by NVLink multicast: every member's elements leave
// it once.
//
// PyTorch: multimem_all_gather_out
//
// Shapes: out is symmetric, or of ordinary memory; t may be any tensor of the same type that does not
// overlap it. Both begin at a multiple of 4 bytes, and t's size is one.
//
// Synchronises: as [Runtime.MultimemAllReduce].
//
// Options: *Group (by default the group that allocated out), *Stream, Timeout.
//
// Capture: yes.
//
// Errors: KindMisuse where multicast is off, with the reason, and for a t or an out that does not
// fit; and the errors of waits.
//
// Back ends: as [Runtime.MultimemAllReduce].
func (rt *Runtime) MultimemAllGatherOut(t, out *Tensor, opts ...Option) {
	rt.core.Usable(operators.MultimemAllGather.Name, out)
	e := rt.exchange(operators.MultimemAllGather, t, out, opts)
	shape := gathered(t, e.g.Size())
	e.checkOut(shape, false)
	checkMulticast(&e.Call, out, t)
	defer e.Enter().Leave()
	out = e.Symmetric(out, core.Writes)
	h := e.Mapped(out)
	checkAddress(&e.Call, h, out)
	e.Record.On(out)
	e.PickStream()
	if t.Numel() == 0 {
		return
	}
	l, c := e.MeetingGrid(t.Bytes(), false, e.Admit(t, out))
	e.Chose(t.Bytes(), multimemWay)
	e.Launch(e.Op(), 0, l, launch.Bytes(&multimem.MultimemGatherArgs{
		Context: c, Signals: e.Work().Meetings, Out: multicastOf(h, e.g), In: core.Operand(t).Addr(),
		Offset: uint64(e.g.Rank() * t.Bytes()), N: uint64(t.Bytes()),
	}))
}

// multicastType returns the type by which the switch adds elements of a type; ok reports whether
// there is one.
func multicastType(d DType) (t multimem.Type, ok bool) {
	switch d {
	case F32:
		return multimem.F32, true
	case F16:
		return multimem.F16, true
	case BF16:
		return multimem.BF16, true
	}
	return 0, false
}

// checkMulticast refuses tensors that multicast cannot reach, and any if there is no multicast. The
// kernel reaches all copies of one tensor, and others.
func checkMulticast(c *core.Call, reached *Tensor, others ...*Tensor) {
	if !c.Device().Multicast {
		panic(c.Misuse("", "the same operation without multimem in its name does without it", "NVLink multicast is off: %s",
			c.Device().MulticastWhy))
	}
	for _, t := range append(others, reached) {
		if core.Operand(t).Addr()%4 != 0 || t.Bytes()%4 != 0 {
			panic(c.Misuse("tensor", "", "the tensor %v must begin and end at a multiple of 4 bytes", core.Operand(t).Brief()))
		}
	}
}

// checkAddress refuses a tensor that has no multicast address. Its copies are known.
func checkAddress(c *core.Call, h core.Copies, reached *Tensor) {
	if why := h.MulticastWhy(); why != "" {
		panic(c.Misuse("tensor", "the same operation without multimem in its name does without it",
			"the tensor %v has no multicast address: %s", core.Operand(reached).Brief(), why))
	}
}

// multimemReduce reduces t to everybody's copy of it if out is t, else into out, which it makes if
// it is nil; on the root alone, if root is not -1.
func (rt *Runtime) multimemReduce(of *operators.Operator, t *Tensor, reduction string, root int, out *Tensor, opts []Option) *Tensor {
	r := rt.reduction(of, t, reduction, opts)
	g := r.Group()
	inPlace := of == operators.MultimemAllReduce
	if out != nil && !inPlace {
		r.checkOut(out)
	}
	if of == operators.MultimemOneShotReduce {
		r.Member("root", root)
	}
	checkMulticast(&r.Call, t)
	kind, ok := multicastType(t.DType())
	if !ok || r.code&^reduce.Wide > reduce.Avg {
		panic(r.Misuse("tensor", "use AllReduce", "the switch computes sum and avg of f32, f16 and bf16, not %s of %v", reduction,
			t.DType()))
	}
	defer r.Enter().Leave()
	access := core.Reads
	if inPlace {
		access |= core.Writes
	}
	t = r.reads(access)
	h := r.Mapped(t)
	checkAddress(&r.Call, h, t)
	r.PickStream()
	if out == nil {
		out = r.Fresh(t.DType(), core.Operand(t).Dims(), t.Numel())
	}
	if t.Numel() == 0 {
		return out
	}
	part, lo, hi := t.Bytes(), 0, t.Bytes()
	if inPlace {
		world := g.Size()
		part = ((t.Bytes()+world-1)/world + 15) &^ 15
		lo = min(g.Rank()*part, hi)
		hi = min(lo+part, hi)
	} else if root >= 0 && root != g.Rank() {
		hi = 0
	}
	l, c := r.MeetingGrid(part, false, r.Admit(t, out))
	r.Chose(t.Bytes(), multimemWay)
	a := &multimem.MultimemArgs{
		Context: c, Signals: r.Work().Meetings, Tensor: multicastOf(h, g), Offset: uint64(lo), N: uint64(hi - lo), Type: kind,
		Average: truth(reduction == "avg"),
	}
	if !inPlace {
		a.Out = core.Operand(out).Addr()
	}
	r.Launch("multimem_reduce", 0, l, launch.Bytes(a))
	return out
}

// multicastOf returns the pointers by which kernels reach all members' copies of a tensor at once.
func multicastOf(c core.Copies, g *Group) multimem.Multicast {
	m := multimem.Multicast{Address: c.Multicast()}
	for i := range g.Size() {
		m.Copies[i] = c.At(i)
	}
	return m
}
