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

// Scaled is how many elements have a scale in common.
const Scaled = 128

// StateWords is the words of TokenArgs.State in a group of so many ranks.
func StateWords(ranks int) int { return 2 + ranks }

// TokenPlaces are the places in every rank's data that the calls of a routing use.
type TokenPlaces struct {
	Rows, Scales, Weights, Index uint64
	Table                        uint64 // the row of each [source][token][selection], or of each [source][token]
	Slots                        uint64 // [bank][token][selection or rank], of all routings
}

// TokenNotes are what a rank notes of a routing for itself.
type TokenNotes struct {
	State   abi.Ptr
	Chosen  abi.Ptr // [token][TopK]
	Order   abi.Ptr // [token][TopK], or [token][rank]
	Base    abi.Ptr // by expert or rank
	All     abi.Ptr // [source][expert or rank]
	Counts  abi.Ptr // by local expert or source
	Offsets abi.Ptr // of Zones, by local expert, and the end
	Kept    abi.Ptr // [token][TopK]
}

// TokenArgs are the arguments of all kernels of a token switch.
type TokenArgs struct {
	Context   abi.Context // Channels: the grid's blocks
	Signals   abi.Signals // the pads of the switch
	Data      abi.Ptrs
	Epochs    uint64 // in the pad: a word for each block that counts routings, then one that counts combines
	Inbox     uint64 // in the pad: [bank][source][item]
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
