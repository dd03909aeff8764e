// Package permute holds the kernel that copies blocks of rows between ranks.
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
	Rows     uint64
	Width    uint64 // bytes
	SrcPitch uint64 // bytes from row to row
	DstPitch uint64
}
