// Package opspage makes docs/ops.md, the page of all operations, from their doc comments.
//
// An operation is an exported method of symmem's Runtime, Handle, TokenSwitch or Tensor that takes
// options. Its comment first says what it does. Then it has a paragraph for each of [Labels], which
// begins with the label and a colon. Its example is a cell of tutorials/operations.go, which the
// tests of the program run. The package's test fails if a paragraph or an example is missing or the
// page is out of date.
package opspage
