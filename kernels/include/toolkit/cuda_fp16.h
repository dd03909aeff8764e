// cuda_fp16.h: __half and __half2, with their operators and functions, on both devices. If a GPU
// machine has CUDA's toolkit, kernels get the toolkit's header there.
//
// Every operation rounds once, so results are the same on both devices, except for exponentials,
// logarithms and sines.
//
// On the cpu device: exponentials, logarithms, sines, cosines and hyperbolic tangents come from the
// C library for float and are rounded once; the last bit may differ from a GPU's.
//
// Example:
//
//   __half2 pair = __floats2half2_rn(x[0], x[1]);
//   pair = __hfma2(pair, pair, __float2half2_rn(1));
//   x[0] = __low2float(pair);
#pragma once
#include "symm/half.cuh"

SYMM_HALF(__half, __half2, __half_raw, __half2_raw, symm::f16, half)

using half = __half;
using half2 = __half2;

SYMM_HALF_FN __half2 make_half2(__half x, __half y) { return {x, y}; }
