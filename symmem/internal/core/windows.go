package symmem

import (
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

// noWindows returns the reason why rendezvoused tensors are no windows of NCCL's, or "" if they
// are.
func (rt *Runtime) noWindows() string { return rt.noWindowsOf(rt.backendName()) }

// noWindowsOf is noWindows with a back end of that name.
func (rt *Runtime) noWindowsOf(backend string) string {
	d, ok := rt.dev.(device.CollectiveDevice)
	if !ok || backend != ncclBackend {
		return "the back end is " + backend + ", and only tensors of the back end NCCL are windows"
	}
	l, err := d.Collectives(rt.collectivesSettings())
	if err != nil {
		return err.Error()
	}
	return l.Windows()
}
