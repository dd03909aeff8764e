// float16.cuh: 16-bit floats. They can be stored and converted; arithmetic converts them to float
// and rounds after every operation, as the hardware does. Conversion to a 16-bit float rounds to
// nearest even; a NaN becomes 0x7fff on both devices.
#pragma once
#include "symm/types.cuh"

namespace symm {

// f16 and bf16 hold the bits of a 16-bit float: an IEEE half, and the upper half of a float.
struct f16 { u16 bits; };
struct bf16 { u16 bits; };

// to_float, to_f16 and to_bf16 convert. The results are the same on both devices.
//
// Example:
//
//   symm::bf16* const y = (symm::bf16*)x;
//   y[0] = symm::to_bf16(2 * symm::to_float(y[0]));
__device__ __forceinline__ float to_float(bf16 x) {
#ifdef SYMM_CPU
  u32 u = (u32)x.bits << 16;
  float f;
  __builtin_memcpy(&f, &u, 4);
  return f;
#else
  return __uint_as_float((u32)x.bits << 16);
#endif
}
__device__ __forceinline__ bf16 to_bf16(float f) {
#ifdef SYMM_CPU
  u32 u;
  __builtin_memcpy(&u, &f, 4);
  if ((u & 0x7fffffffu) > 0x7f800000u) return bf16{0x7fff};
  return bf16{(u16)((u + 0x7fffu + ((u >> 16) & 1)) >> 16)};
#else
  u16 r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(f));
  return bf16{r};
#endif
}
__device__ __forceinline__ float to_float(f16 x) {
#ifdef SYMM_CPU
  u32 sign = (u32)(x.bits & 0x8000u) << 16, exp = (x.bits >> 10) & 31, man = x.bits & 0x3ffu, u;
  if (exp == 31) u = sign | 0x7f800000u | (man << 13);
  else if (exp) u = sign | ((exp + 112) << 23) | (man << 13);
  else {
    float f = (float)man * 0x1p-24f;
    return sign ? -f : f;
  }
  float f;
  __builtin_memcpy(&f, &u, 4);
  return f;
#else
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
  return f;
#endif
}
__device__ __forceinline__ f16 to_f16(float f) {
#ifdef SYMM_CPU
  u32 u;
  __builtin_memcpy(&u, &f, 4);
  u16 sign = (u >> 16) & 0x8000u;
  u &= 0x7fffffffu;
  if (u > 0x7f800000u) return f16{0x7fff};
  if (u >= 0x477ff000u) return f16{(u16)(sign | 0x7c00u)};  // 65520 and above round to infinity
  if (u < 0x38800000u) {                                    // below 2^-14: count in units of 2^-24
    float a;
    __builtin_memcpy(&a, &u, 4);
    return f16{(u16)(sign | (u16)__builtin_rintf(a * 0x1p24f))};
  }
  return f16{(u16)(sign | ((u + 0xfffu + ((u >> 13) & 1) - 0x38000000u) >> 13))};
#else
  u16 r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(f));
  return f16{r};
#endif
}

}  // namespace symm
