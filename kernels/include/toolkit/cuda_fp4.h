// cuda_fp4.h: the 4-bit floating-point type e2m1, for storage and conversion, on both devices.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
enum __nv_fp4_interpretation_t { __NV_E2M1 };
#ifdef SYMM_CPU  // NVRTC has it
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
#endif

// The values are 0, 0.5, 1, 1.5, 2, 3, 4 and 6, and their negatives. Conversion rounds to nearest
// even; a value that is too large becomes 6, and NaN becomes 6 too.
SYMM_HALF_FN __nv_fp4_storage_t __nv_cvt_float_to_fp4(float f, __nv_fp4_interpretation_t, cudaRoundMode) {
  const unsigned sign = __float_as_uint(f) >> 28 & 8;
  const float m = __uint_as_float(__float_as_uint(f) & 0x7fffffffu);
  if (f != f) return 7;
  if (m >= 3.5f) return (__nv_fp4_storage_t)(sign | (m > 5 ? 7 : 6));
  if (m >= 2) return (__nv_fp4_storage_t)(sign | (4 + (unsigned)rintf(m) - 2));
  return (__nv_fp4_storage_t)(sign | (unsigned)rintf(2 * m));
}
SYMM_HALF_FN __nv_fp4_storage_t __nv_cvt_double_to_fp4(double d, __nv_fp4_interpretation_t k, cudaRoundMode r) { return __nv_cvt_float_to_fp4(symm::to_odd(d), k, r); }
SYMM_HALF_FN __nv_fp4_storage_t __nv_cvt_halfraw_to_fp4(__half_raw h, __nv_fp4_interpretation_t k, cudaRoundMode r) { return __nv_cvt_float_to_fp4(__half(h), k, r); }
SYMM_HALF_FN __nv_fp4_storage_t __nv_cvt_bfloat16raw_to_fp4(__nv_bfloat16_raw h, __nv_fp4_interpretation_t k, cudaRoundMode r) {
  return __nv_cvt_float_to_fp4(__nv_bfloat16(h), k, r);
}
SYMM_HALF_FN __nv_fp4x2_storage_t __nv_cvt_float2_to_fp4x2(float2 f, __nv_fp4_interpretation_t k, cudaRoundMode r) {
  return (__nv_fp4x2_storage_t)(__nv_cvt_float_to_fp4(f.x, k, r) | __nv_cvt_float_to_fp4(f.y, k, r) << 4);
}
SYMM_HALF_FN __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t x, __nv_fp4_interpretation_t) {
  const unsigned m = x & 7;
  const unsigned bits = m < 2 ? (m ? 0x3800u : 0u) : ((m >> 1) + 14) << 10 | (m & 1) << 9;
  return __half_raw{(unsigned short)(bits | (x & 8) << 12)};
}
SYMM_HALF_FN __half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t x, __nv_fp4_interpretation_t k) {
  return __half2_raw{__nv_cvt_fp4_to_halfraw(x & 15, k).x, __nv_cvt_fp4_to_halfraw(x >> 4, k).x};
}

struct __nv_fp4_e2m1 {
  __nv_fp4_storage_t __x;
  __nv_fp4_e2m1() = default;
  explicit SYMM_HALF_FN __nv_fp4_e2m1(float f) : __x(__nv_cvt_float_to_fp4(f, __NV_E2M1, cudaRoundNearest)) {}
  explicit SYMM_HALF_FN __nv_fp4_e2m1(double d) : __x(__nv_cvt_double_to_fp4(d, __NV_E2M1, cudaRoundNearest)) {}
  explicit SYMM_HALF_FN __nv_fp4_e2m1(__half h) : __nv_fp4_e2m1((float)h) {}
  explicit SYMM_HALF_FN __nv_fp4_e2m1(__nv_bfloat16 h) : __nv_fp4_e2m1((float)h) {}
  explicit SYMM_HALF_FN operator __half() const { return __half(__nv_cvt_fp4_to_halfraw(__x, __NV_E2M1)); }
  explicit SYMM_HALF_FN operator float() const { return __half(__nv_cvt_fp4_to_halfraw(__x, __NV_E2M1)); }
  explicit SYMM_HALF_FN operator double() const { return (float)*this; }
};
struct __nv_fp4x2_e2m1 {
  __nv_fp4x2_storage_t __x;
  __nv_fp4x2_e2m1() = default;
  explicit SYMM_HALF_FN __nv_fp4x2_e2m1(float2 f) : __x(__nv_cvt_float2_to_fp4x2(f, __NV_E2M1, cudaRoundNearest)) {}
  explicit SYMM_HALF_FN __nv_fp4x2_e2m1(__half2 h) : __nv_fp4x2_e2m1(make_float2(h.x, h.y)) {}
  explicit SYMM_HALF_FN operator __half2() const { return __half2(__nv_cvt_fp4x2_to_halfraw2(__x, __NV_E2M1)); }
  explicit SYMM_HALF_FN operator float2() const { const __half2 h(*this); return make_float2(h.x, h.y); }
};
struct __align__(2) __nv_fp4x4_e2m1 {
  __nv_fp4x4_storage_t __x;
  __nv_fp4x4_e2m1() = default;
  explicit SYMM_HALF_FN __nv_fp4x4_e2m1(float4 f)
      : __x((__nv_fp4x4_storage_t)(__nv_fp4x2_e2m1(make_float2(f.x, f.y)).__x | __nv_fp4x2_e2m1(make_float2(f.z, f.w)).__x << 8)) {}
  explicit SYMM_HALF_FN operator float4() const {
    const __half2 a(__nv_cvt_fp4x2_to_halfraw2(__x & 255, __NV_E2M1)), b(__nv_cvt_fp4x2_to_halfraw2(__x >> 8, __NV_E2M1));
    return make_float4(a.x, a.y, b.x, b.y);
  }
};
