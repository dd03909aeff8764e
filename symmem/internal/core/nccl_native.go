package symmem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/libraries"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// NCCL's own headers
//
// With the back end NCCL, a snippet that includes nccl_device.h is compiled with the header that
// was installed with NCCL, if possible. Its kernels then get objects of NCCL: for a [DeviceComm] an
// ncclDevComm of its version, for a [DeviceWindow] the window that NCCL registered. Both are made
// in addition to symmem's own, in the same order on all members, and again for every new
// communicator of the group. So kernels take the same arguments whichever header they were compiled
// with. NCCL's objects have the barriers and pointers of the LSA team. Kernels that use more, and
// worlds that span hosts or share GPUs, get symmem's header.
//
// NCCL cannot end a kernel of the user's. So the kernel's waits look at a word of symmem, and the
// communicator ends only after its kernels.

// NativeHeaders returns the name of the NCCL whose nccl_device.h a text that includes this header
// gets, or the reason why the text gets the project's own. Both are empty if the text does not
// include it, or the back end is not NCCL.
func (in Inner) NativeHeaders(text string) (library, why string) {
	rt := in.rt
	if rt.backendName() != ncclBackend {
		return "", ""
	}
	includes, cannot := nccl.IncludesHeader(text)
	if !includes {
		return "", ""
	}
	if library, why = rt.nativeHeaders(); why != "" {
		return "", why
	}
	if cannot != "" {
		return "", cannot
	}
	return library, ""
}

// nativeHeaders names the NCCL whose headers snippets can include, or says why there is none.
func (rt *Runtime) nativeHeaders() (library, why string) {
	d, ok := rt.dev.(device.CollectiveDevice)
	p := rt.places.Load()
	switch {
	case !ok || rt.backendName() != ncclBackend || p == nil:
		return "", "the back end is " + rt.backendName()
	case len(p.Parts) > 1:
		return "", "the world spans hosts"
	case len(p.Sharing) > 0:
		if why = rt.refusesSharing(rt.sharing()); why != "" {
			return "", why
		}
	}
	l, err := d.Collectives(rt.collectivesSettings())
	var un *device.UnavailableError
	switch {
	case errors.As(err, &un):
		return "", un.Why
	case err != nil:
		return "", err.Error()
	}
	return l.Name(), l.Headers()
}

// resource is an object that a communicator has for an allocation: the window of the whole
// allocation; or, if mapping is set, the window of a DeviceWindow; or, if comm is set, the
// ncclDevComm of a DeviceComm.
type resource struct {
	a        *allocation
	mapping  *mapping
	comm     *DeviceComm
	window   uintptr
	argument []byte
}

// resource returns the communicator's object for the same things as o, nil if it has none. rt.mu is
// held.
func (c *communicator) resource(o resource) *resource {
	i := slices.IndexFunc(c.resources, func(p resource) bool { return p.a == o.a && p.mapping == o.mapping && p.comm == o.comm })
	if i < 0 {
		return nil
	}
	return &c.resources[i]
}

// makeResource makes the object o if the communicator does not have it. All members call it.
func (c *communicator) makeResource(ctx context.Context, o resource) (err error) {
	rt := c.g.rt
	rt.mu.Lock()
	known := c.resource(o) != nil
	rt.mu.Unlock()
	switch {
	case known:
		return nil
	case o.comm != nil:
		o.argument, err = c.C.MakeArgument(ctx, o.comm.reqs.LsaBarriers, watchWord(&rt.watch.Ended))
	case o.mapping != nil:
		o.window, err = c.C.Register(ctx, o.mapping.buffers[c.g.rank], int(o.mapping.kernel.Bytes))
	default:
		o.window, err = c.C.Register(ctx, o.a.seg.Ptr(), o.a.seg.Size())
	}
	if err != nil {
		return err
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	c.resources = append(c.resources, o)
	return nil
}

// endResources ends the communicator's objects for an allocation, whose work is over.
func (c *communicator) endResources(a *allocation) (err error) {
	rt := c.g.rt
	rt.mu.Lock()
	var ended []resource
	c.resources = slices.DeleteFunc(c.resources, func(o resource) bool {
		if o.a == a {
			ended = append(ended, o)
		}
		return o.a == a
	})
	rt.mu.Unlock()
	if c.isEnded() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), libraries.Ending)
	defer cancel()
	for _, o := range slices.Backward(ended) {
		switch {
		case o.argument != nil:
			err = errors.Join(err, c.C.EndArgument(ctx, o.argument))
		case o.window != 0:
			err = errors.Join(err, c.C.Deregister(ctx, o.window))
		}
	}
	return err
}

// makeAll makes all objects that a new communicator of the group must have.
func (c *communicator) makeAll(ctx context.Context) error {
	rt := c.g.rt
	rt.mu.Lock()
	allocs := slices.DeleteFunc(slices.Clone(rt.allocs), func(a *allocation) bool {
		return a.block != nil || a.anyMapping(c.g) == nil || a.freed.Load() || a.stale.Load() != nil
	})
	slices.SortFunc(allocs, func(a, b *allocation) int { return cmp.Compare(a.id, b.id) })
	var all []resource
	for _, a := range allocs {
		all = append(all, resource{a: a})
		for _, m := range a.mappings {
			if m.g == c.g && m.windowed && c.sort == byKernels {
				all = append(all, resource{a: a, mapping: m})
			}
		}
	}
	for _, d := range c.g.deviceComms {
		if slices.Contains(allocs, d.t.st.alloc) && c.sort == byKernels {
			all = append(all, resource{a: d.t.st.alloc, comm: d})
		}
	}
	rt.mu.Unlock()
	for _, o := range all {
		if err := c.makeResource(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// makeOnAll makes the object o on each of the group's communicators. It makes the first
// communicator if the group has none. It is collective over the group, on the host. If a member
// fails, the communicator is ended, because its members may have different objects.
func (g *Group) makeOnAll(op string, o resource) {
	rt, d := g.rt, g.rt.dev.(device.CollectiveDevice)
	rt.mu.Lock()
	comms := g.comms
	rt.mu.Unlock()
	for sort, comm := range comms {
		var err error
		switch {
		case comm == nil && sort == byKernels:
			err = g.join(op, d, sort) // which has everything
		case comm != nil && (sort == byKernels || o.mapping == nil && o.comm == nil): // kernels of the user's have the first
			ctx, cancel := context.WithTimeout(rt.host(), libraries.Limit)
			err = comm.makeResource(ctx, o)
			cancel()
			g.meeting.Lock()
			_, err = gatherValues(g, op, "by NCCL", struct{}{}, err)
			g.meeting.Unlock()
			if err != nil {
				comm.End(nil)
			}
		}
		if err != nil {
			panic(rt.failure(op, err))
		}
	}
}

// nativeResource returns an object of the group's communicator for a kernel with NCCL's own
// headers. After Recover the members make all objects again.
func (g *Group) nativeResource(op string, o resource) resource {
	rt := g.rt
	for {
		rt.mu.Lock()
		capturing, comm := rt.capture != nil, g.comms[byKernels]
		var found *resource
		if comm != nil {
			found = comm.resource(o)
		}
		rt.mu.Unlock()
		switch {
		case comm != nil && comm.isEnded():
			panic(&Error{Kind: KindPeer, Op: op, Rank: rt.rank, Peer: -1, Msg: fmt.Sprintf("the communicator of %v was ended", g),
				Hint: "all ranks must call Recover"})
		case found != nil:
			return *found
		case capturing:
			panic(rt.misuse(op, "", "launch the kernel once before the capture",
				"%v has no communicator of NCCL yet, and none can be made while a graph is captured", g))
		}
		g.makeOnAll(op, o)
	}
}

// NativeComm returns the argument of a kernel with NCCL's own headers for a communicator.
func (in Inner) NativeComm(op string, c *DeviceComm) []byte {
	c.usable(op)
	return c.g.nativeResource(op, resource{a: c.t.st.alloc, comm: c}).argument
}

// NativeWindow returns the argument of a kernel with NCCL's own headers for a window.
func (in Inner) NativeWindow(op string, w *DeviceWindow) uintptr {
	w.usable(op)
	h, rt := w.h, in.rt
	rt.mu.Lock()
	windowed := h.windowed
	rt.mu.Unlock()
	if windowed {
		return h.g.nativeResource(op, resource{a: h.a, mapping: h.mapping}).window
	}
	if h.a.block != nil {
		panic(rt.misuse(op, "window", "allocate it by Empty", "the tensor is of a memory pool, of which NCCL has no windows"))
	}
	panic(rt.misuse(op, "window", fmt.Sprintf("give the window of a tensor of Empty, or of a slice that begins at a multiple of %d bytes", windowUnit),
		"windows of NCCL begin at a multiple of %d bytes, the tensor begins at byte %d", windowUnit, h.t.offset))
}

// nativeWindow makes NCCL's window of a tensor, if snippets can have its headers and the tensor is
// where a window can be. It is collective over the group, on the host.
func (h *Handle) nativeWindow(op string) {
	rt, a := h.g.rt, h.a
	if _, why := rt.nativeHeaders(); why != "" || a.block != nil || h.t.offset%windowUnit != 0 || h.t.n == 0 {
		return
	}
	rt.mu.Lock()
	h.windowed = true
	rt.mu.Unlock()
	h.g.makeOnAll(op, resource{a: a, mapping: h.mapping})
}

// nativeComm makes NCCL's part of a communicator, if snippets can have its headers. It is
// collective over the group, on the host.
func (c *DeviceComm) nativeComm(op string) {
	rt := c.g.rt
	if _, why := rt.nativeHeaders(); why != "" {
		return
	}
	rt.mu.Lock()
	c.g.deviceComms = append(c.g.deviceComms, c)
	rt.mu.Unlock()
	c.g.makeOnAll(op, resource{a: c.t.st.alloc, comm: c})
}

// WatchNative watches a launched kernel that uses the communicators of groups: if the kernel must
// end, they end with it.
func (c *Call) WatchNative(groups []*Group) {
	for _, g := range groups {
		comm := g.comms[byKernels]
		if comm == nil {
			continue
		}
		captured := c.rt.capture != nil
		comm.WatchKernel(nccl.Call{On: resting{c.stream}, ID: c.Record.ID, Timeout: c.opts.timeout}, captured)
		if captured && !slices.Contains(c.rt.capture.comms, comm) {
			c.rt.capture.comms = append(c.rt.capture.comms, comm)
		}
	}
}
