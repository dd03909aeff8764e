package symmem

import (
	"slices"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// ChecksBounds reports whether kernels of the user's must have checked pointers, as
// device.BoundsChecker makes them.
func (in Inner) ChecksBounds() bool { return in.rt.checking.Load() }

// GiveChecked notes for Findings which tensors and handles the kernel of a call is given, and
// returns the extents of the tensors. The call has picked its stream; it joins the handles
// afterwards.
func (c *Call) GiveChecked(text device.Source, tensors []*Tensor, handles []*Handle) []abi.Extent {
	checked := &checkedLaunch{text: text}
	extents := make([]abi.Extent, len(tensors))
	for i, t := range tensors {
		checked.given = append(checked.given, t.extent())
		extents[i] = abi.Extent{First: t.st.ptr, Bytes: uint64(t.st.size), Watch: c.rt.watchPtr()}
	}
	for _, h := range handles {
		checked.given = append(checked.given, h.extents()...)
	}
	c.Record.checked = checked
	if len(tensors) > 0 {
		c.Record.Stream = c.stream.id
		call := c.rt.note(&c.Record)
		for i := range extents {
			extents[i].Call = call
		}
	}
	return extents
}

// extent is the whole memory that a tensor is a part of, as elements of the tensor's type.
func (t *Tensor) extent() location {
	what := contents{dtype: t.dtype, shape: t.shape}
	if t.Bytes() != t.st.size {
		what.shape = []int{t.st.size / t.dtype.Size()}
	}
	l := location{At: t.st.ptr, Bytes: t.st.size, What: what, Peer: -1}
	if t.st.peer != t.rt.rank {
		l.Peer = t.st.peer
	}
	return l
}

// extents are the copies and the pads that the members of a handle's group have of its tensor.
func (h *Handle) extents() (all []location) {
	for i, rank := range h.g.ranks {
		peer := rank
		if rank == h.g.rt.rank {
			peer = -1
		}
		all = append(all,
			location{At: h.buffers[i], Bytes: h.t.Bytes(), What: contents{dtype: h.t.dtype, shape: h.t.shape}, Peer: peer},
			location{At: h.pads[i], Bytes: int(h.kernel.PadBytes), What: contents{shape: h.t.shape, pad: true}, Peer: peer})
	}
	return all
}

// foundOutside returns the accesses that kernels with checked pointers have published since it was
// called last.
func (rt *Runtime) foundOutside() (found []device.Finding) {
	rt.looking.Lock()
	defer rt.looking.Unlock()
	if rt.closed.Load() {
		return nil
	}
	for i := range rt.watch.Outside {
		o := &rt.watch.Outside[i]
		if atomic.LoadUint32(&o.State) == 0 {
			continue
		}
		found = append(found, rt.findingOf(o))
		atomic.StoreUint32(&o.State, 0)
		atomic.StoreUint32(&o.Line, 0)
	}
	return found
}

// findingOf puts an access into words.
func (rt *Runtime) findingOf(o *device.Outside) device.Finding {
	call, known := rt.find(o.Call)
	a := device.Access{Rank: rt.rank, Kernel: call.Op, Caller: call.Caller, Threads: 1, Op: "reads or writes", Bytes: int(o.Bytes)}
	if o.Reads != 0 {
		a.Op = "reads"
	}
	for i := range a.Block {
		a.Block[i], a.Thread[i] = int(o.Block[i]), int(o.Thread[i])
	}
	f := device.Finding{Kind: device.OutOfBounds, Address: device.Ptr(o.Address),
		Repair: "compare the index with the number of elements before the access"}
	if known && call.checked != nil {
		if text := call.checked.text; o.Line != device.NoLine {
			a.File, a.Line, a.Source = text.Name, int(o.Line), text.LineAt(int(o.Line))
		}
		f.Memory = call.checked.outside(f.Address, device.Ptr(o.First))
	}
	f.Accesses = []device.Access{a}
	return f
}

// outside describes an access at an address that left the memory which begins at first. The access
// may begin inside.
func (l *checkedLaunch) outside(at, first device.Ptr) string {
	i := slices.IndexFunc(l.given, func(o location) bool { return o.At == first })
	if i < 0 {
		return ""
	}
	o := l.given[i]
	if end := o.At + device.Ptr(o.Bytes); at >= o.At && at < end {
		at = end
	}
	return o.Describe(at)
}
