// Package tokens holds the kernels of a token switch: the dispatch and the combine of a mixture of experts.
package tokens

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// The layouts of what a dispatch delivers.
const (
	ExpertMajor = 0
	RankMajor   = 1
	Flat        = 2
	Zones       = 3 // of experts, in one list of rows
)

// The types of tokens.
const (
	F16  = 0
	BF16 = 1
	F32  = 2
)

// What a routing refuses, in a device.WaitRecord of state WaitRefused.
const (
	RefusedExpert = 16 // an expert that is none
	RefusedTwice  = 17 // an expert that its token has chosen before
	RefusedRoom   = 18 // more rows than a rank has room for
)

// What a dispatch does besides.
const (
	Meet     = 1 // meet before: the region may be in use
	Split    = 2 // do not wait
	Quantise = 4 // send f8e4m3 with scales
)

// Epochs is how many things each block counts.
const Epochs = 4

// Scaled is how many elements have a scale in common.
const Scaled = 128

// StateWords is the words of TokenArgs.State in a group of so many ranks.
func StateWords(ranks int) int { return 2 + ranks }

// TokenPlaces are the places in every rank's data that the calls of a routing use.
type TokenPlaces struct {
	Scales, Weights, Index uint64
	Table                  uint64 // the row of each [source][token][selection], or of each [source][token]
	Slots                  uint64 // [bank][token][selection or rank], of all routings
}

// TokenNotes are what a rank notes of a routing for itself.
type TokenNotes struct {
	State   abi.Ptr
	Base    abi.Ptr // by expert or rank; what partners on other hosts get begins here
	Chosen  abi.Ptr // [token][TopK]
	Order   abi.Ptr // [token][TopK], or [token][rank]
	Kept    abi.Ptr // [token][TopK]; and ends here
	All     abi.Ptr // [source][expert or rank]
	Counts  abi.Ptr // by local expert or source
	Offsets abi.Ptr // of Zones, by local expert, and the end
}

// TokenArgs are the arguments of all kernels of a token switch.
type TokenArgs struct {
	Context   abi.Context // Channels: the grid's blocks
	Signals   abi.Signals // the pads of the switch
	Data      abi.Ptrs
	Rows      abi.Ptrs // where a dispatch delivers
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
	Tokens    uint64 // of this rank
	Hidden    uint64 // elements of a token
	Places    TokenPlaces
	Notes     TokenNotes
	Top       abi.Ptr // [token][TopK]: the experts chosen, -1 where none is
	In        abi.Ptr // [token] of a dispatch, rows of a combine
	Out       abi.Ptr // [token] of a combine
	Given     abi.Ptr // weights of a dispatch: [token][TopK]
}

// What a rank counts of every other one, in a word of its pad: between hosts.
const (
	Counted  = 0 // counts of routings
	Ready    = 1 // dispatches that meet before
	Sent     = 2 // dispatches
	Returned = 3 // combines
	Words    = 4
)

// Nobody is no partner.
const Nobody = 0xffff

// TokenPartner is a rank on another host that this one exchanges tokens with. Place is that of this rank among its partners.
type TokenPartner struct{ Rank, Place uint16 }

// TokenBoxes are places in every rank's data, for what goes to other hosts and comes from there.
type TokenBoxes struct {
	Out, OutScales   uint64 // [token]
	In, InScales     uint64 // [place][token]
	Notes, NoteBytes uint64 // [place]: of a partner, as TokenNotes from Base to Kept
	Slots            uint64 // of rails: [place][token][selection or rank]
	OutSums, InSums  uint64 // of rails: [bank][place][token], of float32
}

// TokenHostsArgs are the arguments of the kernels of a switch between hosts.
type TokenHostsArgs struct {
	Args     TokenArgs // Data and Signals: 0 of ranks on other hosts
	Net      abi.Ptr
	Start    uint64 // of the data in its window
	Words    uint64 // in the pad: [word][source]
	Ticket   uint64 // in the pad
	Boxes    TokenBoxes
	Window   uint32 // of the data; that of the pads is the next one
	Rails    uint32 // not 0: partners are counterparts, each for all of its host
	Partners uint32 // in the order of their hosts
	Home     uint32 // how many partners are on hosts before this one
	Partner  [abi.MaxRanks]TokenPartner
	Carrier  [abi.MaxRanks]uint16 // by rank: the number of the partner that gets what is for it; Nobody of ranks on this host
	Relay    [abi.MaxRanks]uint16 // of Rails, by rank of another host: the rank on this one whose partner it is
}
