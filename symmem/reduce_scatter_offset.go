package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/internal/count"
	tilereduce "github.com/symmrepl/symmrepl/kernels/tile_reduce"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
)

// ReduceScatterOffset splits a symmetric tensor of two dimensions along dim, 0 or 1, into blocks,
// combines each over all members, and stores it on the member that dstRanks names. Block i is
// [offsets[i-1], offsets[i]) along dim, the first one from 0; without offsets (nil) there is an
// equal block for each member, whose number then divides the dimension. Without dstRanks block i
// goes to rank i modulo the number of members. op and the order are as in [Runtime.AllReduce]. t
// keeps its values.
//
// PyTorch: reduce_scatter_offset, with blocks of any size, more types and reductions
//
// Shapes: t is symmetric, or a part of a symmetric tensor, the same part on all ranks, or of ordinary
// memory; offsets and dstRanks are the same on all ranks. out has a tensor for each block that goes
// to this rank, up to 16, in their order, with the block's shape, contiguous, in ordinary or
// symmetric memory.
//
// Synchronises: collective over the group and ordered on the stream: within a host it does not end
// before all members have come to it; between hosts one that gets no block goes on although others
// have not come. the stream's next work may overwrite t.
//
// Options: *Group (by default the group that allocated t), *Stream, Timeout, AccumulateF32, Via.
//
// Capture: yes.
//
// Errors: KindMisuse for tensors, offsets or ranks that do not fit; and the errors of waits.
func (rt *Runtime) ReduceScatterOffset(t *Tensor, out []*Tensor, dim int, offsets, dstRanks []int, op string, opts ...Option) {
	r := rt.reduction(operators.ReduceScatterOffset, t, op, opts)
	g := r.Group()
	world := g.Size()
	if len(core.Operand(t).Dims()) != 2 || dim < 0 || dim > 1 {
		panic(r.Misuse("dim", "", "the tensor must have two dimensions and dim be 0 or 1; they are %v and %d",
			core.Operand(t).Brief(), dim))
	}
	length := core.Operand(t).Dims()[dim]
	if offsets == nil {
		part := parts(&r.Call, t, dim)[dim]
		for i := range world {
			offsets = append(offsets, (i+1)*part)
		}
	}
	if dstRanks == nil {
		for i := range offsets {
			dstRanks = append(dstRanks, i%world)
		}
	}
	if len(dstRanks) != len(offsets) {
		panic(r.Misuse("dstRanks", "", "there must be a rank for each block, not %d for %d blocks", len(dstRanks), len(offsets)))
	}
	for i, hi := range offsets {
		if hi < 0 || hi > length || i > 0 && hi < offsets[i-1] {
			panic(r.Misuse("offsets", "", "offset %d is %d: offsets must not decrease and be in [0, %d]", i, hi, length))
		}
		r.Member("dstRanks", dstRanks[i])
	}
	pieces := make([]tilePiece, len(offsets))
	lo, own := 0, 0
	for i, hi := range offsets {
		p := &pieces[i]
		*p = tilePiece{root: dstRanks[i], pitch: core.Operand(t).Dims()[1], rows: hi - lo, cols: core.Operand(t).Dims()[1],
			from: lo * core.Operand(t).Dims()[1]}
		if dim == 1 {
			p.rows, p.cols, p.from = core.Operand(t).Dims()[0], hi-lo, lo
		}
		if p.root == g.Rank() {
			if own < len(out) {
				o := out[own]
				rt.core.Usable(r.Op(), o)
				if want := []int{p.rows, p.cols}; o.DType() != t.DType() || o.Numel() != p.rows*p.cols {
					panic(r.Misuse("out", "", "out[%d] is %v, expected out shape %v for block %d", own, core.Operand(o).Brief(),
						element.Type(t.DType()).Shaped(want), i))
				}
				if core.Operand(t).Overlaps(o) {
					panic(r.Misuse("out", "", "out[%d] overlaps the tensor", own))
				}
				p.out, p.to, p.outPitch = o, core.Operand(o).Addr(), p.cols
			}
			own++
		}
		lo = hi
	}
	if own != len(out) || own > tilereduce.MaxTiles {
		panic(r.Misuse("out", "", "out must have %s, one for each block that goes to rank %d, at most %d, not %d",
			count.Of(own, "tensor"), g.Rank(), tilereduce.MaxTiles, len(out)))
	}
	r.Record.Detail = fmt.Sprintf("along %d by %v to %v", dim, offsets, dstRanks) + space(r.Record.Detail)
	defer r.Enter().Leave()
	in := r.reads(core.Reads)
	for i := range pieces {
		pieces[i].in = in
	}
	r.reduceTiles(in, pieces, t.Numel())
}
