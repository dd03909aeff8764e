// Package hosts holds the kernels of collectives in groups that span hosts: pipes.cuh describes
// their protocol.
package hosts

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	alltoallvdev "github.com/symmrepl/symmrepl/kernels/all_to_all_vdev"
)

// PipeSlots is the number of chunks that a pipe holds.
const PipeSlots = 4

// Words returns the number of the group's words that the pipes of one member need, if there are so
// many places.
func Words(places int) int { return 2 * places * PipeSlots }

// Far is a member on another host at the other end of a pipe.
type Far struct{ Member, Place uint16 }

// Source is a part of the result: the chunks of the member at a place, or one part of these chunks.
// They lie in the inbox or outbox of a member on this host, number Here among those on this host.
// In reductions Mark is set for the first source of each host; in copies it is the number of the
// output piece that the source becomes.
type Source struct {
	Place, Mark              uint16
	Here, Outbox, Part, Rest uint8
}

// Target is an outbox to fill. It belongs to member number Here among those on this host.
type Target struct{ Place, Slice, Here uint16 }

// Reasons for which the members on one host meet for each chunk.
const (
	MeetFilling  = 1 // they fill each other's outboxes
	MeetOutboxes = 2 // they read each other's outboxes
	MeetInboxes  = 4 // they read each other's inboxes
)

// PipeArgs are the pipes of a group in one call.
type PipeArgs struct {
	Inside    abi.Context // of the members on this host; Channels: at least the grid's blocks
	Between   abi.Context // of the group
	Meetings  abi.Signals // of the members on this host
	Net       abi.Ptr
	Inbox     abi.Ptr // [place][slot][SlotBytes]
	Outbox    abi.Ptr // likewise
	SlotBytes uint64
	Offset    uint64 // offset of the inbox in its window, the same at all members
	Window    uint32
	Words     uint32 // index of the pipes' first word among the group's
	Place     uint32
	Places    uint32
	Same      uint32 // not 0: every receiver gets the chunk in the outbox of this member's own place
	Receivers uint32
	Senders   uint32
	To, From  [abi.MaxRanks]Far
	Here      [abi.MaxRanks]uint16 // the members on this host
}

// HostsArgs are the arguments of hosts_reduce and hosts_copy. All sizes are in elements, of one
// byte for hosts_copy.
type HostsArgs struct {
	Pipes  PipeArgs
	Chunk  uint32 // elements of a chunk, or of each of its parts
	Parts  uint32 // of a chunk: 1, or one for each member on this host
	Meets  uint32
	Op     uint32 // a reduce.Op
	N      uint64 // elements of a stream
	Slice  uint64 // from one slice of the input to the next
	Stride uint64 // from one piece of the output to the next

	Width             uint64 // of a row
	InPitch, OutPitch uint64 // from row to row of a slice of the input, of a piece of the output; 0: rows follow each other

	Sources, Targets, Ins, Outs uint32

	Source  [abi.MaxRanks]Source
	Target  [abi.MaxRanks]Target
	In, Out abi.Ptrs
}

// HostsTile is a tile to send or to keep: N elements in rows of a width that lie Pitch apart.
type HostsTile struct {
	N            uint64 // 0: there is none
	Width, Pitch uint32
}

// HostsTilesArgs are the arguments of hosts_tiles.
type HostsTilesArgs struct {
	Pipes    PipeArgs
	Chunk    uint32 // elements of a chunk
	Meets    uint32
	Op       uint32 // a reduce.Op
	Sources  uint32
	Ins      uint32                  // for each place
	OutPitch uint32                  // from row to row of Out
	Longest  uint64                  // elements of the largest tile of all members
	Out      abi.Ptr                 // of this member
	Tile     [abi.MaxRanks]HostsTile // by place: of the root there
	In       abi.Ptrs                // by place, and then by member on this host: where its tile begins
	Source   [abi.MaxRanks]Source
}

// HostsRowsArgs are the arguments of hosts_rows.
type HostsRowsArgs struct {
	Pipes  PipeArgs // all members, each with the place of its rank
	Rows   alltoallvdev.RowsArgs
	Window uint32 // ID of the window of out
}
