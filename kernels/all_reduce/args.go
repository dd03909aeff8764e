// Package allreduce holds the kernels of all-reduce and reduce-scatter: in one shot and in two, by
// packets, lines and chunks, and by reading from peers between two barriers. The kernels that send
// packets take packets.PacketArgs.
package allreduce

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/reduce"
)

// LineThreads is the maximum number of threads of a block of two_shot_lines.
const LineThreads = 1024

// LineArgs are the arguments of two_shot_lines.
type LineArgs struct {
	Context abi.Context
	In, Out abi.Ptr
	N       uint64 // elements
	Op      reduce.Op
	Pieces  uint64   // number of pieces of a slice: a multiple of 32
	Turns   uint64   // maximum number of pieces of a thread in an epoch
	Slots   uint64   // number of pieces that a block's inbox holds for each source and epoch
	Epochs  abi.Ptr  // one word for each block, in this rank's memory
	Inbox   abi.Ptrs // [block][bank][source][Slots]
}

// ChunkUnits is the number of units of 16 bytes that a thread moves of a chunk. ChunkBanks is the
// number of chunks that an inbox of two_shot_chunks holds.
const (
	ChunkUnits = 4
	ChunkBanks = 4
)

// ChunkArgs are the arguments of two_shot_chunks.
type ChunkArgs struct {
	Context abi.Context // Channels: at least the grid's blocks
	Signals abi.Signals // a block of its own, not the one of Handle
	In      abi.Ptr     // a multiple of 16; so are the addresses in Out
	N       uint64      // elements
	Op      reduce.Op
	Units   uint64 // number of units of a slice
	Out     abi.Ptrs
	Inbox   abi.Ptrs // [block][bank][source, the owner left out][ChunkUnits * threads]
}

// PullArgs are the arguments of pull_reduce.
type PullArgs struct {
	Context abi.Context // Channels: at least the grid's blocks
	Signals abi.Signals // a block of its own, not the one of Handle
	In      abi.Ptrs
	Out     abi.Ptrs // the first Outs entries are used
	Outs    uint64
	N       uint64 // elements
	Width   uint64 // of a row of In: the first Width of every Stride elements are reduced; 0: all are
	Stride  uint64
	Op      reduce.Op
	Arrived uint64 // not 0: In are copies in this rank's memory; it waits for no other
}
