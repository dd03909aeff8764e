package symmem

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// defaultPadSize is PyTorch's: 32 channels of 72 ranks, 4 bytes each.
const defaultPadSize = 9216

// windowUnit is the alignment of NCCL's windows.
const windowUnit = 4096

// allocation is symmetric memory: one segment in each member of a group, [signal pad | data].
type allocation struct {
	rt     *Runtime
	group  *Group
	id     string       // equal on all members and never used again: ranks compare it
	digest calls.Digest // of id
	desc   string       // "bf16[4096]"
	dtype  DType
	shape  []int
	seg    device.Segment
	at     memory.Placement
	size   int // bytes of data
	freed  atomic.Bool
	unheld atomic.Bool            // no tensor and no handle of it is left in this rank's program
	shown  atomic.Bool            // the program has got an address of it
	stale  atomic.Pointer[string] // why peers cannot be reached any more
	block  *memory.PoolBlock      // of the memory pool to which it goes back, or nil

	// Guarded by rt.mu.
	peers      map[int]device.Segment // by world rank, as far as mapped
	mappings   []*mapping
	windows    map[*Group]uint32 // the id of the data's, by group that spans hosts; the pad's is the next one
	used       uint64            // streams that touched memory of a pool, a bit each
	multicasts map[*Group]*multicasting
	stands     bool // for ordinary tensors: its group frees it
	lasts      bool // until Free, whoever holds it
	rests      bool // nothing holds it, and no work of this rank uses it
	alone      bool // its pool was emptied: it is freed without the other members
}

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

// Empty returns a symmetric tensor of zeros, which peers can map by Rendezvous. It is collective
// over all ranks, with equal arguments. No shape means one element.
//
// It lives until Free, or until no member holds it, a view of it, or a handle: its memory is then
// taken by a later Empty of the same size, which maps nothing anew, or is given back. Addresses do
// not hold it, such as those that Ptr and BufferPtrs return, except for work that was issued before
// the next Empty.
//
// Within [Runtime.UseMemPool] of the same group the memory is the pool's, and the members do not
// meet on the host.
func (rt *Runtime) Empty(dtype DType, shape ...int) *Tensor { return rt.all.Empty(dtype, shape...) }

// Empty is [Runtime.Empty] for the members of a group.
func (g *Group) Empty(dtype DType, shape ...int) *Tensor {
	const op = "Empty"
	g.exists(op)
	return g.rt.makes(g.emptyLike(op, dtype, shape))
}

// emptyLike is Empty, for op.
func (g *Group) emptyLike(op string, dtype DType, shape []int) *Tensor {
	rt := g.rt
	dtype = rt.typed(dtype)
	rt.numel(op, dtype, shape)
	g.usable(op)
	rt.mu.Lock()
	pad, pooling := rt.padSize, rt.pooling == g
	rt.mu.Unlock()
	if pooling {
		return g.emptyPooled(op, dtype, shape)
	}
	desc := dtype.element().Shaped(shape)
	if pad != defaultPadSize {
		desc += fmt.Sprintf(" with a signal pad of %d bytes", pad)
	}
	if g.takesHeap() {
		return g.emptyIn(op, dtype, shape, pad, desc, func(n int) (device.Segment, error) { return rt.heap.Segment(members{g}, op, desc, n) })
	}
	return g.empty(op, dtype, shape, pad, desc)
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
	a.id = fmt.Sprintf("%s tensor %d", g.key, g.allocs)
	g.allocs++
	a.digest.Text(a.id)
	for r, s := range a.peers {
		rt.mapped(s, a.at)
		a.locate(r, s)
	}
	a.markSegment()
	st := a.newStorage(a.seg)
	rt.allocs = append(rt.allocs, a)
	rt.backend.used = true
	return &Tensor{rt: rt, st: st, dtype: dtype, shape: a.shape, n: n}
}

// usable refuses an operation on the peers' parts of an allocation that was freed or has lost a
// part.
func (a *allocation) usable(op string) {
	a.rt.refuseClosed(op)
	if a.freed.Load() {
		panic(a.rt.misuse(op, "tensor", "", "the tensor %s was freed", a.desc))
	}
	if why := a.stale.Load(); why != nil {
		panic(&Error{Kind: KindPeer, Op: op, Rank: a.rt.rank, Peer: -1, Arg: "tensor",
			Msg:  fmt.Sprintf("the symmetric tensor %s lost a part: %s", a.desc, *why),
			Hint: "its own data can still be read; " + a.rt.goingOn("make a new one by Empty")})
	}
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
