package symmem

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/calls"
	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// Symmetric memory that nobody holds
//
// A symmetric tensor that no program holds any more need not be freed. Each rank's garbage
// collector finds it at a moment of its own. So in every Empty of a group each member lists the
// tensors of the group that nothing of its rank holds or uses. A tensor in the lists of all members
// is gone; such tensors go in the order in which they were made, which is equal on all members. The
// memory of the tensor, with the members' mappings, is a spare of the group from then on: a later
// Empty with the same layout takes it, and so maps nothing. A spare that no Empty has taken for a
// while is freed, and so is one that is in the way when a device is full. All members choose the
// same spare, because they have the same lists. The description of the meeting names the memory
// that is taken, so that the meeting finds members that differ after a failure. Recover frees all
// spares.
//
// Memory of NVSHMEM's heap and of memory pools stays until Free.

// spareFor is the number of tensors of the group for which a spare waits. The garbage collector,
// which does not see the device's memory, runs after as many tensors if no spare is left.
const spareFor = 64

// spares are the memory that no tensor of a group has, and the counts by which the garbage
// collector is run. rt.mu guards them; the group's meeting guards wiper.
type spares struct {
	list  []spare
	wiper device.Stream // sets them to zero, beside all other streams; nil until one is taken
	made  int           // tensors since the garbage collector ran
	bytes int           // of these
}

// spare is memory that a tensor had.
type spare struct {
	a     *allocation // of that tensor
	since uint64      // the group's number of tensors then
}

// newStorage returns the storage that the allocation's tensors view, in this rank's segment. The
// allocation must not keep it.
func (a *allocation) newStorage(seg device.Segment) *storage {
	st := &storage{ptr: a.at.DataIn(seg), size: a.size, alloc: a, peer: a.rt.rank}
	runtime.AddCleanup(st, func(a *allocation) {
		a.unheld.Store(true)
		a.rt.local.Noticed()
	}, a)
	return st
}

// isUnused reports whether neither a program nor work of this rank needs the allocation. rt.mu is held.
func (a *allocation) isUnused() bool {
	rt := a.rt
	if !a.unheld.Load() || a.block != nil || a.inHeap() || a.freed.Load() || a.lasts {
		return false
	}
	if !a.rests { // once it does nothing can use it again
		used := a.used
		if a.shown.Load() {
			used = ^uint64(0)
		}
		a.rests = rt.idle(used) && (!a.group.split.Spans() || rt.flushed())
	}
	return a.rests
}

// atEmpty is the message of a member in the exchange of an Empty.
type atEmpty struct {
	Unused []calls.Digest `json:",omitempty"` // the tensors that it neither holds nor uses
	Full   bool           `json:",omitempty"` // its device has no memory for the new tensor
}

// unused lists the group's tensors that nothing of this rank holds or uses. Those that have lost a
// part, or are this rank's alone, it frees.
func (g *Group) unused(op string) (list []calls.Digest) {
	rt := g.rt
	var alone []*allocation
	rt.mu.Lock()
	for _, a := range rt.allocs {
		switch {
		case a.group != g || !a.isUnused():
		case a.alone || a.stale.Load() != nil:
			alone = append(alone, a)
		default:
			list = append(list, a.digest)
		}
	}
	rt.mu.Unlock()
	for _, a := range alone {
		if a.end(op) == nil {
			a.unmap()
		}
	}
	return list
}

// reclaim makes spares of the tensors that all members neither hold nor use. The caller holds the
// group's meeting, in which they said so.
func (g *Group) reclaim(op string, said []atEmpty) {
	rt := g.rt
	var gone []*allocation
	rt.mu.Lock()
	for _, a := range rt.allocs {
		if a.group == g && !slices.ContainsFunc(said, func(m atEmpty) bool { return !slices.Contains(m.Unused, a.digest) }) {
			gone = append(gone, a)
		}
	}
	rt.mu.Unlock()
	for _, a := range gone {
		if a.end(op) == nil {
			rt.mu.Lock()
			g.spares.list = append(g.spares.list, spare{a, g.allocs})
			rt.mu.Unlock()
		}
	}
}

// end ends the tensor of an allocation that nothing uses. Its memory stays mapped; after an error it
// must stay so, as something may still land there.
func (a *allocation) end(op string) (err error) {
	rt := a.rt
	a.freed.Store(true)
	for i := len(rt.parts) - 1; i >= 0 && err == nil; i-- {
		err = rt.parts[i].DropMemory(op, a)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.allocs = slices.DeleteFunc(rt.allocs, func(o *allocation) bool { return o == a })
	if err == nil {
		a.vacate()
	}
	return err
}

// fitting returns the first of the group's spares with a layout, nil if there is none. rt.mu is held.
func (g *Group) fitting(at memory.Placement) *allocation {
	i := slices.IndexFunc(g.spares.list, func(s spare) bool { return s.a.at == at })
	if i < 0 {
		return nil
	}
	return g.spares.list[i].a
}

// collect runs the garbage collector if no spare fits the layout of the next tensor, and the group has
// made many tensors or large ones since it ran.
func (g *Group) collect(at memory.Placement) {
	rt, s := g.rt, &g.spares
	rt.mu.Lock()
	due := g.fitting(at) == nil && (s.made >= spareFor || s.bytes > int(rt.info.Memory/collectShare))
	if due {
		s.made, s.bytes = 0, 0
	}
	s.made++
	s.bytes += at.End
	rt.mu.Unlock()
	if due {
		rt.local.Collect()
	}
}

// segments returns the memory of a new tensor with a layout, by world rank as far as it is mapped:
// the memory of a spare if one fits, and otherwise this rank's memory alone, which make makes. All
// members pass the same desc. The caller holds the group's meeting.
func (g *Group) segments(op, desc string, at memory.Placement, make func(n int) (device.Segment, error)) (map[int]device.Segment, error) {
	rt := g.rt
	g.collect(at)
	rt.mu.Lock()
	taken := g.fitting(at)
	rt.mu.Unlock()
	if taken != nil {
		said, err := gatherValues(g, op, fmt.Sprintf("%s, in the memory of %s", desc, taken.id), atEmpty{Unused: g.unused(op)}, g.wipe(taken))
		if err != nil {
			return nil, err
		}
		g.reclaim(op, said)
		rt.mu.Lock()
		defer rt.mu.Unlock()
		g.spares.list = slices.DeleteFunc(g.spares.list, func(s spare) bool { return s.a == taken })
		return taken.peers, nil
	}
	seg, err := make(at.End)
	full := errors.Is(err, device.ErrOutOfMemory)
	if full {
		err = nil
	}
	said, failed := gatherValues(g, op, desc, atEmpty{Unused: g.unused(op), Full: full}, err)
	if failed == nil {
		g.reclaim(op, said)
		if slices.ContainsFunc(said, func(m atEmpty) bool { return m.Full }) {
			if seg != nil {
				seg.Close()
			}
			if err = g.makeRoom(op, desc); err != nil {
				return nil, err
			}
			seg, err = make(at.End)
			_, failed = gatherValues(g, op, desc+", in memory that was given back", atEmpty{}, err)
		}
	}
	if failed != nil {
		if seg != nil {
			seg.Close()
		}
		return nil, failed
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	g.dropSpares(spareFor)
	return map[int]device.Segment{rt.rank: seg}, nil
}

// reclaimAll reclaims the tensors of the group and its teams that no member holds. It is collective
// over the group if there are tensors.
func (g *Group) reclaimAll(op string) {
	rt := g.rt
	var groups []*Group
	rt.mu.Lock()
	for _, a := range rt.allocs {
		if !a.stands && a.group.within(g) && !slices.Contains(groups, a.group) {
			groups = append(groups, a.group)
		}
	}
	rt.mu.Unlock()
	if len(groups) > 0 {
		rt.local.Collect()
	}
	for _, o := range groups {
		o.meeting.Lock()
		said, err := gatherValues(o, op, o.listed()+", with the tensors that it still has", atEmpty{Unused: o.unused(op)}, nil)
		if err == nil {
			o.reclaim(op, said)
		}
		o.meeting.Unlock()
		if err != nil {
			panic(rt.failure(op, err))
		}
	}
}

// makeRoom frees the tensors that no member of the group holds or uses, and the spares. The caller
// holds the group's meeting.
func (g *Group) makeRoom(op, desc string) error {
	rt := g.rt
	rt.local.Collect()
	said, err := gatherValues(g, op, desc+", for which a device has no memory yet", atEmpty{Unused: g.unused(op)}, nil)
	if err != nil {
		return err
	}
	g.reclaim(op, said)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	g.dropSpares(0)
	rt.trim()
	return nil
}

// closeSpares gives all spares back. rt.mu is held.
func (g *Group) closeSpares() {
	g.dropSpares(0)
	if g.spares.wiper != nil {
		g.spares.wiper.Close() // nobody is left for its error
		g.spares.wiper = nil
	}
}

// dropSpares gives back the spares that no Empty has taken while the group made age tensors. rt.mu is
// held.
func (g *Group) dropSpares(age uint64) {
	g.spares.list = slices.DeleteFunc(g.spares.list, func(s spare) bool {
		old := g.allocs-s.since >= age
		if old {
			s.a.unmap()
		}
		return old
	})
}

// wipe sets the memory of a spare to zero and waits for it: peers may write there as soon as they have
// mapped the new tensor. The caller holds the group's meeting.
func (g *Group) wipe(a *allocation) error {
	s := g.spares.wiper
	if s == nil {
		var err error
		if s, err = g.rt.dev.NewStream(); err != nil {
			return err
		}
		g.spares.wiper = s
	}
	g.rt.mark(nil, a.seg.Ptr(), a.seg.Size(), device.MemoryDefined) // markSegment follows for the new tensor
	return errors.Join(s.Set(a.at.PadIn(a.seg), 0, a.at.PadBytes), s.Set(a.at.DataIn(a.seg), 0, a.at.DataBytes()), s.Synchronize())
}
