package symmem

import "fmt"

// ReduceScatterOffset splits a symmetric tensor of two dimensions along dim, 0 or 1, into blocks, combines each
// over all members in the order of the ranks, and stores it on the member that dstRanks names. Block i is
// [offsets[i-1], offsets[i]) along dim, the first one from 0; without offsets (nil) there is an equal block for
// each member, whose number then divides the dimension. Without dstRanks block i goes to rank i modulo the
// number of members. op is as in [Runtime.AllReduce]. t keeps its values.
//
// PyTorch: reduce_scatter_offset, with blocks of any size, more types and reductions
//
// Shapes: t was rendezvoused by the group, or is a part of a tensor that was, the same part on all ranks;
// offsets and dstRanks are the same on all ranks. out has a tensor for each block that goes to this rank, up to
// 16, in their order, with the block's shape, contiguous, in ordinary or symmetric memory.
//
// Synchronises: collective over the group and ordered on the stream: it begins when all members have come to it,
// and t may be overwritten by what the stream does next.
//
// Options: *Group (by default the one that allocated t), *Stream, Timeout, AccumulateF32.
//
// Capture: yes.
//
// Errors: KindMisuse for tensors, offsets or ranks that are not such; and what ends a wait.
func (rt *Runtime) ReduceScatterOffset(t *Tensor, out []*Tensor, dim int, offsets, dstRanks []int, op string, opts ...Option) {
	const name = "reduce_scatter_offset"
	r := rt.reduction(name, t, op, adding, opts)
	g := r.opts.group
	world := len(g.ranks)
	if len(t.shape) != 2 || dim < 0 || dim > 1 {
		panic(r.misuse("dim", "", "the tensor must have two dimensions and dim be 0 or 1; they are %v and %d", t.kind(), dim))
	}
	length := t.shape[dim]
	if offsets == nil {
		part := r.parts(t, dim)[dim]
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
		panic(r.misuse("dstRanks", "", "there must be a rank for each block, not %d for %d blocks", len(dstRanks), len(offsets)))
	}
	for i, hi := range offsets {
		if hi < 0 || hi > length || i > 0 && hi < offsets[i-1] {
			panic(r.misuse("offsets", "", "offset %d is %d: offsets must not decrease and be in [0, %d]", i, hi, length))
		}
		g.peer(name, "dstRanks", dstRanks[i])
	}
	var pieces []tilePiece
	lo := 0
	for i, hi := range offsets {
		if dstRanks[i] == g.rank {
			p := tilePiece{inPitch: t.shape[1], rows: hi - lo, cols: t.shape[1], from: lo * t.shape[1]}
			if dim == 1 {
				p.rows, p.cols, p.from = t.shape[0], hi-lo, lo
			}
			j := len(pieces)
			if j < len(out) {
				o := out[j]
				o.live(name)
				if want := []int{p.rows, p.cols}; o.dtype != t.dtype || o.n != p.rows*p.cols {
					panic(r.misuse("out", "", "out[%d] is %v, expected out shape %v for block %d", j, o.kind(), kindOf(t.dtype, want), i))
				}
				if overlap(t, o) {
					panic(r.misuse("out", "", "out[%d] overlaps the tensor", j))
				}
				p.out, p.outPitch, p.t = o.pointer(), p.cols, o
			}
			pieces = append(pieces, p)
		}
		lo = hi
	}
	if len(pieces) != len(out) || len(pieces) > maxTiles {
		panic(r.misuse("out", "", "out must have a tensor for each of the %d blocks that go to rank %d, at most %d, not %d", len(pieces), g.rank, maxTiles, len(out)))
	}
	r.record.detail = fmt.Sprintf("along %d by %v to %v", dim, offsets, dstRanks) + space(r.record.detail)
	defer r.enter().leave()
	r.reduceTiles(t, t.n, pieces)
}
