// Package typed answers lowering's questions about types of Go. It knows nothing about cells, yaegi
// or rewriting.
//
//	kinds.go        the kind of a type
//	parts.go        the parts of a type, and their sizes
//	references.go   references between types
package typed
