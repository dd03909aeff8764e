// Package cpu is the device that is always there: CUDA kernels run on the host's processor.
//
// The operations of kernels/ are compiled into the program. A user's snippet is compiled by the host's C++
// compiler to a shared library, which is kept on disk and loaded; the text is the same as for a GPU.
// Package emu executes both.
//
// Memory is ordinary memory, and memory that processes share is a sealed memfd, so that device addresses
// are host addresses. A kernel that faults, fails an assertion or never ends is reported as a
// [device.KernelFault] with the user's own line, and the device goes on working.
//
// What passes here is not proven for a GPU: a processor reorders less, and warps do not run in step. It is
// a device for being right, not for being fast.
package cpu
