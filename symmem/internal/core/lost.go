package symmem

import (
	"fmt"
	"slices"
)

// lose marks the groups and tensors that needed ranks which were replaced or are gone, and
// describes them. It does not list the world.
func (rt *Runtime) lose(replaced, gone []int) (lost []string) {
	needed := func(ranks []int) (why string, r int) {
		if r = firstOf(ranks, gone); r >= 0 {
			return fmt.Sprintf("rank %d is gone", r), r
		}
		if r = firstOf(ranks, replaced); r >= 0 {
			return fmt.Sprintf("rank %d was replaced", r), r
		}
		return "", -1
	}
	if why, _ := needed(gone); why != "" {
		rt.all.stale.Store(&why)
	}
	if why, _ := needed(rt.all.ranks); why != "" {
		rt.loseHeap(why)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, g := range rt.groups {
		ranks := g.ranks
		if g.top() != rt.all {
			ranks = g.top().ranks // teams die with their group
		}
		if why, r := needed(ranks); r >= 0 && g != rt.all && g.stale.Load() == nil {
			g.stale.Store(&why)
			if g.of == nil {
				lost = append(lost, g.String())
			}
		}
	}
	for _, g := range rt.titled { // those of other ranks, which are not among the groups
		if why, r := needed(g.ranks); r >= 0 {
			g.stale.CompareAndSwap(nil, &why)
		}
	}
	for _, a := range rt.allocs {
		if why, r := needed(a.group.ranks); r >= 0 && a.stale.Load() == nil {
			a.stale.Store(&why)
			if a.stands {
				continue
			}
			lost = append(lost, fmt.Sprintf("rank %d's part of the symmetric tensor %s of %v", r, a.desc, a.group))
		}
	}
	return lost
}

// firstOf returns the first of ranks that is in set, or -1.
func firstOf(ranks, set []int) int {
	if i := slices.IndexFunc(ranks, func(r int) bool { return slices.Contains(set, r) }); i >= 0 {
		return ranks[i]
	}
	return -1
}
