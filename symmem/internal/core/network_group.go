package symmem

import (
	"errors"

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

// wire gives the group its part of the network. It is collective over the group; the caller holds
// g.meeting.
func (g *Group) wire(op, desc string) (err error) {
	rt := g.rt
	n := rt.net.Load()
	if n == nil || !g.split.Spans() {
		return nil
	}
	l, base := g.layout(), g.work.seg.Ptr()
	g.wired, err = n.Wire(members{g}, &rt.mu, op, desc, networks.Site{Words: g.words().All, Tables: base + device.Ptr(l.Tables),
		Epochs: base + device.Ptr(l.Epochs), Inboxes: base + device.Ptr(l.Pipes), InboxBytes: g.pipes().Bytes(), Blocks: g.work.blocks})
	return err
}

// wiredUp reports whether kernels that get a handle of the group may post operations for other
// hosts.
func (g *Group) wiredUp() bool { return g.wired.Table != 0 }

// unwire gives the words back. rt.mu is held.
func (g *Group) unwire() {
	if n := g.rt.net.Load(); n != nil && n.Unwire(g.wired) != nil {
		g.work.mapped = nil // something may still land there
	}
	g.wired = networks.Wiring{}
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
	n := g.rt.net.Load()
	if n == nil || !g.split.Spans() {
		return 0, nil
	}
	return n.Windows(members{g}, &g.rt.mu, op, name, at.DataIn(seg), at.PadIn(seg), size, at.PadBytes)
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
