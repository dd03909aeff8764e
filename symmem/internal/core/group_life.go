package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// NewGroup makes a group of the given ranks, in ascending order. It is collective over these ranks.
// Another rank may call it, too: the call returns at once, with a group that this rank cannot use.
// Every call makes a new group. Until the group is freed, its inboxes, or the inboxes of its LSA team
// if its ranks are on several hosts, take up to 128 MiB of each member's GPU.
func (rt *Runtime) NewGroup(ranks ...int) *Group {
	const op = "NewGroup"
	rt.hostCall(op)
	return rt.newGroup(op, "", ranks)
}

// newGroup is NewGroup, for op, with the name of NewNamedGroup or without one.
func (rt *Runtime) newGroup(op, title string, ranks []int) *Group {
	sorted := slices.Sorted(slices.Values(ranks))
	if len(sorted) == 0 {
		panic(rt.misuse(op, "ranks", "", "a group needs at least one rank"))
	}
	rt.checkRanks(op, "ranks", sorted)
	g := &Group{rt: rt, title: title, name: places.Joined(sorted), ranks: sorted, rank: slices.Index(sorted, rt.rank)}
	if g.rank < 0 {
		return g
	}
	rt.mu.Lock()
	serial := rt.created[g.name]
	g.engine = rt.all.engine
	rt.mu.Unlock()
	g.splitByHost()
	g.renumber(fmt.Sprintf("%s#%d", g.listed(), serial))
	desc := g.listed()
	if title != "" {
		desc = fmt.Sprintf("%q %s", title, desc)
	}
	g.build(op, desc)
	rt.mu.Lock()
	rt.created[g.name] = serial + 1
	rt.groups = append(rt.groups, g)
	rt.mu.Unlock()
	if err := Maybe(func() { g.makeTeams(op) }); err != nil {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		g.discard()
		panic(err)
	}
	return g
}

// Free frees the memory of the group and of its teams. It is collective over the group. Tensors that
// the group or its teams allocated must be freed before, unless no member holds them. The world cannot
// be freed, nor a team without its group. On a rank that is not a member it does nothing.
func (g *Group) Free() {
	const op = "Group.Free"
	g.exists(op)
	rt := g.rt
	switch {
	case g == rt.all:
		panic(rt.misuse(op, "", "", "the world cannot be freed"))
	case g.of == rt.all:
		panic(rt.misuse(op, "", "", "the %v is a team of the world and cannot be freed", g))
	case g.of != nil:
		panic(rt.misuse(op, "", fmt.Sprintf("free %v, which ends its teams too", g.top()), "the %v is a team of %v", g, g.of))
	}
	rt.hostCall(op)
	if g.rank < 0 {
		g.stale.CompareAndSwap(nil, ptr("it was freed")) // its name is free again
		return
	}
	rt.mu.Lock()
	stale := g.stale.Load()
	if !slices.Contains(rt.groups, g) {
		rt.mu.Unlock()
		panic(rt.misuse(op, "group", hintFor("group"), "%v was freed already", g))
	}
	rt.mu.Unlock()
	rt.synchronize(op)
	if stale == nil {
		g.reclaimAll(op)
	}
	rt.mu.Lock()
	for _, a := range rt.allocs {
		if stale == nil && !a.stands && a.group.within(g) {
			rt.mu.Unlock()
			panic(rt.misuse(op, "", "free its tensors first", "tensor %s of %v is still allocated", a.desc, a.group))
		}
	}
	rt.mu.Unlock()
	if stale == nil {
		g.usable(op)
		if g.split.Spans() {
			rt.fence(op) // signals of its words, and data for its windows
		}
		g.meet(op, g.listed(), nil)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	g.discard()
}

// discard gives up the group and its teams, and their memory. rt.mu is held.
func (g *Group) discard() {
	rt := g.rt
	var ended []*Group
	rt.groups = slices.DeleteFunc(rt.groups, func(o *Group) bool {
		if o.within(g) {
			ended = append(ended, o)
		}
		return o.within(g)
	})
	for _, o := range ended {
		o.stale.CompareAndSwap(nil, ptr("it was freed"))
		for _, p := range slices.Backward(rt.parts) {
			p.DropGroup(o)
		}
	}
}

// restart gives back the memory that the group keeps between its calls. No member may be
// communicating. rt.mu is held.
func (g *Group) restart() {
	g.emptyPool()
	g.dropStands()
	g.closeSpares()
}

// end gives back all memory of the group. rt.mu is held.
func (g *Group) end() {
	g.restart()
	g.watch.Forget()
	g.work.release()
	if g.event != nil {
		g.event.Close() // a failure leaks an event and is no reason to fail
		g.event = nil
	}
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
