package controller

import (
	"context"
	"slices"

	"github.com/symmrepl/symmrepl/session"
)

// Sanitizer implements Session.
func (c *controller) Sanitizer(context.Context) (session.Sanitizer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return session.Sanitizer{Sanitizing: c.sanitizing, Findings: slices.Clone(c.found.List())}, nil
}

// sanitizeBefore returns the change of the sanitizer that all ranks make before a cell that all of
// them run: the change that the cell asks for, or the one that replaced ranks have missed. It is
// nil if there is none. c.mu is held.
func (c *controller) sanitizeBefore(cell session.Cell) *session.Sanitizing {
	want := c.sanitizing
	if cell.Sanitize != nil {
		want = *cell.Sanitize
	}
	for _, s := range c.ranks {
		if s.sanitizing != want {
			return &want
		}
	}
	return nil
}

// noteSanitizing takes over the state that the ranks of a run have reported, because its cell may
// have called symm.Sanitize. If all ranks took part and agree, the state also holds for workers
// that replace others later. r.c.mu is held.
func (r *run) noteSanitizing() {
	var reported []session.Sanitizing
	for _, rank := range r.ranks {
		o, s := &r.on[rank], r.c.ranks[rank]
		if o.sanitizing != nil && s.incarnation == o.incarnation {
			s.sanitizing = *o.sanitizing
			reported = append(reported, s.sanitizing)
		}
	}
	if agreed := slices.Compact(reported); len(r.ranks) == r.c.size && len(agreed) == 1 {
		r.c.sanitizing = agreed[0]
	}
	if r.guest != nil && r.isGone() {
		r.guest.restore(r.c)
	}
}
