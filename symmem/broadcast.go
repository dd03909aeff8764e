package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/kernels/packets"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Broadcast gives every member the root's values of a symmetric tensor, in place; root is a rank of
// the group. A small tensor is pushed to all as packets. Of a larger one every other member fetches
// a slice and hands it on to the rest, so that the root sends the tensor once, however many members
// there are. It returns t.
//
// PyTorch: broadcast; nvshmem_broadcast
//
// Shapes: t is symmetric, or a part of a symmetric tensor, the same part on all ranks, or of ordinary
// memory; of any type, number of elements and offset.
//
// Synchronises: collective over the group and ordered on the stream: within a host it does not end
// before all members have come to it; between hosts one that sends goes on although others have not
// come. the stream's next work may overwrite t.
//
// Options: *Group (by default the group that allocated t), *Stream, Timeout, Via.
//
// Capture: yes.
//
// Errors: KindMisuse, while a graph is captured, for a t that the group has not rendezvoused; for a
// root that is not a rank of the group; and the errors of waits.
func (rt *Runtime) Broadcast(t *Tensor, root int, opts ...Option) *Tensor {
	e := rt.exchange(operators.Broadcast, t, t, opts)
	e.Member("root", root)
	e.Record.Detail = fmt.Sprintf("from %d", root)
	if e.ByNCCL("") {
		e.nccl(device.Broadcast, core.Operand(t).Dims(), t.Bytes(), root)
		return t
	}
	if e.Spans() {
		e.broadcastOverHosts(root)
		return t
	}
	if sendsPackets(&e.Call, e.Plan().Broadcast, t.Bytes()) {
		e.byPackets(core.Operand(t).Dims(), packets.ExchangePacketsArgs{N: uint64(t.Bytes())}, func(p int) (src, dst device.Ptr) {
			switch {
			case e.g.Rank() == root:
				src = core.Operand(t).Addr()
			case p == root:
				dst = core.Operand(t).Addr()
			}
			return src, dst
		})
		return t
	}
	world := e.g.Size()
	// The others share the work, so that nothing leaves the root twice; one other shares it with
	// the root.
	sharers, place := world, e.g.Rank()
	if world > 2 {
		sharers--
		place = (e.g.Rank() - root - 1 + 2*world) % world // the root has none
	}
	slice := sliceBytes(t, sharers)
	lo := min(place*slice, t.Bytes())
	hi := min(lo+slice, t.Bytes())
	e.run(core.Operand(t).Dims(), slice, func(bool) {
		for i := range e.g.Size() {
			if p := (e.g.Rank() + i) % world; p != root && place < sharers {
				e.piece(e.from.At(root)+device.Ptr(lo), e.from.At(p)+device.Ptr(lo))
			}
		}
		e.args.Same, e.args.N = 1, uint64(hi-lo)
	})
	return t
}
