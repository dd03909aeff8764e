package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/packets"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// AllGather returns the members' tensors one after the other, in the order of the ranks, as an
// ordinary tensor: the first dimension is as many times longer.
//
// PyTorch: all_gather_into_tensor
//
// Shapes: t is symmetric, or a part of a symmetric tensor, the same part on all ranks, or of ordinary
// memory; of any type, number of elements and offset.
//
// Synchronises: collective over the group and ordered on the stream: it does not end before all
// members have come to it, and the stream's next work may overwrite t.
//
// Options: *Group (by default the group that allocated t), *Stream, Timeout, CopyEngine, Via.
//
// Capture: refused, because the result is allocated: capture [Runtime.AllGatherOut].
//
// Errors: KindMisuse, while a graph is captured, where the group has rendezvoused no tensor that it
// needs; and the errors of waits.
func (rt *Runtime) AllGather(t *Tensor, opts ...Option) *Tensor {
	return rt.allGather(t, nil, opts)
}

// AllGatherOut is [Runtime.AllGather] into out. Small tensors are pushed as packets, without a
// barrier. If out is symmetric, every member stores larger ones into everybody's, which is quicker
// than reading.
//
// PyTorch: all_gather_into_tensor; with CopyEngine _low_contention_all_gather
//
// Shapes: out has the type of t and as many elements as all members' t. It may be symmetric, or of
// ordinary memory. t may be this member's part of out; otherwise they do not overlap. If neither is
// symmetric, t goes through symmetric memory.
//
// Synchronises: as [Runtime.AllGather].
//
// Options: as [Runtime.AllGather].
//
// Capture: yes.
//
// Errors: as [Runtime.AllGather]; KindMisuse for an out of another type or size, or that overlaps t
// elsewhere than in this member's part.
func (rt *Runtime) AllGatherOut(t, out *Tensor, opts ...Option) {
	rt.core.Usable(operators.AllGather.Name, out)
	rt.allGather(t, out, opts)
}

func (rt *Runtime) allGather(t, out *Tensor, opts []Option) *Tensor {
	e := rt.exchange(operators.AllGather, t, out, opts)
	world := e.g.Size()
	shape := gathered(t, world)
	n := t.Bytes()
	own := out != nil && out.Numel() == world*t.Numel() && out.DType() == t.DType() &&
		core.Operand(t).Addr() == core.Operand(out).Addr()+device.Ptr(e.g.Rank()*n)
	e.checkOut(shape, own)
	if e.ByNCCL(e.noEngines()) {
		return e.nccl(device.AllGather, shape, n, 0)
	}
	if e.Spans() {
		return e.allGatherOverHosts(shape, n)
	}
	if sendsPackets(&e.Call, e.Plan().Pieces, n) {
		return e.byPackets(shape, packets.ExchangePacketsArgs{N: uint64(n)}, func(p int) (src, dst device.Ptr) {
			return core.Operand(t).Addr(), core.Operand(e.out).Addr() + device.Ptr(p*n)
		})
	}
	return e.run(shape, n, func(push bool) {
		for i := range e.g.Size() {
			p := (e.g.Rank() + i) % world
			if push {
				e.piece(core.Operand(t).Addr(), e.to.At(p)+device.Ptr(e.g.Rank()*n))
			} else if e.staged {
				e.piece(e.from.At(p)+device.Ptr(p*n), core.Operand(e.out).Addr()+device.Ptr(p*n))
			} else {
				e.piece(e.from.At(p), core.Operand(e.out).Addr()+device.Ptr(p*n))
			}
		}
		e.args.Same = truth(push)
	})
}

// gathered is the shape of so many tensors like t in a row.
func gathered(t *Tensor, n int) []int {
	shape := t.Shape()
	if len(shape) == 0 {
		return []int{n}
	}
	shape[0] *= n
	return shape
}
