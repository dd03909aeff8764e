package symmem

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	allreduce "github.com/symmrepl/symmrepl/kernels/all_reduce"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/layout"
)

var chunkKernels = namesOf("two_shot_chunks_")

// inUnits reports whether two_shot_chunks can work on a tensor.
func inUnits(t *Tensor) bool { return core.Operand(t).Addr()%layout.UnitBytes == 0 }

// pushChunks reduces this member's slice into everybody's out, which is symmetric, chunk by chunk.
func (r *reduction) pushChunks(out *Tensor, c abi.Context) {
	p, g, t := r.Plan(), r.Group(), r.t
	to := r.Mapped(out)
	world := g.Size()
	units := sliceBytes(t, world) / layout.UnitBytes
	c.Channels = uint32(p.MeetBlocks)
	a := core.ArgsOf[allreduce.ChunkArgs](&r.Call)
	*a = allreduce.ChunkArgs{Context: c, Signals: r.Work().Meetings, In: core.Operand(t).Addr(), N: uint64(t.Numel()), Op: r.code,
		Units: uint64(units), Inbox: r.Work().Chunks}
	for i := range g.Size() {
		a.Out[i] = to.At(i)
	}
	threads := p.ChunkCrowd(world)
	l := launch.Grid((units+allreduce.ChunkUnits-1)/allreduce.ChunkUnits, threads, min(p.ChunkBlocks, r.Work().Processors))
	l.Block[0] = threads
	r.Launch(chunkKernels[t.DType()], world, l, launch.Bytes(a))
}
