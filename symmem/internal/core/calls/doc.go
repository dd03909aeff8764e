// Package calls remembers the calls of a rank: what each was called with ([Made]), by which number
// its kernel knows it ([Entry]), and how the collective calls of a group are compared without a
// trip over the host ([Count]). A [Log] keeps the latest entries, to explain the waits of their
// kernels, and what the host waits for at this moment.
//
// The package knows no group, tensor or stream: its owner extends an Entry by those. A Log has a
// lock, which is held for a moment.
package calls
