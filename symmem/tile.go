package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Tile is a rectangle of a tensor of two dimensions. It shares the tensor's memory.
type Tile struct {
	t                    *Tensor
	row, col, rows, cols int
}

// Tile is rows [r0, r1) and columns [c0, c1) of a tensor of two dimensions, as t[r0:r1, c0:c1] is in PyTorch.
func (t *Tensor) Tile(r0, r1, c0, c1 int) *Tile {
	const op = "Tile"
	t.live(op)
	if len(t.shape) != 2 {
		panic(t.rt.misuse(op, "", "View it with two", "a tile is of a tensor of two dimensions, not of %v", t.kind()))
	}
	if r0 < 0 || r1 < r0 || r1 > t.shape[0] || c0 < 0 || c1 < c0 || c1 > t.shape[1] {
		panic(t.rt.misuse(op, "bounds", "", "[%d:%d, %d:%d] is not within %v", r0, r1, c0, c1, t.kind()))
	}
	return &Tile{t, r0, c0, r1 - r0, c1 - c0}
}

// Shape is the number of rows and of columns.
func (l *Tile) Shape() []int { return []int{l.rows, l.cols} }

// String is "f32[2, 2] at [1, 1]".
func (l *Tile) String() string {
	return fmt.Sprintf("%s at [%d, %d]", kindOf(l.t.dtype, l.Shape()), l.row, l.col)
}

// first is the elements of the tensor before the tile.
func (l *Tile) first() int { return l.row*l.t.shape[1] + l.col }

func (l *Tile) pointer() device.Ptr {
	return l.t.pointer() + device.Ptr(l.first()*l.t.dtype.Size())
}

// TileReduce combines a tile of all members element by element, in the order of the ranks, and stores the result
// in out on the root, a rank of the group. op is as in [Runtime.AllReduce]. On the other members out may be nil,
// and nothing is written there.
//
// PyTorch: tile_reduce, with more types and reductions
//
// Shapes: in is a tile of a tensor that the group has rendezvoused, the same on all ranks, of a type that
// computes; out has its type and shape and may be of any tensor, but not overlap in. Tiles may begin anywhere
// and have any width.
//
// Synchronises: collective over the group and ordered on the stream: it begins when all members have come to it,
// and in may be overwritten by what the stream does next.
//
// Options: *Group (by default the one that allocated in), *Stream, Timeout, AccumulateF32.
//
// Capture: yes.
//
// Errors: KindMisuse for tiles that are not such, a root that is not a rank of the group, an unknown op; and
// what ends a wait.
func (rt *Runtime) TileReduce(in, out *Tile, root int, op string, opts ...Option) {
	rt.tileReduce("tile_reduce", []*Tile{in}, out, []int{root}, op, opts)
}

// MultiRootTileReduce is [Runtime.TileReduce] of several tiles at once, each to a root of its own: tile i of all
// members is combined into out on rank roots[i] of the group.
//
// PyTorch: multi_root_tile_reduce, with more types and reductions
//
// Shapes: as [Runtime.TileReduce]; all tiles are of the same type and shape. A rank may be the root of one at
// most, and the others' out may be nil.
//
// Synchronises: as [Runtime.TileReduce].
//
// Options: as [Runtime.TileReduce].
//
// Capture: yes.
//
// Errors: as [Runtime.TileReduce]; KindMisuse for a rank that is the root of several tiles.
func (rt *Runtime) MultiRootTileReduce(in []*Tile, out *Tile, roots []int, op string, opts ...Option) {
	rt.tileReduce("multi_root_tile_reduce", in, out, roots, op, opts)
}

func (rt *Runtime) tileReduce(op string, in []*Tile, out *Tile, roots []int, reduction string, opts []Option) {
	if len(in) == 0 || len(in) != len(roots) {
		panic(rt.misuse(op, "roots", "", "there must be a root for each tile and at least one, not %d for %d tiles", len(roots), len(in)))
	}
	for _, l := range in {
		if l == nil {
			panic(rt.misuse(op, "in", "", "the tile is nil"))
		}
		l.t.live(op)
	}
	r := rt.reduction(op, in[0].t, reduction, adding, opts)
	g := r.opts.group
	own := -1
	for i, root := range roots {
		g.peer(op, "root", root)
		if slices.Contains(roots[:i], root) {
			panic(r.misuse("roots", "", "rank %d is the root of two tiles", root))
		}
		if in[i].t.dtype != in[0].t.dtype || in[i].rows != in[0].rows || in[i].cols != in[0].cols {
			panic(r.misuse("in", "", "tile %d is %v, tile 0 is %v: all must have the same type and shape", i, in[i], in[0]))
		}
		if root == g.rank {
			own = i
		}
	}
	if out != nil {
		out.t.live(op)
		if out.t.dtype != in[0].t.dtype || out.rows != in[0].rows || out.cols != in[0].cols {
			panic(r.misuse("out", "", "out is %v, the tile is %v: both must have the same type and shape", out, in[0]))
		}
		if own >= 0 && tilesOverlap(in[own], out) {
			panic(r.misuse("out", "", "out overlaps the tile"))
		}
	} else if own >= 0 {
		panic(r.misuse("out", "", "out is nil on rank %d, which is a root", rt.rank))
	}
	r.record.n, r.record.detail = in[0].rows*in[0].cols, fmt.Sprintf("to %v", roots)+space(r.record.detail)
	var pieces []tilePiece
	from := in[0].t
	if own >= 0 {
		from = in[own].t
		pieces = []tilePiece{{from: in[own].first(), rows: in[0].rows, cols: in[0].cols, inPitch: from.shape[1], out: out.pointer(), outPitch: out.t.shape[1], t: out.t}}
	}
	defer r.enter().leave()
	for _, l := range in {
		r.mapped(l.t)
		r.record.on(l.t)
		r.record.parts.mix(uint64(l.first()))
	}
	r.reduceTiles(from, in[0].rows*in[0].cols, pieces)
}

func space(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

// tilesOverlap reports whether two tiles share elements; tiles of memory that is only partly the same, under
// other shapes, are taken to do so.
func tilesOverlap(a, b *Tile) bool {
	if !overlap(a.t, b.t) {
		return false
	}
	if a.t.pointer() != b.t.pointer() || a.t.shape[1] != b.t.shape[1] {
		return true
	}
	return a.row < b.row+b.rows && b.row < a.row+a.rows && a.col < b.col+b.cols && b.col < a.col+a.cols
}

// tilePiece is a tile of this member's: where it is in everybody's tensor, and where the result goes.
type tilePiece struct {
	from, rows, cols, inPitch int // elements
	out                       device.Ptr
	outPitch                  int
	t                         *Tensor // of out
}

// reduceTiles launches the reduction of this member's pieces of t; n elements at most are any member's, which
// is the same on all.
func (r *reduction) reduceTiles(t *Tensor, n int, pieces []tilePiece) {
	g := r.opts.group
	h := r.mapped(t)
	r.begin()
	a := &tileArgs{op: r.code, tiles: uint64(len(pieces))}
	for i, p := range pieces {
		r.touch(p.t)
		a.tile[i] = tileArg{uint64(p.from), p.out, uint64(p.rows), uint64(p.cols), uint64(p.inPitch), uint64(p.outPitch)}
	}
	for i := range g.ranks {
		a.in[i] = h.at(i, t)
	}
	l, c := g.meetingGrid(n*t.dtype.Size(), true, r.admit(t))
	a.context, a.signals = c, g.work.meetings
	r.launch(tileKernels[t.dtype], len(g.ranks), l, bytesOf(a))
}

var tileKernels = namesOf("tile_reduce_")

// maxTiles is kTiles of tile_reduce.cu.
const maxTiles = 16

// tileArgs is TileReduceArgs of tile_reduce.cu.
type tileArgs struct {
	context kernelContext
	signals ptrs
	in      ptrs
	op      uint64
	tiles   uint64
	tile    [maxTiles]tileArg
}

// tileArg is Tile of tile_reduce.cu.
type tileArg struct {
	from              uint64
	out               device.Ptr
	rows, cols        uint64
	inPitch, outPitch uint64
}
