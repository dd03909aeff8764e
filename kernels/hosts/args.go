// Package hosts holds the kernels of collectives in groups that span hosts: pipes.cuh has their protocol.
package hosts

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	alltoallvdev "github.com/symmrepl/symmrepl/kernels/all_to_all_vdev"
)

// PipeSlots is the chunks that a pipe holds.
const PipeSlots = 4

// Words is how many words a member of pipes between so many places has among the group's.
func Words(places int) int { return 2 * places * PipeSlots }

// Far is a member on another host at the other end of a pipe.
type Far struct{ Member, Place uint16 }

// Source is a part of the result: the chunks of the member at a place, or of one part of them, in the inbox of the member Here of those on this
// host, or in its outbox. Mark tells of reductions that it is the first of its host, of copies which piece of the output it becomes.
type Source struct {
	Place, Mark              uint16
	Here, Outbox, Part, Rest uint8
}

// Target is an outbox to fill, of the member Here of those on this host.
type Target struct{ Place, Slice, Here uint16 }

// Reasons for which the members on one host meet at each chunk.
const (
	MeetFilling  = 1 // they fill each other's outboxes
	MeetOutboxes = 2 // they read each other's outboxes
	MeetInboxes  = 4 // they read each other's inboxes
)

// PipeArgs are the pipes of a group as a call uses them.
type PipeArgs struct {
	Inside    abi.Context // of the members on this host; Channels: at least the grid's blocks
	Between   abi.Context // of the group
	Meetings  abi.Signals // of the members on this host
	Net       abi.Ptr
	Inbox     abi.Ptr // [place][slot][SlotBytes]
	Outbox    abi.Ptr // likewise
	SlotBytes uint64
	Offset    uint64 // of everybody's inbox in its window
	Window    uint32
	Words     uint32 // where the pipes' words begin among the group's
	Place     uint32
	Places    uint32
	Same      uint32 // not 0: every receiver gets what is in the outbox of this member's own place
	Receivers uint32
	Senders   uint32
	To, From  [abi.MaxRanks]Far
	Here      [abi.MaxRanks]uint16 // the members on this host
}

// HostsArgs are the arguments of hosts_reduce and hosts_copy. All sizes are in elements, of one byte for hosts_copy.
type HostsArgs struct {
	Pipes  PipeArgs
	Chunk  uint32 // elements of a chunk, or of each of its parts
	Parts  uint32 // of a chunk: 1, or one of each member on this host
	Meets  uint32
	Op     uint32 // a reduce.Op
	N      uint64 // elements of a stream
	Slice  uint64 // from a slice of the input to the next
	Width  uint64 // of a row of a slice, as in allreduce.PullArgs
	Stride uint64 // of rows of the input, or pieces of the output

	Sources, Targets, Ins, Outs uint32

	Source  [abi.MaxRanks]Source
	Target  [abi.MaxRanks]Target
	In, Out abi.Ptrs
}

// HostsRowsArgs are the arguments of hosts_rows.
type HostsRowsArgs struct {
	Pipes  PipeArgs // all members, each with the place of its rank
	Rows   alltoallvdev.RowsArgs
	Window uint32 // of out
}
