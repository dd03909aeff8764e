// Package calls remembers the calls of a rank: the arguments of each ([Made]), the number by which
// its kernel knows it ([Entry]), and the digest by which the collective calls of a group are
// compared without a trip over the host ([Count]). A [Log] keeps the latest entries, to explain the
// waits of their kernels, and the waits of the host at this moment.
//
// The package knows no group, tensor or stream: its owner extends an Entry by them. A Log has a
// lock, which is held for a moment.
package calls
