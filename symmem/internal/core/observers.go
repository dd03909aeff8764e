package symmem

import (
	"slices"
	"sync/atomic"

	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
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
