package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/layout"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Region is symmetric memory that an operator keeps between its calls. It has data, and a pad that
// Recover sets to zero.
type Region struct{ h *Handle }

// NewRegion makes a region of zeros. desc must be the same on all members. It is collective over the
// group in the options, by default g. If the group spans hosts, a network must connect them.
func (in Inner) NewRegion(op string, g *Group, opts []Option, size func(g *Group) (pad, data int, desc string)) *Region {
	g = g.rt.groupOf(op, g, opts)
	g.carriesAny(op)
	pad, data, desc := size(g)
	t := g.empty(op, U8, []int{data}, layout.Aligned(pad), desc)
	r := &Region{}
	if err := Maybe(func() { r.h = g.rt.Rendezvous(t, g) }); err != nil {
		panic(err)
	}
	return r
}

// Group is the group that the region is of.
func (r *Region) Group() *Group { return r.h.g }

// Net returns the arguments by which kernels reach the members on other hosts: the group's tables,
// 0 if there are no such members, and the window of the data with the offset in it. The window of
// the pads is the next one.
func (r *Region) Net() (tables device.Ptr, window uint32, start uint64) {
	return r.h.kernel.Net, r.h.kernel.Window, r.h.kernel.Start
}

// Pad is the address of member i's pad, 0 if it is on another host.
func (r *Region) Pad(i int) device.Ptr { return r.h.pads[i] }

// Data is the address of member i's data, 0 if it is on another host.
func (r *Region) Data(i int) device.Ptr { return r.h.buffers[i] }

// All is this rank's data.
func (r *Region) All() *Tensor { return r.h.t }

// Part is a tensor over this rank's data from byte at on. It ends with the region, and is not
// symmetric.
func (r *Region) Part(dtype DType, at int, shape ...int) *Tensor {
	t, n := r.h.t, 1
	for _, d := range shape {
		n *= d
	}
	size := n * dtype.Size()
	if at < 0 || at+size > t.Bytes() {
		panic(fmt.Sprintf("symmem: bytes %d to %d of a region of %d", at, at+size, t.Bytes()))
	}
	st := &storage{ptr: t.pointer() + device.Ptr(at), size: size, alloc: t.st.alloc, own: t.st, peer: t.rt.rank}
	return &Tensor{rt: t.rt, st: st, dtype: dtype, shape: slices.Clone(shape), n: n}
}

// Free gives the region back. It is collective over the group.
func (r *Region) Free(op string) {
	r.h.usable(op)
	r.h.t.st.alloc.free(op)
}

// NewCall begins a call of an operator on the region. No option can move it to another group.
func (r *Region) NewCall(of *operators.Operator, opts []Option) Call {
	r.h.usable(of.Name)
	rt := r.h.g.rt
	c := Call{rt: rt}
	rt.read(&c.opts, of, r.h.g, false, opts)
	c.record(of)
	c.Record.Far = r.h.g.split.Spans()
	if c.opts.group != r.h.g {
		panic(c.Misuse("group", "leave it out", "the handle or the tensor of the call belongs to %v, not %v", r.h.g, c.opts.group))
	}
	return c
}

// Period returns the period of the call: calls before and after a Recover have different periods,
// and so have calls in different captures. The call has entered.
func (c *Call) Period() Period { return Period{c.rt.generation, c.rt.capture} }

// Period is the calls between two Recovers, or those of one capture.
type Period struct {
	generation int
	capture    *Graph
}

// Recovered reports whether there was a Recover between two periods.
func (p Period) Recovered(q Period) bool { return p.generation != q.generation }
