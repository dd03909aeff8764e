// Package opspage makes docs/ops.md, the page of all operations, from their doc comments.
//
// An operation is an exported method of symmem's Runtime, Handle or TokenSwitch that takes options. Its comment says what it
// does and then, each in a paragraph of its own that begins with the word and a colon, what [Labels] lists. The
// package's test fails when one is missing or the page is old.
package opspage
