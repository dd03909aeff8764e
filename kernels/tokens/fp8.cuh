// fp8.cuh: tokens as f8e4m3 with a scale for each kScaled elements.
#pragma once
#include "tokens/tokens.cuh"

namespace tokens {

// to_f8 rounds two values of at most 448 to f8e4m3, to nearest even; the first becomes the lower
// byte.
__device__ __forceinline__ symm::u32 to_f8(float low, float high) {
  using namespace symm;
#if !defined(SYMM_CPU) && __CUDA_ARCH__ >= 890
  u16 r;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
  return r;
#else
  const float both[2] = {low, high};
  u32 code[2];
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const u32 bits = __float_as_uint(both[i]), sign = bits >> 24 & 0x80, size = bits & 0x7fffffffu;
    // three bits of mantissa stay
    const u32 rounded = ((size + 0x7ffffu + (size >> 20 & 1)) >> 20) - (120u << 3);
    if (size > 0x7f800000u) code[i] = 0x7f;
    else if (size < 0x3c800000u) code[i] = sign | (u32)rintf(fabsf(both[i]) * 512.0f);  // below 2^-6: units of 2^-9
    else code[i] = sign | (rounded > 0x7e ? 0x7e : rounded);
  }
  return code[0] | code[1] << 8;
#endif
}

__device__ __forceinline__ float as_float(float x) { return x; }
template <class T> __device__ __forceinline__ float as_float(T x) { return symm::to_float(x); }

// quantise: a warp turns units of 16 elements into f8e4m3; u is this lane's unit, if the lane is
// active. The scale of kScaled elements is their largest magnitude divided by 448, or 1 if all are
// zero. The elements are multiplied by 448 divided by that magnitude.
template <class T>
__device__ __forceinline__ void quantise(char* to, float* scales, const T* from, symm::u32 u, bool active) {
  using namespace symm;
  constexpr u32 kUnit = 16, kLanes = kScaled / kUnit;
  struct alignas(16) Unit { T v[kUnit]; };
  Unit unit = {};
  if (active) unit = *(const Unit*)(from + u * kUnit);
  float most = 0;
#pragma unroll
  for (u32 k = 0; k < kUnit; k++) {
    const float x = as_float(unit.v[k]);
    most = fmaxf(most, x < 0 ? -x : x);
  }
#pragma unroll
  for (u32 d = 1; d < kLanes; d <<= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, (int)d));
  if (!active) return;
  const float scale = most == 0 ? 1.0f : most / 448.0f, factor = most == 0 ? 1.0f : 448.0f / most;
  union {
    u16 pair[kUnit / 2];
    u128 w;
  } packed;
#pragma unroll
  for (u32 k = 0; k < kUnit / 2; k++) packed.pair[k] = (u16)to_f8(as_float(unit.v[2 * k]) * factor, as_float(unit.v[2 * k + 1]) * factor);
  ((u128*)to)[u] = packed.w;
  if (u % kLanes == 0) scales[u / kLanes] = scale;
}

}  // namespace tokens
