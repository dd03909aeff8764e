// Package typed answers questions about types of Go that lowering asks. It knows nothing of cells, of yaegi, or of how anything is rewritten.
//
//	kinds.go        what kind of type it is
//	parts.go        what its parts are, and how many bytes they take
//	references.go   which types refer to which, and to themselves
package typed
