package symmem

import "github.com/symmrepl/symmrepl/symmem/internal/device"

// chunkUnits and chunkBanks are kUnits and kBanks of two_shot_chunks.cu.
const (
	chunkUnits = 4
	chunkBanks = 4
)

// chunkArgs is ChunkArgs of two_shot_chunks.cu.
type chunkArgs struct {
	context kernelContext
	signals ptrs
	in      device.Ptr
	n       uint64
	op      uint64
	units   uint64
	out     ptrs
	inbox   ptrs
}

var chunkKernels = namesOf("two_shot_chunks_")

// unitBytes is what two_shot_chunks loads and stores at once.
const unitBytes = 16

// inUnits reports whether two_shot_chunks can work on a tensor.
func inUnits(t *Tensor) bool { return t.pointer()%unitBytes == 0 }

// chunkBytes is the size of an inbox of two_shot_chunks.
func (p *plan) chunkBytes(ranks int) int { return p.chunkCrowd(ranks) * chunkUnits * unitBytes }

// pushChunks reduces this member's slice into everybody's out, which is symmetric, chunk by chunk.
func (r *reduction) pushChunks(out *Tensor, c kernelContext) {
	p, g, t := r.rt.plan(), r.opts.group, r.t
	to := r.mapped(out)
	world := len(g.ranks)
	units := sliceBytes(t, world) / unitBytes
	c.channels = uint32(p.meetBlocks)
	a := g.chunkArgs
	*a = chunkArgs{context: c, signals: g.work.meetings, in: t.pointer(), n: uint64(t.n), op: r.code, units: uint64(units), inbox: g.work.chunks}
	for i := range g.ranks {
		a.out[i] = to.at(i, out)
	}
	threads := p.chunkCrowd(world)
	l := grid((units+chunkUnits-1)/chunkUnits, threads, min(p.chunkBlocks, g.work.processors))
	l.Block[0] = threads
	r.launch(chunkKernels[t.dtype], world, l, bytesOf(a))
}
