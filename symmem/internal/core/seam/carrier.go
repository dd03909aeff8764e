package seam

import "github.com/symmrepl/symmrepl/symmem/internal/core/operators"

// Carrier is a way to carry calls, of which a world has a list. A call that names a way goes by the
// carrier of that name, or is refused; any other goes by the first carrier that takes it. C is a call.
type Carrier[C any] interface {
	// Names lists the ways of the carrier for which calls can ask.
	Names() []string
	// Does reports whether calls of an operator may ask for it.
	Does(*operators.Operator) bool
	// Takes reports whether the carrier carries a call that names no way.
	Takes(C) bool
	// Refuses returns the reason for which the carrier cannot carry a call that asks for it, nil if it
	// can.
	Refuses(C) error
	// Run carries a call of a handle, which has not entered. Collectives are run by their operators.
	Run(C)
}
