// Package kernels holds the device code: the headers that users' kernels include, and the operations.
//
// These sources are the only implementation of every operation. The cuda device compiles them by NVRTC when an operation is
// first used, some for each size of a group; the cpu device has them compiled into the program by the host's C++ compiler. What
// differs between the two stands behind SYMM_CPU, nearly all of it in include/.
//
//	include/    symm.cuh, what a user's kernel may call, over the headers of the protocols in symm/
//	abi/        pointers and the structs of symm.cuh in Go
//	reduce/     how elements are combined
//	packets/    how elements travel as packets
//
// Every other folder holds an operation, or several of one kind. Its file op.cu holds the kernel op, or one kernel op_DTYPE for
// each dtype. A built-in kernel is extern "C" and takes one struct by value, whose first member is symm::Context if the kernel
// waits. It ends with SYMM_KERNEL(name). The folder's Go package declares the struct once more, for those who launch the kernel;
// see package abi for what holds the two together.
//
// Headers are included by the same names everywhere, "symm/wait.cuh" or "reduce/reduce.cuh", since NVRTC has a list of names
// and no folders.
package kernels
