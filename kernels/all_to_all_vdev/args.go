// Package alltoallvdev holds the kernel that moves rows to the ranks that splits in device memory say.
package alltoallvdev

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/packets"
)

// Splits is the most that a call may have: a packet each, of one thread.
const Splits = packets.Threads

// The layouts of rows, as Head.Op.
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

// AllToAllVdevArgs are the arguments of all_to_all_vdev.
type AllToAllVdevArgs struct {
	Head       packets.PacketArgs // In: the rows; N: splits; Op: the layout; Context.Channels: at least the grid's blocks
	Signals    abi.Signals        // a block of its own, not the one of Handle
	Out        abi.Ptrs
	Splits     abi.Ptr
	Offsets    abi.Ptr // of a combine
	OutSplits  abi.Ptr
	OutOffsets abi.Ptr
	InRows     uint64
	OutRows    uint64
	Row        uint64 // bytes
	Align      uint64 // rows that a region of a dispatch is a multiple of; 0: none
}
