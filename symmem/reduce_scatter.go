package symmem

import (
	"slices"

	"github.com/symmrepl/symmrepl/kernels/abi"
	allreduce "github.com/symmrepl/symmrepl/kernels/all_reduce"
	"github.com/symmrepl/symmrepl/kernels/packets"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// ReduceScatter combines the copies of a symmetric tensor of all members element by element and
// returns this member's part of the result as an ordinary tensor: the tensor is split along its
// first dimension, or with SplitLastDim along its last one. Small parts are pushed as packets,
// without a barrier; larger ones are read from the peers between two. t keeps its values. op is as
// in [Runtime.AllReduce].
//
// PyTorch: reduce_scatter_tensor; with CopyEngine _low_contention_reduce_scatter
//
// Shapes: as [Runtime.AllReduce]; the number of members divides the dimension that is split. t may also
// be of F8E4M3 or F8E5M2: 8-bit floats are combined as f32, and each result is rounded once, at the
// end, between hosts too. Larger ones than the type has become NaN in F8E4M3 and infinite in F8E5M2.
//
// Synchronises: collective over the group and ordered on the stream: it does not end before all
// members have come to it, and the stream's next work may overwrite t.
//
// Options: as [Runtime.AllReduce], SplitLastDim, CopyEngine.
//
// Capture: refused, because the result is allocated: capture [Runtime.ReduceScatterOut].
//
// Errors: as [Runtime.AllReduce]; KindMisuse for a dimension that the number of members does not
// divide.
func (rt *Runtime) ReduceScatter(t *Tensor, op string, opts ...Option) *Tensor {
	return rt.reduceScatter(t, op, nil, opts)
}

// ReduceScatterOut is [Runtime.ReduceScatter] into out. t keeps its values; PyTorch's operation
// modifies its input.
//
// PyTorch: reduce_scatter_out
//
// Shapes: t as in [Runtime.ReduceScatter]; out has its type and as many elements as a part, is
// symmetric or not, and does not overlap t.
//
// Synchronises: as [Runtime.ReduceScatter].
//
// Options: as [Runtime.ReduceScatter].
//
// Capture: yes, but not with CopyEngine, which allocates memory for the pieces.
//
// Errors: as [Runtime.ReduceScatter]; KindMisuse for an out of another type or size, or that
// overlaps t.
func (rt *Runtime) ReduceScatterOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	rt.core.Usable(operators.ReduceScatter.Name, out)
	rt.reduceScatter(t, op, out, opts)
}

func (rt *Runtime) reduceScatter(t *Tensor, reduction string, out *Tensor, opts []Option) *Tensor {
	if p, ok := rt.inParts(operators.ReduceScatter, t, reduction); ok {
		if element.Type(p.of).IsComplex() && slices.Contains(opts, SplitLastDim()) {
			panic(rt.core.Misuse(operators.ReduceScatter.Name, "SplitLastDim", "transpose the tensor, and split the first dimension",
				"the last dimension of %v is not split", p.of))
		}
		return core.Operand(rt.reduceScatter(p.t, p.op, p.into(rt, operators.ReduceScatter, out), opts)).Whole(p.of)
	}
	r := rt.reduction(operators.ReduceScatter, t, reduction, opts)
	g := r.Group()
	dim := 0
	if r.Has(operators.SplitLastDim) {
		dim = len(core.Operand(t).Dims()) - 1
		r.Record.Detail += " along the last dimension"
	}
	shape := parts(&r.Call, t, dim)
	n := t.Numel() / g.Size()
	if out != nil && (out.DType() != t.DType() || out.Numel() != n) {
		panic(r.Misuse("out", "", "out is %v, expected out shape %v", core.Operand(out).Brief(), element.Type(t.DType()).Shaped(shape)))
	}
	if out != nil && core.Operand(t).Overlaps(out) {
		panic(r.Misuse("out", "", "out overlaps the tensor"))
	}
	r.PreferEngines(dim == 0 && !r.Capturing())
	if r.Has(operators.CopyEngine) && dim > 0 {
		panic(r.Misuse("CopyEngine", "leave one of the two out", "CopyEngine moves whole rows, and SplitLastDim splits them"))
	}
	cannot := ""
	if dim > 0 {
		cannot = "it splits the first dimension only"
	}
	byNCCL := r.byNCCL(cannot)
	// 8-bit floats, which are added up as F32, have no kernel for packets.
	byPackets := !byNCCL && !r.Spans() && element.Type(t.DType()).Reduces() && sendsPackets(&r.Call, r.Plan().Pieces, n*t.DType().Size())
	defer r.Enter().Leave()
	var h core.Copies
	if byPackets {
		r.Through(t)
	} else if !byNCCL {
		t = r.reads(core.Reads)
		h = r.Mapped(t)
	} else if t.Symmetric() {
		r.Mapped(t)
	}
	r.PickStream()
	if out == nil {
		out = r.Fresh(t.DType(), shape, n)
	}
	if n == 0 {
		return out
	}
	c := r.Admit(t, out)
	if byNCCL {
		r.nccl(device.ReduceScatter, out, n)
		return out
	}
	if r.Spans() {
		if dim > 0 {
			r.reduceScatterOverHosts(out, c, h, shape[dim], shape[dim], core.Operand(t).Dims()[dim])
		} else {
			r.reduceScatterOverHosts(out, c, h, n, 0, 0)
		}
		return out
	}
	if r.Has(operators.CopyEngine) {
		r.byEngines(h, out, n, c)
		return out
	}
	first := n // elements before this member's part
	if dim > 0 {
		first = shape[dim]
	}
	if byPackets {
		r.Chose(t.Bytes(), tuning.Packets)
		var send abi.Ptrs
		for p := range g.Size() {
			send[p] = core.Operand(t).Addr() + device.Ptr(p*first*t.DType().Size())
		}
		a := packets.ReducePacketsArgs{}
		if dim > 0 {
			a.Cols, a.SrcPitch, a.OutPitch = uint64(first), uint64(core.Operand(t).Dims()[dim]), uint64(first)
		}
		r.reducePackets(send, core.Operand(out).Addr(), n, a, c)
		return out
	}
	r.Chose(t.Bytes(), partsWay)
	a := core.ArgsOf[allreduce.PullArgs](&r.Call)
	*a = allreduce.PullArgs{Outs: 1, N: uint64(n)}
	a.Out[0] = core.Operand(out).Addr()
	if dim > 0 {
		a.Width, a.Stride = uint64(first), uint64(core.Operand(t).Dims()[dim])
	}
	for i := range g.Size() {
		a.In[i] = h.At(i) + device.Ptr(g.Rank()*first*t.DType().Size())
	}
	r.pull(out.Bytes(), c)
	return out
}

// byEngines fetches this member's piece of every copy, of n elements, by copy engines and adds them
// up.
func (r *reduction) byEngines(h core.Copies, out *Tensor, n int, c abi.Context) {
	r.Chose(r.t.Bytes(), r.Engines(addedWay))
	g, size := r.Group(), out.Bytes()
	mine := device.Ptr(g.Rank() * size)
	pieces, done := r.Temporary(g.Size() * size)
	defer done()
	src, dst := make([]device.Ptr, g.Size()), make([]device.Ptr, g.Size())
	for i := range src {
		src[i], dst[i] = h.At(i)+mine, pieces+device.Ptr(i*size)
	}
	dst[g.Rank()] = src[g.Rank()] // it is read where it is
	r.CopyAll(c.Ordinal, src, dst, size, false)
	r.addUp(func(p int) device.Ptr { return dst[p] }, core.Operand(out).Addr(), n, c)
}

// partsWay is the way of ReduceScatter without CopyEngine.
var partsWay = &tuning.Way{Path: "read between barriers", Why: "each part is needed by one rank, so that every byte crosses a link once"}

// addedWay is that with CopyEngine.
var addedWay = &tuning.Way{Path: "copy engines, added up by a kernel",
	Why: "CopyEngine was given: the multiprocessors only add up the values that have arrived"}

// parts is the shape of one of the equal parts of t along a dimension, one for each member.
func parts(c *core.Call, t *Tensor, dim int) []int {
	g := c.Group()
	world := g.Size()
	if len(core.Operand(t).Dims()) == 0 || core.Operand(t).Dims()[dim]%world != 0 {
		panic(c.Misuse("tensor", "View it with such a shape, or pad it",
			"dimension %d of %v is not divisible by the %d ranks of %v", max(dim, 0), core.Operand(t).Brief(), world, g))
	}
	shape := t.Shape()
	shape[dim] /= world
	return shape
}
