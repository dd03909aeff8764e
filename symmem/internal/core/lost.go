package symmem

import (
	"fmt"

	"github.com/symmrepl/symmrepl/symmem/internal/core/seam"
)

// lose marks the groups and tensors that a loss concerns, and describes them. It does not list the
// world.
func (rt *Runtime) lose(l seam.Loss) (lost []string) {
	if why, _ := l.Of(l.Gone); why != "" {
		rt.all.stale.Store(&why)
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, g := range rt.groups {
		ranks := g.ranks
		if g.top() != rt.all {
			ranks = g.top().ranks // teams die with their group
		}
		if why, r := l.Of(ranks); r >= 0 && g != rt.all && g.stale.Load() == nil {
			g.stale.Store(&why)
			if g.of == nil {
				lost = append(lost, g.String())
			}
		}
	}
	for _, g := range rt.titled { // those of other ranks, which are not among the groups
		if why, r := l.Of(g.ranks); r >= 0 {
			g.stale.CompareAndSwap(nil, &why)
		}
	}
	for _, a := range rt.allocs {
		if why, r := l.Of(a.group.ranks); r >= 0 && a.stale.Load() == nil {
			a.stale.Store(&why)
			if a.stands {
				continue
			}
			lost = append(lost, fmt.Sprintf("rank %d's part of the symmetric tensor %s of %v", r, a.desc, a.group))
		}
	}
	return lost
}
