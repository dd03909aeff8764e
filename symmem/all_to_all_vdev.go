package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/kernels/abi"
	alltoallvdev "github.com/symmrepl/symmrepl/kernels/all_to_all_vdev"
	core "github.com/symmrepl/symmrepl/symmem/internal/core"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/element"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// AllToAllVDev sends rows of in, the indices of its first dimension, to the members by inSplits:
// the first inSplits[0] rows go to rank 0 of the group, the next inSplits[1] to rank 1, and so on.
// out receives the rows in the order of the ranks that sent them; row 0 of outSplitsOffsets then
// holds the number of rows from each rank, row 1 the index of the first of them. The splits are
// read on the device when the operation runs: an earlier kernel of the stream may have computed
// them, and the host never waits. Rows of out beyond the received rows keep their values.
//
// PyTorch: all_to_all_vdev
//
// Shapes: in and out have the same type, any, and the same dimensions but for the first; rows may
// have any size and begin anywhere; rows whose bytes and addresses are multiples of 16 go quickest.
// out is symmetric and rendezvoused by the group, or a part of such a tensor, the same part on all
// ranks; the other tensors may be ordinary. inSplits is I64 with an element for each member,
// outSplitsOffsets I64[2, members]. None of them overlap.
//
// Synchronises: collective over the group and ordered on the stream. It ends when all members' rows
// have arrived: the stream's next work may overwrite everything that it read. In a group that spans
// hosts the rows for other hosts are put straight into their places.
//
// Options: *Group (by default the group that allocated out), *Stream, Timeout, Via, which can only
// be "flat".
//
// Capture: yes; replays read the splits anew.
//
// Errors: KindMisuse for tensors that do not fit. Splits that are negative or exceed in, and an out
// that is too small for the rows, are refused on all members before anything is moved: the next
// synchronisation panics with a KindMisuse that names the rank and the value, and the group stays
// usable. And the errors of waits.
func (rt *Runtime) AllToAllVDev(in, out, inSplits, outSplitsOffsets *Tensor, opts ...Option) {
	rt.allToAllVDev(operators.AllToAllVDev, vdevDispatch, in, out, inSplits, outSplitsOffsets, opts)
}

// AllToAllVDev2D is [Runtime.AllToAllVDev] with several experts on each member, the dispatch of a
// mixture of experts. inSplits goes by member and there by expert, and in is packed in that order.
// out receives the rows by expert and there by the rank they come from; outSplitsOffsets holds the
// counts and the beginnings in that order.
//
// The region of every expert begins at a multiple of MajorAlign rows, 1 by default, and has at
// least so many, even if no row came: products over groups of rows can then take out as it is. The
// rows that only fill a region keep their values, and the counts leave them out.
//
// [Runtime.AllToAllVDev2DOffset] is its inverse: given out and outSplitsOffsets, it returns the
// rows to where they came from, in the order they had.
//
// PyTorch: all_to_all_vdev_2d
//
// Shapes: in and out as in [Runtime.AllToAllVDev]; inSplits is I64 with an element for each member
// and expert, outSplitsOffsets I64[2, len(inSplits)]. There may be up to 512 experts in all.
//
// Synchronises: as [Runtime.AllToAllVDev].
//
// Options: as [Runtime.AllToAllVDev], MajorAlign.
//
// Capture: yes; replays read the splits anew.
//
// Errors: as [Runtime.AllToAllVDev].
func (rt *Runtime) AllToAllVDev2D(in, out, inSplits, outSplitsOffsets *Tensor, opts ...Option) {
	rt.allToAllVDev(operators.AllToAllVDev2D, vdevDispatch2D, in, out, inSplits, outSplitsOffsets, opts)
}

// AllToAllVDev2DOffset sends rows back from experts, the combine of a mixture of experts.
// inSplitsOffsets goes by expert and there by destination: row 0 has the number of rows, row 1 the
// index in in at which they begin; rows in between are left out. [Runtime.AllToAllVDev2D] makes
// these tensors: its out, transformed by the experts, and its outSplitsOffsets are in and
// inSplitsOffsets here. out receives the rows by the rank that sent them and there by expert,
// packed; outSplitsOffsets holds the counts and the beginnings in that order.
//
// PyTorch: all_to_all_vdev_2d_offset
//
// Shapes: in and out as in [Runtime.AllToAllVDev]; inSplitsOffsets and outSplitsOffsets are I64[2,
// n], with n the number of members times the number of experts on each.
//
// Synchronises: as [Runtime.AllToAllVDev].
//
// Options: as [Runtime.AllToAllVDev].
//
// Capture: yes; replays read the splits and offsets anew.
//
// Errors: as [Runtime.AllToAllVDev]; offsets that lead out of in are refused like splits.
func (rt *Runtime) AllToAllVDev2DOffset(in, out, inSplitsOffsets, outSplitsOffsets *Tensor, opts ...Option) {
	rt.allToAllVDev(operators.AllToAllVDev2DOffset, vdevCombine, in, out, inSplitsOffsets, outSplitsOffsets, opts)
}

// vdevKind is one of the three operations of all_to_all_vdev.cu.
type vdevKind int

const (
	vdevDispatch vdevKind = iota
	vdevDispatch2D
	vdevCombine
)

// vdevBlockBytes of out are worth a block.
const vdevBlockBytes = 8 << 10

func (rt *Runtime) allToAllVDev(of *operators.Operator, kind vdevKind, in, out, splits, outSplits *Tensor, opts []Option) {
	for _, t := range []*Tensor{in, out, splits, outSplits} {
		rt.core.Usable(of.Name, t)
	}
	c := rt.core.NewCall(of, core.Operand(out).Home(), opts)
	n := checkVDev(&c, kind, in, out, splits, outSplits)
	align := uint64(0)
	if kind == vdevDispatch2D {
		align = 1
		if c.Has(operators.MajorAlign) {
			align = uint64(c.MajorAlign())
		}
	}
	c.Record.DType, c.Record.N, c.Record.Detail = element.Type(out.DType()), out.Numel(), fmt.Sprintf("by %d splits", n)
	c.Record.Refused = refusedSplits
	c.Record.On(out)
	if align > 1 {
		c.Record.Detail += fmt.Sprintf(", regions of %d", align)
	}
	defer c.Enter().Leave()
	h := c.Mapped(out)
	c.PickStream()
	r := alltoallvdev.RowsArgs{
		In: core.Operand(in).Addr(), N: uint64(n), Layout: alltoallvdev.Dispatch,
		Splits: core.Operand(splits).Addr(), OutSplits: core.Operand(outSplits).Addr(),
		OutOffsets: core.Operand(outSplits).Addr() + device.Ptr(8*n),
		InRows:     uint64(core.Operand(in).Dims()[0]), OutRows: uint64(core.Operand(out).Dims()[0]), Row: uint64(rowBytes(out)),
		Align: align,
	}
	if kind == vdevCombine {
		r.Layout, r.Offsets = alltoallvdev.Combine, core.Operand(splits).Addr()+device.Ptr(8*n)
	}
	members, home := c.Hosts()
	for _, i := range members[home] {
		r.Out[i] = h.At(i)
	}
	admit := func() abi.Context { return c.Admit(in, out, splits, outSplits) }
	p := c.Plan()
	threads := max(p.RowThreads, (n+31)&^31) // one for each split
	if c.Spans() {
		rowsOverHosts(&c, r, h, threads, admit)
		return
	}
	a := &alltoallvdev.AllToAllVdevArgs{Rows: r, Signals: c.Work().Meetings}
	a.Head.Context = admit()
	a.Head.Context.Channels = uint32(p.MeetBlocks)
	a.Head.N, a.Head.Epochs, a.Head.Inbox = uint64(n), c.Work().Epochs, c.Work().Inbox
	// The grid must be the same on all ranks. It follows from the sizes that all have allocated,
	// because a rank does not know the splits of others.
	size := c.Group().Size()
	blocks := min(p.PacketGrid(size), p.MeetBlocks, c.Work().Processors, max(1, h.Size()/vdevBlockBytes))
	if r.Row%4 == 0 && core.Operand(out).Addr()%4 == 0 {
		a.Room = uint64(min(tuning.Most(p.Rows, size, tuning.Packets), alltoallvdev.Room(blocks, n)))
	}
	l := device.Launch{Grid: [3]int{blocks, 1, 1}, Block: [3]int{threads, 1, 1}, Overlap: true}
	c.Launch("all_to_all_vdev", size, l, launch.Bytes(a))
}

// checkVDev refuses arguments that the host can see to be wrong, and returns the number of splits.
func checkVDev(c *core.Call, kind vdevKind, in, out, splits, outSplits *Tensor) int {
	world := c.Group().Size()
	if c.Has(operators.MajorAlign) && c.MajorAlign() < 1 {
		panic(c.Misuse("MajorAlign", "", "MajorAlign must be positive, not %d", c.MajorAlign()))
	}
	if len(core.Operand(in).Dims()) == 0 || len(core.Operand(out).Dims()) == 0 || in.DType() != out.DType() || rowKind(in) != rowKind(out) {
		panic(c.Misuse("out", "", "in is %v and out is %v: the type and all dimensions but the first must be the same",
			core.Operand(in).Brief(), core.Operand(out).Brief()))
	}
	name, want := "inSplits", fmt.Sprintf("i64[%d]", world)
	good := splits.DType() == I64 && len(core.Operand(splits).Dims()) == 1 && splits.Numel() == world
	n := splits.Numel()
	switch kind {
	case vdevDispatch2D:
		want = fmt.Sprintf("i64[n] with n a multiple of %d, at most %d", world, alltoallvdev.Splits)
		good = splits.DType() == I64 && len(core.Operand(splits).Dims()) == 1
	case vdevCombine:
		name, want = "inSplitsOffsets", fmt.Sprintf("i64[2, n] with n a multiple of %d, at most %d", world, alltoallvdev.Splits)
		good = splits.DType() == I64 && len(core.Operand(splits).Dims()) == 2 && core.Operand(splits).Dims()[0] == 2
		n /= 2
	}
	if !good || n == 0 || n%world != 0 || n > alltoallvdev.Splits {
		panic(c.Misuse(name, "", "%s must be %s for the %d ranks of %v, not %v", name, want, world, c.Group(),
			core.Operand(splits).Brief()))
	}
	if outSplits.DType() != I64 || len(core.Operand(outSplits).Dims()) != 2 || core.Operand(outSplits).Dims()[0] != 2 ||
		core.Operand(outSplits).Dims()[1] != n {
		panic(c.Misuse("outSplitsOffsets", "", "outSplitsOffsets must be i64[2, %d], not %v", n, core.Operand(outSplits).Brief()))
	}
	if c.Has(operators.MajorAlign) && c.MajorAlign() > core.Operand(out).Dims()[0] {
		panic(c.Misuse("MajorAlign", "allocate a longer out", "MajorAlign is %d, and out has %d rows: not one region has room",
			c.MajorAlign(), core.Operand(out).Dims()[0]))
	}
	names, all := [4]string{"in", "out", name, "outSplitsOffsets"}, [4]*Tensor{in, out, splits, outSplits}
	for i := range all {
		for j := range i {
			if (i != 2 || j != 0) && core.Operand(all[i]).Overlaps(all[j]) {
				panic(c.Misuse(names[i], "", "%s overlaps %s", names[i], names[j]))
			}
		}
	}
	return n
}

// rowKind is the dimensions of t but for the first, in words.
func rowKind(t *Tensor) string { return fmt.Sprint(core.Operand(t).Dims()[1:]) }

// rowBytes is the size of one index of the first dimension.
func rowBytes(t *Tensor) int { return numelOf(core.Operand(t).Dims()[1:]) * t.DType().Size() }

// refusedSplits explains a value in device memory that the operation could not work with. All
// members found the same, moved nothing and are in step.
func refusedSplits(_ *core.Record, e *Error, r *device.WaitRecord) {
	e.Arg = "in_splits"
	switch r.Kind {
	case alltoallvdev.RefusedSplit:
		e.Msg = fmt.Sprintf("split %d of rank %d is %d: it must be in [0, %d], the rows of its input", r.Channel, e.Peer,
			int64(r.Seen), r.Want)
	case alltoallvdev.RefusedSum:
		e.Msg = fmt.Sprintf("the splits of rank %d add up to %d rows, its input has %d", e.Peer, r.Seen, r.Want)
	case alltoallvdev.RefusedOffset:
		e.Msg = fmt.Sprintf("the rows of split %d of rank %d begin at row %d and are not all among the %d of its input",
			r.Channel, e.Peer, int64(r.Seen), r.Want)
	case alltoallvdev.RefusedRoom:
		e.Arg = "out"
		e.Msg = fmt.Sprintf("rank %d would receive %d rows, its out has %d", e.Peer, r.Seen, r.Want)
		e.Hint = "allocate a longer out"
	}
}
