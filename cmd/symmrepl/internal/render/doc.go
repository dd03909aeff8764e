// Package render writes the output of a session for people to read.
//
// With more than one rank, every line begins with its ranks, `[0-3] ` or `[0,2] `; with one rank
// there is no prefix. Output of programs and values go to one writer, their standard error, errors
// and notes to another; on a terminal both are the same. Colours are a property of the Printer and
// only emphasise: the text is the same without them.
package render
