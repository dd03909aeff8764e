// Package cubin compiles CUDA C++ to machine code for one kind of GPU, once.
//
// A [Compiler] finds NVRTC on the host but loads it only when a unit has to be compiled: units that
// this or another process has compiled before come from package kernelcache. The key of an entry
// covers all inputs that determine its content: the source, the headers, the options with the
// architecture, and the compiler's library.
//
// The headers that a unit includes ahead of its text are precompiled once in each process, where NVRTC
// can do that: parsing them takes longer than the rest of a small kernel. [Compiler.Prepare] does it
// in advance.
//
// Errors of the source are *device.CompileError, at the source's own lines.
package cubin
