package symmem

import (
	"slices"
	"time"

	"github.com/symmrepl/symmrepl/symmem/internal/core/copies"
	"github.com/symmrepl/symmrepl/symmem/internal/device"
)

// CopyAll issues the copies of an admitted call by copy engines, and looks after them until they
// are over. Their kernels would know the call by id. staged says that this member's own piece, the
// first, is in its place.
func (c *Call) CopyAll(id uint32, src, dst []device.Ptr, n int, staged bool) {
	g := c.opts.group
	c.issued(g.copyAll(c.stream, id, src, dst, n, staged))
	g.watchCopies(c.stream)
}

// copyAll issues the copies of a call between two meetings of the members' streams. rt.mu is held.
func (g *Group) copyAll(s *Stream, id uint32, src, dst []device.Ptr, n int, staged bool) error {
	var list []device.Copy
	for i := range src {
		if src[i] != dst[i] && !(staged && i == 0) {
			list = append(list, device.Copy{Dst: dst[i], Src: src[i], N: n})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(g.ranks) == 1 {
		return s.d.CopyAll(list)
	}
	if err := s.d.Values(g.watch.Come(id)); err != nil {
		return err
	}
	if err := s.d.CopyAll(list); err != nil {
		return err
	}
	return s.d.Values(g.watch.Finish(id))
}

// watchCopies watches the copies on s until they are over. rt.mu is held.
func (g *Group) watchCopies(s *Stream) {
	if c := g.rt.capture; c != nil {
		if !slices.Contains(c.copying, g) {
			c.copying = append(c.copying, g)
		}
		return
	}
	g.watch.Add(resting{s})
}

// openCopies prepares the watch of a group that has a new workspace.
func (g *Group) openCopies() {
	rt := g.rt
	g.watch.Open(copies.Group{
		Device: rt.dev, Page: rt.watch, Words: slices.Clone(g.work.copies[:min(len(g.ranks), len(g.work.copies))]), Rank: g.rank,
		Limit: func(id uint32) time.Duration {
			c, _ := rt.find(id)
			return c.Timeout
		},
		Aborted: func() bool { return rt.abort.Load() != nil },
	})
}
