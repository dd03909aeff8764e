// rand: uniform values that depend on the seed and the index alone, so that they are the same on
// every device. Floats are multiples of 2^-24 in [0, 1), rounded to the element type (a 16-bit type
// can round up to 1); integers are 0 to 127. The generator is SplitMix64 (Steele, Lea and Flood,
// 2014), used as a hash of the index.
#include "symm.cuh"

struct RandArgs {
  void* out;
  symm::u64 n;  // elements
  symm::u64 seed;
};
SYMM_LAYOUT(RandArgs, out, n, seed)

__device__ __forceinline__ symm::u64 mix(symm::u64 z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

__device__ __forceinline__ float unit(symm::u64 z) { return (float)(z >> 40) * 0x1p-24f; }
__device__ __forceinline__ void draw(symm::u64 z, symm::f16* out) { *out = symm::to_f16(unit(z)); }
__device__ __forceinline__ void draw(symm::u64 z, symm::bf16* out) { *out = symm::to_bf16(unit(z)); }
__device__ __forceinline__ void draw(symm::u64 z, float* out) { *out = unit(z); }
__device__ __forceinline__ void draw(symm::u64 z, double* out) { *out = unit(z); }
template <class T> __device__ __forceinline__ void draw(symm::u64 z, T* out) { *out = (T)(z >> 57); }

#define RAND(T, dtype)                                                                                                          \
  extern "C" __global__ void rand_##dtype(const __grid_constant__ RandArgs a) {                                                 \
    SYMM_EACH(i, a.n)                                                                                                           \
      draw(mix(a.seed + (i + 1) * 0x9e3779b97f4a7c15ull), (T*)a.out + i);                                                       \
  }                                                                                                                             \
  SYMM_KERNEL(rand_##dtype)
SYMM_FOR_DTYPES(RAND)
