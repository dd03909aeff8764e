// Package waits says what kernels wait for: a row for each kind of wait that a [device.WaitRecord]
// can be of, with its words, whom it is for and what ends it. Code that explains waits, ends them
// or distinguishes a slow rank from a stuck one asks the row, not the kind.
//
// Records lie in memory that kernels write at any time: [Pending] goes through those of waits under
// way, [Load] and [Store] read and write one.
//
// To add a kind is to add its number to symm/context.cuh and to the device's, and its row here; a
// test holds that each has one.
package waits
