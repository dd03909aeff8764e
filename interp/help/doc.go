// Package help answers questions about what stands, or may stand, in a cell: what a word may become (complete.go), the type of an expression (typeof.go), the
// documentation of a name (documentation.go), and what may have been meant by a cell that is refused (hints.go).
//
// All of it comes from the checker. Source that ends in the middle is completed so that it parses, and checked as a cell is, errors or not. Nothing is run, and
// nothing of the session changes.
package help
