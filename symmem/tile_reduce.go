package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/packets"
	tilereduce "github.com/symmrepl/symmrepl/kernels/tile_reduce"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// TileReduce combines a tile of all members element by element, in the order of the ranks, and
// stores the result in out on the root, a rank of the group. op is as in [Runtime.AllReduce]. On
// the other members out may be nil, and nothing is written there.
//
// PyTorch: tile_reduce, with more types and reductions
//
// Shapes: in is a tile of a tensor that the group has rendezvoused, the same on all ranks, of a
// type that computes; out has its type and shape and may be of any tensor, but not overlap in.
// Tiles may begin anywhere and have any width.
//
// Synchronises: collective over the group and ordered on the stream: it does not end before
// all members have come to it, and in may be overwritten by what the stream does next.
//
// Options: *Group (by default the one that allocated in), *Stream, Timeout, AccumulateF32.
//
// Capture: yes.
//
// Errors: KindMisuse for tiles that do not fit, a root that is not a rank of the group, an unknown
// op; and the errors of waits.
func (rt *Runtime) TileReduce(in, out *Tile, root int, op string, opts ...Option) {
	rt.tileReduce(operators.TileReduce, []*Tile{in}, out, []int{root}, op, opts)
}

// MultiRootTileReduce is [Runtime.TileReduce] of several tiles at once, each to a root of its own:
// tile i of all members is combined into out on rank roots[i] of the group.
//
// PyTorch: multi_root_tile_reduce, with more types and reductions
//
// Shapes: as [Runtime.TileReduce]; all tiles are of the same type and shape. A rank may be the root
// of one at most, and the others' out may be nil.
//
// Synchronises: as [Runtime.TileReduce].
//
// Options: as [Runtime.TileReduce].
//
// Capture: yes.
//
// Errors: as [Runtime.TileReduce]; KindMisuse for a rank that is the root of several tiles.
func (rt *Runtime) MultiRootTileReduce(in []*Tile, out *Tile, roots []int, op string, opts ...Option) {
	rt.tileReduce(operators.MultiRootTileReduce, in, out, roots, op, opts)
}

func (rt *Runtime) tileReduce(of *operators.Operator, in []*Tile, out *Tile, roots []int, reduction string, opts []Option) {
	op := of.Name
	if len(in) == 0 || len(in) != len(roots) {
		panic(rt.core.Misuse(op, "roots", "", "there must be a root for each tile and at least one, not %d for %d tiles", len(roots), len(in)))
	}
	tiles := make([]*core.Rectangle, len(in))
	for i, l := range in {
		if l == nil {
			panic(core.NilArgument(op, "tile"))
		}
		tiles[i] = core.RectangleOf(l)
		rt.core.Usable(op, tiles[i].Tensor)
	}
	first := tiles[0]
	r := rt.reduction(of, first.Tensor, reduction, opts)
	own := r.checkRoots(in, roots)
	if out != nil {
		rt.core.Usable(op, core.RectangleOf(out).Tensor)
		if !first.Like(core.RectangleOf(out)) {
			panic(r.Misuse("out", "", "out is %v, the tile is %v: both must have the same type and shape", out, in[0]))
		}
		if own >= 0 && tilesOverlap(tiles[own], core.RectangleOf(out)) {
			panic(r.Misuse("out", "", "out overlaps the tile"))
		}
	} else if own >= 0 {
		panic(r.Misuse("out", "give a tile for the result", "out is nil on rank %d, which is a root", rt.Rank()))
	}
	n := first.Rows * first.Cols
	r.Record.N, r.Record.Detail = n, fmt.Sprintf("to %v", roots)+space(r.Record.Detail)
	var pieces []tilePiece
	from := first.Tensor
	if own >= 0 {
		mine, to := tiles[own], core.RectangleOf(out)
		from = mine.Tensor
		pieces = []tilePiece{{from: mine.First(), rows: first.Rows, cols: first.Cols, inPitch: core.Operand(from).Dims()[1], out: to.Addr(), outPitch: core.Operand(to.Tensor).Dims()[1], t: to.Tensor}}
	}
	defer r.Enter().Leave()
	for _, l := range tiles {
		r.Mapped(l.Tensor)
		r.Record.On(l.Tensor)
		r.Record.Parts.Mix(uint64(l.First()))
	}
	if pitch := pitchOf(first); sendsPackets(&r.Call, n*first.Tensor.DType().Size()) &&
		!slices.ContainsFunc(tiles, func(l *core.Rectangle) bool { return pitchOf(l) != pitch }) {
		r.sendTiles(tiles, roots, n, pieces)
		return
	}
	r.reduceTiles(from, n, pieces)
}

// pitchOf is the number of elements from one row of a tile to the next.
func pitchOf(l *core.Rectangle) int { return core.Operand(l.Tensor).Dims()[1] }

// sendTiles reduces tiles of n elements by packets: pieces has this member's, if it is a root.
func (r *reduction) sendTiles(tiles []*core.Rectangle, roots []int, n int, pieces []tilePiece) {
	r.PickStream()
	var send abi.Ptrs
	for i, l := range tiles {
		send[roots[i]] = l.Addr()
		r.Touch(l.Tensor)
	}
	a := packets.ReducePacketsArgs{Cols: uint64(tiles[0].Cols), SrcPitch: uint64(pitchOf(tiles[0]))}
	var out device.Ptr
	for _, p := range pieces {
		out, a.OutPitch = p.out, uint64(p.outPitch)
		r.Touch(p.t)
	}
	c := r.Admit(tiles[0].Tensor)
	r.Chose(n*tiles[0].Tensor.DType().Size(), tuning.Packets)
	r.reducePackets(send, out, n, a, c)
}

// checkRoots refuses tiles that differ and roots that are not different members. It returns which
// tile is this member's, or -1.
func (r *reduction) checkRoots(in []*Tile, roots []int) (own int) {
	own = -1
	for i, root := range roots {
		r.Member("root", root)
		if slices.Contains(roots[:i], root) {
			panic(r.Misuse("roots", "", "rank %d is the root of two tiles", root))
		}
		if !core.RectangleOf(in[i]).Like(core.RectangleOf(in[0])) {
			panic(r.Misuse("in", "", "tile %d is %v, tile 0 is %v: all must have the same type and shape", i, in[i], in[0]))
		}
		if root == r.Group().Rank() {
			own = i
		}
	}
	return own
}

func space(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

// tilesOverlap reports whether two tiles share elements; tiles of memory that is only partly the
// same, under other shapes, are taken to do so.
func tilesOverlap(a, b *core.Rectangle) bool {
	if !core.Operand(a.Tensor).Overlaps(b.Tensor) {
		return false
	}
	if core.Operand(a.Tensor).Addr() != core.Operand(b.Tensor).Addr() || core.Operand(a.Tensor).Dims()[1] != core.Operand(b.Tensor).Dims()[1] {
		return true
	}
	return a.Row < b.Row+b.Rows && b.Row < a.Row+a.Rows && a.Col < b.Col+b.Cols && b.Col < a.Col+a.Cols
}

// tilePiece is a tile of this member's: where it is in everybody's tensor, and where the result
// goes.
type tilePiece struct {
	from, rows, cols, inPitch int // elements
	out                       device.Ptr
	outPitch                  int
	t                         *Tensor // of out
}

// reduceTiles launches the reduction of this member's pieces of t; n elements at most are any
// member's, which is the same on all.
func (r *reduction) reduceTiles(t *Tensor, n int, pieces []tilePiece) {
	g := r.Group()
	h := r.Mapped(t)
	r.PickStream()
	a := &tilereduce.TileReduceArgs{Op: r.code, Tiles: uint64(len(pieces))}
	for i, p := range pieces {
		r.Touch(p.t)
		a.Tile[i] = tilereduce.Tile{From: uint64(p.from), Out: p.out, Rows: uint64(p.rows), Cols: uint64(p.cols), InPitch: uint64(p.inPitch), OutPitch: uint64(p.outPitch)}
	}
	for i := range g.Size() {
		a.In[i] = h.At(i)
	}
	l, c := r.MeetingGrid(n*t.DType().Size(), true, r.Admit(t))
	a.Context, a.Signals = c, r.Work().Meetings
	r.Launch(tileKernels[t.DType()], g.Size(), l, launch.Bytes(a))
}

var tileKernels = namesOf("tile_reduce_")
