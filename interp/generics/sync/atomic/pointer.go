// Package atomic is the generic part of the standard library's sync/atomic.
package atomic

import "github.com/symmrepl/symmrepl/interp/generics/compiled"

// Pointer is an atomic pointer to a T. The zero value holds nil.
type Pointer[T any] struct{ p compiled.Pointer }

// Load returns the pointer.
func (x *Pointer[T]) Load() *T {
	p, _ := x.p.Load().(*T)
	return p
}

// Store sets the pointer.
func (x *Pointer[T]) Store(val *T) { x.p.Store(val) }

// Swap sets the pointer and gives the one before.
func (x *Pointer[T]) Swap(val *T) (old *T) {
	old, _ = x.p.Swap(val).(*T)
	return old
}

// CompareAndSwap sets the pointer to val if it is old, and reports that.
func (x *Pointer[T]) CompareAndSwap(old, val *T) (swapped bool) { return x.p.CompareAndSwap(old, val) }
