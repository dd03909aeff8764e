package symmem

import (
	"errors"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Windows
//
// With the back end NCCL, symmetric tensors are windows of NCCL too, of every group that has a
// handle of them, where NCCL has windows whose kernels can be ended: its collectives are quicker on
// them. They come with the handle, or with a communicator that is made later, in the same order on
// all members; and they go with the tensor or the communicator.

// ncclBackend is the back end whose tensors are windows.
const ncclBackend = "NCCL"

// registerWindow makes the group's communicator, if the back end wants it, and the window of an
// allocation that has a handle now. It is collective over the group, which can be used without
// either.
func (g *Group) registerWindow(op string, a *allocation) {
	if _, ok := g.rt.dev.(device.CollectiveDevice); ok && g.rt.backendName() == ncclBackend && g.shares() == "" {
		g.makeOnAll(op, resource{a: a})
	}
}

// hasWindows reports whether rendezvoused tensors are windows of NCCL's.
func (rt *Runtime) hasWindows() bool { return rt.windowsOf(rt.backendName()) }

// windowsOf is hasWindows with a back end of that name.
func (rt *Runtime) windowsOf(backend string) bool {
	d, ok := rt.dev.(device.CollectiveDevice)
	if !ok || backend != ncclBackend {
		return false
	}
	l, err := d.Collectives(rt.collectivesSettings())
	return err == nil && l.Windows()
}

// closeWindows ends the windows of an allocation that is freed, whose work is over.
func (a *allocation) closeWindows() (err error) {
	rt := a.rt
	rt.mu.Lock()
	groups := slices.Clone(rt.groups)
	rt.mu.Unlock()
	for _, g := range groups {
		rt.mu.Lock()
		comms := g.comms
		g.deviceComms = slices.DeleteFunc(g.deviceComms, func(d *DeviceComm) bool { return d.t.st.alloc == a })
		rt.mu.Unlock()
		for _, c := range comms {
			if c != nil {
				err = errors.Join(err, c.endResources(a))
			}
		}
	}
	return err
}
