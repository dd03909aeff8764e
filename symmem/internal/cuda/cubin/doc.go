// Package cubin compiles CUDA C++ to machine code for one kind of GPU, once.
//
// A [Compiler] finds NVRTC on the host but loads it only when something has to be compiled: what was compiled before, by this
// process or another, comes from package kernelcache. An entry is keyed by everything that decides its content: the source, the
// headers, the options with the architecture, and the compiler's library.
//
// Errors of the source are *device.CompileError, at the source's own lines.
package cubin
