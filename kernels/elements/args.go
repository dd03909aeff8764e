// Package elements holds the kernels that fill a tensor.
package elements

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// FillArgs are the arguments of fill.
type FillArgs struct {
	Out  abi.Ptr
	N    uint64 // elements
	Bits uint64 // the element, in the low bytes
	High uint64 // the high 8 bytes of an element of 16
	Size uint64 // bytes of an element
}

// ArangeArgs are the arguments of arange.
type ArangeArgs struct {
	Out abi.Ptr
	N   uint64 // elements
}

// RandArgs are the arguments of rand.
type RandArgs struct {
	Out  abi.Ptr
	N    uint64 // elements
	Seed uint64
}
