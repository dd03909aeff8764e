package symmem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/kernels/cudalex"
	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// NCCL's own headers
//
// With the back end NCCL, a snippet that includes nccl_device.h is compiled with the header that was installed with it, where that can be. Its
// kernels then get what NCCL made: for a [DeviceComm] an ncclDevComm of its version, for a [DeviceWindow] the window that it registered. Both are
// made beside ours, in the same order on all members, and again for every new communicator of the group; so what is compiled by one header or by the other
// takes the same arguments. They have what the LSA team needs: barriers and pointers. Kernels that use more, and worlds that span hosts or share GPUs, get
// our header.
//
// Nothing of NCCL ends a kernel of the user's. So its waits look at a word of ours, and the communicator goes only when its kernels are over.

// windowUnit is what a window of NCCL's begins at a multiple of.
const windowUnit = 4096

// NativeHeaders says which nccl_device.h a text that includes it gets: NCCL's, by its name, or why it is ours. Both are empty if it includes
// none, or the back end has no other.
func NativeHeaders(rt *Runtime, text string) (library, why string) {
	tokens, err := cudalex.Tokens(text)
	if err != nil || !includesNCCL(text) || Backend(rt) != ncclBackend {
		return "", "" // what cannot be read is the compiler's to refuse
	}
	if library, why = rt.nativeHeaders(); why != "" {
		return "", why
	}
	part, barrier := "", false
	for _, t := range tokens {
		switch {
		case t.Kind != cudalex.Word:
		case beyondTeam(t.Text):
			return "", fmt.Sprintf("it uses %s, and with NCCL's own kernels have the barriers and pointers of the LSA team", t.Text)
		case t.Text == "ncclTeamInnerFactor" || t.Text == "ncclTeamOuterFactor":
			part = t.Text
		case t.Text == "ncclLsaBarrierSession":
			barrier = true
		}
	}
	if part != "" && barrier { // NCCL's places the words of a barrier by its team's size: those of a part would be another's
		return "", fmt.Sprintf("it uses %s, and NCCL's own has the barriers of the whole LSA team alone", part)
	}
	return library, ""
}

// includesNCCL reports whether a text includes a header of NCCL's.
func includesNCCL(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), "")
		for _, name := range []string{"nccl_device.h", "nccl.h"} {
			if strings.HasPrefix(line, "#include<"+name+">") || strings.HasPrefix(line, `#include"`+name+`"`) {
				return true
			}
		}
	}
	return false
}

// beyondTeam reports whether a name of NCCL's is of something that is not made for kernels with its own header.
func beyondTeam(name string) bool {
	if !strings.HasPrefix(name, "nccl") {
		return name == "hybridLsaBarrier" || name == "lsaLLA2A"
	}
	return strings.HasPrefix(name, "ncclGin") || strings.HasPrefix(name, "ncclLLA2A") || strings.HasPrefix(name, "ncclCft") || strings.Contains(name, "Multimem") ||
		strings.Contains(name, "ResourceBuffer") || strings.HasPrefix(name, "ncclDevResource") || name == "ncclBarrierSession" || name == "ncclBarrier"
}

// nativeHeaders names the NCCL whose headers snippets can have, or says why not.
func (rt *Runtime) nativeHeaders() (library, why string) {
	d, ok := rt.dev.(device.CollectiveDevice)
	p := rt.places.Load()
	switch {
	case !ok || Backend(rt) != ncclBackend || p == nil:
		return "", "the back end is " + Backend(rt)
	case len(p.Parts) > 1:
		return "", "the world spans hosts"
	case len(p.Sharing) > 0:
		if why = rt.refusesSharing(SharingOf(rt)); why != "" {
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

// resource is a part of a communicator's memory or resources: the window of an allocation; or of what a DeviceWindow has of it, handle; or a DeviceComm
// as kernels get it.
type resource struct {
	a        *allocation
	handle   *Handle
	comm     *DeviceComm
	window   uintptr
	argument []byte
}

// has returns what the communicator has of its kind, nil if nothing. rt.mu is held.
func (c *communicator) has(o resource) *resource {
	i := slices.IndexFunc(c.resources, func(p resource) bool { return p.a == o.a && p.handle == o.handle && p.comm == o.comm })
	if i < 0 {
		return nil
	}
	return &c.resources[i]
}

// make makes what the communicator does not have yet. All members call it.
func (c *communicator) make(ctx context.Context, o resource) (err error) {
	rt := c.g.rt
	rt.mu.Lock()
	known := c.has(o) != nil
	rt.mu.Unlock()
	switch {
	case known:
		return nil
	case o.comm != nil:
		o.argument, err = c.C.MakeArgument(ctx, o.comm.reqs.LsaBarriers, watchWord(&rt.watch.Ended))
	case o.handle != nil:
		o.window, err = c.C.Register(ctx, o.handle.buffers[c.g.rank], o.handle.t.Bytes())
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

// unmake ends what the communicator has of an allocation, whose work is over.
func (c *communicator) unmake(a *allocation) (err error) {
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
	ctx, cancel := context.WithTimeout(context.Background(), endLimit)
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

// makeAll makes what a group's new communicator must have: what its others had.
func (c *communicator) makeAll(ctx context.Context) error {
	rt := c.g.rt
	rt.mu.Lock()
	allocs := slices.DeleteFunc(slices.Clone(rt.allocs), func(a *allocation) bool {
		return a.block != nil || a.mapping(c.g) == nil || a.storage.freed.Load() || a.stale.Load() != nil
	})
	slices.SortFunc(allocs, func(a, b *allocation) int { return cmp.Compare(a.id, b.id) })
	var all []resource
	for _, a := range allocs {
		all = append(all, resource{a: a})
		for _, h := range a.handles {
			if h.g == c.g && h.windowed && c.sort == byKernels {
				all = append(all, resource{a: a, handle: h})
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
		if err := c.make(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// have makes something of the group's communicators, the first of which is made, too, if there is none. It is collective over the group, on the host. A
// member that cannot ends the communicator: the members may have different things.
func (g *Group) have(op string, o resource) {
	rt, d := g.rt, g.rt.dev.(device.CollectiveDevice)
	rt.mu.Lock()
	comms := g.comms
	rt.mu.Unlock()
	for sort, comm := range comms {
		var err error
		switch {
		case comm == nil && sort == byKernels:
			err = g.join(op, d, sort) // which has everything
		case comm != nil && (sort == byKernels || o.handle == nil && o.comm == nil): // kernels of the user's have the first
			ctx, cancel := context.WithTimeout(rt.host(), joinLimit)
			err = comm.make(ctx, o)
			cancel()
			g.meeting.Lock()
			_, err = agree(g, op, "by NCCL", struct{}{}, err)
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

// native returns something of the group's communicator for a kernel with NCCL's own headers. After Recover the members make all of it again.
func (g *Group) native(op string, o resource) resource {
	rt := g.rt
	for {
		rt.mu.Lock()
		capturing, comm := rt.capture != nil, g.comms[byKernels]
		var found *resource
		if comm != nil {
			found = comm.has(o)
		}
		rt.mu.Unlock()
		switch {
		case comm != nil && comm.isEnded():
			panic(&Error{Kind: KindPeer, Op: op, Rank: rt.rank, Peer: -1, Msg: fmt.Sprintf("the communicator of %v was ended", g), Hint: "all ranks must call Recover"})
		case found != nil:
			return *found
		case capturing:
			panic(rt.misuse(op, "", "launch the kernel once before the capture", "%v has no communicator of NCCL yet, and none can be made while a graph is captured", g))
		}
		g.have(op, o)
	}
}

// NativeComm is what a kernel with NCCL's own headers gets for a communicator.
func NativeComm(op string, c *DeviceComm) []byte {
	CommArgument(op, c)
	return c.g.native(op, resource{a: c.t.st.alloc, comm: c}).argument
}

// NativeWindow is what a kernel with NCCL's own headers gets for a window.
func NativeWindow(op string, w *DeviceWindow) uintptr {
	WindowArgument(op, w)
	h, rt := w.h, w.h.g.rt
	rt.mu.Lock()
	windowed := h.windowed
	rt.mu.Unlock()
	if windowed {
		return h.g.native(op, resource{a: h.t.st.alloc, handle: h}).window
	}
	if h.t.st.alloc.block != nil {
		panic(rt.misuse(op, "window", "allocate it by Empty", "the tensor is of a memory pool, of which NCCL has no windows"))
	}
	panic(rt.misuse(op, "window", fmt.Sprintf("give the window of a tensor of Empty, or of a slice that begins at a multiple of %d bytes", windowUnit),
		"windows of NCCL begin at a multiple of %d bytes, the tensor begins at byte %d", windowUnit, h.t.offset))
}

// nativeWindow makes NCCL's window of a tensor, if snippets can have its headers and the tensor is where a window can be. It is collective over the
// group, on the host.
func (h *Handle) nativeWindow(op string) {
	rt, a := h.g.rt, h.t.st.alloc
	if _, why := rt.nativeHeaders(); why != "" || a.block != nil || h.t.offset%windowUnit != 0 || h.t.n == 0 {
		return
	}
	rt.mu.Lock()
	h.windowed = true
	rt.mu.Unlock()
	h.g.have(op, resource{a: a, handle: h})
}

// nativeComm makes NCCL's part of a communicator, if snippets can have its headers. It is collective over the group, on the host.
func (c *DeviceComm) nativeComm(op string) {
	rt := c.g.rt
	if _, why := rt.nativeHeaders(); why != "" {
		return
	}
	rt.mu.Lock()
	c.g.deviceComms = append(c.g.deviceComms, c)
	rt.mu.Unlock()
	c.g.have(op, resource{a: c.t.st.alloc, comm: c})
}

// WatchNative watches a launched kernel that uses the communicators of groups: they end with it if it must.
func (c *Call) WatchNative(groups []*Group) {
	for _, g := range groups {
		comm := g.comms[byKernels]
		if comm == nil {
			continue
		}
		captured := c.rt.capture != nil
		comm.WatchKernel(nccl.Call{On: resting{c.stream}, ID: c.Record.id, Timeout: c.opts.timeout}, captured)
		if captured && !slices.Contains(c.rt.capture.comms, comm) {
			c.rt.capture.comms = append(c.rt.capture.comms, comm)
		}
	}
}
