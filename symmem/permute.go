package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/kernels/packets"
	"github.com/symmrepl/symmrepl/kernels/permute"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// AllToAllPermute is an all-to-all that also moves a dimension: every member gets its block of
// dimension scatter from each member's in, and joins these blocks along dimension gather of out. It
// turns attention over a sequence that is split among the members into attention over heads that
// are split, and back: with n members, scatter 2 and gather 1 take [batch, seq/n, heads, d] to
// [batch, seq, heads/n, d], and scatter 1 and gather 2 are the inverse.
//
// PyTorch: all_to_all_nd; all_to_all_permute in its slides
//
// Shapes: in has at least two dimensions, and n divides dimension scatter; out is like in with that
// dimension divided by n, and dimension gather multiplied. Of two dimensions the one that n divides,
// or by which it was multiplied, may be given as two, as [rows, n, c] for [rows, n*c]. A negative
// dimension counts from the last. in and out have the same type, any, and may begin anywhere. Each is
// symmetric, or a part of a symmetric tensor, the same part on all ranks, or of ordinary memory; if
// out is symmetric, every member stores blocks that are not small into everybody's, which is quicker
// than reading, and if neither is, in goes through symmetric memory. They do not overlap.
//
// Synchronises: collective over the group and ordered on the stream: it does not end before all
// members have come to it, and the stream's next work may overwrite in.
//
// Options: *Group (by default the group that allocated the symmetric tensor), *Stream, Timeout, Via.
//
// Capture: yes.
//
// Errors: KindMisuse for tensors or dimensions that do not fit; and the errors of waits.
//
// Source: DeepSpeed-Ulysses.
func (rt *Runtime) AllToAllPermute(in, out *Tensor, scatter, gather int, opts ...Option) {
	rt.core.Usable(operators.AllToAllPermute.Name, out)
	e := rt.exchange(operators.AllToAllPermute, in, out, opts)
	g := e.g
	world := g.Size()
	b, ok := blocksOf(core.Operand(in).Dims(), core.Operand(out).Dims(), scatter, gather, world)
	if !ok || in.DType() != out.DType() {
		panic(e.Misuse("out", "out is like in with dimension scatter divided by the number of ranks and dimension gather multiplied by it",
			"in %v does not become out %v by scatter %d, gather %d among %d ranks", core.Operand(in).Brief(), core.Operand(out).Brief(),
			scatter, gather, world))
	}
	if b.batches > 1 && e.Spans() {
		for k := range b.batches {
			part := func(t *Tensor) *Tensor { return t.View(b.batches, -1).Slice(k, k+1) }
			from, to := part(in).View(b.rows, world*b.cols), part(out).View(world*b.rows, b.cols)
			if b.inner {
				rt.AllToAllPermute(from, to, 1, 0, opts...)
			} else {
				rt.AllToAllPermute(from.View(world*b.rows, b.cols), to.View(b.rows, world*b.cols), 0, 1, opts...)
			}
		}
		return
	}
	rows := b.rows
	e.checkOut(core.Operand(out).Dims(), false)
	e.Record.Detail = fmt.Sprintf("scatter %d gather %d", scatter, gather)
	width := b.cols * in.DType().Size()
	part := []int{rows * width, rows * width} // bytes from block to block, in in and in out
	a := &permute.PermuteArgs{Batches: uint64(b.batches), Batch: uint64(world * rows * width), Rows: uint64(rows), Width: uint64(width),
		SrcPitch: uint64(width), DstPitch: uint64(width)}
	if b.inner {
		part[0], a.SrcPitch = width, uint64(world*width)
	} else {
		part[1], a.DstPitch = width, uint64(world*width)
	}
	if e.Spans() {
		over := blocks{slice: part[0], stride: part[1], width: width}
		if b.inner {
			over.inPitch = world * width
		} else {
			over.outPitch = world * width
		}
		e.allToAllOverHosts(core.Operand(out).Dims(), rows*width, over)
		return
	}
	if b.batches == 1 && sendsPackets(&e.Call, e.Plan().Pieces, rows*width) {
		a := packets.ExchangePacketsArgs{N: uint64(rows * width), Width: a.Width, SrcPitch: a.SrcPitch, DstPitch: a.DstPitch}
		e.byPackets(core.Operand(out).Dims(), a, func(p int) (src, dst device.Ptr) {
			return core.Operand(in).Addr() + device.Ptr(p*part[0]), core.Operand(out).Addr() + device.Ptr(p*part[1])
		})
		return
	}
	defer e.Enter().Leave()
	w := pullWay
	var to, from core.Copies
	if e.Maps(out) {
		w, to = pushWay, e.Mapped(out)
		e.Record.On(out)
	} else {
		e.reads()
		in, from = e.t, e.from
	}
	e.PickStream()
	if in.Numel() == 0 {
		return
	}
	for k := range world {
		p := (g.Rank() + 1 + k) % world
		if w == pushWay {
			a.Src[k], a.Dst[k] = core.Operand(in).Addr()+device.Ptr(p*part[0]), to.At(p)+device.Ptr(g.Rank()*part[1])
		} else {
			a.Src[k], a.Dst[k] = from.At(p)+device.Ptr(g.Rank()*part[0]), core.Operand(out).Addr()+device.Ptr(p*part[1])
		}
	}
	c := e.Admit(in, out)
	e.Chose(in.Bytes(), w)
	l, c := e.MeetingGrid(b.batches*rows*width, w == pullWay, c)
	a.Context, a.Signals = c, e.Work().Meetings
	e.Launch("permute", 0, l, launch.Bytes(a))
}

// permuted are the blocks of an AllToAllPermute: batches of rows, of which each member gets the
// columns or the rows of one block.
type permuted struct {
	batches, rows, cols int  // of a block
	inner               bool // blocks are beside each other within the rows of in, and follow each other in out
}

// blocksOf finds the blocks by which in becomes out; ok is false if it does not.
func blocksOf(in, out []int, scatter, gather, world int) (b permuted, ok bool) {
	dims := len(in)
	if dims == 3 && len(out) <= 3 && (scatter == 1 && gather == 0 && in[1] == world || scatter == 0 && gather == 1 && in[0] == world) {
		dims = 2 // the dimension that is divided is given as two
		joined := 1 - gather
		in = slices.Concat(in[:joined], []int{in[joined] * in[joined+1]}, in[joined+2:])
	}
	of := func(d int) int {
		if d < 0 {
			d += dims
		}
		return d
	}
	scatter, gather = of(scatter), of(gather)
	if min(scatter, gather) < 0 || max(scatter, gather) >= dims || scatter == gather || in[scatter]%world != 0 {
		return b, false
	}
	block, want := slices.Clone(in), slices.Clone(in)
	block[scatter] /= world
	want[scatter] /= world
	want[gather] *= world
	lo, hi := min(scatter, gather), max(scatter, gather)
	b = permuted{batches: numelOf(block[:lo]), rows: numelOf(block[lo:hi]), cols: numelOf(block[hi:]), inner: scatter == hi}
	if slices.Equal(out, want) {
		return b, true
	}
	if dims != 2 { // with two dimensions, the one that is multiplied may be given as two
		return b, false
	}
	return b, slices.Equal(out, slices.Insert(slices.Clone(block), gather, world))
}
