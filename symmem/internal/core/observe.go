package symmem

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/tuning"
)

// Observers
//
// Explain, Why, traces, Compare, Slow and the sanitizer follow the calls of this rank. Each is among
// the world's observers while it has something to see, and only then does a call tell anything.

// observer hears of the steps of calls: see call.go. rt.mu is held, unless an event says otherwise.
type observer interface {
	// called begins a call on the stream that it has picked, or without rt.mu on the host, where the
	// stream is nil. A call that leaves the world for a while, or has several streams, begins again.
	called(op string, s *Stream)
	// touched notes a tensor that the call's work uses.
	touched(op string, s *Stream, t *Tensor)
	// made notes a tensor that code has made. The caller may hold rt.mu.
	made(t *Tensor)
	// admitted begins the work of a call.
	admitted(c *sight)
	// known notes that kernels know the call by its id.
	known(c *sight)
	// ran notes a kernel of the call, and whether it was loaded for the call.
	ran(kernel string, loaded bool)
	// chose notes the way of a call that has several. bytes is the size by which it was chosen.
	chose(c *sight, bytes int, w *tuning.Way)
	// replays notes that the call replays a graph.
	replays(g *Graph)
	// issued notes the route of a call, once work that takes it is in the stream.
	issued(c *sight)
	// left ends a call, or lets it leave the world for a while.
	left()
	// began and ended concern a cell of the session, by its number. rt.mu is not held.
	began(run uint64)
	ended(run uint64)
}

// blind is an observer that sees nothing.
type blind struct{}

func (blind) called(string, *Stream)           {}
func (blind) touched(string, *Stream, *Tensor) {}
func (blind) made(*Tensor)                     {}
func (blind) admitted(*sight)                  {}
func (blind) known(*sight)                     {}
func (blind) ran(string, bool)                 {}
func (blind) chose(*sight, int, *tuning.Way)   {}
func (blind) replays(*Graph)                   {}
func (blind) issued(*sight)                    {}
func (blind) left()                            {}
func (blind) began(uint64)                     {}
func (blind) ended(uint64)                     {}

// sight is the call that observers see. It is valid during an event.
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
}

// observers are the observers of a world. The sight of the call under way lies here, so that a call
// needs no memory for it.
type observers struct {
	watching atomic.Pointer[[]observer]
	sight    sight
}

// observing lists the observers.
func (rt *Runtime) observing() []observer {
	if list := rt.watching.Load(); list != nil {
		return *list
	}
	return nil
}

// observe adds an observer to the list, or takes it off. rt.mu is held.
func (rt *Runtime) observe(o observer, on bool) {
	list := slices.DeleteFunc(slices.Clone(rt.observing()), func(p observer) bool { return p == o })
	if on {
		list = append(list, o)
	}
	rt.watching.Store(&list)
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

// seen is the call as observers see it.
func (c *Call) seen() *sight {
	v := &c.rt.sight
	*v = sight{Record: c.Record, on: c.opts.group, stream: c.stream, timeout: c.opts.timeout, fresh: c.fresh, notNCCL: c.notNCCL,
		route: c.route}
	for _, s := range c.stages {
		v.staged += s.of.Bytes()
	}
	return v
}

// begins tells observers, once, that an admitted call begins its work. user says that it launches a
// kernel of the user's.
func (c *Call) begins(user bool) {
	if list := c.rt.observing(); len(list) > 0 && !c.begun {
		c.begun = true
		v := c.seen()
		v.user = user
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
	for _, o := range c.rt.observing() {
		o.ran(kernel, loaded)
	}
}

// Chose tells observers which way an admitted call goes. bytes is the size by which it was chosen.
func (c *Call) Chose(bytes int, w *tuning.Way) {
	c.copied = c.copied || len(c.stages) > 0
	if list := c.rt.observing(); len(list) > 0 {
		v := c.seen()
		for _, o := range list {
			o.chose(v, bytes, w)
		}
	}
}

// noteRoute tells observers of the call's route, once.
func (c *Call) noteRoute() {
	list := c.rt.observing()
	if len(list) == 0 || c.route.way == "" && c.route.over == "" && c.route.signal.group == nil {
		return
	}
	c.copied = c.copied || c.route.way != "" && len(c.stages) > 0
	v := c.seen()
	for _, o := range list {
		o.issued(v)
	}
	c.route = route{}
}

// makes notes a tensor that the call has made, and returns it.
func (rt *Runtime) makes(t *Tensor) *Tensor {
	for _, o := range rt.observing() {
		o.made(t)
	}
	return t
}

// route describes the traffic of a call: the peer, the direction and the bytes. The zero value means
// none.
type route struct {
	way   string // "to" or "from" a member, or "with" all
	peer  int    // by its rank in the group; of "with" it means nothing
	bytes int
	of    string // of a collective over hosts: the name of its way, and why; bytes is then what this rank sends
	why   string
	size  int    // of the message, by which the way was chosen
	over  string // the library that carries it

	signal signalling // that the call gives or awaits

	splits  int  // numbers in device memory that give further bytes; 0 if there are none
	unknown bool // only the device knows how many bytes it moves
}

// far reports whether a route on the group leads to another host.
func (g *Group) far(p *route) bool {
	return g.split.Spans() && (p.way == "with" || !g.split.Near(p.peer))
}
