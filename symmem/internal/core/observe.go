package symmem

import (
	"slices"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Observers
//
// Explain, Why, traces, Compare, Slow and the sanitizer follow the calls of this rank. Each is among
// the world's observers while it has something to see, and only then does a call tell anything.

// follower is an observer that hears of further steps of calls and cells. rt.mu is held, unless an event
// says otherwise.
type follower interface {
	seam.Observer
	// called begins a call on the stream that it has picked, or without rt.mu on the host, where the
	// stream is nil. A call that leaves the world for a while, or has several streams, begins again.
	called(op string, s *Stream)
	// touched notes a tensor that the call's work uses.
	touched(op string, s *Stream, t *Tensor)
	// made notes a tensor that code has made. The caller may hold rt.mu.
	made(t *Tensor)
	// known notes that kernels know the call by an id; ordinal is that of a collective call in the group.
	known(id uint32, g *Group, ordinal uint64)
	// left ends a call, or lets it leave the world for a while.
	left()
	// began and ended concern a cell of the session, by its number. rt.mu is not held.
	began(run uint64)
	ended(run uint64)
}

// blind is a follower that sees nothing.
type blind struct{ seam.Blind }

func (blind) called(string, *Stream)           {}
func (blind) touched(string, *Stream, *Tensor) {}
func (blind) made(*Tensor)                     {}
func (blind) known(uint32, *Group, uint64)     {}
func (blind) left()                            {}
func (blind) began(uint64)                     {}
func (blind) ended(uint64)                     {}

// observers are the observers of a world. The sight of the call under way lies here, so that a call
// needs no memory for it.
type observers struct {
	watching atomic.Pointer[[]seam.Observer]
	stepping atomic.Pointer[[]follower] // those that are followers
	sight    seam.Sight
	signal   signalling // of that call, for followers
}

// observing lists the observers, nil if there are none.
func (rt *Runtime) observing() []seam.Observer { return listed(&rt.watching) }

// following lists the followers, nil if there are none.
func (rt *Runtime) following() []follower { return listed(&rt.stepping) }

func listed[O any](p *atomic.Pointer[[]O]) []O {
	if list := p.Load(); list != nil {
		return *list
	}
	return nil
}

// observe adds an observer, or takes it off. rt.mu is held.
func (rt *Runtime) observe(o seam.Observer, on bool) {
	enlist(&rt.watching, o, on)
	if f, is := o.(follower); is {
		enlist(&rt.stepping, f, on)
	}
}

func enlist[O comparable](p *atomic.Pointer[[]O], o O, on bool) {
	list := slices.DeleteFunc(slices.Clone(listed(p)), func(other O) bool { return other == o })
	if on {
		list = append(list, o)
	}
	p.Store(&list)
	if len(list) == 0 {
		p.Store(nil)
	}
}

// observeWith adds an observer until the function that it returns is called.
func (rt *Runtime) observeWith(o seam.Observer) (done func()) {
	set := func(on bool) {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		rt.observe(o, on)
	}
	set(true)
	return func() { set(false) }
}

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
