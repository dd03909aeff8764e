package symmem

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/layout"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/core/networks"
	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// NCCL's device API, as far as it is the host's: communicators and windows for kernels that include
// nccl_device.h.

// DevReqs lists the resources of a [DeviceComm]. The names follow NCCL's requirements:
// barrierCount, lsaBarrierCount, lsaLLA2ABlockCount, lsaLLA2ASlotCount, and the bytes of resource
// buffers. Indices of each begin at 0.
type DevReqs struct {
	Barriers         int   // for ncclBarrierSession: usually one for each block
	LsaBarriers      int   // for ncclLsaBarrierSession
	WorldGinBarriers int   // for ncclGinBarrierSession of all ranks
	RailGinBarriers  int   // and of a rail
	GinSignals       int   // of each context of ncclGin
	GinCounters      int   // likewise
	GinContexts      int   // one if any of the others of GIN is asked for
	LLA2ABlocks      int   // for ncclLLA2ASession, with LLA2ASlots slots each
	LLA2ASlots       int   //
	Multimem         bool  // pointers to the memory of all LSA ranks at once, where the device has multicast
	Resources        []int // the bytes of each resource buffer, zeros at first
}

// DeviceComm is the argument of a kernel whose parameter is a ncclDevComm: a group with resources
// in the memory of all members. It lives until Free.
type DeviceComm struct {
	t     *Tensor
	g     *Group
	reqs  DevReqs
	arg   abi.NcclDevComm // but for the call's own words
	parts []uint32        // handles of Resources
	words networks.Span   // of the network: they count operations that are over
}

// DeviceWindow is the argument of a kernel whose parameter is a ncclWindow_t: a symmetric tensor.
// It ends with the tensor.
type DeviceWindow struct{ h *Handle }

// lsaPlace is this rank's number among the members on its host, and how many they are. It refuses a
// group whose ranks are not numbered as NCCL does: as many on each host, one host after the other.
func (g *Group) lsaPlace(op string) (rank, size int) {
	if !g.split.Even() || !slices.Equal(slices.Concat(g.split.Parts...), g.ranks) {
		panic(g.rt.misuse(op, "group", "give a group with as many consecutive ranks on each host, or "+g.lsaCall(),
			"NCCL's teams need equal hosts, and %v has the ranks %s", g, places.Spelled(g.split.Parts)))
	}
	if size = len(g.split.Here()); size > abi.MaxRanks {
		panic(g.rt.misuse(op, "group", "", "a kernel reaches at most %d ranks of a host", abi.MaxRanks))
	}
	return slices.Index(g.split.Here(), g.rt.rank), size
}

// tabled stores a table of the members' parts of a window in device memory. base lists the parts by
// group rank, 0 for members on other hosts. The table ends with the handle.
func (h *Handle) tabled(op string, base []device.Ptr, size int) *Tensor {
	g := h.g
	start := uint64(h.t.offset) + uint64(base[g.rank]) - uint64(h.buffers[g.rank])
	w := abi.NcclWindow{Bytes: uint64(size), Watch: watchWord(&g.rt.watch.Abort), Rank: int32(g.rank), NRanks: int32(len(g.ranks))}
	rank, n := g.lsaPlace(op)
	w.NetStart, w.NetWindow = start, h.kernel.Window
	w.LsaRank, w.LsaSize = int32(rank), int32(n)
	w.Local = abi.Ptr(base[g.rank])
	for i := range n {
		w.Lsa[i] = abi.Ptr(base[g.rank-rank+i])
	}
	words := unsafe.Slice((*int64)(unsafe.Pointer(&w)), unsafe.Sizeof(w)/8)
	t := g.rt.zeros(op, I64, []int{len(words)}, len(words))
	m, emulated := g.rt.dev.(device.Multicaster)
	if emulated = emulated && g.rt.info.Multicast; emulated {
		at, err := m.Multicast(t.pointer(), size)
		if err != nil {
			panic(g.rt.failure(op, err))
		}
		w.Multimem = abi.Ptr(at)
	} else if h.all != 0 {
		w.Multimem = abi.Ptr(h.all + base[g.rank] - h.buffers[g.rank])
	}
	t.CopyFrom(words)
	t.read(op, 0) // a kernel on any stream may use it
	g.rt.mu.Lock()
	defer g.rt.mu.Unlock()
	h.tables.window = t
	if emulated {
		h.tables.multicast = device.Ptr(w.Multimem)
	}
	return t
}

// watchWord returns the address by which kernels reach a word of the page that they share with the
// host.
func watchWord(word *uint32) device.Ptr { return device.Ptr(uintptr(unsafe.Pointer(word))) }

// Window returns a symmetric tensor as a window of NCCL's device API: the argument of a kernel
// whose parameter is a ncclWindow_t. Offsets count from the start of t. Rendezvous is included;
// later calls return the same window. With the back end NCCL it is a window of NCCL's too, for
// kernels with NCCL's own nccl_device.h.
//
// PyTorch: rendezvous; nccl's ncclCommWindowRegister
//
// Shapes: t is symmetric.
//
// Synchronises: as [Runtime.Rendezvous].
//
// Options: *Group (by default the group that allocated t, of which it must be a part).
//
// Capture: as [Runtime.Rendezvous].
//
// Errors: as [Runtime.Rendezvous]; KindMisuse for a group that has more ranks on one host than on
// another.
func (rt *Runtime) Window(t *Tensor, opts ...Option) *DeviceWindow {
	const op = "Window"
	rt.usable(op, t)
	if !t.Symmetric() {
		panic(rt.misuse(op, "tensor", "allocate it by Empty, or within UseMemPool", "the tensor %v is not symmetric", t.kind()))
	}
	rt.groupOf(op, t.st.alloc.group, opts).lsaPlace(op)
	h := rt.Rendezvous(t, opts...)
	if h.needWindow(op) {
		h.nativeWindow(op)
	}
	return &DeviceWindow{h}
}

// needWindow makes the table of the handle's window, and reports whether there was none.
func (h *Handle) needWindow(op string) (made bool) {
	rt := h.g.rt
	rt.mu.Lock()
	known := h.tables.window != nil
	rt.mu.Unlock()
	if !known {
		h.tabled(op, h.buffers, h.t.Bytes())
	}
	return !known
}

// exists refuses a nil window.
func (w *DeviceWindow) exists(op string) {
	if w == nil || w.h == nil {
		panic(nilArgument(op, "window"))
	}
}

// usable refuses a window whose tensor or group is gone.
func (w *DeviceWindow) usable(op string) {
	w.exists(op)
	w.h.usable(op)
}

// Handle is the handle of the window's tensor in its group.
func (w *DeviceWindow) Handle() *Handle {
	w.exists("Handle")
	return w.h
}

// String is, for example, "window f32[1024] of world".
func (w *DeviceWindow) String() string {
	if w == nil || w.h == nil {
		return "nil window"
	}
	return fmt.Sprintf("window %s of %v", w.h.t.kind(), w.h.g)
}

// DevComm returns a group as a communicator of NCCL's device API: the argument of a kernel whose
// parameter is a ncclDevComm. Its resources lie in the memory of all members: barriers, which a
// kernel's blocks use by their number, low-latency slots, and buffers, which [DeviceComm.Resource]
// names. A kernel that uses an index that was not asked for is refused. With the back end NCCL it
// is an ncclDevComm of NCCL's too, with reqs.LsaBarriers, for kernels with NCCL's own
// nccl_device.h.
//
// PyTorch: none; nccl's ncclDevCommCreate
//
// Shapes: none; the numbers of reqs are not negative.
//
// Synchronises: collective over the group on the host; it does not wait for streams.
//
// Options: *Group (by default all ranks).
//
// Capture: refused: call it before.
//
// Errors: KindMisuse for a negative number, one that is too large, or a group that has more ranks
// on one host than on another; or for Multimem where multicast is off, with the reason;
// KindMismatch where the ranks ask for different resources; KindPeer, KindInterrupted.
func (rt *Runtime) DevComm(reqs DevReqs, opts ...Option) *DeviceComm {
	const op = "DevComm"
	g := rt.groupOf(op, rt.all, opts)
	rank, size := g.lsaPlace(op)
	reqs.Resources = slices.Clone(reqs.Resources)
	if reqs.Multimem && !rt.info.Multicast {
		panic(rt.misuse(op, "reqs", "ncclLsaReduceSum and ncclLsaCopy do without it", "NVLink multicast is off: %s", rt.info.MulticastWhy))
	}
	_, maps := rt.dev.(device.MulticastDevice)
	noMultimem := func(why string) *Error {
		return rt.misuse(op, "reqs", "ncclLsaReduceSum and ncclLsaCopy do without it", "%v has no multicast: %s", g, why)
	}
	if reqs.Multimem && maps && g.whyNoMulticast() != "" {
		panic(noMultimem(g.whyNoMulticast()))
	}
	required := nccl.Requirements(reqs)
	if r := required.Refused(); r != nil {
		panic(rt.misuse(op, "reqs", r.Hint, "%s", r.Msg))
	}
	if required.UsesGin() && g.split.Spans() && g.wired.Table == 0 {
		panic(rt.misuse(op, "group", "start with another --net, or give "+g.lsaCall(),
			"%v spans hosts, and no engine carries GIN between them", g))
	}
	// Recover clears the signal pad of this tensor. The buffers are the tensor's data. Handles
	// count from the start of the pad.
	placed, refused := required.Place(nccl.Team{Rank: g.rank, Ranks: len(g.ranks), LsaRank: rank, LsaRanks: size,
		Hosts: len(g.split.Parts)})
	if refused != nil {
		panic(rt.misuse(op, "reqs", refused.Hint, "%s", refused.Msg))
	}
	c := &DeviceComm{g: g, reqs: DevReqs(required), arg: placed.Argument, parts: placed.Buffers}
	c.t = g.empty(op, U8, []int{placed.Data}, max(layout.Aligned(placed.Pad), layout.Alignment), c.reqs.String())
	c.t.st.alloc.lasts = true
	at := c.t.st.alloc.at
	data := at.Data - at.Pad // a multiple of the unit, as are both sizes
	for i := range c.parts {
		c.parts[i] += uint32(data / abi.NcclBufferUnit)
	}
	err := Maybe(func() {
		h := rt.Rendezvous(c.t, g)
		if reqs.Multimem && maps && h.all == 0 {
			panic(noMultimem(c.t.st.alloc.multicasts[g].why))
		}
		c.count(op)
		c.arg.ResourceWindow, c.arg.Resources = abi.Ptr(h.tabled(op, h.pads, data+placed.Data).pointer()), abi.Ptr(h.pads[g.rank])
		c.arg.Net = g.wired.Table
		if reqs.Multimem {
			c.arg.LsaMultimem = c.arg.ResourceWindow // whatever is not 0: windows have the addresses
		}
		c.nativeComm(op)
	})
	if err != nil {
		panic(err)
	}
	return c
}

// count takes the words in which the network counts, of a group that it connects. They are this
// rank's alone.
func (c *DeviceComm) count(op string) {
	rt, n := c.g.rt, c.g.rt.net.Load()
	words := c.reqs.GinContexts * c.reqs.GinCounters
	if n == nil || !c.g.wiredUp() || words == 0 {
		return
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	s, err := n.Take(words)
	if err != nil {
		panic(rt.misuse(op, "reqs", "ask for fewer GinCounters, or free communicators and groups",
			"no room for %d counters of the network", words))
	}
	clear(n.In(s))
	c.words, c.arg.GinCounterWords = s, uint32(s.First)
}

// String lists the resources that are asked for: "DevReqs{LsaBarriers: 16}".
func (r DevReqs) String() string { return "DevReqs" + nccl.Requirements(r).String() }

// exists refuses a nil communicator.
func (c *DeviceComm) exists(op string) {
	if c == nil || c.t == nil {
		panic(nilArgument(op, "comm"))
	}
}

// usable refuses a communicator that was freed or whose group is gone.
func (c *DeviceComm) usable(op string) {
	c.exists(op)
	c.t.st.alloc.usable(op)
	c.g.usable(op)
}

// Group is the group that the communicator is of.
func (c *DeviceComm) Group() *Group {
	c.exists("Group")
	return c.g
}

// Resource is the handle of resource buffer number i, for a kernel's parameter of type
// ncclDevResourceHandle.
func (c *DeviceComm) Resource(i int) uint32 {
	const op = "Resource"
	c.usable(op)
	if i < 0 || i >= len(c.parts) {
		panic(c.g.rt.misuse(op, "i", "ask for it in DevReqs.Resources", "there are %d resource buffers, and none has number %d",
			len(c.parts), i))
	}
	return c.parts[i]
}

// Free gives the communicator's resources back. It is collective over the group.
func (c *DeviceComm) Free() {
	const op = "DeviceComm.Free"
	c.exists(op)
	c.t.usable(op)
	c.t.st.alloc.free(op) // kernels are over
	if n := c.g.rt.net.Load(); n != nil && c.words != (networks.Span{}) {
		c.g.rt.mu.Lock()
		defer c.g.rt.mu.Unlock()
		n.Give(c.words)
		c.words = networks.Span{}
	}
}

// String is, for example, "device communicator of world, DevReqs{LsaBarriers: 16}".
func (c *DeviceComm) String() string {
	if c == nil || c.t == nil {
		return "nil communicator"
	}
	return fmt.Sprintf("device communicator of %v, %v", c.g, c.reqs)
}

// TouchComm is Touch for the communicator's resources.
func (c *Call) TouchComm(d *DeviceComm) { c.Touch(d.t) }

// explainNCCL completes the error of a value that a function of NCCL's device API refused.
func (rt *Runtime) explainNCCL(e *Error, r *device.WaitRecord) {
	if kernel, at := rt.calls.LatestKernel(); r.Ordinal == 0 && kernel != "" {
		e.Op, e.Caller = kernel, at.Caller
	}
	refused := nccl.Refused(r)
	e.Msg, e.Hint = cmp.Or(refused.Msg, e.Msg), cmp.Or(refused.Hint, e.Hint)
	if refused.NoPeer {
		e.Peer = -1
	}
}
