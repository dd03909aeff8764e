package symmem

import (
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// lineUnits is how many units of 8 bytes the 32 pieces of a warp carry: see lines.cuh.
const lineUnits = 60

// lineArgs is symm::LineArgs of lines.cuh.
type lineArgs struct {
	context core.Context
	in, out device.Ptr
	n       uint64
	op      uint64
	pieces  uint64
	turns   uint64
	slots   uint64
	epochs  device.Ptr
	inbox   core.Ptrs
}

var lineKernels = namesOf("two_shot_lines_")

// pushLines reduces r.t into out in two shots by lines. Grid, block and turns are equal on all ranks because they
// follow from the plan and the tensor.
func (r *reduction) pushLines(out *Tensor, c core.Context) {
	p, g, t := r.Plan(), r.Group(), r.t
	world := g.Size()
	warps := ((t.Bytes()+7)/8 + lineUnits - 1) / lineUnits
	pieces := (warps + world - 1) / world * 32
	slots := p.LineSlots(world)
	share := (pieces + p.LineBlocks - 1) / p.LineBlocks // of a block
	turns := min((share+p.LineCrowd-1)/p.LineCrowd, (slots+p.LineCrowd-1)/p.LineCrowd)
	l := core.Grid(pieces, min(max(p.LineThreads, (share+turns-1)/turns), slots/turns&^31), p.LineBlocks)
	*core.ArgsOf[lineArgs](&r.Call) = lineArgs{
		context: c, in: core.Addr(t), out: core.Addr(out), n: uint64(t.Numel()), op: r.code,
		pieces: uint64(pieces), turns: uint64(turns), slots: uint64(slots), epochs: r.Work().Counts, inbox: r.Work().Lines,
	}
	r.Launch(lineKernels[t.DType()], world, l, core.BytesOf(core.ArgsOf[lineArgs](&r.Call)))
}
