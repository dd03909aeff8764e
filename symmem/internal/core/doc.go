// Package symmem, in internal/core, is what all operators of symmem share: a rank's world on one device, its memory, its
// groups and their signals, its streams, and the way of a call from the program to the device. The operators are in the
// package above, which exports the types of this one by aliases.
//
// It bears the name of the package above, not that of its folder, because programs see its types: %T of a tensor is
// *symmem.Tensor. Files import it as core. For the same reason every exported method of [Tensor], [Group], [Handle],
// [Stream], [Event], [Graph] and [Runtime] is one of the public package; what operators alone use are the methods of
// [Call] and the functions of operator.go.
//
// # A world's life
//
// [New] takes an open device, makes the first stream and the group of all ranks, and lets the members of that group share
// a workspace: signal blocks and inboxes in the memory of every member, mapped by all others. Everything else is asked for
// later: tensors (symmetric.go, storage.go, pool.go), more groups (group.go), streams (stream.go), graphs (graph.go). Members on
// other hosts are not mapped: hosts.go says what that means, and team.go makes the teams of a group that spans hosts. Where a device has
// guard pages tensors end at them, and contents.go tells which one a kernel left.
//
// Work is issued by calls: call.go says how, from the check of the options to the launch. Handles (handle.go) know where
// the members have their copies of a tensor; signal.go and onesided.go are the operations on them.
//
// A wait on the device is explained by the record of the calls (calls.go, waits.go), ended by [Runtime.Abort], and
// forgotten by [Runtime.Recover] (recover.go). trace.go times what is issued.
//
// # Locks
//
// Runtime.mu orders what goroutines issue, and guards what the comments of fields say. Stream.mu orders the calls on one
// device stream and is taken after Runtime.mu, or alone. Group.meeting lets one host-synchronous call of a group run at a
// time; it is taken before Runtime.mu, which nobody holds while it waits for other ranks.
package symmem
