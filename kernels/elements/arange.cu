// arange: set element i to the value i, rounded to the element type; integers wrap around.
#include "symm.cuh"

struct ArangeArgs {
  void* out;
  symm::u64 n;  // elements
};
SYMM_LAYOUT(ArangeArgs, out, n)

__device__ __forceinline__ void number(symm::u64 i, symm::f16* out) { *out = symm::to_f16((float)i); }
__device__ __forceinline__ void number(symm::u64 i, symm::bf16* out) { *out = symm::to_bf16((float)i); }
template <class T> __device__ __forceinline__ void number(symm::u64 i, T* out) { *out = (T)i; }

#define ARANGE(T, dtype)                                                                                                        \
  extern "C" __global__ void arange_##dtype(const __grid_constant__ ArangeArgs a) {                                             \
    SYMM_EACH(i, a.n)                                                                                                           \
      number(i, (T*)a.out + i);                                                                                                 \
  }                                                                                                                             \
  SYMM_KERNEL(arange_##dtype)
SYMM_FOR_DTYPES(ARANGE)
