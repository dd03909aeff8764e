// Package packets is how elements travel as packets: packets.cuh, for the kernels of several folders.
package packets

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/reduce"
)

// Threads is the most that a block may have. The inboxes have a slot for each.
const Threads = 512

// PacketArgs are the arguments of the kernels that send packets.
type PacketArgs struct {
	Context abi.Context
	In, Out abi.Ptr
	N       uint64 // elements
	Op      reduce.Op
	Packets uint64   // that a rank reduces: of the tensor in one shot, of a slice in two
	Epochs  abi.Ptr  // one word for each block, in this rank's memory
	Inbox   abi.Ptrs // [block][bank][source][Threads]
}
