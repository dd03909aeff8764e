// Package operators is the table of the operations that programs put in streams: a row for each
// operator of [All], with the facts that are known before a call is made. An operator's code names
// its row and never itself.
//
// The row holds the options that a call takes, whether the call reaches members on other hosts, the
// call to use if it does not, and the steps of core's call.go that it takes. The page of
// operations, docs/ops.md, prints the table.
//
// To add an operator is to add a row here. The package knows no world, no tensor and no device.
package operators
