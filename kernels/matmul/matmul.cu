// matmul: the product of two row-major matrices, out[m][n] = a[m][k] b[k][n], with one thread for
// each element. It is used if no library is found, and is correct but not fast. 16-bit floats are
// added up as f32; out may then be f32.
#include "reduce/reduce.cuh"

struct MatMulArgs {
  void* out;
  const void* a;
  const void* b;
  symm::u64 m, n, k;
  symm::u64 wide;  // not 0: out has the type of the sums
};
SYMM_LAYOUT(MatMulArgs, out, a, b, m, n, k, wide)

template <class T>
__device__ __forceinline__ void matmul_of(const MatMulArgs& args) {
  using namespace symm;
  typedef Wide<T> Sum;
  const T* const a = (const T*)args.a;
  const T* const b = (const T*)args.b;
  SYMM_EACH(i, args.m * args.n) {
    const u64 row = i / args.n, col = i % args.n;
    Sum sum = 0;
    for (u64 j = 0; j < args.k; j++) {
      Sum x, y;
      convert(a[row * args.k + j], &x);
      convert(b[j * args.n + col], &y);
      sum += x * y;
    }
    if (args.wide) ((Sum*)args.out)[i] = sum;
    else convert(sum, (T*)args.out + i);
  }
}

#define MATMUL(type, suffix)                                                                \
  extern "C" __global__ void matmul_##suffix(const __grid_constant__ MatMulArgs a) { \
    matmul_of<type>(a);                                                                     \
  }                                                                                         \
  SYMM_KERNEL(matmul_##suffix)
SYMM_FOR_DTYPES(MATMUL)
