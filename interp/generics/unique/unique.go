// Package unique is the generic part of the standard library's unique.
package unique

import "github.com/symmrepl/symmrepl/interp/generics/compiled"

// Handle stands for a value: two are equal if their values are.
type Handle[T comparable] struct{ u compiled.Unique }

// Make returns the handle of a value.
func Make[T comparable](value T) Handle[T] { return Handle[T]{compiled.MakeUnique(value)} }

// Value returns the value of the handle.
func (h Handle[T]) Value() T {
	v, _ := h.u.Value().(T)
	return v
}
