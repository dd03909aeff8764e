// Package delay holds the kernel that makes a stream late.
package delay

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// DelayArgs are the arguments of delay.
type DelayArgs struct {
	Context abi.Context
	Ns      uint64
}
