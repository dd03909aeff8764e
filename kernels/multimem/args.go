// Package multimem holds the kernels that use NVLink multicast.
package multimem

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// Type is symm::MulticastType, of the elements that the switch adds.
type Type uint64

// The element types.
const (
	F32  Type = 0
	F16  Type = 1
	BF16 Type = 2
)

// Multicast is symm::Multicast.
type Multicast struct {
	Address abi.Ptr // 0 on the cpu device
	Copies  abi.Ptrs
}

// MultimemArgs are the arguments of multimem_reduce.
type MultimemArgs struct {
	Context abi.Context // Channels: at least the grid's blocks
	Signals abi.Signals // a block of its own, not the one of Handle
	Tensor  Multicast
	Out     abi.Ptr // of this rank alone; 0: everybody's copy
	Offset  uint64  // of this rank's part from Tensor, and 0 from Out; a multiple of 4
	N       uint64  // bytes of the part; a multiple of 4
	Type    Type
	Average uint64 // not 0: divide the sums
}

// MultimemGatherArgs are the arguments of multimem_all_gather.
type MultimemGatherArgs struct {
	Context abi.Context // Channels: at least the grid's blocks
	Signals abi.Signals // a block of its own, not the one of Handle
	Out     Multicast
	In      abi.Ptr
	Offset  uint64 // of this rank's place from Out; a multiple of 4, as is In
	N       uint64 // bytes; a multiple of 4
}
