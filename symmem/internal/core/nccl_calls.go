package symmem

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// ncclCarrier is NCCL: for collectives, and for puts within a host.
type ncclCarrier struct{}

func (ncclCarrier) Names() []string                  { return ncclWays }
func (ncclCarrier) Does(of *operators.Operator) bool { return of.NCCL }

var ncclWays = []string{string(ViaNCCL)}

// ByNCCL decides whether the call, which has not entered, goes by NCCL, and makes the group's
// communicator if it does. cannot is the reason for which NCCL does not do this one, if there is one. A
// call that asks for NCCL by Via and cannot have it is refused.
func (c *Call) ByNCCL(cannot string) bool {
	if c.opts.via != "" && c.opts.via != ViaNCCL {
		return false
	}
	c.notNCCL = cannot
	if !c.goesBy(ncclCarrier{}) {
		return false
	}
	c.Record.Far = false // it goes over NCCL's own network
	return true
}

// Takes takes collectives between hosts, if NCCL can do them. It remembers why not: what fails once to
// make a communicator does so until Recover.
func (w ncclCarrier) Takes(c *Call) bool {
	g, rt := c.opts.group, c.rt
	if c.passage.h != nil || !g.split.Spans() || !w.Does(c.of) || c.opts.has(operators.CopyEngine) || !rt.hasNCCL() {
		c.notNCCL = ""
		return false
	}
	rt.mu.Lock()
	c.notNCCL = cmp.Or(c.notNCCL, g.noComm)
	rt.mu.Unlock()
	if c.notNCCL != "" {
		return false
	}
	err := w.Refuses(c)
	if err == nil {
		return true
	}
	e := err.(*Error)
	c.notNCCL = strings.TrimPrefix(e.Msg, ncclCannot)
	switch e.Kind {
	case KindInterrupted, KindPeer, KindMismatch:
		panic(e)
	case KindMisuse:
	default:
		rt.mu.Lock()
		defer rt.mu.Unlock()
		g.noComm = e.Msg
	}
	return false
}

// hasNCCL reports whether the device has NCCL.
func (rt *Runtime) hasNCCL() bool {
	_, ok := rt.dev.(device.CollectiveDevice)
	return ok
}

// ncclCannot begins what refuses a call that NCCL does not do.
const ncclCannot = "NCCL does not do this: "

// Refuses makes the group's communicator, unless it refuses a collective.
func (ncclCarrier) Refuses(c *Call) error {
	g, rt, op, sort := c.opts.group, c.rt, c.Record.Op, c.commSort()
	d, ok := rt.dev.(device.CollectiveDevice)
	if !ok {
		return c.Misuse("Via", "leave it out", "NCCL needs the cuda device, this is %s", rt.name)
	}
	rt.mu.Lock()
	comm, capturing := g.comms[sort], rt.capture != nil
	rt.mu.Unlock()
	if c.passage.h != nil {
		return c.refusedPut(comm, capturing)
	}
	cannot := c.whyNotNCCL()
	switch {
	case cannot != "":
		return c.Misuse("Via", "leave it out", ncclCannot+"%s", cannot)
	case comm != nil:
		return nil
	case capturing:
		return c.Misuse("Via", "make the call once before the capture",
			"%v has no communicator of NCCL yet, and none can be made while a graph is captured", g)
	}
	g.usable(op)
	if err := g.join(op, d, sort); err != nil {
		return rt.failure(op, err)
	}
	return nil
}

// commSort returns the sort of communicator by which the call goes.
func (c *Call) commSort() int {
	if c.opts.has(operators.CopyEngine) {
		return byEngines
	}
	return byKernels
}

// whyNotNCCL returns the reason why NCCL does not do a call of this group with these options; "" if
// it does.
func (c *Call) whyNotNCCL() string {
	switch {
	case c.notNCCL != "":
		return c.notNCCL
	case c.opts.timeout > 0:
		return "its waits have no Timeout"
	case c.opts.has(operators.CopyEngine) && c.rt.noWindows() != "":
		return "its copy engines need windows: " + c.rt.noWindows()
	case c.opts.has(operators.AccumulateF32):
		return "it has no AccumulateF32"
	}
	return c.opts.group.shares()
}

// readsOrdinary reports whether a tensor of the call that begins at an address is ordinary memory,
// which NCCL reads as it is.
func (c *Call) readsOrdinary(src device.Ptr) bool {
	ordinary := func(t *Tensor) bool { return t != nil && !t.Symmetric() && t.pointer() == src }
	return slices.ContainsFunc(c.uses[:min(c.used, len(c.uses))], ordinary) || slices.ContainsFunc(c.more, ordinary)
}

// RunNCCL issues an admitted call by the group's communicator. bytes is the size by which the way
// was chosen.
func (c *Call) RunNCCL(d device.Collective, bytes int) {
	g, rt := c.opts.group, c.rt
	comm := g.comms[c.commSort()]
	if comm == nil || comm.isEnded() {
		panic(&Error{Kind: KindPeer, Op: c.Record.Op, Rank: rt.rank, Peer: -1,
			Msg: fmt.Sprintf("the communicator of %v was ended", g), Hint: "all ranks must call Recover"})
	}
	err := c.stream.issue(func(s device.Stream) error { return s.Collective(comm.C, d) })
	c.Route = seam.Route{Way: "by", Of: comm.Name}
	c.issued(err)
	why := "the call asks for it by Via"
	if c.opts.via != ViaNCCL {
		why = fmt.Sprintf("the group spans %d hosts", len(g.split.Parts))
	}
	if rt.explains() && rt.noWindowsOf(rt.backend.name) == "" && c.readsOrdinary(d.Src) {
		why += "; it reads ordinary memory, which is no window"
	}
	path := comm.Name
	if comm.sort == byEngines {
		path += " by copy engines"
	}
	c.Chose(bytes, &tuning.Way{Path: path, Why: why})
	if rt.capture == nil {
		comm.Watch(nccl.Call{On: resting{c.stream}, ID: c.Record.ID})
	} else if !slices.Contains(rt.capture.comms, comm) {
		rt.capture.comms = append(rt.capture.comms, comm)
	}
}
