// matmul.cuh: the common parts of the kernels that multiply row-major matrices, out[m][n] = a[m][k]
// b[k][n], with one thread for each element. These kernels compute products for which there is no
// library. They are correct but not fast.
#pragma once
#include "reduce/reduce.cuh"

struct MatMulArgs {
  void* out;
  const void* a;
  const void* b;
  symm::u64 m, n, k;
  symm::u64 wide;       // not 0: out has the type of the sums
  symm::u64 flipped;    // not 0: b is b[n][k]
  const float* scale_a; // of 8-bit floats; null for 1
  const float* scale_b;
  symm::u64 scales;     // not 0: of each row of a and column of b; 0: one of each
};
SYMM_LAYOUT(MatMulArgs, out, a, b, m, n, k, wide, flipped, scale_a, scale_b, scales)

// sum_of is element [row][col] of the product; value converts an element to the type of the sums.
template <class Sum, class T, class Value>
__device__ __forceinline__ Sum sum_of(const MatMulArgs& args, symm::u64 row, symm::u64 col, Value value) {
  using namespace symm;
  const T* const a = (const T*)args.a + row * args.k;
  const T* const b = (const T*)args.b + (args.flipped ? col * args.k : col);
  const u64 step = args.flipped ? 1 : args.n;
  Sum sum = 0;
  for (u64 j = 0; j < args.k; j++) sum += value(a[j]) * value(b[j * step]);
  return sum;
}
