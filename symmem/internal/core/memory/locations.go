package memory

import (
	"cmp"
	"fmt"
	"os"
	"sync"

	"github.com/symmrepl/symmrepl/internal/count"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Locations is a set of the places of tensors. It names the tensor that a kernel missed when the
// kernel touched an address without memory. Its methods may be called from several goroutines.
type Locations[C Contents] struct {
	mu   sync.Mutex
	list map[device.Ptr]Location[C] // by the block or the part of a segment; nil before Keep
	gone map[device.Ptr]struct{}    // the keys of those that were freed
}

// Keep begins to keep locations that are added. It is for devices whose memory ends at guard pages:
// there, an address that faults is near the tensor that was meant.
func (l *Locations[C]) Keep() {
	l.list, l.gone = map[device.Ptr]Location[C]{}, map[device.Ptr]struct{}{}
}

// Location is a tensor, or another thing, in memory.
type Location[C Contents] struct {
	At    device.Ptr
	Bytes int
	What  C   // never changed
	Peer  int // the rank whose memory it is, -1 for this rank
	Freed bool
	Freer int // where it was freed, as Config.Caller said; 0 if that is not known, as for the garbage collector
}

// Contents describes a tensor, or another thing, in memory.
type Contents interface {
	String() string                    // "f32[4]"
	Element() (name string, bytes int) // one of it: "element", 4
}

// Add notes the contents of the block, or the part of a segment, that begins at key.
func (l *Locations[C]) Add(key device.Ptr, o Location[C]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list != nil {
		l.list[key] = o
		delete(l.gone, key)
	}
}

// Free notes that the tensor was freed, though its memory stays, and where.
func (l *Locations[C]) Free(key device.Ptr, freer int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o, ok := l.list[key]; ok {
		o.Freed, o.Freer = true, freer
		l.list[key] = o
		l.gone[key] = struct{}{}
	}
}

// Forget forgets a location.
func (l *Locations[C]) Forget(key device.Ptr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(key)
}

// forget is Forget for a caller that holds l.mu.
func (l *Locations[C]) forget(key device.Ptr) {
	delete(l.list, key)
	delete(l.gone, key)
}

// Renew forgets tensors that were freed and lay where memory is mapped anew, with so many guard bytes
// on either side of its pages: their addresses were given back.
func (l *Locations[C]) Renew(p device.Ptr, n, guard int) {
	page := device.Ptr(os.Getpagesize())
	from, to := p/page*page-device.Ptr(guard), (p+device.Ptr(n)+page-1)/page*page+device.Ptr(guard)
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.gone { // not the list: most of its tensors live
		if o := l.list[key]; o.At < to && o.At+device.Ptr(o.Bytes) > from {
			l.forget(key)
		}
	}
}

// nearestFar is the maximum distance of an address from the end of the tensor that was meant.
const nearestFar = 1 << 24

// Nearest describes an address by the tensor that was meant: one that is less than a page away, and
// otherwise the nearest one, in both cases rather one that lives than one that was freed. Of two that
// are equally near, it is the one that ends before the address. It is empty if none is near.
func (l *Locations[C]) Nearest(at device.Ptr) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	page := device.Ptr(os.Getpagesize())
	order := func(a, b Location[C]) int {
		return cmp.Or(
			first(a.distance(at) < page, b.distance(at) < page),
			first(!a.Freed, !b.Freed),
			cmp.Compare(a.distance(at), b.distance(at)),
			first(a.At <= at, b.At <= at),
			cmp.Compare(a.At, b.At))
	}
	var best *Location[C]
	for _, o := range l.list {
		if o.distance(at) < nearestFar && (best == nil || order(o, *best) < 0) {
			best = &o
		}
	}
	if best == nil {
		return ""
	}
	return best.Describe(at)
}

// first orders values with a property before values without it.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// distance returns the number of bytes between an address and the memory, 0 if the address is in it or
// right behind it.
func (o Location[C]) distance(at device.Ptr) device.Ptr {
	switch end := o.At + device.Ptr(o.Bytes); {
	case at < o.At:
		return o.At - at
	case at >= end:
		return at - end
	}
	return 0
}

// Containing returns the tensor or the pad in whose memory an address is, or the last one that was
// there.
func (l *Locations[C]) Containing(at device.Ptr) (found Location[C], ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.list {
		if at >= o.At && at < o.At+device.Ptr(o.Bytes) {
			found, ok = o, true
			if !o.Freed {
				break
			}
		}
	}
	return found, ok
}

// Name names the contents, with the rank that owns the memory, and whether it was freed.
func (o Location[C]) Name() string {
	name := o.What.String()
	if o.Peer >= 0 {
		name += fmt.Sprintf(" of rank %d", o.Peer)
	}
	if o.Freed {
		name += ", which was freed"
	}
	return name
}

// Describe describes an address by its distance from the location, which need not contain it: "4
// bytes in front of f32[4]".
func (o Location[C]) Describe(at device.Ptr) string {
	name, end := o.Name(), o.At+device.Ptr(o.Bytes)
	element, size := o.What.Element()
	switch {
	case at < o.At:
		return fmt.Sprintf("%s in front of %s", count.Of(o.At-at, "byte"), name)
	case at < end:
		return fmt.Sprintf("in %s", name)
	case at-end < device.Ptr(size):
		return fmt.Sprintf("right behind %s, where %s %d would be", name, element, int(at-o.At)/size)
	}
	return fmt.Sprintf("%s behind %s, where %s %d would be", count.Of(at-end, "byte"), name, element, int(at-o.At)/size)
}
