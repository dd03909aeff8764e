package symmem

import (
	"fmt"
	"maps"
	"os"
	"sync"

	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// locations knows where tensors lie, to say what a kernel missed that touched an address without memory. It is kept where memory ends at guard
// pages: there such addresses are near to what was meant.
type locations struct {
	mu   sync.Mutex
	list map[device.Ptr]location // by the block or the part of a segment; nil where it is not kept
}

type location struct {
	at    device.Ptr
	bytes int
	dtype DType
	shape []int // never changed
	peer  int   // whose, if it is not this rank's, else -1
	pad   bool  // its signal pad
	freed bool
	freer int // who freed it, as Config.Caller said; 0 if that is not known, as of the garbage collector
}

func (l *locations) add(key device.Ptr, o location) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list != nil {
		l.list[key] = o
	}
}

// freed notes that what lies there is a tensor no more, though its memory stays, and who freed it.
func (l *locations) freed(key device.Ptr, freer int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o, ok := l.list[key]; ok {
		o.freed, o.freer = true, freer
		l.list[key] = o
	}
}

func (l *locations) forget(key device.Ptr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.list, key)
}

// renew forgets tensors that were freed and lay where memory is mapped anew, with the guard pages around it: their addresses were given back.
func (l *locations) renew(p device.Ptr, n int) {
	page := device.Ptr(os.Getpagesize())
	from, to := p/page*page-page, (p+device.Ptr(n)+page-1)/page*page+page
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.list, func(_ device.Ptr, o location) bool { return o.freed && o.at < to && o.at+device.Ptr(o.bytes) > from })
}

// locate notes where a member's copy of a symmetric tensor and its signal pad are.
func (a *allocation) locate(rank int, s device.Segment) {
	peer := rank
	if rank == a.rt.rank {
		peer = -1
	}
	l := location{at: a.at.dataIn(s), bytes: a.size, dtype: a.dtype, shape: a.shape, peer: peer}
	a.rt.located.add(l.at, l)
	l.at, l.bytes, l.dtype, l.pad = a.at.padIn(s), a.at.padBytes, U32, true
	a.rt.located.add(l.at, l)
}

// unlocate ends what locate began. While accesses are watched, the addresses of memory that was freed are not used again soon.
func (a *allocation) unlocate() {
	end := a.rt.located.forget
	if a.rt.sanitized.Load() {
		freer := a.rt.calls.caller()
		end = func(key device.Ptr) { a.rt.located.freed(key, freer) }
	}
	for _, s := range a.peers {
		end(a.at.dataIn(s))
		end(a.at.padIn(s))
	}
}

// outside tells what a kernel did that faulted, and whether that was to leave a tensor: "writes right behind f32[1000], where element 1000 would be".
func (rt *Runtime) outside(f *device.KernelFault) (what string, outside bool) {
	near := ""
	if f.Address != 0 {
		near = rt.located.nearest(device.Ptr(f.Address))
	}
	switch {
	case near == "":
		return f.What, false
	case f.Write:
		return "writes " + near, true
	}
	return "reads " + near, true
}

// nearestFar is how far from an address a tensor may end that was meant.
const nearestFar = 1 << 24

// nearest describes an address by the tensor that is nearest to it. It is empty if none is near.
func (l *locations) nearest(at device.Ptr) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	distance := func(o location) device.Ptr {
		switch end := o.at + device.Ptr(o.bytes); {
		case at < o.at:
			return o.at - at
		case at >= end:
			return at - end
		}
		return 0
	}
	var best *location
	for _, o := range l.list {
		if d := distance(o); d < nearestFar && (best == nil || d < distance(*best) || d == distance(*best) && at >= o.at) {
			best = &o
		}
	}
	if best == nil {
		return ""
	}
	return best.describe(at)
}

// containing returns what lies at an address that is in the memory of a tensor or a pad, or lay there last.
func (l *locations) containing(at device.Ptr) (found location, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.list {
		if at >= o.at && at < o.at+device.Ptr(o.bytes) {
			found, ok = o, true
			if !o.freed {
				break
			}
		}
	}
	return found, ok
}

// name is what lies there, and what an element of it is called.
func (o location) name() (name, element string) {
	name, element = kindOf(o.dtype, o.shape), "element"
	if o.pad {
		name, element = "the signal pad of a tensor of shape "+fmt.Sprint(o.shape), "word"
	}
	if o.peer >= 0 {
		name += fmt.Sprintf(" of rank %d", o.peer)
	}
	if o.freed {
		name += ", which was freed"
	}
	return name, element
}

func (o location) describe(at device.Ptr) string {
	name, element := o.name()
	size, end := o.dtype.Size(), o.at+device.Ptr(o.bytes)
	switch {
	case at < o.at:
		return fmt.Sprintf("%d bytes in front of %s", o.at-at, name)
	case at < end:
		return fmt.Sprintf("in %s", name)
	case at-end < device.Ptr(size):
		return fmt.Sprintf("right behind %s, where %s %d would be", name, element, int(at-o.at)/size)
	}
	return fmt.Sprintf("%d bytes behind %s, where %s %d would be", at-end, name, element, int(at-o.at)/size)
}

// locateOrdinary notes what a block holds.
func (rt *Runtime) locateOrdinary(b *block, st *storage, dtype DType, shape []int) {
	if !rt.info.Guards {
		return
	}
	rt.located.add(b.ptr, location{at: st.ptr, bytes: st.size, dtype: dtype, shape: shape, peer: -1})
}
