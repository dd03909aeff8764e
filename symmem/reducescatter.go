package symmem

import (
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// ReduceScatter combines the copies of a symmetric tensor of all members element by element and returns this
// member's part of the result as an ordinary tensor: the tensor is split along its first dimension, or with
// SplitLastDim along its last one. The parts are read from the peers between two barriers; t keeps its values.
// op is as in [Runtime.AllReduce].
//
// PyTorch: reduce_scatter_tensor
//
// Shapes: as [Runtime.AllReduce]; the number of members divides the dimension that is split.
//
// Synchronises: collective over the group and ordered on the stream: it begins when all members have come to it,
// and t may be overwritten by what the stream does next.
//
// Options: as [Runtime.AllReduce], SplitLastDim.
//
// Capture: refused, because the result is allocated: capture [Runtime.ReduceScatterOut].
//
// Errors: as [Runtime.AllReduce]; KindMisuse for a dimension that the number of members does not divide.
func (rt *Runtime) ReduceScatter(t *Tensor, op string, opts ...Option) *Tensor {
	return rt.reduceScatter(t, op, nil, opts)
}

// ReduceScatterOut is [Runtime.ReduceScatter] into out. t keeps its values; PyTorch's operation modifies its
// input.
//
// PyTorch: reduce_scatter_out
//
// Shapes: t as in [Runtime.ReduceScatter]; out has its type and as many elements as a part, is symmetric or not,
// and does not overlap t.
//
// Synchronises: as [Runtime.ReduceScatter].
//
// Options: as [Runtime.ReduceScatter].
//
// Capture: yes.
//
// Errors: as [Runtime.ReduceScatter]; KindMisuse for an out of another type or size, or that overlaps t.
func (rt *Runtime) ReduceScatterOut(t *Tensor, op string, out *Tensor, opts ...Option) {
	out.live("reduce_scatter")
	rt.reduceScatter(t, op, out, opts)
}

func (rt *Runtime) reduceScatter(t *Tensor, reduction string, out *Tensor, opts []Option) *Tensor {
	const op = "reduce_scatter"
	r := rt.reduction(op, t, reduction, adding|splitLastDim, opts)
	g := r.opts.group
	dim := 0
	if r.opts.has(splitLastDim) {
		dim = len(t.shape) - 1
		r.record.detail += " along the last dimension"
	}
	shape := r.parts(t, dim)
	n := t.n / len(g.ranks)
	if out != nil && (out.dtype != t.dtype || out.n != n) {
		panic(r.misuse("out", "", "out is %v, expected out shape %v", out.kind(), kindOf(t.dtype, shape)))
	}
	if out != nil && overlap(t, out) {
		panic(r.misuse("out", "", "out overlaps the tensor"))
	}
	defer r.enter().leave()
	h := r.mapped(t)
	r.begin()
	if out == nil {
		out = r.fresh(t.dtype, shape, n)
	}
	if n == 0 {
		return out
	}
	c := r.admit(t, out)
	r.chose(t.Bytes(), partsWay)
	a := g.pullArgs
	*a = pullArgs{outs: 1, n: uint64(n)}
	a.out[0] = out.pointer()
	first := n // elements before this member's part
	if dim > 0 {
		first = shape[dim]
		a.width, a.stride = uint64(first), uint64(t.shape[dim])
	}
	for i := range g.ranks {
		a.in[i] = h.at(i, t) + device.Ptr(g.rank*first*t.dtype.Size())
	}
	r.pull(out.Bytes(), c)
	return out
}

// partsWay is the only way of ReduceScatter.
var partsWay = &way{"read between barriers", "each part is needed by one rank, so that every byte crosses a link once"}

// parts is the shape of one of the equal parts of t along a dimension, one for each member.
func (c *call) parts(t *Tensor, dim int) []int {
	g := c.opts.group
	world := len(g.ranks)
	if len(t.shape) == 0 || t.shape[dim]%world != 0 {
		panic(c.misuse("tensor", "View it with such a shape, or pad it", "dimension %d of %v is not divisible by the %d ranks of %v", max(dim, 0), t.kind(), world, g))
	}
	shape := t.Shape()
	shape[dim] /= world
	return shape
}
