// Package allreduce holds the kernels of all-reduce and reduce-scatter: in one shot and in two, by packets, lines and chunks, and
// by reading from peers between two barriers. The first two take packets.PacketArgs.
package allreduce

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/reduce"
)

// LineThreads is the most that a block of two_shot_lines may have.
const LineThreads = 1024

// LineArgs are the arguments of two_shot_lines.
type LineArgs struct {
	Context abi.Context
	In, Out abi.Ptr
	N       uint64 // elements
	Op      reduce.Op
	Pieces  uint64   // of a slice: a multiple of 32
	Turns   uint64   // of a thread in an epoch, at most
	Slots   uint64   // pieces that a block's inbox holds of each source and epoch
	Epochs  abi.Ptr  // one word for each block, in this rank's memory
	Inbox   abi.Ptrs // [block][bank][source][Slots]
}

// ChunkUnits is the units of 16 bytes that a thread has of a chunk, and ChunkBanks how many chunks an inbox of two_shot_chunks holds.
const (
	ChunkUnits = 4
	ChunkBanks = 4
)

// ChunkArgs are the arguments of two_shot_chunks.
type ChunkArgs struct {
	Context abi.Context // Channels: at least the grid's blocks
	Signals abi.Signals // a block of its own, not the one of Handle
	In      abi.Ptr     // at a multiple of 16 bytes, as are Out
	N       uint64      // elements
	Op      reduce.Op
	Units   uint64 // of a slice
	Out     abi.Ptrs
	Inbox   abi.Ptrs // [block][bank][source, the owner left out][ChunkUnits * threads]
}

// PullArgs are the arguments of pull_reduce.
type PullArgs struct {
	Context abi.Context // Channels: at least the grid's blocks
	Signals abi.Signals // a block of its own, not the one of Handle
	In      abi.Ptrs
	Out     abi.Ptrs // the first Outs of them
	Outs    uint64
	N       uint64 // elements
	Width   uint64 // of a row of In: Width elements of every Stride; 0 if all are wanted
	Stride  uint64
	Op      reduce.Op
}
