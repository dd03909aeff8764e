// Package waits describes the waits of kernels: it has a row for each kind of wait in a
// [device.WaitRecord], with the words of messages, the rank that is waited for and the calls that
// end the wait. Code that explains waits, ends waits or distinguishes a slow rank from a stuck one
// asks the row, not the kind.
//
// Records lie in memory that kernels write at any time: [Pending] goes through the records of waits
// under way, [Load] and [Store] read and write one record.
//
// To add a kind is to add its number to symm/context.cuh and to package device, and its row here; a
// test checks that each kind has a row.
package waits
