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
// # Rooms
//
// What knows no world has a package of its own, which core uses and which never asks back:
//
//	operators  a row for each operator: its options, whether it goes over hosts and by NCCL, what to use where it does not
//	waits      a row for each kind of wait of a kernel: its words, whom it is for, what ends it
//	memory     where tensors lie, in a segment and in memory, and ordinary memory between its uses
//	places     which ranks map each other's memory, and which share a device
//	nccl       the calls of a communicator of NCCL, and its end
//
// What is left here is what users hold, and what ties it together. A Runtime is made of structs that stand in the file that says what becomes of
// them: abort.go, cell.go, survivors.go, sanitize.go, network.go, progress.go, and in runtime.go what its lock guards.
//
// # Locks
//
// Runtime.mu orders what goroutines issue, and guards the struct world. Stream.mu orders the calls on one
// device stream and is taken after Runtime.mu, or alone. Group.meeting lets one host-synchronous call of a group run at a
// time; it is taken before Runtime.mu, which nobody holds while it waits for other ranks. docs/locks.md has all of them, in their order.
package symmem
