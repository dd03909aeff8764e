// cuda_fp8.h: the 8-bit floating-point types e4m3 and e5m2, for storage and conversion, on both
// devices.
//
// Example:
//
//   const __nv_fp8_e4m3 y(x[0]);
//   x[0] = 2 * (float)y;
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

// The bits of one, two and four numbers, and the arguments of conversions.
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// Conversion rounds to nearest even. A value that is too large becomes the largest number; with
// __NV_NOSAT it becomes infinity, or NaN for e4m3, which has no infinity.
SYMM_HALF_FN __nv_fp8_storage_t __nv_cvt_float_to_fp8(float f, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  const int mantissa = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
  const unsigned bits = __float_as_uint(f), sign = bits >> 24 & 0x80, top = kind == __NV_E4M3 ? 0x7e : 0x7b;
  const float magnitude = __uint_as_float(bits & 0x7fffffffu);
  if (f != f) return 0x7f;
  if (magnitude > 65536) return (__nv_fp8_storage_t)(sign | (saturate == __NV_SATFINITE ? top : top + 1));
  int exponent = (int)(bits >> 23 & 255) - 127;
  if (exponent < 1 - bias) exponent = 1 - bias;
  const unsigned q = (unsigned)rintf(magnitude * __uint_as_float((unsigned)(127 + mantissa - exponent) << 23));
  unsigned r = ((unsigned)(exponent + bias - 1) << mantissa) + q;
  if (r > top) r = saturate == __NV_SATFINITE ? top : top + 1;
  return (__nv_fp8_storage_t)(sign | r);
}
SYMM_HALF_FN __nv_fp8_storage_t __nv_cvt_double_to_fp8(double d, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(symm::to_odd(d), saturate, kind);
}
SYMM_HALF_FN __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw h, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__half(h), saturate, kind);
}
SYMM_HALF_FN __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw h, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__nv_bfloat16(h), saturate, kind);
}
SYMM_HALF_FN __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 f, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(f.x, saturate, kind) | __nv_cvt_float_to_fp8(f.y, saturate, kind) << 8);
}
// Conversions to 16 bits are exact, because every 8-bit float is a 16-bit one.
SYMM_HALF_FN __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  if (kind == __NV_E5M2) return __half_raw{(unsigned short)((x & 0x7f) > 0x7c ? 0x7fff : x << 8)};
  const unsigned magnitude = x & 0x7f;
  if (magnitude == 0x7f) return __half_raw{0x7fff};
  const float f = magnitude < 8 ? (float)magnitude * 0x1p-9f : __uint_as_float((magnitude << 20) + (120u << 23));
  return __half_raw{(unsigned short)(symm::to_f16(f).bits | (x & 0x80) << 8)};
}
SYMM_HALF_FN __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind).x, __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x};
}

#define SYMM_FP8(T, T2, T4, kind)                                                                                               \
  struct T {                                                                                                                    \
    __nv_fp8_storage_t __x;                                                                                                     \
    T() = default;                                                                                                              \
    explicit SYMM_HALF_FN T(float f) : __x(__nv_cvt_float_to_fp8(f, __NV_SATFINITE, kind)) {}                                   \
    explicit SYMM_HALF_FN T(double d) : __x(__nv_cvt_double_to_fp8(d, __NV_SATFINITE, kind)) {}                                 \
    explicit SYMM_HALF_FN T(int i) : T((double)i) {}                                                                            \
    explicit SYMM_HALF_FN T(unsigned i) : T((double)i) {}                                                                       \
    explicit SYMM_HALF_FN T(__half h) : T((float)h) {}                                                                          \
    explicit SYMM_HALF_FN T(__nv_bfloat16 h) : T((float)h) {}                                                                   \
    explicit SYMM_HALF_FN operator float() const { return __half(__nv_cvt_fp8_to_halfraw(__x, kind)); }                         \
    explicit SYMM_HALF_FN operator double() const { return (float)*this; }                                                      \
    explicit SYMM_HALF_FN operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, kind)); }                        \
    explicit SYMM_HALF_FN operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); }                                \
  };                                                                                                                            \
  struct __align__(2) T2 {                                                                                                      \
    __nv_fp8x2_storage_t __x;                                                                                                   \
    T2() = default;                                                                                                             \
    explicit SYMM_HALF_FN T2(float2 f) : __x(__nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, kind)) {}                              \
    explicit SYMM_HALF_FN T2(__half2 h) : T2(make_float2(h.x, h.y)) {}                                                          \
    explicit SYMM_HALF_FN T2(__nv_bfloat162 h) : T2(make_float2(h.x, h.y)) {}                                                   \
    explicit SYMM_HALF_FN operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind)); }                   \
    explicit SYMM_HALF_FN operator float2() const { const __half2 h(*this); return make_float2(h.x, h.y); }                     \
  };                                                                                                                            \
  struct __align__(4) T4 {                                                                                                      \
    __nv_fp8x4_storage_t __x;                                                                                                   \
    T4() = default;                                                                                                             \
    explicit SYMM_HALF_FN T4(float4 f) : __x(T2(make_float2(f.x, f.y)).__x | (__nv_fp8x4_storage_t)T2(make_float2(f.z, f.w)).__x << 16) {} \
    explicit SYMM_HALF_FN operator float4() const {                                                                             \
      const __half2 a(__nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)__x, kind)), b(__nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)(__x >> 16), kind)); \
      return make_float4(a.x, a.y, b.x, b.y);                                                                                   \
    }                                                                                                                           \
  };
// One, two and four numbers. Constructors convert from float and other types, with __NV_SATFINITE.
SYMM_FP8(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
SYMM_FP8(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef SYMM_FP8
