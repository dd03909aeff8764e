// Package rows holds the kernel that copies rows.
package rows

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// CopyRowsArgs are the arguments of copy_rows.
type CopyRowsArgs struct {
	Dst, Src abi.Ptr
	Rows     uint64
	Width    uint64 // bytes
	DstPitch uint64 // bytes from row to row
	SrcPitch uint64
}
