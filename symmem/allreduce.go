package symmem

import (
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// reductions are the values of symm::ReduceOp; reduceWide is added to sum 16-bit floats as F32.
var reductions = map[string]uint64{"sum": 0, "avg": 1, "max": 2, "min": 3}

const reduceWide = 256

// AllReduce combines the copies of a symmetric tensor of all members element by element and puts the result in
// place of every copy. It chooses the quickest way for the size and the group; [Runtime.Explain] says which. All
// ways combine in the order of the ranks, so that the result has the same bits on all ranks and whichever way
// was taken. op is "sum", "avg" (the sum divided once), "max" or "min"; every step rounds to the element type,
// as PyTorch's one-shot and two-shot kernels do, unless AccumulateF32 is given; integers wrap around. It returns
// t.
//
// PyTorch: all_reduce
//
// Shapes: t was rendezvoused by the group, or is a part of a tensor that was, the same part on all ranks; of any
// type that computes, any number of elements, at any offset.
//
// Synchronises: collective over the group and ordered on the stream; when it ends on a rank, t may be
// overwritten there by what the stream does next.
//
// Options: *Group (by default the one that allocated t), *Stream, Timeout, AccumulateF32.
//
// Capture: yes.
//
// Errors: KindMisuse for a t that the group has not rendezvoused, a type that does not compute, an unknown op;
// and what ends a wait.
func (rt *Runtime) AllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	r := rt.reduction("all_reduce", t, op, adding, opts)
	defer r.enter().leave()
	r.allReduce(t, rt.plan().allReduce)
	return t
}

// OneShotAllReduce combines the copies of a symmetric tensor of all members element by element, in the order of
// their ranks, and returns the result as an ordinary tensor, which has the same bits on all ranks. Small
// messages are pushed as packets, without a barrier; large ones are read from the peers between two. t keeps its
// values.
//
// PyTorch: one_shot_all_reduce
//
// Shapes: as [Runtime.AllReduce].
//
// Synchronises: as [Runtime.AllReduce].
//
// Options: as [Runtime.AllReduce].
//
// Capture: refused, because the result is allocated: capture [Runtime.OneShotAllReduceOut].
//
// Errors: as [Runtime.AllReduce].
//
// Source: packets as in NCCL's low-latency protocol, but of 12 bytes of data and an epoch; reads between barriers as
// in PyTorch's one-shot kernel.
func (rt *Runtime) OneShotAllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	return rt.oneShot(t, op, nil, opts)
}

// OneShotAllReduceOut is [Runtime.OneShotAllReduce] into out.
//
// PyTorch: one_shot_all_reduce_out
//
// Shapes: t as in [Runtime.AllReduce]; out has its type and number of elements, is symmetric or not, and does
// not overlap t.
//
// Synchronises: as [Runtime.AllReduce].
//
// Options: as [Runtime.AllReduce].
//
// Capture: yes.
//
// Errors: as [Runtime.AllReduce]; KindMisuse for an out of another type or size, or that overlaps t.
func (rt *Runtime) OneShotAllReduceOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	out.live(oneShotName)
	rt.oneShot(t, op, out, opts)
}

// TwoShotAllReduce is [Runtime.AllReduce] in two shots, in place: every member reduces a slice of the tensor and
// gives it to all others. Small messages go as packets, without a barrier; larger ones as lines of 128 bytes
// where the links allow it; large ones chunk by chunk, while blocks meet. Where t does not begin at a multiple of
// 16 bytes, the slices of large ones are read from the peers and stored to them between two barriers. It returns t.
//
// PyTorch: two_shot_all_reduce_
//
// Shapes: as [Runtime.AllReduce].
//
// Synchronises: as [Runtime.AllReduce].
//
// Options: as [Runtime.AllReduce].
//
// Capture: yes.
//
// Errors: as [Runtime.AllReduce].
//
// Source: as [Runtime.OneShotAllReduce]; slices as in PyTorch's two-shot kernel.
func (rt *Runtime) TwoShotAllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	r := rt.reduction(twoShotName, t, op, adding, opts)
	defer r.enter().leave()
	r.allReduce(t, rt.plan().twoShot)
	return t
}

// TwoShotAllReduceOut is [Runtime.TwoShotAllReduce] into out; t keeps its values, other than in PyTorch.
//
// PyTorch: two_shot_all_reduce_out
//
// Shapes: t as in [Runtime.AllReduce]; out is a symmetric tensor that the group has rendezvoused, of the same
// type and number of elements, the same part on all ranks, and does not overlap t.
//
// Synchronises: as [Runtime.AllReduce].
//
// Options: as [Runtime.AllReduce].
//
// Capture: yes.
//
// Errors: as [Runtime.AllReduce]; KindMisuse for an out that is not such.
func (rt *Runtime) TwoShotAllReduceOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	out.live(twoShotName)
	r := rt.reduction(twoShotName, t, op, adding, opts)
	r.checkOut(out)
	defer r.enter().leave()
	r.mapped(out)
	r.record.on(out)
	r.allReduce(out, rt.plan().twoShot)
}

const (
	oneShotName = "one_shot_all_reduce"
	twoShotName = "two_shot_all_reduce"
)

// reduction is a call of a reduction whose arguments were checked.
type reduction struct {
	call
	t    *Tensor
	code uint64 // symm::ReduceOp, with reduceWide or without
}

// adding are the options of reductions by kernels.
const adding = ordered | accumulateF32

// reduction checks what all reductions have in common.
func (rt *Runtime) reduction(op string, t *Tensor, name string, taken optionSet, opts []Option) reduction {
	t.live(op)
	r := reduction{call: rt.newCall(op, collective, rt.home(t), taken, opts), t: t}
	code, ok := reductions[name]
	if !ok {
		panic(r.misuse("op", "", `the reduction must be "sum", "avg", "max" or "min", not %q`, name))
	}
	if !t.dtype.computes() {
		panic(r.misuse("tensor", "", "%v is a storage type and cannot be reduced", t.dtype))
	}
	r.code = code
	r.record.dtype, r.record.n, r.record.reduction = t.dtype, t.n, name
	r.record.on(t)
	if r.opts.has(accumulateF32) {
		if t.dtype != F16 && t.dtype != BF16 {
			panic(r.misuse("AccumulateF32", "leave it out", "AccumulateF32 is for f16 and bf16, the tensor is %v", t.kind()))
		}
		r.code |= reduceWide
		r.record.detail = "accumulated as f32"
	}
	return r
}

func (rt *Runtime) oneShot(t *Tensor, op string, out *Tensor, opts []Option) *Tensor {
	r := rt.reduction(oneShotName, t, op, adding, opts)
	if out != nil {
		r.checkOut(out)
	}
	defer r.enter().leave()
	if out == nil {
		r.mapped(t)
		r.begin()
		out = r.fresh(t.dtype, t.shape, t.n)
	}
	r.allReduce(out, rt.plan().oneShot)
	return out
}

// checkOut refuses an out that is not like the tensor that is reduced, or overlaps it.
func (r *reduction) checkOut(out *Tensor) {
	if out.dtype != r.t.dtype || out.n != r.t.n {
		panic(r.misuse("out", "", "out is %v, the tensor is %v", out.kind(), r.t.kind()))
	}
	if overlap(r.t, out) {
		panic(r.misuse("out", "", "out overlaps the tensor"))
	}
}

// allReduce reduces r.t into out, which may be r.t itself, in the way that rules say, between enter and leave.
func (r *reduction) allReduce(out *Tensor, rules []rule) {
	t, g := r.t, r.opts.group
	h := r.mapped(t)
	r.begin()
	if t.n == 0 {
		return
	}
	c := r.admit(t, out)
	w := pick(rules, len(g.ranks), t.Bytes(), g.work.wholeLines)
	if w == twoChunks && !(inUnits(t) && inUnits(out)) {
		w = twoPull
	}
	r.chose(t.Bytes(), w)
	switch w {
	case onePacket:
		r.pushPackets(&oneShotKernels, out, packetsOf(t), c)
	case twoPacket:
		slice := ((packetsOf(t)+31)/32 + len(g.ranks) - 1) / len(g.ranks) * 32
		r.pushPackets(&twoShotKernels, out, slice, c)
	case twoLines:
		r.pushLines(out, c)
	case onePull:
		a := g.pullArgs
		*a = pullArgs{outs: 1, n: uint64(t.n)}
		a.out[0] = out.pointer()
		for i := range g.ranks {
			a.in[i] = h.at(i, t)
		}
		r.pull(t.Bytes(), c)
	case twoChunks:
		r.pushChunks(out, c)
	case twoPull:
		r.pullSlices(h, out, c)
	}
}

// packetsOf is how many packets carry a tensor, some of them partly: see packets.cuh.
func packetsOf(t *Tensor) int {
	size, units := 4, 3
	if t.dtype.Size() == 8 {
		size, units = 8, 1
	}
	n := (t.Bytes() + size - 1) / size
	return n/(32*units)*32 + min(n%(32*units), 32)
}

// pushPackets launches a packet kernel in which each member works on n packets of its own. Grid and block are
// equal on all ranks because they follow from the plan and the tensor.
func (r *reduction) pushPackets(kernels *kernelNames, out *Tensor, n int, c kernelContext) {
	p, g := r.rt.plan(), r.opts.group
	*g.packetArgs = packetArgs{context: c, in: r.t.pointer(), out: out.pointer(), n: uint64(r.t.n), op: r.code, packets: uint64(n), epochs: g.work.epochs, inbox: g.work.inbox}
	l := grid(n, min(max(p.packetThreads, (n+p.packetBlocks-1)/p.packetBlocks), p.packetCrowd), p.packetBlocks)
	r.launch(kernels[r.t.dtype], len(g.ranks), l, bytesOf(g.packetArgs))
}

// pull launches the kernel that reduces between two barriers, with the pieces in g.pullArgs, of which a member
// reduces bytes at most.
func (r *reduction) pull(bytes int, c kernelContext) {
	g := r.opts.group
	a := g.pullArgs
	l, c := g.meetingGrid(bytes, a.outs == 1, c)
	a.context, a.signals, a.op = c, g.work.meetings, r.code
	r.launch(pullKernels[r.t.dtype], len(g.ranks), l, bytesOf(a))
}

// pullSlices reduces this member's slice into everybody's out, which is symmetric. The slices begin at multiples
// of 16 bytes in memory.
func (r *reduction) pullSlices(h *Handle, out *Tensor, c kernelContext) {
	t, g := r.t, r.opts.group
	to := r.mapped(out)
	size, world := t.dtype.Size(), len(g.ranks)
	skew := int(t.pointer()) % 16
	slice := (((t.Bytes()+skew+world-1)/world + 15) &^ 15)
	lo := min(max(g.rank*slice-skew, 0), t.Bytes())
	hi := min(max((g.rank+1)*slice-skew, 0), t.Bytes())
	a := g.pullArgs
	*a = pullArgs{outs: uint64(world), n: uint64((hi - lo) / size)}
	for i := range g.ranks {
		a.in[i] = h.at(i, t) + device.Ptr(lo)
		a.out[i] = to.at((g.rank+i)%world, out) + device.Ptr(lo)
	}
	r.pull(slice, c)
}

// Names of the kernels by element type.
var oneShotKernels, twoShotKernels, pullKernels = namesOf(oneShotName + "_"), namesOf(twoShotName + "_"), namesOf("pull_reduce_")

// packetArgs is symm::PacketArgs of packets.cuh.
type packetArgs struct {
	context kernelContext
	in, out device.Ptr
	n       uint64
	op      uint64
	packets uint64
	epochs  device.Ptr
	inbox   ptrs
}

// pullArgs is PullArgs of pull_reduce.cu.
type pullArgs struct {
	context       kernelContext
	signals       ptrs
	in, out       ptrs
	outs          uint64
	n             uint64
	width, stride uint64
	op            uint64
}
