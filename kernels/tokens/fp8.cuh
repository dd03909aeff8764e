// fp8.cuh: tokens as f8e4m3 with a scale for each kScaled elements.
#pragma once
#include "tokens/tokens.cuh"

namespace tokens {

// to_f8 rounds a value of at most 448 to f8e4m3, to nearest even.
__device__ __forceinline__ symm::u32 to_f8(float x) {
  using namespace symm;
  u32 bits;
#ifdef SYMM_CPU
  __builtin_memcpy(&bits, &x, 4);
#else
  bits = __float_as_uint(x);
#endif
  const u32 sign = bits >> 24 & 0x80, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return sign | 0x7f;
  const float positive = x < 0 ? -x : x;
  if (size < 0x3c800000u) return sign | (u32)rintf(positive * 512.0f);  // below 2^-6: in units of 2^-9
  const u32 rounded = (size + 0x7ffffu + (size >> 20 & 1)) >> 20;      // three bits of mantissa stay
  const u32 code = rounded - (120u << 3);
  return sign | (code > 0x7e ? 0x7e : code);
}

__device__ __forceinline__ float as_float(float x) { return x; }
template <class T> __device__ __forceinline__ float as_float(T x) { return symm::to_float(x); }

// quantise: a warp turns units of 16 elements into f8e4m3; u is this lane's, if it is active. The scale of kScaled elements is the
// largest of them over 448, and 1 if all are zero.
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
  const float scale = most == 0 ? 1.0f : most / 448.0f;
  union {
    u8 b[kUnit];
    u128 w;
  } packed;
#pragma unroll
  for (u32 k = 0; k < kUnit; k++) packed.b[k] = (u8)to_f8(as_float(unit.v[k]) / scale);
  ((u128*)to)[u] = packed.w;
  if (u % kLanes == 0) scales[u / kLanes] = scale;
}

}  // namespace tokens
