package session

import (
	"context"
	"slices"
)

// Sanitizing is how the sanitizer looks at kernels: see symmem.Runtime.Sanitize.
type Sanitizing struct {
	On   bool
	Seed int64 // of the order in which threads, blocks and ranks run; 0 while it is off
}

// Sanitizer is what a session's sanitizer does and has found.
type Sanitizer struct {
	Sanitizing
	Findings []Finding // since the session began, each once
}

// Sanitizer implements Session.
func (c *controller) Sanitizer(context.Context) (Sanitizer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Sanitizer{c.sanitizing, slices.Clone(c.found.List())}, nil
}

// sanitizeBefore returns what all ranks have to do before a cell that all of them run: what the cell asks for, or what those have not done that were replaced. It is nil
// if there is nothing to do. c.mu is held.
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

// noteSanitizing takes over what the ranks of a run have reported, since its cell may have called symm.Sanitize: what they agree on, if all ranks took part, holds for
// those too that take the place of others. r.c.mu is held.
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
}

// sanitize does what is to be done before a cell.
func (w *worker) sanitize(s *Sanitizing) *Error {
	if s == nil {
		return nil
	}
	if able, ok := w.comm.(SanitizingCommunicator); ok {
		return able.Sanitize(*s)
	}
	return &Error{Kind: KindSystem, Peer: -1, Msg: "these ranks have no sanitizer"}
}

// sanitizing says what the sanitizer does.
func (w *worker) sanitizing() (s Sanitizing) {
	if able, ok := w.comm.(SanitizingCommunicator); ok {
		s = able.Sanitizing()
	}
	return s
}
