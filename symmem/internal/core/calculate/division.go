package calculate

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/expression"
)

// Reduce plans a reduction of all dimensions or, if along is not nil, of that one, where -1 is the
// last. into is nil for a new tensor.
func (c *Calculation) Reduce(into *Operand, along *int) (*Plan, error) {
	var first *Operand
	for i := range c.Operands {
		o := &c.Operands[i]
		switch {
		case o.Access == Number:
		case o.N == 1 && (first == nil || first.N != 1):
			if first == nil {
				first = o
			}
		case first == nil || first.N == 1:
			first = o
		case !slices.Equal(o.Shape, first.Shape):
			return nil, seam.Misuse(fmt.Sprintf("x%d", i), "let Map combine them first",
				"x%d is %s: an operand of a reduction has its shape, here %v, or one element", i, o.kind(), first.Shape)
		}
	}
	if first == nil {
		return nil, seam.Misuse("", "give one, or calculate in Go", "no operand is a tensor")
	}
	outer, length, inner := 1, first.N, 1
	shape := []int{}
	if along != nil {
		dim := *along
		if dim < 0 {
			dim += len(first.Shape)
		}
		if dim < 0 || dim >= len(first.Shape) {
			return nil, seam.Misuse("Along", "", "the dimensions are 0 to %d, or -1 for the last one, not %d", len(first.Shape)-1, *along)
		}
		length = first.Shape[dim]
		for i, d := range first.Shape {
			switch {
			case i < dim:
				outer *= d
			case i > dim:
				inner *= d
			}
			if i != dim {
				shape = append(shape, d)
			}
		}
	}
	if err := c.Fits(into, shape); err != nil {
		return nil, err
	}
	p := &Plan{Out: c.out(into), Shape: shape, N: outer * inner}
	if name, _ := c.Formula.Reduction(); length == 0 && p.N > 0 && !expression.OfNone(name) {
		return nil, seam.Misuse("", "give a tensor with elements, which x.Numel() counts", "the %s of no elements does not exist", name)
	}
	if p.N == 0 {
		return p, nil
	}
	return p, c.divide(p, into, first, outer, length, inner)
}

// divide plans the kernels of a reduction.
func (c *Calculation) divide(p *Plan, into, first *Operand, outer, length, inner int) error {
	r := &Reduce{Formula: c.Formula, Out: p.Out, Operands: c.Operands, Columns: inner > 1, Host: c.on.Host}
	widest := 1
	for i := range r.Operands {
		o := &r.Operands[i]
		if o.Access == Number {
			continue
		}
		widest = max(widest, o.Type.Size())
		o.Access = One
		if o.N == first.N && (o.N > 1 || slices.Equal(o.Shape, first.Shape)) {
			o.Access = Flat
		}
		if into != nil && into.overlaps(o) {
			return seam.Misuse("Into", "give memory of its own", "Into overlaps x%d, %s", i, o.kind())
		}
	}
	r.Width = c.on.width(widest)
	wider := true
	for i, o := range r.Operands {
		if o.Access == Flat {
			wider = wider && c.aligns(r.Width, i)
		}
	}
	if r.Columns {
		wider = wider && inner%r.Width == 0
	} else {
		wider = wider && (c.on.Host || outer == 1 || length%r.Width == 0)
	}
	kernel, width := Single, 1
	if wider {
		width = r.Width
	}
	if wider && !c.on.Host {
		kernel = Wider
	}
	p.key = append(c.key, 2, byte(r.Out), byte(r.Width))
	for _, o := range r.Operands {
		p.key = append(p.key, byte(o.Access))
	}
	if r.Columns {
		p.key = append(p.key, 'c')
	}
	p.text = r.Text
	d := c.on.partition(r, outer, length, inner, width)
	if d.chunks > 1 {
		p.Partial = p.N * d.chunks * PartialBytes
	}
	p.Launches = func(out, partial device.Ptr, rank, size int) []Launch {
		args := append([]uint64{uint64(out), uint64(partial)}, c.arguments(first.N, rank, size)...)
		args = append(args, uint64(outer), uint64(length), uint64(inner), uint64(d.chunks), uint64(d.share), uint64(d.lanes))
		list := []Launch{{Kernel: kernel, Launch: c.on.together(d.items, d.lanes), args: args}}
		if d.chunks > 1 {
			lanes := c.on.lanesFor(d.chunks)
			last := Launch{Kernel: Finish, Launch: c.on.together(p.N, lanes), args: slices.Clone(args)}
			last.args[len(args)-1] = uint64(lanes)
			last.Overlap = true
			list = append(list, last)
		}
		return list
	}
	return nil
}

// partition describes how a reduction is divided: items are the pieces of work, each for `lanes`
// threads.
type partition struct{ chunks, share, lanes, items int }

// mostPartial bounds the partial results of a reduction: 4 MiB, enough for 16 chunks of 16384
// columns.
const mostPartial = 1 << 18

// MostPartial is the maximum of Plan.Partial.
const MostPartial = mostPartial * PartialBytes

// partition divides a reduction so that the device has enough threads, and each thread enough work.
// On a GPU, all blocks run at once if they fit, so that no block runs alone at the end.
func (on *Device) partition(r *Reduce, outer, length, inner, width int) partition {
	p := partition{lanes: 1, chunks: 1}
	const least = 4 // loads of a thread
	neighbours := 1 // results of a thread
	if r.Columns {
		neighbours = width
	}
	groups := outer * inner / neighbours
	step := width / neighbours // elements that a thread takes at once
	most := mostPartial / (outer * inner)
	if on.Host {
		p.chunks = min((on.Processors+groups-1)/groups, length/4096, most)
	} else {
		all := r.Blocks() * on.Processors // blocks that run at once
		low, high := r.Lanes(inner / neighbours)
		for high = min(high, on.lanesFor(length/(step*least))); p.lanes < high &&
			(p.lanes < low || groups*p.lanes < all*Threads); {
			p.lanes *= 2
		}
		blocks := (groups*p.lanes + Threads - 1) / Threads
		most = min(most, length/(p.lanes*step*least))
		best := 0.0
		for waves := 1; waves <= 4 && blocks < all; waves++ {
			chunks := min(waves*all/blocks, most)
			if used := float64(chunks*blocks) / float64(waves*all); used > best+0.05 {
				best, p.chunks = used, chunks
			}
		}
	}
	p.chunks = max(p.chunks, 1)
	p.share = (length + p.chunks - 1) / p.chunks
	p.share = max((p.share+width-1)/width*width, 1)
	p.chunks = max((length+p.share-1)/p.share, 1)
	p.items = groups * p.chunks
	return p
}

// lanesFor returns the number of threads that work together on n pieces of work.
func (on *Device) lanesFor(n int) int {
	if on.Host || n <= 1 {
		return 1
	}
	return min(1<<bits.Len(uint(n-1)), Threads)
}

// together returns the grid for items that `lanes` threads each work on. On the host, and with one
// lane, threads share the items.
func (on *Device) together(items, lanes int) device.Launch {
	if on.Host {
		return device.Launch{Grid: [3]int{max(min(on.Processors, items), 1), 1, 1}, Block: [3]int{1, 1, 1}}
	}
	each := Threads / lanes
	return device.Launch{Grid: [3]int{max((items+each-1)/each, 1), 1, 1}, Block: [3]int{Threads, 1, 1}}
}
