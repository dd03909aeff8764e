// Package help answers questions about the text of a cell: completions of a word (complete.go), the
// type of an expression (typeof.go), the documentation of a name (documentation.go), and hints for
// a cell with an error (hints.go).
//
// All answers come from the checker. Incomplete source is completed so that it parses, and checked
// like a cell, even with errors. Nothing is run, and the session does not change.
package help
