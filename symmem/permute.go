package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/kernels/packets"
	"github.com/symmrepl/symmrepl/kernels/permute"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// AllToAllPermute is an all-to-all that also moves a dimension: attention over a sequence that is
// split among the members turns into attention over heads that are, and back. With n members:
//
//   - scatter 1, gather 0: in is [rows, n*c] or [rows, n, c], out is [n, rows, c] or [n*rows, c]; out[j] is
//     column block r of rank j, where r is this rank
//   - scatter 0, gather 1: in is [n*rows, c] or [n, rows, c], out is [rows, n, c] or [rows, n*c]; out[:, j]
//     is row block r of rank j; it is the inverse
//
// PyTorch: all_to_all_nd; all_to_all_permute in its slides
//
// Shapes: as above; in and out have the same type, any, and may begin anywhere. Each is
// symmetric, or a part of a symmetric tensor, the same part on all ranks, or of ordinary memory; if
// out is symmetric, every member stores blocks that are not small into everybody's, which is quicker
// than reading, and if neither is, in goes through symmetric memory. They do not overlap.
//
// Synchronises: collective over the group and ordered on the stream: it does not end before
// all members have come to it, and in may be overwritten by what the stream does next.
//
// Options: *Group (by default the one that allocated the symmetric tensor), *Stream, Timeout, Via.
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
	if scatter+gather != 1 || scatter*gather != 0 {
		panic(e.Misuse("scatter", "", "scatter and gather must be 1 and 0 or 0 and 1, not %d and %d", scatter, gather))
	}
	rows, cols, ok := 0, 0, false // of a block
	switch in, out := core.Operand(in).Dims(), core.Operand(out).Dims(); {
	case scatter == 1 && len(in) == 2 && in[1]%world == 0:
		rows, cols = in[0], in[1]/world
		ok = shaped(out, world, rows, cols, 0)
	case scatter == 1 && len(in) == 3 && in[1] == world:
		rows, cols = in[0], in[2]
		ok = shaped(out, world, rows, cols, 0)
	case scatter == 0 && len(in) == 2 && in[0]%world == 0:
		rows, cols = in[0]/world, in[1]
		ok = shaped(out, rows, world, cols, 1)
	case scatter == 0 && len(in) == 3 && in[0] == world:
		rows, cols = in[1], in[2]
		ok = shaped(out, rows, world, cols, 1)
	}
	if !ok || in.DType() != out.DType() {
		panic(e.Misuse("out", "with n ranks, scatter 1, gather 0 takes [rows, n*c] to [n*rows, c], and scatter 0, gather 1 takes it back", "in %v does not become out %v by scatter %d, gather %d among %d ranks", core.Operand(in).Brief(), core.Operand(out).Brief(), scatter, gather, world))
	}
	e.checkOut(core.Operand(out).Dims(), false)
	e.Record.Detail = fmt.Sprintf("scatter %d gather %d", scatter, gather)
	width := cols * in.DType().Size()
	part := []int{rows * width, rows * width} // bytes from block to block, in in and in out
	a := &permute.PermuteArgs{Rows: uint64(rows), Width: uint64(width), SrcPitch: uint64(width), DstPitch: uint64(width)}
	if scatter == 1 {
		part[0], a.SrcPitch = width, uint64(world*width)
	} else {
		part[1], a.DstPitch = width, uint64(world*width)
	}
	if e.Spans() {
		b := blocks{slice: part[0], stride: part[1], width: width}
		if scatter == 1 {
			b.inPitch = world * width
		} else {
			b.outPitch = world * width
		}
		e.allToAllOverHosts(core.Operand(out).Dims(), rows*width, b)
		return
	}
	if sendsPackets(&e.Call, e.Plan().Pieces, rows*width) {
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
	l, c := e.MeetingGrid(rows*width, w == pullWay, c)
	a.Context, a.Signals = c, e.Work().Meetings
	e.Launch("permute", 0, l, launch.Bytes(a))
}

// shaped reports whether shape is [a, b, c], or the same with the last two or the first two in one,
// as joined says: 0 joins a and b, 1 joins b and c.
func shaped(shape []int, a, b, c, joined int) bool {
	switch len(shape) {
	case 3:
		return shape[0] == a && shape[1] == b && shape[2] == c
	case 2:
		return joined == 0 && shape[0] == a*b && shape[1] == c || joined == 1 && shape[0] == a && shape[1] == b*c
	}
	return false
}
