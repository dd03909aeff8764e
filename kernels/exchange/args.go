// Package exchange holds the kernel in which every rank copies pieces between two barriers:
// all-gather, all-to-all and broadcast.
package exchange

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// ExchangeArgs are the arguments of exchange.
type ExchangeArgs struct {
	Context abi.Context // Channels: at least the grid's blocks
	Signals abi.Signals // a block of its own, not the one of Handle
	Src     abi.Ptrs    // the pieces, beginning with a neighbour's to spread the traffic; 0: no piece
	Dst     abi.Ptrs
	Pieces  uint64
	N       uint64 // bytes of a piece
	Same    uint64 // not 0: all pieces come from Src[0]
}
