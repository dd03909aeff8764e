// Package packets holds the code that sends elements as packets, packets.cuh, which the kernels of
// several folders use.
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
