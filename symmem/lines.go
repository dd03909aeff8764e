package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/device"

// lineUnits is how many units of 8 bytes the 32 pieces of a warp carry: see lines.cuh.
const lineUnits = 60

// lineArgs is symm::LineArgs of lines.cuh.
type lineArgs struct {
	context kernelContext
	in, out device.Ptr
	n       uint64
	op      uint64
	pieces  uint64
	turns   uint64
	slots   uint64
	epochs  device.Ptr
	inbox   ptrs
}

var lineKernels = namesOf("two_shot_lines_")

// pushLines reduces r.t into out in two shots by lines. Grid, block and turns are equal on all ranks because they
// follow from the plan and the tensor.
func (r *reduction) pushLines(out *Tensor, c kernelContext) {
	p, g, t := r.rt.plan(), r.opts.group, r.t
	world := len(g.ranks)
	warps := ((t.Bytes()+7)/8 + lineUnits - 1) / lineUnits
	pieces := (warps + world - 1) / world * 32
	slots := p.lineSlots(world)
	share := (pieces + p.lineBlocks - 1) / p.lineBlocks // of a block
	turns := min((share+p.lineCrowd-1)/p.lineCrowd, (slots+p.lineCrowd-1)/p.lineCrowd)
	l := grid(pieces, min(max(p.lineThreads, (share+turns-1)/turns), slots/turns&^31), p.lineBlocks)
	*g.lineArgs = lineArgs{
		context: c, in: t.pointer(), out: out.pointer(), n: uint64(t.n), op: r.code,
		pieces: uint64(pieces), turns: uint64(turns), slots: uint64(slots), epochs: g.work.counts, inbox: g.work.lines,
	}
	r.launch(lineKernels[t.dtype], world, l, bytesOf(g.lineArgs))
}
