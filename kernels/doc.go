// Package kernels holds the device code: the headers that users' kernels include, and the
// operations.
//
// These sources are the only implementation of every operation. The cuda device compiles them by
// NVRTC when an operation is first used, some of them for each size of a group; for the cpu device
// the host's C++ compiler compiles them into the program. Code that differs between the two devices
// stands behind SYMM_CPU, nearly all of it in include/.
//
//	include/    symm.cuh, what a user's kernel may call, over the headers of the protocols in symm/
//	abi/        pointers and the structs of symm.cuh in Go
//	reduce/     how elements are combined
//	packets/    how elements travel as packets
//
// Every other folder holds an operation, or several of one kind. Its file op.cu holds the kernel
// op, or one kernel op_DTYPE for each dtype. A built-in kernel is extern "C" and takes one struct
// by value, whose first member is symm::Context if the kernel waits. It ends with
// SYMM_KERNEL(name). The folder's Go package declares the struct once more, for the code that
// launches the kernel; package abi describes how the two are kept equal.
//
// Headers are included by the same names everywhere, "symm/wait.cuh" or "reduce/reduce.cuh",
// because NVRTC knows a list of names and no folders.
package kernels
