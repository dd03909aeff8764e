// Package clib is the C side of the cuda device: the driver and NVRTC, opened at run time.
//
// clib.h is the whole boundary, and its comments say which side owns which memory; load.c finds the
// driver's functions, cuda.c and stream.c call them, nvrtc.c is the compiler. The Go files of this
// package only add types. No other package of symmrepl includes CUDA's C interface, and none of
// NVIDIA's headers or libraries is needed to build it.
//
// [Load] comes first, then [Init]; every other driver function may then be called from any
// goroutine. A failed call is a *device.DriverError that carries the driver's own name and sentence
// and a hint.
package clib
