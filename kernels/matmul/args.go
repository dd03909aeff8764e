// Package matmul holds the kernels that multiply matrices if no library for it is found.
package matmul

import (
	"github.com/symmrepl/symmrepl/kernels/abi"
)

// MatMulArgs are the arguments of matmul and matmul_f8e4m3: Out[M][N] = A[M][K] B[K][N].
type MatMulArgs struct {
	Out, A, B      abi.Ptr
	M, N, K        uint64
	Wide           uint64  // not 0: Out has the type of the sums
	Flipped        uint64  // not 0: B is B[N][K]
	ScaleA, ScaleB abi.Ptr // f32, of 8-bit floats; 0 for 1
	Scales         uint64  // not 0: they have one for each row of A and column of B
}
