// Package reduce is how the reductions combine elements: reduce.cuh, for the kernels of several folders.
package reduce

// Op is symm::ReduceOp.
type Op uint64

// The reductions. Wide is added to one of them to sum 16-bit floats as F32.
const (
	Sum  Op = 0
	Avg  Op = 1
	Max  Op = 2
	Min  Op = 3
	Wide Op = 256
)
