// Package tokens holds the kernels of a token switch: the dispatch and the combine of a mixture of
// experts.
package tokens

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// The layouts of the rows that a dispatch delivers.
const (
	ExpertMajor = 0
	RankMajor   = 1
	Flat        = 2
	Zones       = 3 // one list of rows, in zones by expert
)

// The types of tokens.
const (
	F16  = 0
	BF16 = 1
	F32  = 2
)

// Reasons for which a routing is refused, in a device.WaitRecord with the state WaitRefused.
const (
	RefusedExpert = 16 // an expert that does not exist
	RefusedTwice  = 17 // an expert that its token has chosen before
	RefusedRoom   = 18 // more rows than a rank has room for
)

// Options of a dispatch.
const (
	Meet     = 1 // meet first: the region may be in use
	Split    = 2 // do not wait
	Quantise = 4 // send f8e4m3 with scales
)

// Epochs is the number of counts of each block.
const Epochs = 4

// Scaled is the number of elements that share a scale.
const Scaled = 128

// StateWords returns the number of words of TokenArgs.State in a group of the given number of
// ranks.
func StateWords(ranks int) int { return 2 + ranks }

// TokenPlaces are offsets in every rank's data that the calls of a routing use.
type TokenPlaces struct {
	Scales, Weights, Index uint64
	Table                  uint64 // the row of each [source][token][selection], or of each [source][token]
	Slots                  uint64 // [bank][token][selection or rank], shared by all routings
}

// TokenNotes are the notes that a rank keeps of a routing.
type TokenNotes struct {
	State   abi.Ptr
	Base    abi.Ptr // by expert or rank; partners on other hosts get the notes from Base to Kept
	Chosen  abi.Ptr // [token][TopK]
	Order   abi.Ptr // [token][TopK], or [token][rank]
	Kept    abi.Ptr // [token][TopK]
	All     abi.Ptr // [source][expert or rank]
	Counts  abi.Ptr // by local expert or source
	Offsets abi.Ptr // with Zones, by local expert, and the end
}

// TokenArgs are the arguments of all kernels of a token switch.
type TokenArgs struct {
	Context   abi.Context // Channels: the grid's blocks
	Signals   abi.Signals // the pads of the switch
	Data      abi.Ptrs
	Rows      abi.Ptrs // the rows that a dispatch delivers
	Epochs    uint64   // in the pad: [Epochs][block]
	Inbox     uint64   // in the pad: [bank][source][item]
	Layout    uint64
	Element   uint64
	Manner    uint64
	Experts   uint64
	TopK      uint64
	MaxTokens uint64
	MaxRecv   uint64
	Align     uint64
	Tokens    uint64 // number of tokens of this rank
	Hidden    uint64 // elements of a token
	Places    TokenPlaces
	Notes     TokenNotes
	Top       abi.Ptr // [token][TopK]: the experts chosen, -1: none
	In        abi.Ptr // of a dispatch: [token]; of a combine: rows
	Out       abi.Ptr // [token] of a combine
	Given     abi.Ptr // weights of a dispatch: [token][TopK]
}

// Counts that a rank keeps for every rank on other hosts, each in a word of its pad.
const (
	Counted  = 0 // routings whose counts have come
	Ready    = 1 // dispatches that meet first
	Sent     = 2 // dispatches
	Returned = 3 // combines
	Words    = 4
)

// Nobody stands for no partner.
const Nobody = 0xffff

// TokenPartner is a rank on another host that this one exchanges tokens with. Place is this rank's
// place among the partners of that rank.
type TokenPartner struct{ Rank, Place uint16 }

// TokenBoxes are offsets in every rank's data, of the boxes for data to and from other hosts.
type TokenBoxes struct {
	Out, OutScales   uint64 // [token]
	In, InScales     uint64 // [place][token]
	Notes, NoteBytes uint64 // [place]: a partner's TokenNotes, from Base to Kept
	Slots            uint64 // with rails: [place][token][selection or rank]
	OutSums, InSums  uint64 // with rails: [bank][place][token], of float32
}

// TokenHostsArgs are the arguments of the kernels of a switch between hosts.
type TokenHostsArgs struct {
	Args     TokenArgs // Data and Signals: 0 for ranks on other hosts
	Net      abi.Ptr
	Start    uint64 // offset of the data in its window
	Words    uint64 // in the pad: [word][source]
	Ticket   uint64 // in the pad
	Boxes    TokenBoxes
	Window   uint32 // ID of the data's window; the pads' window has the next ID
	Rails    uint32 // not 0: the partners are the counterparts, each for all ranks of its host
	Partners uint32 // number of partners, which are in the order of their hosts
	Home     uint32 // number of partners on hosts before this one
	Partner  [abi.MaxRanks]TokenPartner
	Carrier  [abi.MaxRanks]uint16 // by rank: the number of the partner that gets the rank's data; Nobody for ranks on this host
	Relay    [abi.MaxRanks]uint16 // with Rails, by rank of another host: the rank on this host that is its partner
}
