// cuda_fp16.h: __half and __half2, with their operators and functions, on both devices.
#pragma once
#include "symm/half.cuh"

SYMM_HALF(__half, __half2, __half_raw, __half2_raw, symm::f16, half)

using half = __half;
using half2 = __half2;

SYMM_HALF_FN __half2 make_half2(__half x, __half y) { return {x, y}; }
