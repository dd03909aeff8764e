// Package named makes named types with methods at run time. Package reflect cannot make such types.
//
// A type is made in two steps, so that it may contain itself: New sets its name and memory layout,
// and Complete its parts and methods. Values of the type must not be used before it is complete.
// Types are never freed, because the runtime refers to types by address for ever.
//
// The descriptors are those of internal/abi. Check makes a type and tests every property that this
// package relies on, so that a Go release with other descriptors causes an error and does not
// corrupt the program.
package named
