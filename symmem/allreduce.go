package symmem

import (
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// plan is how a kind of device is best used. The numbers for cuda were measured on H200s, those for cpu on
// two cores, where few blocks are best because each is a thread of the machine.
type plan struct {
	elementThreads int // a block, for element-wise kernels
	elementBlocks  int // at most, for each processor
	packetThreads  int // a block of the packet all-reduce, while there are blocks to be had; then up to packetCrowd
	packetCrowd    int // kThreads of one_shot_all_reduce.cu at most
	packetBlocks   int // at most
	packetBytes    int // the largest message that goes by packets
	pullThreads    int // a block of the pull all-reduce
	pullBlocks     int // at most
}

var plans = map[string]*plan{
	"cuda": {elementThreads: 256, elementBlocks: 8, packetThreads: 128, packetCrowd: 512, packetBlocks: 64, packetBytes: 512 << 10, pullThreads: 512, pullBlocks: 32},
	"cpu":  {elementThreads: 256, elementBlocks: 1, packetThreads: 256, packetCrowd: 512, packetBlocks: 1, packetBytes: 256 << 10, pullThreads: 512, pullBlocks: 1},
}

func (rt *Runtime) plan() *plan { return plans[rt.info.Kind] }

// reductions are the values of symm::ReduceOp.
var reductions = map[string]uint64{"sum": 0, "avg": 1, "max": 2, "min": 3}

// OneShotAllReduce combines the copies of a symmetric tensor of all members element by element, in the order
// of their ranks, and returns the result as an ordinary tensor; the result has the same bits on all ranks. t
// must have been rendezvoused by the group, or be a part of a tensor that was, the same part on all ranks.
// Its elements may be of any type that computes, of any number, at any offset. op is "sum", "avg" (the sum
// divided once), "max" or "min"; every step rounds to the element type, integers wrap around.
//
// It is collective over the group and ordered on the stream: t may be overwritten by what the stream does
// next. Small messages are pushed as packets, without a barrier; large ones are read from the peers between
// two. Options: *Group (by default the one that allocated t), *Stream, [Timeout]. It cannot be captured,
// because its result is allocated: capture [Runtime.OneShotAllReduceOut].
func (rt *Runtime) OneShotAllReduce(t *Tensor, op string, opts ...Option) *Tensor {
	return rt.oneShot(t, op, nil, opts)
}

// OneShotAllReduceOut is [Runtime.OneShotAllReduce] into out: a tensor of the same type and number of
// elements, symmetric or not, that does not overlap t. It may be captured.
func (rt *Runtime) OneShotAllReduceOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	out.live(oneShotName)
	rt.oneShot(t, op, out, opts)
}

const oneShotName = "one_shot_all_reduce"

func (rt *Runtime) oneShot(t *Tensor, reduction string, out *Tensor, opts []Option) *Tensor {
	const op = oneShotName
	t.live(op)
	home := rt.all
	if a := t.st.alloc; a != nil {
		home = a.group
	}
	o := rt.read(op, home, false, opts)
	code, ok := reductions[reduction]
	if !ok {
		panic(rt.misuse(op, "op", "", `the reduction must be "sum", "avg", "max" or "min", not %q`, reduction))
	}
	if !t.dtype.computes() {
		panic(rt.misuse(op, "tensor", "", "%v is a storage type and cannot be reduced", t.dtype))
	}
	if out != nil {
		rt.checkOut(op, t, out)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	h := rt.mapped(op, t, o.group)
	s := rt.begin(op, &o)
	rt.intact(op)
	if out == nil {
		out = rt.fresh(op, s, t.dtype, t.shape, t.n)
	}
	if t.n == 0 {
		return out
	}
	t.touch(s)
	out.touch(s)
	g := o.group
	g.chain(op, s)
	made := call{op: op, group: g, dtype: t.dtype, n: t.n, reduction: reduction, collective: true}
	g.count(&made)
	c := rt.kernelContext(g, &o, rt.note(made))
	var err error
	if t.Bytes() <= rt.plan().packetBytes {
		err = rt.pushPackets(g, s, t, out, code, c)
	} else {
		err = rt.pull(h, s, t, out, code, c)
	}
	if err != nil {
		panic(rt.explain(op, err))
	}
	g.mark(op, s)
	return out
}

func (rt *Runtime) checkOut(op string, t, out *Tensor) {
	if out.dtype != t.dtype || out.n != t.n {
		panic(rt.misuse(op, "out", "", "out is %v, the tensor is %v", out.kind(), t.kind()))
	}
	if a, b := out.pointer(), t.pointer(); a < b+device.Ptr(t.Bytes()) && b < a+device.Ptr(out.Bytes()) {
		panic(rt.misuse(op, "out", "", "out overlaps the tensor"))
	}
}

// mapped returns a handle that knows the copies of t in g. rt.mu is held.
func (rt *Runtime) mapped(op string, t *Tensor, g *Group) *Handle {
	if !t.Symmetric() {
		panic(rt.misuse(op, "tensor", "allocate it by Empty", "the tensor %v is not symmetric", t.kind()))
	}
	a := t.st.alloc
	a.usable(op)
	h := a.mapping(g)
	if h != nil {
		return h
	}
	if len(a.handles) > 0 {
		panic(rt.misuse(op, "tensor", "give that group as the last argument, or Rendezvous the tensor in this one", "the tensor %v was rendezvoused by %v, not by %v", t.kind(), a.handles[0].g, g))
	}
	panic(rt.misuse(op, "tensor", "call Rendezvous on it first", "the tensor %v was not rendezvoused by %v", t.kind(), g))
}

// grid spreads n pieces of work over blocks of at most threads threads, whole warps.
func grid(n, threads, blocks int) device.Launch {
	threads = min(threads, n)
	threads = (threads + 31) &^ 31
	return device.Launch{Grid: [3]int{min((n+threads-1)/threads, blocks), 1, 1}, Block: [3]int{threads, 1, 1}}
}

// pushPackets launches the packet kernel: small messages, one trip. Grid and block are equal on all ranks
// because they follow from the plan and the number of elements.
func (rt *Runtime) pushPackets(g *Group, s *Stream, t, out *Tensor, code uint64, c kernelContext) error {
	p := rt.plan()
	a := g.packetArgs
	a.context, a.in, a.out, a.n, a.op = c, t.pointer(), out.pointer(), uint64(t.n), code
	a.epochs, a.inbox = g.work.epochs, g.work.inbox
	packets := (t.Bytes() + 7) / 8
	l := grid(packets, min(max(p.packetThreads, (packets+p.packetBlocks-1)/p.packetBlocks), p.packetCrowd), p.packetBlocks)
	l.Args, l.Overlap = bytesOf(a), true
	return s.launch(rt.builtin(oneShotName, packetKernels[t.dtype]), l)
}

// pull launches the kernel that reads the peers' copies between two barriers.
func (rt *Runtime) pull(h *Handle, s *Stream, t, out *Tensor, code uint64, c kernelContext) error {
	g, p := h.g, rt.plan()
	a := g.pullArgs
	c.channels = uint32(p.pullBlocks)
	a.context, a.out, a.n, a.op, a.signals = c, out.pointer(), uint64(t.n), code, g.work.pulls
	for i := range g.ranks {
		a.in[i] = h.base[i] + device.Ptr(t.offset)
	}
	l := grid((t.Bytes()+15)/16, p.pullThreads, min(p.pullBlocks, g.work.processors))
	l.Args, l.Overlap = bytesOf(a), true
	return s.launch(rt.builtin(oneShotName, pullKernels[t.dtype]), l)
}

// Names of the kernels by element type.
var packetKernels, pullKernels = kernelNames("one_shot_all_reduce_"), kernelNames("one_shot_all_reduce_pull_")

func kernelNames(prefix string) (names [F8E5M2 + 1]string) {
	for d := F16; d <= U64; d++ {
		names[d] = prefix + d.String()
	}
	return names
}
