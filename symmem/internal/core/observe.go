package symmem

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/internal/timeline"
	"github.com/symmrepl/symmrepl/symmem/internal/core/operators"
	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Observers
//
// Explain, Why, traces, Compare, Slow and the sanitizer follow the calls of this rank. Each is among
// the world's observers while it has something to see, and only then does a call tell anything.

// observer hears of calls: see call.go for their steps. rt.mu is held, unless an event says otherwise.
type observer interface {
	// admitted begins the work of a call.
	admitted(c *sight)
	// ran notes a kernel of the call, and whether it was loaded for the call.
	ran(kernel string, loaded bool)
	// chose notes the way of a call that has several. bytes is the size by which it was chosen.
	chose(c *sight, bytes int, w *tuning.Way)
	// replays notes that the call replays a graph.
	replays(g *Graph)
	// issued notes the route of a call, once work that takes it is in the stream.
	issued(c *sight)

	// steps reports whether the observer hears of the following, too.
	steps() bool
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

// blind is an observer that sees nothing.
type blind struct{}

func (blind) steps() bool                      { return false }
func (blind) called(string, *Stream)           {}
func (blind) touched(string, *Stream, *Tensor) {}
func (blind) made(*Tensor)                     {}
func (blind) admitted(*sight)                  {}
func (blind) known(uint32, *Group, uint64)     {}
func (blind) ran(string, bool)                 {}
func (blind) chose(*sight, int, *tuning.Way)   {}
func (blind) replays(*Graph)                   {}
func (blind) issued(*sight)                    {}
func (blind) left()                            {}
func (blind) began(uint64)                     {}
func (blind) ended(uint64)                     {}

// sight is a call as observers see it. It is valid during an event.
type sight struct {
	Record
	on      *Group
	stream  *Stream
	timeout time.Duration
	user    bool   // it launches a kernel of the user's
	fresh   int8   // where the memory of its result is from
	notNCCL string // why the device's library of collectives did not get it, if it might have
	staged  int    // bytes of ordinary memory for which symmetric memory stands
	route   route
	signal  signalling // that the call gives or awaits, for observers of steps
}

// observers are the observers of a world. The sight of the call under way lies here, so that a call
// needs no memory for it.
type observers struct {
	watching atomic.Pointer[[]observer]
	stepping atomic.Pointer[[]observer] // those that hear of steps
	sight    sight
}

// observing lists the observers, nil if there are none.
func (rt *Runtime) observing() []observer { return listed(&rt.watching) }

// following lists the observers that hear of steps, nil if there are none.
func (rt *Runtime) following() []observer { return listed(&rt.stepping) }

func listed(p *atomic.Pointer[[]observer]) []observer {
	if list := p.Load(); list != nil {
		return *list
	}
	return nil
}

// observe adds an observer, or takes it off. rt.mu is held.
func (rt *Runtime) observe(o observer, on bool) {
	set := func(p *atomic.Pointer[[]observer], on bool) {
		list := slices.DeleteFunc(slices.Clone(listed(p)), func(other observer) bool { return other == o })
		if on {
			list = append(list, o)
		}
		p.Store(&list)
		if len(list) == 0 {
			p.Store(nil)
		}
	}
	set(&rt.watching, on)
	set(&rt.stepping, on && o.steps())
}

// observeWith adds an observer until the function that it returns is called.
func (rt *Runtime) observeWith(o observer) (done func()) {
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
		v.Record, v.on, v.stream, v.timeout, v.user = c.Record, c.opts.group, c.stream, c.opts.timeout, user
		v.fresh, v.notNCCL = c.fresh, c.notNCCL
		for _, o := range list {
			o.admitted(v)
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
		o.ran(kernel, loaded)
	}
}

// Chose tells observers which way an admitted call goes. bytes is the size by which it was chosen.
func (c *Call) Chose(bytes int, w *tuning.Way) {
	c.copied = c.copied || len(c.stages) > 0
	if !c.begun {
		return
	}
	v := &c.rt.sight
	v.staged = c.stagedBytes()
	for _, o := range c.rt.observing() {
		o.chose(v, bytes, w)
	}
}

// noteRoute tells observers of the call's route, once.
func (c *Call) noteRoute() {
	if !c.begun || c.told {
		return
	}
	v := &c.rt.sight
	if c.passage.h == nil {
		v.route = c.route
	} else if v.route = c.passage.route(c.of); c.rt.following() != nil {
		v.signal = c.passage.signal(c.of)
	}
	if v.route.way == "" && v.signal.group == nil {
		return
	}
	c.told = true
	c.copied = c.copied || v.route.way != "" && len(c.stages) > 0
	v.staged = c.stagedBytes()
	for _, o := range c.rt.observing() {
		o.issued(v)
	}
	v.signal = signalling{} // the handle of which is the program's to drop
}

// makes notes a tensor that the call has made, and returns it.
func (rt *Runtime) makes(t *Tensor) *Tensor {
	for _, o := range rt.following() {
		o.made(t)
	}
	return t
}

// route describes the traffic of a call: the peer, the direction and the bytes. The zero value means
// none.
type route struct {
	way   string // "to" or "from" a member, "with" all, or "by" a library
	peer  int    // by its rank in the group; of "with" it means nothing
	bytes int
	of    string // the library; of a collective over hosts the name of its way, and why: bytes is then what this rank sends
	why   string
	size  int // of the message, by which the way was chosen

	splits  int  // numbers in device memory that give further bytes; 0 if there are none
	unknown bool // only the device knows how many bytes it moves
}

// route describes the traffic of a call of a handle.
func (p *passage) route(of *operators.Operator) route {
	r := route{way: of.Traffic, peer: p.peer}
	if p.t != nil {
		r.bytes = p.t.Bytes()
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

// far reports whether a route on the group leads to another host.
func (g *Group) far(p *route) bool {
	return g.split.Spans() && (p.way == "with" || !g.split.Near(p.peer))
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
