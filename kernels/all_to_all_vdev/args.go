// Package alltoallvdev holds the kernel that moves rows to the ranks named by splits in device
// memory.
package alltoallvdev

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/packets"
)

// Splits is the maximum number of splits of a call: one for each thread.
const Splits = packets.Threads

// The layouts of rows.
const (
	Dispatch = 0
	Combine  = 1
)

// Reasons for which the kernel refuses its input, in a device.WaitRecord with the state
// WaitRefused.
const (
	RefusedSplit  = 16 // a split out of range
	RefusedSum    = 17 // splits that add up to more rows than the input has
	RefusedOffset = 18 // rows that do not lie inside the input
	RefusedRoom   = 19 // more rows than the output has
)

// RowsArgs are the arguments that determine which rows go where.
type RowsArgs struct {
	In         abi.Ptr
	N          uint64 // splits
	Layout     uint64
	Splits     abi.Ptr
	Offsets    abi.Ptr // of a combine
	OutSplits  abi.Ptr
	OutOffsets abi.Ptr
	InRows     uint64
	OutRows    uint64
	Row        uint64   // bytes
	Align      uint64   // the rows of a region of a dispatch are a multiple of Align; 0: no padding
	Start      uint64   // offset of Out in its window, for members on other hosts
	Out        abi.Ptrs // by rank; 0 for members on other hosts
}

// AllToAllVdevArgs are the arguments of all_to_all_vdev.
type AllToAllVdevArgs struct {
	Head    packets.PacketArgs // N: splits; Context.Channels: at least the grid's blocks
	Signals abi.Signals        // a block of its own, not the one of Handle
	Rows    RowsArgs
	Room    uint64 // bytes of rows from one rank to another that may travel as packets; 0: none
}

// Room returns the number of bytes of rows from one rank to another that find room in the inboxes
// of a grid, as packets behind the packets of n splits.
func Room(blocks, n int) int { return blocks * (packets.Threads - (n+31)&^31) * packetBytes }

const packetBytes = 12 // that a packet carries
