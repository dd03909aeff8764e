// Package cpu implements the device that needs no GPU: it runs CUDA kernels on the host's
// processor.
//
// The operations of kernels/ are compiled into the program. The host's C++ compiler compiles a
// user's snippet, whose text is the same as for a GPU, to a shared library, which is cached on disk
// and loaded. Package emu executes both.
//
// Memory is ordinary memory, and memory that processes share is a sealed memfd, so that device
// addresses are host addresses. Both lie between guard pages: a kernel that accesses addresses
// beyond them faults, and does not reach other memory of the process. A kernel that faults, fails
// an assertion or never ends is reported as a [device.KernelFault] with the user's own line, and
// the device goes on working.
//
// For [device.Sanitizer], snippets and operations are compiled a second time so that every access
// is checked. The other compiled code does not change.
//
// A kernel that works here may fail on a GPU: a processor reorders less, and the lanes of a warp do
// not run in lockstep. The device serves correctness, not speed.
package cpu
