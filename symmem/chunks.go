package symmem

import (
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// chunkArgs is ChunkArgs of two_shot_chunks.cu.
type chunkArgs struct {
	context core.Context
	signals core.Ptrs
	in      device.Ptr
	n       uint64
	op      uint64
	units   uint64
	out     core.Ptrs
	inbox   core.Ptrs
}

var chunkKernels = namesOf("two_shot_chunks_")

// inUnits reports whether two_shot_chunks can work on a tensor.
func inUnits(t *Tensor) bool { return core.Addr(t)%core.UnitBytes == 0 }

// pushChunks reduces this member's slice into everybody's out, which is symmetric, chunk by chunk.
func (r *reduction) pushChunks(out *Tensor, c core.Context) {
	p, g, t := r.Plan(), r.Group(), r.t
	to := r.Mapped(out)
	world := g.Size()
	units := sliceBytes(t, world) / core.UnitBytes
	c.Channels = uint32(p.MeetBlocks)
	a := core.ArgsOf[chunkArgs](&r.Call)
	*a = chunkArgs{context: c, signals: r.Work().Meetings, in: core.Addr(t), n: uint64(t.Numel()), op: r.code, units: uint64(units), inbox: r.Work().Chunks}
	for i := range g.Size() {
		a.out[i] = to.At(i)
	}
	threads := p.ChunkCrowd(world)
	l := core.Grid((units+core.ChunkUnits-1)/core.ChunkUnits, threads, min(p.ChunkBlocks, r.Work().Processors))
	l.Block[0] = threads
	r.Launch(chunkKernels[t.DType()], world, l, core.BytesOf(a))
}
