// Package operators is the table of what programs put in streams: a row for each operator of [All], which says what is known
// of a call before it is made. An operator's code names its row and never itself.
//
// From the row come the options that a call takes and the refusal of all others, whether the call reaches members on other
// hosts and by what, what to use where it does not, and what its manner makes of it on its way (core's call.go). The page of
// operations, docs/ops.md, prints the table.
//
// To add an operator is to add a row here. The package knows no world, no tensor and no device.
package operators
