// Package opspage makes docs/ops.md, the page of all operations, from their doc comments.
//
// An operation is an exported method of symmem's Runtime, Handle, TokenSwitch or Tensor that takes
// options. Its comment first says what it does. Then it has a paragraph for each of [Labels], which
// begins with the label and a colon. The package's test fails if a paragraph is missing or the page
// is out of date.
package opspage
