// Package layout computes where things lie in the memory that the members of a group communicate
// through: the offsets within a workspace ([Workspace]), the inboxes of pipes between hosts
// ([Pipes]), and the words of a group among the signals of the network engine's board ([Words]).
// All members compute the same. The kernels of kernels/include/symm and kernels/hosts read these
// places.
//
// The package knows numbers alone: of ranks, channels, hosts.
package layout
