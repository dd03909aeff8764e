package symmem

import (
	allreduce "github.com/symmrepl/symmrepl/kernels/all_reduce"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// AllReduce combines the copies of a symmetric tensor of all members element by element and puts
// the result in place of every copy. It chooses the quickest way for the size and the group;
// [Runtime.Explain] says which. All ways combine in the order of the ranks, so that the result has
// the same bits on all ranks and whichever way was taken. op is "sum", "avg" (the sum divided
// once), "max" or "min"; every step rounds to the element type, as PyTorch's one-shot and two-shot
// kernels do, unless AccumulateF32 is given; integers wrap around, and the avg of integers is
// rounded towards zero. In a group that spans hosts the ranks of a host are combined first, and
// then the hosts in order. NCCL, which carries such groups on GPUs unless Via says otherwise,
// combines in an order of its own. It returns t.
//
// PyTorch: all_reduce
//
// Shapes: t is symmetric, or a part of a symmetric tensor, the same part on all ranks, or of ordinary
// memory; of any type that is reduced, any number of elements, at any offset. Of complex numbers the
// parts are reduced, by "sum" or "avg"; of Bool "sum" and "max" are a logical or, "min" is a logical
// and.
//
// Synchronises: collective over the group and ordered on the stream; when it ends on a rank, the
// stream's next work may overwrite t there.
//
// Options: *Group (by default the group that allocated t), *Stream, Timeout, AccumulateF32, Via.
//
// Capture: yes.
//
// Errors: KindMisuse, while a graph is captured, for a t that the group has not rendezvoused; for a
// type that is not reduced, such as I16, an unknown op or one that the type does not have; and the
// errors of waits.
func (rt *Runtime) AllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	if p, ok := rt.inParts(operators.AllReduce, t, op); ok {
		rt.AllReduce(p.t, p.op, opts...)
		return t
	}
	r := rt.reduction(operators.AllReduce, t, op, opts)
	byNCCL := r.byNCCL("")
	defer r.Enter().Leave()
	if byNCCL {
		if t.Symmetric() {
			r.Mapped(t)
		}
		r.PickStream()
		r.Admit(t)
		r.nccl(device.AllReduce, t, t.Numel())
		return t
	}
	if r.Spans() {
		r.allReduceOverHosts()
		return t
	}
	r.allReduce(t, r.Plan().AllReduce)
	return t
}

// reads returns the tensor that is reduced, or its stand-in, and makes it the call's.
func (r *reduction) reads(access core.Access) *Tensor {
	r.t = r.Symmetric(r.t, access)
	return r.t
}

// OneShotAllReduce combines the copies of a symmetric tensor of all members element by element, in
// the order of their ranks, and returns the result as an ordinary tensor, which has the same bits
// on all ranks. Small messages are pushed as packets, without a barrier; large ones are read from
// the peers between two. t keeps its values.
//
// PyTorch: one_shot_all_reduce
//
// Shapes: as [Runtime.AllReduce].
//
// Synchronises: as [Runtime.AllReduce].
//
// Options: as [Runtime.AllReduce], but not Via.
//
// Capture: refused, because the result is allocated: capture [Runtime.OneShotAllReduceOut].
//
// Errors: as [Runtime.AllReduce].
//
// Source: packets as in NCCL's low-latency protocol, but of 12 bytes of data and an epoch; reads
// between barriers as in PyTorch's one-shot kernel.
func (rt *Runtime) OneShotAllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	return rt.oneShot(t, op, nil, opts)
}

// OneShotAllReduceOut is [Runtime.OneShotAllReduce] into out.
//
// PyTorch: one_shot_all_reduce_out
//
// Shapes: t as in [Runtime.AllReduce]; out has its type and number of elements, is symmetric or
// not, and does not overlap t.
//
// Synchronises: as [Runtime.AllReduce].
//
// Options: as [Runtime.AllReduce], but not Via.
//
// Capture: yes.
//
// Errors: as [Runtime.AllReduce]; KindMisuse for an out of another type or size, or that overlaps
// t.
func (rt *Runtime) OneShotAllReduceOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	rt.core.Usable(operators.OneShotAllReduce.Name, out)
	rt.oneShot(t, op, out, opts)
}

// TwoShotAllReduce is [Runtime.AllReduce] in two shots, in place: every member reduces a slice of
// the tensor and gives it to all others. Small messages go as packets, without a barrier; larger
// ones as lines of 128 bytes where the links allow it; large ones chunk by chunk, while blocks
// meet. Where t does not begin at a multiple of 16 bytes, the slices of large ones are read from
// the peers and stored to them between two barriers. It returns t.
//
// PyTorch: two_shot_all_reduce_
//
// Shapes: as [Runtime.AllReduce].
//
// Synchronises: as [Runtime.AllReduce].
//
// Options: as [Runtime.AllReduce], but not Via.
//
// Capture: yes.
//
// Errors: as [Runtime.AllReduce].
//
// Source: as [Runtime.OneShotAllReduce]; slices as in PyTorch's two-shot kernel.
func (rt *Runtime) TwoShotAllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	if p, ok := rt.inParts(operators.TwoShotAllReduce, t, op); ok {
		rt.TwoShotAllReduce(p.t, p.op, opts...)
		return t
	}
	r := rt.reduction(operators.TwoShotAllReduce, t, op, opts)
	defer r.Enter().Leave()
	r.allReduce(t, r.Plan().TwoShot)
	return t
}

// TwoShotAllReduceOut is [Runtime.TwoShotAllReduce] into out; t keeps its values, other than in
// PyTorch.
//
// PyTorch: two_shot_all_reduce_out
//
// Shapes: t as in [Runtime.AllReduce]; out is like t, of the same type and number of elements, and
// does not overlap it.
//
// Synchronises: as [Runtime.AllReduce].
//
// Options: as [Runtime.AllReduce], but not Via.
//
// Capture: yes.
//
// Errors: as [Runtime.AllReduce]; KindMisuse for an out that does not fit.
func (rt *Runtime) TwoShotAllReduceOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	rt.core.Usable(operators.TwoShotAllReduce.Name, out)
	if p, ok := rt.inParts(operators.TwoShotAllReduce, t, op); ok {
		rt.TwoShotAllReduceOut(p.t, p.op, p.into(rt, operators.TwoShotAllReduce, out), opts...)
		return
	}
	r := rt.reduction(operators.TwoShotAllReduce, t, op, opts)
	r.checkOut(out)
	defer r.Enter().Leave()
	r.Through(out)
	r.Record.On(out)
	r.allReduce(out, r.Plan().TwoShot)
}

func (rt *Runtime) oneShot(t *Tensor, op string, out *Tensor, opts []Option) *Tensor {
	if p, ok := rt.inParts(operators.OneShotAllReduce, t, op); ok {
		return core.Operand(rt.oneShot(p.t, p.op, p.into(rt, operators.OneShotAllReduce, out), opts)).Whole(p.of)
	}
	r := rt.reduction(operators.OneShotAllReduce, t, op, opts)
	if out != nil {
		r.checkOut(out)
	}
	defer r.Enter().Leave()
	if out == nil {
		r.Through(t)
		r.PickStream()
		out = r.Fresh(t.DType(), core.Operand(t).Dims(), t.Numel())
	}
	r.allReduce(out, r.Plan().OneShot)
	return out
}

// allReduce reduces r.t into out, which may be r.t itself, in the way that rules say, between enter
// and leave.
func (r *reduction) allReduce(out *Tensor, rules []tuning.Rule) {
	t, g := r.t, r.Group()
	w := tuning.Pick(rules, g.Size(), t.Bytes(), r.Work().WholeLines)
	if r.Comparing() {
		w = r.Way(w, r.ways(out)...)
	}
	var h core.Copies // where peers access the tensor itself
	switch {
	case t.Numel() == 0 || w == tuning.OnePacket || w == tuning.TwoPacket || w == tuning.TwoLines:
		r.Through(t)
	case out == t:
		out = r.reads(core.Reads | core.Writes)
		t, h = out, r.Mapped(out)
	default:
		t = r.reads(core.Reads)
		h = r.Mapped(t)
		if w != tuning.OnePull {
			out = r.Symmetric(out, core.Writes)
		}
	}
	r.PickStream()
	if t.Numel() == 0 {
		return
	}
	c := r.Admit(t, out)
	if w == tuning.TwoChunks && !(inUnits(t) && inUnits(out)) {
		w = tuning.TwoPull
	}
	r.Chose(t.Bytes(), w)
	switch w {
	case tuning.OnePacket:
		r.pushPackets(&oneShotKernels, out, packetsOf(t), c)
	case tuning.TwoPacket:
		slice := ((packetsOf(t)+31)/32 + g.Size() - 1) / g.Size() * 32
		r.pushPackets(&twoShotKernels, out, slice, c)
	case tuning.TwoLines:
		r.pushLines(out, c)
	case tuning.OnePull:
		a := core.ArgsOf[allreduce.PullArgs](&r.Call)
		*a = allreduce.PullArgs{Outs: 1, N: uint64(t.Numel())}
		a.Out[0] = core.Operand(out).Addr()
		for i := range g.Size() {
			a.In[i] = h.At(i)
		}
		r.pull(t.Bytes(), c)
	case tuning.TwoChunks:
		r.pushChunks(out, c)
	case tuning.TwoPull:
		r.pullSlices(h, out, c)
	}
}

// ways are the ways that allReduce could take.
func (r *reduction) ways(out *Tensor) (ways []*tuning.Way) {
	if r.t.Numel() == 0 {
		return nil
	}
	one, two := r.Op() != operators.TwoShotAllReduce.Name, r.Op() != operators.OneShotAllReduce.Name
	if one {
		ways = append(ways, tuning.OnePacket)
	}
	if one && out != r.t { // else members would read what others have written
		ways = append(ways, tuning.OnePull)
	}
	if two {
		ways = append(ways, tuning.TwoPacket, tuning.TwoPull)
	}
	if two && r.Work().WholeLines {
		ways = append(ways, tuning.TwoLines)
	}
	if two && inUnits(r.t) && inUnits(out) {
		ways = append(ways, tuning.TwoChunks)
	}
	return ways
}
