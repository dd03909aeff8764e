// Package symmem, in internal/core, has the parts that all operators of symmem share: a rank's
// world on one device, its memory, its groups and their signals, its streams, and the steps of a
// call from the program to the device. The operators are in the package above, which exports the
// types of this one by aliases.
//
// It bears the name of the package above, not that of its folder, because programs see its types:
// %T of a tensor is *symmem.Tensor. Files import it as core. For the same reason every exported
// method of [Tensor], [Group], [Handle], [Stream], [Event], [Graph] and [Runtime] is one of the
// public package. Operators need more than programs see: they use [Inner] of a world, [Operand] of
// a tensor, [Rectangle] of a tile, and the methods of [Call].
//
// # A world's life
//
// [New] takes an open device, makes the first stream and the group of all ranks, and lets the
// members of that group share a workspace: signal blocks and inboxes in the memory of every member,
// mapped by all others (world.go, workspace.go). Everything else is made on demand: tensors,
// groups, streams, graphs. The memory of members on other hosts is not mapped: hosts.go says what
// follows from that, and team.go makes the teams of a group that spans hosts.
//
// Each operation is a [Call]: call.go has its steps, from the check of the options to the launch. A
// [Handle] holds the addresses of the members' copies of a tensor; signal.go and onesided.go have
// the operations on it.
//
// A world is made of parts, carriers and observers. What ends, begins anew or is asked of all parts is
// a loop over them; a call goes by the first carrier that takes it (carriers.go), and tells observers of
// its steps (observe.go). rows.go has the parts and carriers: a library, a network or memory of a new
// sort is one more row.
//
// The record of the calls explains a wait on the device (calls.go, waits.go). [Runtime.Abort] ends
// all waits, and after [Runtime.Recover] communication is sound again (recover.go).
//
// # Parts
//
// Each part below core is a package that owns its structs and, where it has one, its lock. A part
// knows neither a world nor a group, imports only parts above it in this list, and is tested alone:
//
//	operators  a row for each operator: its options, whether it goes over hosts and by NCCL, what to use where it does not
//	waits      a row for each kind of wait of a kernel: its words, whom it is for, what ends it
//	places     which ranks map each other's memory, and which share a device; a group split by host
//	launch     the grid and the arguments of a launch
//	layout     where things lie in a workspace, and among the words of the network
//	memory     where tensors lie, in a segment and in memory; ordinary memory and that of pools between its uses
//	show       tensors as text, and as HTML with statistics and a heat map
//	calls      what a call was made with, the comparison of a group's calls, and the log of the latest calls
//	seam       the interfaces of what a world is made of
//	calculate  formulas, kernels and launches of Map, Reduce and the operations with names
//	files      the parts of a file that members read and write
//	study      observers that explain calls afterwards
//	copies     copies by copy engines, and the watch over them
//	trace      when operations begin and end, and for whom they wait
//	sanitizer  what the host reports to the sanitizer of its device
//	libraries  the protocol by which the ranks of a group join NCCL or NVSHMEM
//	networks   the choice of the engine between hosts, the open engine, and the words and windows of groups
//	nccl       the calls of a communicator of NCCL, its end, and what follows from NCCL's device API
//
// Core itself keeps what programs hold, and what connects it. Its files are in groups, of which
// groups_test.go in the root of the module has the table: a world, shared memory, calls, carriers,
// values, questions, life and death. A file uses those of its own group and of the groups before; a list
// of exceptions there only gets shorter.
//
// # Locks
//
// Runtime.mu orders what goroutines issue, and guards the struct world. Stream.mu orders the calls
// on one device stream and is taken after Runtime.mu, or alone. Group.meeting lets one
// host-synchronous call of a group run at a time; it is taken before Runtime.mu, which nobody holds
// while it waits for other ranks. docs/locks.md lists all locks in their order.
package symmem
