// Package packets holds the code that sends elements as packets, packets.cuh, which the kernels of
// several folders use, and the kernels that exchange and reduce pieces of memory by it.
package packets

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/reduce"
)

// Threads is the maximum number of threads of a block. The inboxes have a slot for each thread.
const Threads = 512

// PacketArgs are the arguments of the kernels that send packets.
type PacketArgs struct {
	Context abi.Context
	In, Out abi.Ptr
	N       uint64 // elements
	Op      reduce.Op
	Packets uint64   // number of packets that a rank reduces: of the tensor in one shot, of a slice in two
	Epochs  abi.Ptr  // one word for each block, in this rank's memory
	Inbox   abi.Ptrs // [block][bank][source][Threads]
}

// ExchangePacketsArgs are the arguments of exchange_packets.
type ExchangePacketsArgs struct {
	Context  abi.Context
	Src      abi.Ptrs // by rank: the piece that it is sent, in this rank's memory; 0: none
	Dst      abi.Ptrs // by rank: where its piece goes, in this rank's memory; 0: nowhere
	N        uint64   // bytes of a piece
	Width    uint64   // bytes of a row; 0: a piece is a single row
	SrcPitch uint64   // bytes from row to row
	DstPitch uint64
	Packets  uint64 // number of packets of a piece
	Epochs   abi.Ptr
	Inbox    abi.Ptrs
}

// ReducePacketsArgs are the arguments of reduce_packets.
type ReducePacketsArgs struct {
	Context  abi.Context
	Src      abi.Ptrs // by rank: this rank's share of the piece that it reduces; 0: it reduces none
	Out      abi.Ptr  // where this rank's result goes; 0 as Src of this rank
	N        uint64   // elements of a piece
	Cols     uint64   // elements of a row; 0: a piece is a single row
	SrcPitch uint64   // elements from row to row
	OutPitch uint64
	Op       reduce.Op
	Packets  uint64 // number of packets of a piece
	Epochs   abi.Ptr
	Inbox    abi.Ptrs
}
