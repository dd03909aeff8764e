package symmem

import (
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// A world's parts
//
// A world is made of parts. Whatever ends, begins anew or is asked of all of them is one loop over
// the list, so that a new part is one more row of madeOf.

// madeOf returns the parts of the world. Each may use those before it until it is closed itself.
func (rt *Runtime) madeOf() []seam.Part[*Group, *allocation] {
	own := part{rt: rt}
	return []seam.Part[*Group, *allocation]{
		streamPart{own}, groupPart{own}, shmemPart{own}, memoryPart{own}, networkPart{own}, ncclPart{own}, slowPart{own},
	}
}

// part is a part of which the state is in the world. It does nothing.
type part struct {
	seam.Idle[*Group, *allocation]
	rt *Runtime
}

// streamPart has the streams.
type streamPart struct{ part }

func (p streamPart) Close() error {
	p.rt.mu.Lock()
	defer p.rt.mu.Unlock()
	for _, s := range p.rt.streams {
		s.close()
	}
	p.rt.streams = nil
	return nil
}

// groupPart has the memory by which the members of groups communicate, and the watches over it.
type groupPart struct{ part }

// all lists the groups.
func (p groupPart) all() []*Group {
	p.rt.mu.Lock()
	defer p.rt.mu.Unlock()
	return slices.Clone(p.rt.groups)
}

// Drained ends the watches of copies. A watch that saw a wait before its peer ended it could
// otherwise give it up after the records of waits were cleared.
func (p groupPart) Drained() {
	for _, g := range p.all() {
		g.watch.Forget()
	}
}

func (p groupPart) Settle(seam.Loss) error {
	p.rt.mu.Lock()
	defer p.rt.mu.Unlock()
	for _, g := range p.rt.groups {
		g.restart()
	}
	return nil
}

func (p groupPart) Clear(s device.Stream) error {
	for _, g := range p.rt.groups {
		if g.work.seg == nil {
			continue
		}
		if err := g.reset(s); err != nil {
			return err
		}
	}
	return nil
}

func (p groupPart) DropGroup(g *Group) { g.end() }

func (p groupPart) Close() error {
	p.rt.mu.Lock()
	defer p.rt.mu.Unlock()
	for _, g := range p.rt.groups {
		g.end()
	}
	p.rt.groups = nil
	return nil
}

// memoryPart has the symmetric tensors.
type memoryPart struct{ part }

func (p memoryPart) Clear(s device.Stream) error {
	for _, a := range p.rt.allocs {
		if err := s.Set(a.at.PadIn(a.seg), 0, a.at.PadBytes); err != nil {
			return err
		}
	}
	return nil
}

func (p memoryPart) DropGroup(g *Group) {
	for _, a := range p.rt.allocs {
		a.mappings = slices.DeleteFunc(a.mappings, func(m *mapping) bool { return m.g == g })
	}
}

func (p memoryPart) Close() error {
	p.rt.mu.Lock()
	defer p.rt.mu.Unlock()
	for _, a := range p.rt.allocs {
		a.release()
	}
	p.rt.allocs = nil
	return nil
}
