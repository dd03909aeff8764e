// Package emulib makes a library of the emulator of package emu, for programs that were not linked
// with it: Python opens it.
//
// A wheel brings the library beside the program. It was built when the wheel was, by zig, which needs
// more than a minute for the library of C++ that the emulator is linked with. Without a wheel the
// library is built at its first use, and kept in the cache of kernels. The two are built by the same
// flags from the same files.
//
// The compiler of kernels may be another one than that of the library: what lies between them,
// emu/api.h and the headers of emu/include, is C or is compiled into the kernels.
package emulib
