package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/packets"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// packetsOf returns the number of packets that carry a tensor, some of them partly: see
// packets.cuh.
func packetsOf(t *Tensor) int { return packetsIn(t.Bytes(), t.DType().Size()) }

// packetsIn returns the number of packets that carry the bytes, of elements of a size.
func packetsIn(bytes, element int) int {
	size, units := 4, 3
	if element == 8 {
		size, units = 8, 1
	}
	n := (bytes + size - 1) / size
	return n/(32*units)*32 + min(n%(32*units), 32)
}

// packetGrid is the grid of a packet kernel in which each member works on n packets of its own. It
// is equal on all ranks because it follows from the plan and n.
func packetGrid(c *core.Call, n int) device.Launch {
	p := c.Plan()
	blocks := p.PacketGrid(c.Group().Size())
	return launch.Grid(n, min(max(p.PacketThreads, (n+blocks-1)/blocks), p.PacketCrowd), blocks)
}

// pushPackets launches a packet kernel in which each member works on n packets of its own.
func (r *reduction) pushPackets(kernels *kernelNames, out *Tensor, n int, c abi.Context) {
	*core.ArgsOf[packets.PacketArgs](&r.Call) = packets.PacketArgs{Context: c, In: core.Operand(r.t).Addr(),
		Out: core.Operand(out).Addr(), N: uint64(r.t.Numel()), Op: r.code, Packets: uint64(n), Epochs: r.Work().Epochs,
		Inbox: r.Work().Inbox}
	r.Launch(kernels[r.t.DType()], r.Group().Size(), packetGrid(&r.Call, n), launch.Bytes(core.ArgsOf[packets.PacketArgs](&r.Call)))
}

// Names of the kernels by element type.
var oneShotKernels, twoShotKernels = namesOf(operators.OneShotAllReduce.Name + "_"), namesOf(operators.TwoShotAllReduce.Name + "_")

// sendsPackets reports whether a call that sends pieces of so many bytes sends them as packets, by
// rules of the plan.
func sendsPackets(c *core.Call, rules []tuning.Rule, bytes int) bool {
	return bytes > 0 && !c.Has(operators.CopyEngine) && tuning.Pick(rules, c.Group().Size(), bytes, false) == tuning.Packets
}

// reducePackets launches the kernel in which every member reduces a piece of n elements: send[p] is
// this member's share of member p's piece, or 0 if there is none. The result of this member, if it
// has a piece, goes to out.
func (r *reduction) reducePackets(send abi.Ptrs, out device.Ptr, n int, a packets.ReducePacketsArgs, c abi.Context) {
	count := packetsIn(n*r.dtype.Size(), r.dtype.Size())
	a.Context, a.Src, a.Out, a.N, a.Op = c, send, out, uint64(n), r.code
	a.Packets, a.Epochs, a.Inbox = uint64(count), r.Work().Epochs, r.Work().Inbox
	args := core.ArgsOf[packets.ReducePacketsArgs](&r.Call)
	*args = a
	r.Launch(pieceKernels[r.dtype], r.Group().Size(), packetGrid(&r.Call, count), launch.Bytes(args))
}

var pieceKernels = namesOf("reduce_packets_")
