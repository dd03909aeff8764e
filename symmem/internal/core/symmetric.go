package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// defaultPadSize is PyTorch's: 32 channels of 72 ranks, 4 bytes each.
const defaultPadSize = 9216

// windowUnit is the alignment of NCCL's windows.
const windowUnit = 4096

// place lays out a segment. Its data begins where a window of NCCL can begin.
func (rt *Runtime) place(pad, bytes int) memory.Placement {
	return memory.Place(rt.info.Guards, windowUnit, pad, bytes)
}

// mapped prepares a segment that is mapped anew.
func (rt *Runtime) mapped(s device.Segment, p memory.Placement) {
	guard := 0
	if g, ok := s.(device.GuardedSegment); ok {
		guard = g.Guards()
	}
	p.Protect(s)
	rt.located.Renew(s.Ptr(), s.Size(), guard)
}

// empty allocates a symmetric tensor with a signal pad of so many bytes, in memory of the driver.
// desc must be the same on all members.
func (g *Group) empty(op string, dtype DType, shape []int, pad int, desc string) *Tensor {
	return g.emptyIn(op, dtype, shape, pad, desc, g.rt.dev.NewSegment)
}

// emptyIn is empty, in memory that segment makes, or in a spare of the driver's memory. The group's
// meeting is held during that.
func (g *Group) emptyIn(op string, dtype DType, shape []int, pad int, desc string, segment func(n int) (device.Segment, error)) *Tensor {
	rt := g.rt
	n := rt.numel(op, dtype, shape)
	rt.hostCall(op)
	g.meeting.Lock()
	defer g.meeting.Unlock()
	a := &allocation{rt: rt, group: g, desc: dtype.element().Shaped(shape), dtype: dtype, shape: slices.Clone(shape),
		at: rt.place(pad, n*dtype.Size()), size: n * dtype.Size()}
	var err error
	if a.peers, err = g.segments(op, desc, a.at, segment); err != nil {
		panic(rt.failure(op, err))
	}
	a.seg = a.peers[rt.rank]
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.backend.used = true
	return &Tensor{rt: rt, st: a.begin(), dtype: dtype, shape: a.shape, n: n}
}

// begin makes a new allocation one of the world's, and returns the storage of its tensors. rt.mu is held.
func (a *allocation) begin() *storage {
	rt, g := a.rt, a.group
	a.id = fmt.Sprintf("%s tensor %d", g.key, g.allocs)
	g.allocs++
	a.digest.Text(a.id)
	for r, s := range a.peers {
		rt.mapped(s, a.at)
		a.locate(r, s)
	}
	a.markSegment()
	rt.allocs = append(rt.allocs, a)
	return a.newStorage(a.seg)
}

// SetSignalPadSize sets the bytes of the signal pad of tensors and groups made from now on: a
// positive multiple of 8, at most 1 GiB. All ranks must set the same. The world's own channels were
// fixed by Init.
func (rt *Runtime) SetSignalPadSize(n int) {
	rt.refuseClosed("SetSignalPadSize")
	if n <= 0 || n%8 != 0 || n > 1<<30 {
		panic(rt.misuse("SetSignalPadSize", "n", "", "the size must be a positive multiple of 8, at most 1 GiB, not %d", n))
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.padSize = n
}

// SignalPadSize is the bytes of the signal pad of tensors and groups made from now on.
func (rt *Runtime) SignalPadSize() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.padSize
}
