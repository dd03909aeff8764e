// Package weak is the generic part of the standard library's weak.
package weak

import "github.com/symmrepl/symmrepl/interp/generics/compiled"

// Pointer does not keep its object alive. Two are equal if they were made from equal pointers.
type Pointer[T any] struct{ w compiled.Weak }

// Make returns the weak pointer of ptr.
func Make[T any](ptr *T) Pointer[T] { return Pointer[T]{compiled.MakeWeak(ptr)} }

// Value is the pointer that p was made from, or nil if its object is gone.
func (p Pointer[T]) Value() *T {
	v, _ := p.w.Value().(*T)
	return v
}
