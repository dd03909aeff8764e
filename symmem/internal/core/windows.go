package symmem

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Windows
//
// With the back end NCCL, symmetric tensors are windows of NCCL too, of every group that has a handle of them, where NCCL has windows whose kernels
// can be ended: its collectives are quicker on them. They come with the handle, or with a communicator that is made later, in the same order on all
// members; and they go with the tensor or the communicator.

// libraryBackend is the back end whose tensors are windows.
const libraryBackend = "NCCL"

// ready makes the group's communicator, if the back end wants it, and the window of an allocation that has a handle now. It is collective over the
// group, which can be used without either.
func (g *Group) ready(op string, a *allocation) {
	rt := g.rt
	d, ok := rt.dev.(device.CollectiveDevice)
	if !ok || Backend(rt) != libraryBackend || g.shares() != "" {
		return
	}
	var err error
	if rt.hasComm(g) {
		ctx, cancel := context.WithTimeout(rt.host(), joinLimit)
		defer cancel()
		comm := g.comm
		err = comm.register(ctx, a)
		g.meeting.Lock()
		_, err = agree(g, op, "window", struct{}{}, err)
		g.meeting.Unlock()
		if err != nil { // its members may have different windows
			comm.end(nil)
		}
	} else {
		err = g.join(op, d)
	}
	if err != nil {
		panic(rt.failure(op, err))
	}
}

// registerAll registers what the group has handles of.
func (c *communicator) registerAll(ctx context.Context) error {
	rt := c.g.rt
	rt.mu.Lock()
	list := slices.DeleteFunc(slices.Clone(rt.allocs), func(a *allocation) bool {
		return a.block != nil || a.mapping(c.g) == nil || a.storage.freed.Load() || a.stale.Load() != nil
	})
	rt.mu.Unlock()
	slices.SortFunc(list, func(a, b *allocation) int { return strings.Compare(a.id, b.id) })
	for _, a := range list {
		if err := c.register(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// register registers an allocation, unless it is registered.
func (c *communicator) register(ctx context.Context, a *allocation) error {
	rt := c.g.rt
	rt.mu.Lock()
	_, known := c.windows[a]
	rt.mu.Unlock()
	if known {
		return nil
	}
	w, err := c.c.Register(ctx, a.seg.Ptr(), a.seg.Size())
	if err != nil {
		return err
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	c.windows[a] = w
	return nil
}

// closeWindows ends the windows of an allocation that is freed, whose work is over.
func (a *allocation) closeWindows() (err error) {
	rt := a.rt
	rt.mu.Lock()
	groups := slices.Clone(rt.groups)
	rt.mu.Unlock()
	for _, g := range groups {
		rt.mu.Lock()
		var w uintptr
		c := g.comm
		if c != nil {
			w = c.windows[a]
			delete(c.windows, a)
		}
		rt.mu.Unlock()
		if w != 0 && !c.isEnded() {
			ctx, cancel := context.WithTimeout(context.Background(), endLimit)
			err = errors.Join(err, c.c.Deregister(ctx, w))
			cancel()
		}
	}
	return err
}
