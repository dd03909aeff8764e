// Package tilereduce holds the kernel that reduces tiles of tensors.
package tilereduce

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
	"github.com/symmrepl/symmrepl/kernels/reduce"
)

// MaxTiles is the maximum number of tiles of a rank in a call.
const MaxTiles = 16

// Tile is a rectangle of elements.
type Tile struct {
	From       uint64 // elements from TileReduceArgs.In
	Out        abi.Ptr
	Rows, Cols uint64
	InPitch    uint64 // elements from row to row
	OutPitch   uint64
}

// TileReduceArgs are the arguments of tile_reduce.
type TileReduceArgs struct {
	Context abi.Context // Channels: at least the grid's blocks
	Signals abi.Signals // a block of its own, not the one of Handle
	In      abi.Ptrs
	Op      reduce.Op
	Tiles   uint64
	Tile    [MaxTiles]Tile
}
