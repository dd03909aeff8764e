package symmem

import (
	"slices"

	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/core/study"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// The steps of a call of which it tells observers.

// begins tells observers, once, that an admitted call begins its work. user says that it launches a
// kernel of the user's.
func (c *Call) begins(user bool) {
	if list := c.rt.observing(); list != nil && !c.begun {
		c.begun = true
		v := &c.rt.sight
		v.Entry, v.Stream, v.Timeout, v.User = c.Record.Entry, resting{c.stream}, c.opts.timeout, user
		v.Result, v.NotNCCL = c.fresh, c.notNCCL
		if v.Group = nil; c.opts.group != nil {
			v.Group = members{c.opts.group}
		} else if c.Record.group != nil { // a kernel's, of its communicator
			v.Group = members{c.Record.group}
		}
		for _, o := range list {
			o.Admitted(v)
		}
	}
	if g := c.rt.capture; g != nil {
		g.begin(&c.Record)
	}
}

// ran tells observers of a kernel of the call.
func (c *Call) ran(kernel string, loaded bool) {
	if !c.begun {
		return
	}
	for _, o := range c.rt.observing() {
		o.Ran(kernel, loaded)
	}
}

// Chose tells observers which way an admitted call goes. bytes is the size by which it was chosen.
func (c *Call) Chose(bytes int, w *tuning.Way) {
	c.copied = c.copied || len(c.stages) > 0
	if !c.begun {
		return
	}
	v := &c.rt.sight
	v.Staged = c.stagedBytes()
	for _, o := range c.rt.observing() {
		o.Chose(v, bytes, w)
	}
}

// noteRoute tells observers of the call's route, once.
func (c *Call) noteRoute() {
	if !c.begun || c.told {
		return
	}
	v := &c.rt.sight
	if c.passage.h == nil {
		v.Route = c.Route
	} else if v.Route = c.passage.route(c.of); c.rt.following() != nil {
		c.rt.signal = c.passage.signal(c.of)
	}
	if v.Route.Way == "" && c.rt.signal.group == nil {
		return
	}
	c.told = true
	c.copied = c.copied || v.Route.Way != "" && len(c.stages) > 0
	v.Staged = c.stagedBytes()
	for _, o := range c.rt.observing() {
		o.Issued(v)
	}
	c.rt.signal = signalling{} // the handle of which is the program's to drop
}

// makes notes a tensor that the call has made, and returns it.
func (rt *Runtime) makes(t *Tensor) *Tensor {
	for _, o := range rt.following() {
		o.made(t)
	}
	return t
}

// route describes the traffic of a call of a handle.
func (p *passage) route(of *operators.Operator) seam.Route {
	r := seam.Route{Way: of.Traffic, Peer: p.peer}
	if p.t != nil {
		r.Bytes = p.t.Bytes()
	}
	return r
}

// signal describes the signal of a call of a handle, whose group is nil if it has none.
func (p *passage) signal(of *operators.Operator) signalling {
	s := signalling{peer: p.peer, index: p.index}
	switch of {
	case operators.PutSignal, operators.WaitSignal:
		s.group, s.awaits = p.h.g, of == operators.WaitSignal
	case operators.PutWithSignal, operators.SignalAdd:
		s.group, s.pad = p.h.g, p.h
	case operators.WaitForSignal:
		s.group, s.pad, s.peer, s.awaits = p.h.g, p.h, p.h.g.rank, true
	}
	return s
}

// signalling is a signal that a call gives or awaits: on channel index between this rank and a
// member or, of a pad, the word index of a member.
type signalling struct {
	group       *Group
	pad         *Handle
	peer, index int
	awaits      bool
}

// names returns the signal's name among those that are given, or those that are awaited.
func (s signalling) names() (sends, awaits []string) {
	g := s.group
	mine, other := g.rt.rank, g.ranks[s.peer]
	var name string
	switch {
	case s.pad != nil && s.pad.t.st.alloc != nil:
		name = timeline.Word(s.pad.t.st.alloc.id, other, s.index)
	case s.awaits:
		name = timeline.Signal(g.key, other, mine, s.index)
	default:
		name = timeline.Signal(g.key, mine, other, s.index)
	}
	if s.awaits {
		return nil, []string{name}
	}
	return []string{name}, nil
}

// explains reports whether an Explain is under way. rt.mu is held.
func (rt *Runtime) explains() bool {
	return slices.ContainsFunc(rt.observing(), func(o seam.Observer) bool { _, is := o.(*study.Explaining); return is })
}
