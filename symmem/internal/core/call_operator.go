package symmem

import (
	"errors"
	"slices"
	"strings"

	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Op is the name of the call's operation.
func (c *Call) Op() string { return c.Record.Op }

// Group is the group that the call is made on.
func (c *Call) Group() *Group { return c.opts.group }

// Work is the memory that the call's group communicates through.
func (c *Call) Work() *Workspace { return &c.opts.group.work }

// Plan returns the plan of the device: its best grids, ways and sizes.
func (c *Call) Plan() *tuning.Plan { return c.rt.plan }

// Device describes the device.
func (c *Call) Device() *device.Info { return &c.rt.info }

// Has reports whether an option was given.
func (c *Call) Has(s operators.Options) bool { return c.opts.has(s) }

// MajorAlign is the value of that option.
func (c *Call) MajorAlign() int { return c.opts.align }

// Into is the tensor of that option, nil if it was not given.
func (c *Call) Into() *Tensor { return c.opts.into }

// PreferEngines gives the call the option CopyEngine if that is the default of its group, and copy
// engines can do it.
func (c *Call) PreferEngines(can bool) {
	c.rt.mu.Lock()
	defer c.rt.mu.Unlock()
	g := c.opts.group
	if can && g.engine && !g.split.Spans() && !c.Has(operators.CopyEngine) {
		c.opts.given |= operators.CopyEngine
		c.preferred = true
	}
}

// Capturing reports whether a graph is captured.
func (c *Call) Capturing() bool {
	c.rt.mu.Lock()
	defer c.rt.mu.Unlock()
	return c.rt.capture != nil
}

// Engines is the way of copy engines, with the reason why a call takes it.
func (c *Call) Engines(w *tuning.Way) *tuning.Way {
	if !c.preferred {
		return w
	}
	return &tuning.Way{Path: w.Path, Why: strings.Replace(w.Why, "CopyEngine was given", "CopyEngine is the group's default", 1)}
}

// Scales is the value of that option.
func (c *Call) Scales() Scales { return c.opts.scales }

// Accept adds an option to a call that takes these sorts.
func (c *Call) Accept(taken operators.Options, opt Option) {
	c.rt.accept(&operators.Operator{Name: c.Record.Op, Options: taken}, &c.opts, opt)
}

// Member checks a rank of the group, the value of the argument arg.
func (c *Call) Member(arg string, rank int) { c.opts.group.peer(c.Record.Op, arg, rank) }

// Copy copies n bytes in the order of the stream.
func (c *Call) Copy(dst, src device.Ptr, n int) { c.issued(c.stream.copy(dst, src, n)) }

// Issue lets f put work in the device's stream.
func (c *Call) Issue(f func(device.Stream) error) { c.issued(c.stream.issue(f)) }

// Attempt lets f put work in the device's stream, and returns why the device does not do it; empty if
// it does.
func (c *Call) Attempt(f func(device.Stream) error) (why string) {
	err := c.stream.issue(f)
	if not, ok := errors.AsType[*device.UnavailableError](err); ok {
		return not.Why
	}
	c.issued(err)
	return ""
}

// Scratch is n bytes of memory for one kernel of the stream at a time; 0 while a graph is captured.
// All calls on streams ask for the same n.
func (c *Call) Scratch(n int) device.Ptr { return c.stream.scratch(c.Record.Op, n) }

// Temporary is n bytes of memory for the work that the call issues until the function it returns is
// called. It is refused while a graph is captured.
func (c *Call) Temporary(n int) (p device.Ptr, done func()) {
	b := c.rt.take(c.Record.Op, c.stream, n)
	return b.Ptr, func() { c.rt.giveBlock(b, 0) }
}

// TouchHandle is Touch for the handle's tensor.
func (c *Call) TouchHandle(h *Handle) { c.Touch(h.t) }

// LaunchSnippet issues a kernel of the user's, which uses the signals of groups, and tensors.
func (c *Call) LaunchSnippet(k device.Kernel, l device.Launch, groups []*Group, tensors []*Tensor) {
	c.rt.calls.Launched(k.Name())
	c.begins(true)
	if slices.ContainsFunc(groups, (*Group).wiredUp) {
		c.rt.posting.Store(true)
		for _, t := range tensors {
			if b := t.st.block; b != nil {
				b.Posted = true
			}
		}
		c.rt.hold(c.Record.Op, c.stream)
	}
	c.ran(k.Name(), false)
	if err := c.stream.launch(k, l); err != nil {
		panic(c.rt.failure(c.Record.Op, err))
	}
	c.stageOut()
	for _, g := range groups {
		g.mark(c.Record.Op, c.stream)
	}
	if len(c.stages) > 0 {
		c.Chose(c.stages[0].of.Bytes(), &tuning.Way{Path: "launched", Why: "its parameters are declared symmetric"})
	}
	c.stageEnd()
}

// ArgsOf is a place for the arguments of the kernel that an admitted call launches, so that a call
// allocates nothing. The group's calls share it; a launch reads it before the next call enters.
func ArgsOf[T any](c *Call) *T { return launch.In[T](c.opts.group.args) }
