package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	allreduce "github.com/symmrepl/symmrepl/kernels/all_reduce"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
)

// lineUnits is the number of units of 8 bytes that the 32 pieces of a warp carry: see lines.cuh.
const lineUnits = 60

var lineKernels = namesOf("two_shot_lines_")

// pushLines reduces r.t into out in two shots by lines. Grid, block and turns are equal on all
// ranks because they follow from the plan and the tensor.
func (r *reduction) pushLines(out *Tensor, c abi.Context) {
	p, g, t := r.Plan(), r.Group(), r.t
	world := g.Size()
	warps := ((t.Bytes()+7)/8 + lineUnits - 1) / lineUnits
	pieces := (warps + world - 1) / world * 32
	slots := p.LineSlots(world)
	share := (pieces + p.LineBlocks - 1) / p.LineBlocks // of a block
	turns := min((share+p.LineCrowd-1)/p.LineCrowd, (slots+p.LineCrowd-1)/p.LineCrowd)
	l := launch.Grid(pieces, min(max(p.LineThreads, (share+turns-1)/turns), slots/turns&^31), p.LineBlocks)
	*core.ArgsOf[allreduce.LineArgs](&r.Call) = allreduce.LineArgs{
		Context: c, In: core.Operand(t).Addr(), Out: core.Operand(out).Addr(), N: uint64(t.Numel()), Op: r.code,
		Pieces: uint64(pieces), Turns: uint64(turns), Slots: uint64(slots), Epochs: r.Work().Counts, Inbox: r.Work().Lines,
	}
	r.Launch(lineKernels[t.DType()], world, l, launch.Bytes(core.ArgsOf[allreduce.LineArgs](&r.Call)))
}
