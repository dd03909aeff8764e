package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/packets"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
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

// pushPackets launches a packet kernel in which each member works on n packets of its own. Grid and
// block are equal on all ranks because they follow from the plan and the tensor.
func (r *reduction) pushPackets(kernels *kernelNames, out *Tensor, n int, c abi.Context) {
	p, g := r.Plan(), r.Group()
	blocks := p.PacketGrid(g.Size())
	*core.ArgsOf[packets.PacketArgs](&r.Call) = packets.PacketArgs{Context: c, In: core.Operand(r.t).Addr(), Out: core.Operand(out).Addr(), N: uint64(r.t.Numel()), Op: r.code, Packets: uint64(n), Epochs: r.Work().Epochs, Inbox: r.Work().Inbox}
	l := launch.Grid(n, min(max(p.PacketThreads, (n+blocks-1)/blocks), p.PacketCrowd), blocks)
	r.Launch(kernels[r.t.DType()], g.Size(), l, launch.Bytes(core.ArgsOf[packets.PacketArgs](&r.Call)))
}

// Names of the kernels by element type.
var oneShotKernels, twoShotKernels = namesOf(operators.OneShotAllReduce.Name + "_"), namesOf(operators.TwoShotAllReduce.Name + "_")
