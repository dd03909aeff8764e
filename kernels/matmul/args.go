// Package matmul holds the kernel that multiplies matrices if no library for it is found.
package matmul

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// MatMulArgs are the arguments of matmul: Out[M][N] = A[M][K] B[K][N].
type MatMulArgs struct {
	Out, A, B abi.Ptr
	M, N, K   uint64
	Wide      uint64 // not 0: Out has the type of the sums
}
