package symmem

import (
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// release unmaps the allocation, which nothing may use any more.
func (a *allocation) release() {
	a.vacate()
	a.unmap()
}

// vacate frees everything of an allocation's tensor except the memory. After a failure something
// stays mapped until the process ends; vacate and unmap ignore such failures.
func (a *allocation) vacate() {
	a.unlocate()
	for _, c := range a.multicasts {
		c.close()
	}
	for _, m := range a.mappings {
		m.tables.release()
	}
	a.multicasts, a.mappings = nil, nil
}

// unmap gives the memory back.
func (a *allocation) unmap() {
	for _, s := range a.peers {
		s.Close()
	}
	a.peers = nil
}

// memoryPart has the symmetric tensors.
type memoryPart struct{ part }

func (p memoryPart) Clear(s device.Stream) error {
	for _, a := range p.rt.allocs {
		if a.lent { // its signals are not this world's
			continue
		}
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
