// Package maphash is the generic part of the standard library's hash/maphash.
package maphash

import (
	"hash/maphash"

	"github.com/symmrepl/symmrepl/interp/generics/compiled"
)

// Comparable is the hash of a value.
func Comparable[T comparable](seed maphash.Seed, v T) uint64 { return compiled.Hash(seed, v) }

// WriteComparable adds a value to what h hashes.
func WriteComparable[T comparable](h *maphash.Hash, x T) { compiled.WriteHash(h, x) }
