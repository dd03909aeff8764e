package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/nccl"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// ByNCCL decides whether the call, which has not entered, goes by NCCL, and makes the group's
// communicator if it does. cannot says why NCCL does not do this one, if so. A call that asks for
// it by Via and cannot have it is refused.
func (c *Call) ByNCCL(cannot string) bool {
	g, rt := c.opts.group, c.rt
	asked := c.opts.via == ViaNCCL
	d, ok := rt.dev.(device.CollectiveDevice)
	if !asked && (c.opts.via != "" || !g.split.Spans() || !ok || c.opts.has(operators.CopyEngine)) {
		return false
	}
	if cannot == "" && ok {
		cannot = c.whyNotNCCL()
	}
	sort := c.commSort()
	rt.mu.Lock()
	made, capturing, failed := g.comms[sort] != nil, rt.capture != nil, g.noComm
	rt.mu.Unlock()
	if !asked {
		switch {
		case cannot != "":
			c.notNCCL = cannot
		case failed != "":
			c.notNCCL = failed
		case capturing && !made:
			c.notNCCL = "its communicator cannot be made while a graph is captured"
		}
		if c.notNCCL != "" {
			return false
		}
	} else {
		switch {
		case !ok:
			panic(c.Misuse("Via", "leave it out", "NCCL needs the cuda device, this is %s", rt.name))
		case cannot != "":
			panic(c.Misuse("Via", "leave it out", "NCCL does not do this: %s", cannot))
		case capturing && !made:
			panic(c.Misuse("Via", "make the call once before the capture",
				"%v has no communicator of NCCL yet, and none can be made while a graph is captured", g))
		}
	}
	var err error
	if !made {
		g.usable(c.Record.Op)
		err = g.join(c.Record.Op, d, sort)
	}
	if err == nil {
		c.Record.Far = false // it goes over NCCL's own network
		return true
	}
	e := rt.failure(c.Record.Op, err)
	if asked || e.Kind == KindInterrupted || e.Kind == KindPeer || e.Kind == KindMismatch {
		panic(e)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	g.noComm, c.notNCCL = e.Msg, e.Msg
	return false
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
	c.route = route{over: comm.Name}
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
