// Package alltoallvdev holds the kernel that moves rows to the ranks that splits in device memory say.
package alltoallvdev

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/packets"
)

// Splits is the most that a call may have: one of each thread.
const Splits = packets.Threads

// The layouts of rows.
const (
	Dispatch = 0
	Combine  = 1
)

// What the kernel refuses, in a device.WaitRecord of state WaitRefused.
const (
	RefusedSplit  = 16 // a split out of range
	RefusedSum    = 17 // splits that add up to more rows than the input has
	RefusedOffset = 18 // rows that are not all in the input
	RefusedRoom   = 19 // more rows than the output has
)

// RowsArgs say which rows go where.
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
	Align      uint64   // rows that a region of a dispatch is a multiple of; 0: none
	Start      uint64   // of out in its window, for members on other hosts
	Out        abi.Ptrs // by rank; 0 for members on other hosts
}

// AllToAllVdevArgs are the arguments of all_to_all_vdev.
type AllToAllVdevArgs struct {
	Head    packets.PacketArgs // N: splits; Context.Channels: at least the grid's blocks
	Signals abi.Signals        // a block of its own, not the one of Handle
	Rows    RowsArgs
}
