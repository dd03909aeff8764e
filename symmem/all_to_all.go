package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/packets"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// AllToAll splits every member's tensor along its first dimension into a part for each member and
// returns the parts that were for this one, in the order of the ranks, as an ordinary tensor of the
// same shape.
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
// Errors: as [Runtime.AllGather]; KindMisuse for a first dimension that the number of members does
// not divide.
func (rt *Runtime) AllToAll(t *Tensor, opts ...Option) *Tensor {
	return rt.allToAll(t, nil, opts)
}

// AllToAllOut is [Runtime.AllToAll] into out. Small parts are pushed as packets, without a barrier.
// If out is symmetric, every member stores larger ones into everybody's, which is quicker than
// reading.
//
// PyTorch: all_to_all_single with equal splits; nvshmem_all_to_all
//
// Shapes: out has the type of t and as many elements, and does not overlap it. Each may be symmetric,
// or of ordinary memory; if neither is, t goes through symmetric memory. The number of members
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
	rt.core.Usable(operators.AllToAll.Name, out)
	rt.allToAll(t, out, opts)
}

func (rt *Runtime) allToAll(t, out *Tensor, opts []Option) *Tensor {
	e := rt.exchange(operators.AllToAll, t, out, opts)
	parts(&e.Call, t, 0)
	e.checkOut(core.Operand(t).Dims(), false)
	world := e.g.Size()
	n := t.Bytes() / world
	if e.ByNCCL(e.noEngines()) {
		return e.nccl(device.AllToAll, core.Operand(t).Dims(), n, 0)
	}
	if e.Spans() {
		return e.allToAllOverHosts(core.Operand(t).Dims(), n, blocks{slice: n, stride: n})
	}
	if sendsPackets(&e.Call, e.Plan().Pieces, n) {
		return e.byPackets(core.Operand(t).Dims(), packets.ExchangePacketsArgs{N: uint64(n)}, func(p int) (src, dst device.Ptr) {
			return core.Operand(t).Addr() + device.Ptr(p*n), core.Operand(e.out).Addr() + device.Ptr(p*n)
		})
	}
	return e.run(core.Operand(t).Dims(), n, func(push bool) {
		for i := range e.g.Size() {
			p := (e.g.Rank() + i) % world
			if push {
				e.piece(core.Operand(t).Addr()+device.Ptr(p*n), e.to.At(p)+device.Ptr(e.g.Rank()*n))
			} else {
				e.piece(e.from.At(p)+device.Ptr(e.g.Rank()*n), core.Operand(e.out).Addr()+device.Ptr(p*n))
			}
		}
	})
}
