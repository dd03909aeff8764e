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

// TileReduce combines a tile of all members element by element and stores the result in out on the
// root, a rank of the group. op and the order are as in [Runtime.AllReduce]. On the other members
// out may be nil, and nothing is written there.
//
// PyTorch: tile_reduce, with more types and reductions
//
// Shapes: in is a tile of a tensor that the group has rendezvoused, the same on all ranks, of a
// type that computes; out has its type and shape and may be of any tensor, but not overlap in.
// Tiles may begin anywhere and have any width.
//
// Synchronises: collective over the group and ordered on the stream: within a host it does not end
// before all members have come to it; between hosts one that is no root goes on although others
// have not come. the stream's next work may overwrite in.
//
// Options: *Group (by default the group that allocated in), *Stream, Timeout, AccumulateF32, Via.
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
		panic(rt.core.Misuse(op, "roots", "", "there must be a root for each tile and at least one, not %d for %d tiles",
			len(roots), len(in)))
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
	pieces := make([]tilePiece, len(tiles))
	for i, l := range tiles {
		pieces[i] = tilePiece{root: roots[i], in: l.Tensor, from: l.First(), rows: l.Rows, cols: l.Cols,
			pitch: core.Operand(l.Tensor).Dims()[1]}
	}
	if own >= 0 {
		to := core.RectangleOf(out)
		p := &pieces[own]
		p.out, p.to, p.outPitch = to.Tensor, to.Addr(), core.Operand(to.Tensor).Dims()[1]
	}
	defer r.Enter().Leave()
	for _, l := range tiles {
		r.Mapped(l.Tensor)
		r.Record.On(l.Tensor)
		r.Record.Parts.Mix(uint64(l.First()))
	}
	r.reduceTiles(first.Tensor, pieces, n)
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
	if core.Operand(a.Tensor).Addr() != core.Operand(b.Tensor).Addr() ||
		core.Operand(a.Tensor).Dims()[1] != core.Operand(b.Tensor).Dims()[1] {
		return true
	}
	return a.Row < b.Row+b.Rows && b.Row < a.Row+a.Rows && a.Col < b.Col+b.Cols && b.Col < a.Col+a.Cols
}

// tilePiece is a tile of everybody's tensor, which goes to a root.
type tilePiece struct {
	root                    int
	in                      *Tensor
	from, rows, cols, pitch int // elements
	out                     *Tensor
	to                      device.Ptr // in out, if this member is the root
	outPitch                int
}

// reduceTiles launches the reduction of the pieces, of t if this member is no root; n elements at
// most are any member's, which is the same on all.
func (r *reduction) reduceTiles(t *Tensor, pieces []tilePiece, n int) {
	if r.Spans() {
		r.reduceTilesOverHosts(pieces, n*r.dtype.Size())
		return
	}
	if r.sendsTiles(pieces) {
		r.sendTiles(t, pieces)
		return
	}
	g := r.Group()
	pieces = slices.DeleteFunc(pieces, func(p tilePiece) bool { return p.root != g.Rank() })
	if len(pieces) > 0 {
		t = pieces[0].in
	}
	h := r.Mapped(t)
	r.PickStream()
	a := &tilereduce.TileReduceArgs{Op: r.code, Tiles: uint64(len(pieces))}
	for i, p := range pieces {
		r.Touch(p.out)
		a.Tile[i] = tilereduce.Tile{From: uint64(p.from), Out: p.to, Rows: uint64(p.rows), Cols: uint64(p.cols),
			InPitch: uint64(p.pitch), OutPitch: uint64(p.outPitch)}
	}
	for i := range g.Size() {
		a.In[i] = h.At(i)
	}
	l, c := r.MeetingGrid(n*t.DType().Size(), true, r.Admit(t))
	a.Context, a.Signals = c, r.Work().Meetings
	r.Launch(tileKernels[t.DType()], g.Size(), l, launch.Bytes(a))
}

// sendsTiles reports whether pieces go to their roots as packets: all pieces must lie alike, and each
// must have a root of its own.
func (r *reduction) sendsTiles(pieces []tilePiece) bool {
	if len(pieces) == 0 || !sendsPackets(&r.Call, r.Plan().Pieces, pieces[0].rows*pieces[0].cols*r.dtype.Size()) {
		return false
	}
	first, roots := pieces[0], map[int]bool{}
	for _, p := range pieces {
		if p.rows != first.rows || p.cols != first.cols || p.pitch != first.pitch || roots[p.root] {
			return false
		}
		roots[p.root] = true
	}
	return true
}

// sendTiles reduces such pieces by packets. t is one of their tensors.
func (r *reduction) sendTiles(t *Tensor, pieces []tilePiece) {
	n := pieces[0].rows * pieces[0].cols
	r.Mapped(t)
	r.PickStream()
	var send abi.Ptrs
	var out device.Ptr
	a := packets.ReducePacketsArgs{Cols: uint64(pieces[0].cols), SrcPitch: uint64(pieces[0].pitch)}
	for _, p := range pieces {
		send[p.root] = core.Operand(p.in).Addr() + device.Ptr(p.from*r.dtype.Size())
		r.Touch(p.in)
		if p.out != nil {
			out, a.OutPitch = p.to, uint64(p.outPitch)
			r.Touch(p.out)
		}
	}
	c := r.Admit(t)
	r.Chose(n*r.dtype.Size(), tuning.Packets)
	r.reducePackets(send, out, n, a, c)
}

var tileKernels = namesOf("tile_reduce_")
