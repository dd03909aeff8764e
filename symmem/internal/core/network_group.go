package symmem

import (
	"errors"
	"slices"
	"unsafe"

	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/symmem/internal/core/launch"
	"github.com/symmrepl/symmrepl/symmem/internal/core/layout"
	"github.com/symmrepl/symmrepl/symmem/internal/core/memory"
	"github.com/symmrepl/symmrepl/symmem/internal/core/networks"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// words are the group's among the signals of each member.
func (g *Group) words() layout.Words { return layout.WordsOf(len(g.ranks), g.channels, g.pipes()) }

// pipes returns the sets of pipes of the group.
func (g *Group) pipes() layout.Pipes {
	return layout.PipesOf(len(g.ranks), len(g.split.Parts), g.split.Even())
}

// wire gives the group its words. It is collective over the group; the caller holds g.meeting.
func (g *Group) wire(op, desc string) error {
	rt := g.rt
	n := rt.net.Load()
	if n == nil || !g.split.Spans() {
		return nil
	}
	rt.mu.Lock()
	s, err := n.Take(g.words().All)
	next := n.Window()
	rt.mu.Unlock()
	if err == nil {
		clear(n.In(s)) // of a group that was freed; nobody adds to them any more
	}
	all, failed := gatherValues(g, op, desc+", words", wiring{s.First, next}, err)
	if failed != nil {
		if err == nil {
			rt.mu.Lock()
			defer rt.mu.Unlock()
			n.Give(s)
		}
		return failed
	}
	g.wired = s
	var words []int
	for _, member := range all {
		words, next = append(words, member.Words), max(next, member.Window)
	}
	rt.mu.Lock()
	n.SetWindow(next + 1)
	rt.mu.Unlock()
	if err = g.writeTables(n, words); err == nil {
		err = g.openPipes(n, next)
	}
	_, err = gatherValues(g, op, desc+", tables", struct{}{}, err)
	return err
}

// wiredUp reports whether kernels that get a handle of the group may post operations for other
// hosts.
func (g *Group) wiredUp() bool { return g.table != 0 }

// wiring describes a member's words and windows to the others.
type wiring struct {
	Words  int    // where the group's begin
	Window uint32 // the next id
}

// writeTables writes the tables of members for kernels, behind the rest of the workspace. words are
// the indices at which the words of each member begin.
func (g *Group) writeTables(n *networks.Network, words []int) error {
	l := g.layout()
	base := g.work.seg.Ptr()
	g.table = base + device.Ptr(l.Tables)
	members, partners := make([]abi.NetMember, len(words)), g.split.Partners()
	for i, first := range words {
		members[i] = abi.NetMember{Rank: uint32(g.ranks[i]), Words: uint32(first), Block: g.work.blocks[i]}
	}
	g.links = abi.NetGroup{Port: n.Port, Counts: base + device.Ptr(l.Epochs),
		Members: g.table + device.Ptr(unsafe.Sizeof(g.links)), PartnerCount: uint64(len(partners))}
	g.links.Partners = g.links.Members + device.Ptr(len(members))*device.Ptr(unsafe.Sizeof(members[0]))
	tables := slices.Concat(launch.Bytes(&g.links), launch.BytesOfAll(members), launch.BytesOfAll(partners))
	s, err := g.rt.dev.NewStream() // others may wait for peers
	if err != nil {
		return err
	}
	return errors.Join(s.Write(g.table, tables), s.Synchronize(), s.Close())
}

// unwire gives the words back. rt.mu is held.
func (g *Group) unwire() {
	if n := g.rt.net.Load(); n != nil && g.wired != (networks.Span{}) {
		n.Give(g.wired)
		if g.inboxes != 0 && n.Engine.Forget(g.inboxes) != nil {
			g.work.mapped = nil // something may still land there
		}
	}
	g.inboxes = 0
	g.wired, g.links, g.table = networks.Span{}, abi.NetGroup{}, 0
}

// expose makes the allocation's data and signal pad windows for the members of g. It is collective
// over the group; the caller holds g.meeting.
func (a *allocation) expose(op string, g *Group) error {
	rt := a.rt
	if a.windows[g] != 0 {
		return nil
	}
	id, err := g.windowsOf(op, a.id, a.seg, a.at, a.size)
	if err != nil || id == 0 {
		return err
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if a.windows == nil {
		a.windows = map[*Group]uint32{}
	}
	a.windows[g] = id
	return nil
}

// windowsOf makes the data and the signal pad of a segment windows for the members of g. It returns
// the id of the data's window, 0 if the group needs none; the pad's id is the next one. It is
// collective over the group; the caller holds g.meeting.
func (g *Group) windowsOf(op, name string, seg device.Segment, at memory.Placement, size int) (id uint32, err error) {
	rt := g.rt
	n := rt.net.Load()
	if n == nil || !g.split.Spans() {
		return 0, nil
	}
	rt.mu.Lock()
	next := n.Window()
	rt.mu.Unlock()
	all, err := gatherValues(g, op, "windows of "+name, next, nil)
	if err != nil {
		return 0, err
	}
	id = slices.Max(all)
	rt.mu.Lock()
	n.SetWindow(id + 2)
	rt.mu.Unlock()
	err = n.Engine.Window(id, uintptr(at.DataIn(seg)), max(size, 1))
	if err == nil {
		err = n.Engine.Window(id+1, uintptr(at.PadIn(seg)), at.PadBytes)
	}
	_, err = gatherValues(g, op, "windows of "+name+" are known", struct{}{}, err)
	if err != nil {
		return 0, errors.Join(err, n.Forget(id))
	}
	return id, nil
}

// conceal ends the allocation's windows, of one group or, if g is nil, of all groups. After an
// error its memory must stay.
func (a *allocation) conceal(g *Group) (err error) {
	n := a.rt.net.Load()
	for of, id := range a.windows {
		if g == nil || of == g {
			if n != nil {
				err = errors.Join(err, n.Forget(id))
			}
			delete(a.windows, of)
		}
	}
	return err
}

// openPipes makes the inboxes a window of the network.
func (g *Group) openPipes(n *networks.Network, id uint32) error {
	if g.pipes().Bytes() == 0 {
		return nil
	}
	g.inboxes = id
	return n.Engine.Window(id, uintptr(g.work.seg.Ptr())+uintptr(g.layout().Pipes), g.pipes().Bytes())
}
