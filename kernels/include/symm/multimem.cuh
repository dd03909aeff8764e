// multimem.cuh: NVLink multicast. One address stands for the same place in every member's memory: a
// load from it returns the members' sum, which the switch computes, and a store to it reaches all
// of them.
//
// 16-bit floats are summed as f32 and rounded once. symm.cuh does not include this header, which is
// for symmrepl's own operations: kernels of users have nccl/multimem.h.
//
// On the cpu device: there is no such address; a load reads every copy, in rank order, and a store
// writes every copy.
#pragma once
#include "symm/context.cuh"
#include "symm/float16.cuh"

namespace symm {

// Multicast is a tensor's multicast address, an argument of symmrepl's own kernels.
struct Multicast {
  char* address;            // 0 on the cpu device
  char* copies[kMaxRanks];  // by rank
};
SYMM_LAYOUT(Multicast, address, copies)

// MulticastType is the type of the elements.
enum MulticastType : u32 { kF32 = 0, kF16 = 1, kBF16 = 2 };
SYMM_VALUES(MulticastType, kF32, kF16, kBF16)

// Words is W words of 4 bytes: 1, or 4 at a multiple of 16.
template <int W> struct alignas(4 * W) Words { u32 w[W]; };

// Internal: conversions of words and the floats in them.
__device__ __forceinline__ float low(u32 w, u32 type) {
  return type == kF16 ? to_float(f16{(u16)w}) : to_float(bf16{(u16)w});
}
__device__ __forceinline__ u16 half_bits(float x, u32 type) { return type == kF16 ? to_f16(x).bits : to_bf16(x).bits; }
__device__ __forceinline__ float word_to_float(u32 w) {
  union { u32 w; float f; } u;
  u.w = w;
  return u.f;
}
__device__ __forceinline__ u32 float_to_word(float f) {
  union { u32 w; float f; } u;
  u.f = f;
  return u.w;
}

// Internal: average divides the sums in a word.
__device__ __forceinline__ u32 average(u32 w, u32 type, int world) {
  if (type == kF32) return float_to_word(word_to_float(w) / (float)world);
  return half_bits(low(w, type) / (float)world, type) | (u32)half_bits(low(w >> 16, type) / (float)world, type) << 16;
}

// multimem_sum loads the members' sum of W words at an offset of the tensor, and multimem_store
// stores W words in the memory of all members. world is the number of members.
//
// Order: none: a barrier before a load makes the members' data visible, and one after a store the
// stored words.
//
// Waits: for nothing.
#ifdef SYMM_CPU
template <int W> inline Words<W> multimem_sum(const Multicast& m, u64 offset, u32 type, int world) {
  Words<W> out;
  for (int k = 0; k < W; k++) {
    float a = 0, b = 0;
    for (int p = 0; p < world; p++) {
      const u32 w = *(const u32*)(m.copies[p] + offset + 4 * k);
      if (type == kF32) a += word_to_float(w);
      else a += low(w, type), b += low(w >> 16, type);
    }
    out.w[k] = type == kF32 ? float_to_word(a) : half_bits(a, type) | (u32)half_bits(b, type) << 16;
  }
  return out;
}
template <int W> inline void multimem_store(const Multicast& m, u64 offset, const Words<W>& words, int world) {
  for (int p = 0; p < world; p++) *(Words<W>*)(m.copies[p] + offset) = words;
}
#else
template <int W> __device__ __forceinline__ Words<W> multimem_sum(const Multicast& m, u64 offset, u32 type, int) {
  const char* from = m.address + offset;
  Words<W> r;
#if __CUDA_ARCH__ >= 900
#define SYMM_LOAD_4(kind) \
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add." kind " {%0,%1,%2,%3}, [%4];" : "=r"(r.w[0]), "=r"(r.w[1]), "=r"(r.w[2]), "=r"(r.w[3]) : "l"(from) : "memory")
#define SYMM_LOAD_1(kind) asm volatile("multimem.ld_reduce.relaxed.sys.global.add." kind " %0, [%1];" : "=r"(r.w[0]) : "l"(from) : "memory")
  if constexpr (W == 4) {
    if (type == kF16) SYMM_LOAD_4("acc::f32.v4.f16x2");
    else if (type == kBF16) SYMM_LOAD_4("acc::f32.v4.bf16x2");
    else {
      float f[4];
      asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(f[0]), "=f"(f[1]), "=f"(f[2]), "=f"(f[3]) : "l"(from) : "memory");
#pragma unroll
      for (int k = 0; k < 4; k++) r.w[k] = float_to_word(f[k]);
    }
  } else {
    if (type == kF16) SYMM_LOAD_1("acc::f32.f16x2");
    else if (type == kBF16) SYMM_LOAD_1("acc::f32.bf16x2");
    else {
      float f;
      asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f32 %0, [%1];" : "=f"(f) : "l"(from) : "memory");
      r.w[0] = float_to_word(f);
    }
  }
#undef SYMM_LOAD_4
#undef SYMM_LOAD_1
#endif
  return r;
}
template <int W> __device__ __forceinline__ void multimem_store(const Multicast& m, u64 offset, const Words<W>& words, int) {
#if __CUDA_ARCH__ >= 900
  char* to = m.address + offset;
  float f[W];
#pragma unroll
  for (int k = 0; k < W; k++) f[k] = word_to_float(words.w[k]);
  if constexpr (W == 4) asm volatile("multimem.st.relaxed.sys.global.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(to), "f"(f[0]), "f"(f[1]), "f"(f[2]), "f"(f[3]) : "memory");
  else asm volatile("multimem.st.relaxed.sys.global.f32 [%0], %1;" ::"l"(to), "f"(f[0]) : "memory");
#endif
}
#endif

}  // namespace symm
