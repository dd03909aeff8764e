package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// AllToAllVDev sends rows of in, the indices of its first dimension, to the members as inSplits says: the first
// inSplits[0] rows go to rank 0 of the group, the next inSplits[1] to rank 1, and so on. out receives them in
// the order of the ranks they come from; row 0 of outSplitsOffsets then holds how many came from each, row 1
// where they begin. The splits are read on the device when the operation runs: an earlier kernel of the stream
// may have computed them, and the host never waits. Rows of out beyond those received keep their values.
//
// PyTorch: all_to_all_vdev
//
// Shapes: in and out have the same type, any, and the same dimensions but for the first; rows may have any size
// and begin anywhere, and those whose bytes and addresses are multiples of 16 go quickest. out is symmetric and
// rendezvoused by the group, or a part of such a tensor, the same part on all ranks; the others may be ordinary.
// inSplits is I64 with an element for each member, outSplitsOffsets I64[2, members]. None of them overlap.
//
// Synchronises: collective over the group and ordered on the stream. It ends when all members' rows have
// arrived: everything it read may be overwritten by what the stream does next.
//
// Options: *Group (by default the one that allocated out), *Stream, Timeout.
//
// Capture: yes; replays read the splits anew.
//
// Errors: KindMisuse for tensors that are not such. Splits that are negative or exceed in, and an out that is
// too small for what it would receive, are refused on all members before anything is moved: the next
// synchronisation panics with a KindMisuse that names the rank and the value, and the group stays usable. And
// what ends a wait.
func (rt *Runtime) AllToAllVDev(in, out, inSplits, outSplitsOffsets *Tensor, opts ...Option) {
	rt.allToAllVDev("all_to_all_vdev", vdevDispatch, in, out, inSplits, outSplitsOffsets, opts)
}

// AllToAllVDev2D is [Runtime.AllToAllVDev] with several experts on each member, the dispatch of a mixture of
// experts. inSplits goes by member and there by expert, and in is packed in that order. out receives the rows by
// expert and there by the rank they come from; outSplitsOffsets holds the counts and the beginnings in that
// order.
//
// The region of every expert begins at a multiple of MajorAlign rows, 1 by default, and has at least so many,
// even if no row came: products over groups of rows can then take out as it is. The rows that only fill a region
// keep their values, and the counts leave them out.
//
// [Runtime.AllToAllVDev2DOffset] is its inverse: given out and outSplitsOffsets, it returns the rows to where
// they came from, in the order they had.
//
// PyTorch: all_to_all_vdev_2d
//
// Shapes: in and out as in [Runtime.AllToAllVDev]; inSplits is I64 with an element for each member and expert,
// outSplitsOffsets I64[2, len(inSplits)]. There may be up to 512 experts in all.
//
// Synchronises: as [Runtime.AllToAllVDev].
//
// Options: as [Runtime.AllToAllVDev], MajorAlign.
//
// Capture: yes; replays read the splits anew.
//
// Errors: as [Runtime.AllToAllVDev].
func (rt *Runtime) AllToAllVDev2D(in, out, inSplits, outSplitsOffsets *Tensor, opts ...Option) {
	rt.allToAllVDev("all_to_all_vdev_2d", vdevDispatch2D, in, out, inSplits, outSplitsOffsets, opts)
}

// AllToAllVDev2DOffset sends rows back from experts, the combine of a mixture of experts. inSplitsOffsets goes
// by expert and there by destination: row 0 has how many rows go, row 1 where in in they begin; what lies
// between is left out. This is what [Runtime.AllToAllVDev2D] made, so that its out, transformed by the experts,
// and its outSplitsOffsets are in and inSplitsOffsets here. out receives the rows by the rank they come from and
// there by expert, packed; outSplitsOffsets holds the counts and the beginnings in that order.
//
// PyTorch: all_to_all_vdev_2d_offset
//
// Shapes: in and out as in [Runtime.AllToAllVDev]; inSplitsOffsets and outSplitsOffsets are I64[2, n], with n
// the number of members times that of experts on each.
//
// Synchronises: as [Runtime.AllToAllVDev].
//
// Options: as [Runtime.AllToAllVDev].
//
// Capture: yes; replays read the splits and offsets anew.
//
// Errors: as [Runtime.AllToAllVDev]; offsets that lead out of in are refused like splits.
func (rt *Runtime) AllToAllVDev2DOffset(in, out, inSplitsOffsets, outSplitsOffsets *Tensor, opts ...Option) {
	rt.allToAllVDev("all_to_all_vdev_2d_offset", vdevCombine, in, out, inSplitsOffsets, outSplitsOffsets, opts)
}

// MajorAlign makes every expert's region of the result of AllToAllVDev2D a multiple of n rows, and no region
// empty.
func MajorAlign(n int) Option { return majorAlign(n) }

type majorAlign int

// vdevKind is one of the three operations of all_to_all_vdev.cu.
type vdevKind int

const (
	vdevDispatch vdevKind = iota
	vdevDispatch2D
	vdevCombine
)

// What limits all_to_all_vdev.cu.
const (
	vdevSplits     = packetSlots // a packet each
	vdevBlockBytes = 32 << 10    // of out, that are worth a block
)

func (rt *Runtime) allToAllVDev(op string, kind vdevKind, in, out, splits, outSplits *Tensor, opts []Option) {
	for _, t := range []*Tensor{in, out, splits, outSplits} {
		t.live(op)
	}
	taken := ordered
	if kind == vdevDispatch2D {
		taken |= anAlign
	}
	c := rt.newCall(op, collective, rt.home(out), taken, opts)
	g := c.opts.group
	n := c.checkVDev(kind, in, out, splits, outSplits)
	align := uint64(0)
	if kind == vdevDispatch2D {
		align = 1
		if c.opts.has(anAlign) {
			align = uint64(c.opts.align)
		}
	}
	c.record.dtype, c.record.n, c.record.detail = out.dtype, out.n, fmt.Sprintf("by %d splits", n)
	c.record.on(out)
	if align > 1 {
		c.record.detail += fmt.Sprintf(", regions of %d", align)
	}
	defer c.enter().leave()
	h := c.mapped(out)
	c.begin()
	a := &vdevArgs{
		signals: g.work.meetings,
		splits:  splits.pointer(), outSplits: outSplits.pointer(), outOffsets: outSplits.pointer() + device.Ptr(8*n),
		inRows: uint64(in.shape[0]), outRows: uint64(out.shape[0]), row: uint64(rowBytes(out)), align: align,
	}
	if kind == vdevCombine {
		a.packets.op, a.offsets = 1, splits.pointer()+device.Ptr(8*n)
	}
	for i := range g.ranks {
		a.out[i] = h.at(i, out)
	}
	p := rt.plan()
	a.packets.context = c.admit(in, out, splits, outSplits)
	a.packets.context.channels = uint32(p.meetBlocks)
	a.packets.in, a.packets.n, a.packets.epochs, a.packets.inbox = in.pointer(), uint64(n), g.work.epochs, g.work.inbox
	// The grid must be the same on all ranks, and what is theirs alone is not known: it follows from what all
	// have allocated.
	blocks := min(p.packetBlocks, p.meetBlocks, g.work.processors, max(1, out.st.size/vdevBlockBytes))
	threads := max(p.rowThreads, (n+31)&^31) // one for each split
	l := device.Launch{Grid: [3]int{blocks, 1, 1}, Block: [3]int{threads, 1, 1}, Overlap: true}
	c.launch("all_to_all_vdev", len(g.ranks), l, bytesOf(a))
}

// checkVDev refuses what the host can see to be wrong, and returns the number of splits.
func (c *call) checkVDev(kind vdevKind, in, out, splits, outSplits *Tensor) int {
	o := &c.opts
	world := len(o.group.ranks)
	if o.has(anAlign) && o.align < 1 {
		panic(c.misuse("MajorAlign", "", "MajorAlign must be positive, not %d", o.align))
	}
	if len(in.shape) == 0 || len(out.shape) == 0 || in.dtype != out.dtype || rowKind(in) != rowKind(out) {
		panic(c.misuse("out", "", "in is %v and out is %v: the type and all dimensions but the first must be the same", in.kind(), out.kind()))
	}
	name, want := "inSplits", fmt.Sprintf("i64[%d]", world)
	good := splits.dtype == I64 && len(splits.shape) == 1 && splits.n == world
	n := splits.n
	switch kind {
	case vdevDispatch2D:
		want = fmt.Sprintf("i64[n] with n a multiple of %d, at most %d", world, vdevSplits)
		good = splits.dtype == I64 && len(splits.shape) == 1
	case vdevCombine:
		name, want = "inSplitsOffsets", fmt.Sprintf("i64[2, n] with n a multiple of %d, at most %d", world, vdevSplits)
		good = splits.dtype == I64 && len(splits.shape) == 2 && splits.shape[0] == 2
		n /= 2
	}
	if !good || n == 0 || n%world != 0 || n > vdevSplits {
		panic(c.misuse(name, "", "%s must be %s for the %d ranks of %v, not %v", name, want, world, o.group, splits.kind()))
	}
	if outSplits.dtype != I64 || len(outSplits.shape) != 2 || outSplits.shape[0] != 2 || outSplits.shape[1] != n {
		panic(c.misuse("outSplitsOffsets", "", "outSplitsOffsets must be i64[2, %d], not %v", n, outSplits.kind()))
	}
	if o.has(anAlign) && o.align > out.shape[0] {
		panic(c.misuse("MajorAlign", "allocate a longer out", "MajorAlign is %d, and out has %d rows: not one region has room", o.align, out.shape[0]))
	}
	names, all := [4]string{"in", "out", name, "outSplitsOffsets"}, [4]*Tensor{in, out, splits, outSplits}
	for i := range all {
		for j := range i {
			if (i != 2 || j != 0) && overlap(all[i], all[j]) {
				panic(c.misuse(names[i], "", "%s overlaps %s", names[i], names[j]))
			}
		}
	}
	return n
}

// rowKind is the dimensions of t but for the first, in words.
func rowKind(t *Tensor) string { return fmt.Sprint(t.shape[1:]) }

// rowBytes is the size of one index of the first dimension.
func rowBytes(t *Tensor) int { return numelOf(t.shape[1:]) * t.dtype.Size() }

// vdevArgs is AllToAllVdevArgs of all_to_all_vdev.cu.
type vdevArgs struct {
	packets         packetArgs
	signals         ptrs
	out             ptrs
	splits, offsets device.Ptr
	outSplits       device.Ptr
	outOffsets      device.Ptr
	inRows, outRows uint64
	row             uint64
	align           uint64
}
