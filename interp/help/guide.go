package help

import (
	"maps"

	"github.com/symmrepl/symmrepl/interp/check"
)

// Guide answers questions about a session's names and about what stands in a cell that is being typed. It changes nothing of the session.
type Guide struct {
	checker  *check.Checker
	declared map[string]string // how the cells declare what they declare, by "name" or "Type.Method"
}

// New returns a guide to a checker's session.
func New(k *check.Checker) *Guide { return &Guide{k, map[string]string{}} }

// Declare remembers how a cell declares what it declares: see declarations.
func (h *Guide) Declare(declarations map[string]string) { maps.Copy(h.declared, declarations) }
