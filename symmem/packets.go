package symmem

import (
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// packetsOf is how many packets carry a tensor, some of them partly: see packets.cuh.
func packetsOf(t *Tensor) int {
	size, units := 4, 3
	if t.DType().Size() == 8 {
		size, units = 8, 1
	}
	n := (t.Bytes() + size - 1) / size
	return n/(32*units)*32 + min(n%(32*units), 32)
}

// pushPackets launches a packet kernel in which each member works on n packets of its own. Grid and block are
// equal on all ranks because they follow from the plan and the tensor.
func (r *reduction) pushPackets(kernels *kernelNames, out *Tensor, n int, c core.Context) {
	p, g := r.Plan(), r.Group()
	*core.ArgsOf[packetArgs](&r.Call) = packetArgs{context: c, in: core.Addr(r.t), out: core.Addr(out), n: uint64(r.t.Numel()), op: r.code, packets: uint64(n), epochs: r.Work().Epochs, inbox: r.Work().Inbox}
	l := core.Grid(n, min(max(p.PacketThreads, (n+p.PacketBlocks-1)/p.PacketBlocks), p.PacketCrowd), p.PacketBlocks)
	r.Launch(kernels[r.t.DType()], g.Size(), l, core.BytesOf(core.ArgsOf[packetArgs](&r.Call)))
}

// Names of the kernels by element type.
var oneShotKernels, twoShotKernels = namesOf(oneShotName + "_"), namesOf(twoShotName + "_")

// packetArgs is symm::PacketArgs of packets.cuh.
type packetArgs struct {
	context core.Context
	in, out device.Ptr
	n       uint64
	op      uint64
	packets uint64
	epochs  device.Ptr
	inbox   core.Ptrs
}
