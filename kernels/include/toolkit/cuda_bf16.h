// cuda_bf16.h: __nv_bfloat16 and __nv_bfloat162, with their operators and functions, on both
// devices. All functions of cuda_fp16.h take them as well; only functions with the type in their
// name are listed here.
//
// On the cpu device: as in cuda_fp16.h.
//
// Example:
//
//   const __nv_bfloat16 y = __float2bfloat16(x[0]);
//   x[0] = __bfloat162float(__hmul(y, y));
#pragma once
#include "symm/half.cuh"

SYMM_HALF(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, __nv_bfloat162_raw, symm::bf16, bfloat16)

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

SYMM_HALF_FN __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
