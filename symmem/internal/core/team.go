package symmem

import (
	"fmt"
	"slices"

	"github.com/symmrepl/symmrepl/symmem/internal/core/places"
)

// A group has two teams: its members on one host, and the members that have the same place on their
// hosts. A group that spans hosts makes both when it is made itself, so that LSA and Rail meet no
// other rank; a team of one is made when it is asked for. Teams live and die with their group.
// Recover builds the teams of the world again if they have lost a rank.

// Sorts of teams.
const (
	lsaTeam  = "LSA team"
	railTeam = "rail"
)

// LSA is the team of the members on this rank's host, whose memory this rank loads from and stores
// to; the group itself if it does not span hosts. The name is of "load, store, atomic". It is no
// collective call. The team is freed with the group.
func (g *Group) LSA() *Group {
	const op = "LSA"
	g.exists(op)
	g.usable(op)
	if !g.split.Spans() {
		return g
	}
	return g.teamOf(op, &g.lsa, lsaTeam)
}

// Rail is the team of this rank's counterparts on the group's other hosts: the members that have
// the same index on their host as this rank has on its host, this rank among them. It is refused if
// the group has more members on one host than on another. It is no collective call. The team is
// freed with the group.
func (g *Group) Rail() *Group {
	const op = "Rail"
	g.exists(op)
	g.usable(op)
	switch {
	case !g.split.Even():
		unevenly := "on one host than on another"
		if p := g.rt.places.Load(); len(p.Parts) > len(p.Hosts) {
			unevenly = "in one LSA team than in another"
		}
		panic(g.rt.misuse(op, "group", "make the groups that you need by NewGroup", "%v has more members %s: %s", g, unevenly,
			places.Spelled(g.split.Parts)))
	case len(g.split.Here()) == 1:
		return g
	}
	return g.teamOf(op, &g.rail, railTeam)
}

// teamOf returns a team. If the group has not made it, this rank is its only member, and it is made
// now.
func (g *Group) teamOf(op string, team **Group, sort string) *Group {
	rt := g.rt
	rt.mu.Lock()
	t := *team
	rt.mu.Unlock()
	if t != nil {
		return t
	}
	rt.hostCall(op)
	t = g.newTeam(sort, []int{rt.rank})
	t.build(op, t.listed())
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if *team == nil {
		*team = t
		rt.groups = append(rt.groups, t)
	} else {
		t.work.release() // another goroutine was quicker
	}
	return *team
}

// newTeam returns a team that has no workspace yet.
func (g *Group) newTeam(sort string, ranks []int) *Group {
	t := &Group{rt: g.rt, of: g, sort: sort, name: places.Joined(ranks), ranks: ranks, rank: slices.Index(ranks, g.rt.rank)}
	t.splitByHost()
	t.renumberTeam()
	return t
}

// renumberTeam is renumber under a key that follows from the group's key.
func (g *Group) renumberTeam() { g.renumber(fmt.Sprintf("%s/%s %s", g.of.key, g.sort, g.listed())) }

// makeTeams makes the teams of a group that spans hosts and was just built, or those that Recover
// must build again. It is collective over the group: if one member fails, all do, and the teams
// that were made are given back.
func (g *Group) makeTeams(op string) {
	if !g.split.Spans() {
		return
	}
	rt := g.rt
	lsa, rail := g.lsa, g.rail
	failed := Maybe(func() {
		if len(g.split.Here()) == 1 {
			return
		}
		lsa = g.buildTeam(op, lsa, lsaTeam, g.split.Here())
		if g.split.Even() {
			rail = g.buildTeam(op, rail, railTeam, g.split.Counterparts())
		}
	})
	g.meeting.Lock()
	_, err := gatherValues(g, op, g.name, struct{}{}, failed)
	g.meeting.Unlock()
	if err != nil {
		for _, t := range []*Group{lsa, rail} {
			if t != nil {
				t.work.release()
				t.stale.Store(ptr("it could not be built"))
			}
		}
		panic(rt.failure(op, err))
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, t := range []*Group{lsa, rail} {
		if t != nil && !slices.Contains(rt.groups, t) {
			rt.groups = append(rt.groups, t)
		}
	}
	g.lsa, g.rail = lsa, rail
}

// buildTeam makes a team, or builds it again if it is stale.
func (g *Group) buildTeam(op string, t *Group, sort string, ranks []int) *Group {
	switch {
	case t == nil:
		t = g.newTeam(sort, ranks)
	case t.stale.Load() == nil:
		return t
	default:
		t.unbuild()
		t.renumberTeam()
		t.stale.Store(nil)
	}
	t.build(op, t.listed())
	return t
}

// within reports whether g is o, or a team of it or of its teams.
func (g *Group) within(o *Group) bool {
	for ; g != nil; g = g.of {
		if g == o {
			return true
		}
	}
	return false
}

// top is the group that g is, or is a team of.
func (g *Group) top() *Group {
	for g.of != nil {
		g = g.of
	}
	return g
}
