// Package cpu is the device that needs no GPU: it runs CUDA kernels on the host's processor.
//
// The operations of kernels/ are compiled into the program. A user's snippet is compiled by the host's C++
// compiler to a shared library, which is kept on disk and loaded; the text is the same as for a GPU.
// Package emu executes both.
//
// Memory is ordinary memory, and memory that processes share is a sealed memfd, so that device addresses
// are host addresses. Both lie between guard pages: a kernel that leaves them faults, and does not reach what
// the process has beside them. A kernel that faults, fails an assertion or never ends is reported as a
// [device.KernelFault] with the user's own line, and the device goes on working.
//
// With [device.Sanitizer], snippets and operations are compiled a second time so that every access is looked at. What was compiled without runs as it did.
//
// A kernel that is right here may be wrong on a GPU: a processor reorders less, and the lanes of a warp do not run in
// step. The device is for correctness, not for speed.
package cpu
