package session

import (
	"context"
	"slices"
)

// Sanitizing is the state of the sanitizer: see symmem.Runtime.Sanitize.
type Sanitizing struct {
	On   bool
	Seed int64 // seed of the order in which threads, blocks and ranks run; 0 while the sanitizer is off
}

// Sanitizer is the state of a session's sanitizer and its findings.
type Sanitizer struct {
	Sanitizing
	Findings []Finding // all findings of the session, each once
}

// Sanitizer implements Session.
func (c *controller) Sanitizer(context.Context) (Sanitizer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Sanitizer{c.sanitizing, slices.Clone(c.found.List())}, nil
}

// sanitizeBefore returns the change of the sanitizer that all ranks make before a cell that all of
// them run: the change that the cell asks for, or the one that replaced ranks have missed. It is
// nil if there is none. c.mu is held.
func (c *controller) sanitizeBefore(cell Cell) *Sanitizing {
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
	var reported []Sanitizing
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
	if r.cell.guest != nil && r.cell.isGone() {
		r.cell.guest.restore(r.c)
	}
}

// sanitize makes the change of the sanitizer before a cell.
func (w *worker) sanitize(s *Sanitizing) *Error {
	if s == nil {
		return nil
	}
	if able, ok := w.comm.(SanitizingCommunicator); ok {
		return able.Sanitize(*s)
	}
	return &Error{Kind: KindSystem, Peer: -1, Msg: "these ranks have no sanitizer"}
}

// sanitizing returns the sanitizer's state.
func (w *worker) sanitizing() (s Sanitizing) {
	if able, ok := w.comm.(SanitizingCommunicator); ok {
		s = able.Sanitizing()
	}
	return s
}
