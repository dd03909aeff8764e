// cuda_bf16.h: __nv_bfloat16 and __nv_bfloat162, with their operators and functions, on both
// devices.
#pragma once
#include "symm/half.cuh"

SYMM_HALF(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, __nv_bfloat162_raw, symm::bf16, bfloat16)

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

SYMM_HALF_FN __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
