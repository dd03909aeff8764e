// Package permute holds the kernel that copies batches of rows between ranks.
package permute

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// PermuteArgs are the arguments of permute.
type PermuteArgs struct {
	Context  abi.Context // Channels: at least the grid's blocks
	Signals  abi.Signals // a block of its own, not the one of Handle
	Src      abi.Ptrs    // one for each rank, beginning with a neighbour's to spread the traffic
	Dst      abi.Ptrs
	Batches  uint64
	Batch    uint64 // bytes from one batch of rows to the next, in Src and in Dst
	Rows     uint64 // of a batch
	Width    uint64 // bytes
	SrcPitch uint64 // bytes from row to row
	DstPitch uint64
}
