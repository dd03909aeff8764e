package symmem

import (
	"fmt"
	"slices"
	"weak"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Handle is a symmetric tensor that a group has mapped: every member's copy of it, its signal pad,
// and the group's signals. Ranks are numbers in the group. A handle ends with its tensor.
type Handle struct {
	t *Tensor // which the handle keeps
	*mapping
}

// Rendezvous maps the other members' copies of a tensor that all members got from one call of
// Empty; those on other hosts stay unmapped, with pointers that are 0. Later calls for the same
// tensor and group return the same handle without meeting the others.
//
// The handle of a slice is of that part alone: Put, PutWithSignal and Get begin where it begins.
// Its signal pad is the pad of the whole tensor, so that word 0 is the same word for the handles of
// all slices, and signals and barriers are the group's.
//
// PyTorch: rendezvous
//
// Shapes: t is symmetric.
//
// Synchronises: collective over the group on the host; it does not wait for streams.
//
// Options: *Group (by default the group that allocated t, of which it must be a part).
//
// Capture: refused when it would meet the others: call it before.
//
// Errors: KindMisuse for a t that is not symmetric or a group that is not a part of the one that
// allocated it; KindMismatch where the ranks call different things; KindPeer, KindInterrupted.
func (rt *Runtime) Rendezvous(t *Tensor, opts ...Option) *Handle {
	const op = "Rendezvous"
	rt.usable(op, t)
	if !t.Symmetric() {
		panic(rt.misuse(op, "tensor", "allocate it by Empty, or within UseMemPool", "the tensor %v is not symmetric", t.kind()))
	}
	a := t.st.alloc
	a.usable(op)
	g := rt.groupOf(op, a.group, opts)
	for _, r := range g.ranks {
		if !slices.Contains(a.group.ranks, r) {
			panic(rt.misuse(op, "group", "", "rank %d of %v has no part of a tensor of %v", r, g, a.group))
		}
	}
	rt.mu.Lock()
	m := a.find(t, g)
	var refused *Error
	if m == nil && a.block != nil {
		m, refused = a.mapPooled(op, t, g)
	}
	rt.mu.Unlock()
	if refused != nil {
		panic(refused)
	}
	if m == nil {
		rt.hostCall(op)
		m = g.mapCopies(op, t)
		g.registerWindow(op, a)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return m.of(t)
}

// of returns the handle of the mapping, the same one as long as something holds it. t is the tensor,
// or another one that is like it. rt.mu is held.
func (m *mapping) of(t *Tensor) *Handle {
	h := m.handle.Value()
	if h == nil {
		h = &Handle{t, m}
		m.handle = weak.Make(h)
	}
	return h
}

// mapCopies maps the copies of the members on this host. It is collective over the group.
func (g *Group) mapCopies(op string, t *Tensor) *mapping {
	rt, a := g.rt, t.st.alloc
	g.meeting.Lock()
	defer g.meeting.Unlock()
	desc := fmt.Sprintf("%s, %s", t.kind(), a.id)
	if t.offset != 0 {
		desc += fmt.Sprintf(" at byte %d", t.offset)
	}
	mapped, _, err := g.share(op, desc, a.seg, nil, func(rank int) device.Segment {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		return a.peers[rank]
	})
	if err != nil {
		panic(rt.failure(op, err))
	}
	if err := a.expose(op, g); err != nil {
		panic(rt.failure(op, err))
	}
	rt.mu.Lock()
	known := a.anyMapping(g) != nil
	rt.mu.Unlock()
	var cast *multicasting
	if !known {
		if cast, err = a.makeMulticast(op, g); err != nil {
			panic(rt.failure(op, err))
		}
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if cast != nil {
		if a.multicasts == nil {
			a.multicasts = map[*Group]*multicasting{}
		}
		a.multicasts[g] = cast
	}
	for i, s := range mapped {
		if r := g.ranks[i]; s != nil && a.peers[r] == nil {
			rt.mapped(s, a.at)
			a.peers[r] = s
			a.locate(r, s)
		}
	}
	return a.keep(a.mapping(t, g))
}

// keep adds a mapping to those of the allocation. rt.mu is held.
func (a *allocation) keep(m *mapping) *mapping {
	a.mappings = append(a.mappings, m)
	return m
}

// mapPooled returns a new mapping of memory of a pool, which all members have mapped. It is refused
// for a group that spans hosts and is not the pool's: the memory's windows are for the pool's group.
// rt.mu is held.
func (a *allocation) mapPooled(op string, t *Tensor, g *Group) (*mapping, *Error) {
	if g != a.group && g.split.Spans() {
		return nil, a.rt.misuse(op, "group", "take the tensor from the pool of that group",
			"the tensor %v is of the memory pool of %v, and %v spans hosts", t.kind(), a.group, g)
	}
	return a.keep(a.mapping(t, g)), nil
}

// find returns the mapping of exactly this tensor, if there is one. rt.mu is held.
func (a *allocation) find(t *Tensor, g *Group) *mapping {
	for _, m := range a.mappings {
		if m.g == g && m.offset == t.offset && m.dtype == t.dtype && slices.Equal(m.shape, t.shape) {
			return m
		}
	}
	return nil
}

// anyMapping returns any mapping of the allocation in g, for the addresses of the peers' copies;
// nil if there is none. rt.mu is held.
func (a *allocation) anyMapping(g *Group) *mapping {
	for _, m := range a.mappings {
		if m.g == g {
			return m
		}
	}
	return nil
}

// mapping builds the mapping of t once all peers on this rank's host are mapped. rt.mu is held.
func (a *allocation) mapping(t *Tensor, g *Group) *mapping {
	n := len(g.ranks)
	m := &mapping{a: a, g: g, offset: t.offset, dtype: t.dtype, shape: slices.Clone(t.shape),
		base: make([]device.Ptr, n), buffers: make([]device.Ptr, n), pads: make([]device.Ptr, n)}
	m.kernel.Bytes, m.kernel.PadBytes = uint64(t.Bytes()), uint64(a.at.PadBytes)
	m.kernel.Signals = g.work.signals
	m.kernel.Net, m.kernel.Start, m.kernel.Window = g.wired.Table, uint64(t.offset), a.windows[g]
	for i, r := range g.ranks {
		if !g.split.Near(i) {
			continue
		}
		seg := a.peers[r]
		m.base[i] = a.at.DataIn(seg)
		m.buffers[i] = m.base[i] + device.Ptr(t.offset)
		m.pads[i] = a.at.PadIn(seg)
	}
	m.all = a.multicasts[g].at(a.at.DataIn(a.seg) - a.seg.Ptr() + device.Ptr(t.offset))
	copy(m.kernel.Buffers[:], m.buffers)
	copy(m.kernel.Pads[:], m.pads)
	return m
}

// exists refuses a nil handle.
func (h *Handle) exists(op string) {
	if h == nil || h.t == nil {
		panic(nilArgument(op, "handle"))
	}
}

// usable refuses a handle whose tensor or group is gone.
func (h *Handle) usable(op string) {
	h.exists(op)
	h.mapping.usable(op)
}

func (m *mapping) usable(op string) {
	m.a.usable(op)
	m.g.usable(op)
}

// Rank is this rank's number in the handle's group.
func (h *Handle) Rank() int {
	h.exists("Rank")
	return h.g.rank
}

// WorldSize is the number of members of the handle's group.
func (h *Handle) WorldSize() int {
	h.exists("WorldSize")
	return len(h.g.ranks)
}

// Group is the group that made the handle.
func (h *Handle) Group() *Group {
	h.exists("Group")
	return h.g
}

// BufferPtrs returns the addresses at which every member's copy of the tensor is mapped here, 0 for
// members on other hosts.
func (h *Handle) BufferPtrs() []uintptr {
	h.exists("BufferPtrs")
	return h.list("BufferPtrs", h.buffers)
}

// SignalPadPtrs returns the addresses at which every member's signal pad of the tensor is mapped
// here, 0 for members on other hosts.
func (h *Handle) SignalPadPtrs() []uintptr {
	h.exists("SignalPadPtrs")
	return h.list("SignalPadPtrs", h.pads)
}

func (h *Handle) list(op string, p []device.Ptr) []uintptr {
	h.usable(op)
	h.a.shown.Store(true)
	out := make([]uintptr, len(h.g.ranks))
	for i := range out {
		out[i] = uintptr(p[i])
	}
	return out
}

// BufferPtrsDev is the address, in device memory, of an array of the BufferPtrs: for a kernel
// parameter such as float**.
func (h *Handle) BufferPtrsDev() uintptr {
	const op = "BufferPtrsDev"
	h.exists(op)
	h.a.shown.Store(true)
	return h.table(op, 0)
}

// SignalPadPtrsDev is the same of the SignalPadPtrs.
func (h *Handle) SignalPadPtrsDev() uintptr {
	const op = "SignalPadPtrsDev"
	h.exists(op)
	h.a.shown.Store(true)
	return h.table(op, 1)
}

// table is the address of an array of a pointer for each member: of the buffers, or behind them of
// the pads.
func (m *mapping) table(op string, which int) uintptr {
	m.usable(op)
	rt := m.g.rt
	rt.mu.Lock()
	t := m.tables.t
	rt.mu.Unlock()
	if t == nil {
		words := make([]int64, 0, 2*len(m.g.ranks))
		for _, p := range slices.Concat(m.buffers, m.pads) {
			words = append(words, int64(p))
		}
		t = rt.zeros(op, I64, []int{len(words)}, len(words))
		t.CopyFrom(words)
		t.read(op, 0) // a kernel on any stream may use it
		rt.mu.Lock()
		m.tables.t = t
		rt.mu.Unlock()
	}
	return t.Ptr() + uintptr(8*which*len(m.g.ranks))
}

// MulticastPtr is the multicast address of the tensor, in groups of one host whose ranks have a
// device each that has NVLink multicast, or emulates it: see [Capabilities].Multicast. It is 0 where
// there is none. On GPUs it is for multimem instructions and symm::multimem_sum and
// symm::multimem_store of nccl_device.h, on the cpu device for these two alone.
func (h *Handle) MulticastPtr() uintptr {
	const op = "MulticastPtr"
	h.usable(op)
	h.a.shown.Store(true)
	rt := h.g.rt
	if _, emulates := rt.dev.(device.Multicaster); !emulates || !rt.info.Multicast || h.g.split.Spans() {
		return uintptr(h.all)
	}
	h.needWindow(op)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return uintptr(h.tables.multicast)
}

// BufferSize is the bytes of the whole allocation's data, as it was asked for.
func (h *Handle) BufferSize() int {
	h.exists("BufferSize")
	return h.a.size
}

// Offset is the bytes from the allocation's data to the tensor.
func (h *Handle) Offset() int {
	h.exists("Offset")
	return h.offset
}

// SignalPadSize is the bytes of the tensor's signal pad.
func (h *Handle) SignalPadSize() int {
	h.exists("SignalPadSize")
	return int(h.kernel.PadBytes)
}

// at returns the address of member i's copy of t, which belongs to the mapping's allocation.
func (m *mapping) at(i int, t *Tensor) device.Ptr { return m.base[i] + device.Ptr(t.offset) }

// signalWord is a 64-bit word of this rank's signal pad of the tensor. In NVSHMEM's heap it stands for
// the word of each member.
func (h *Handle) signalWord(sig int) device.Ptr { return h.pads[h.g.rank] + device.Ptr(8*sig) }
