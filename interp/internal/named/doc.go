// Package named makes named types with methods at run time, which package reflect cannot.
//
// A type is made in two steps, so that it may contain itself: New gives it its name and memory layout, Complete its parts and methods.
// Nothing may use its values before it is complete. Types are never freed: the runtime keeps what it knows of a type for ever, by address.
//
// The descriptors are those of internal/abi. Check makes a type and looks at it in every way that this package relies on, so that
// a Go release with others is an error and not a corrupted program.
package named
