// Package reduce holds the code that combines elements, reduce.cuh, which the kernels of several
// folders use.
package reduce

// Op is symm::ReduceOp.
type Op uint64

// The reductions. Wide is added to a reduction to sum 16-bit floats as F32.
const (
	Sum  Op = 0
	Avg  Op = 1
	Max  Op = 2
	Min  Op = 3
	Wide Op = 256
)
