// Package multimem holds the kernels that use NVLink multicast.
package multimem

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// Type is symm::MulticastType, the type of the elements that the switch adds.
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
	Out     abi.Ptr // in this rank's memory only; 0: the copies of all ranks
	Offset  uint64  // of this rank's part, counted from Tensor; in Out the part begins at 0; a multiple of 4
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
	Offset  uint64 // of this rank's place in Out; a multiple of 4; so is In
	N       uint64 // bytes; a multiple of 4
}
