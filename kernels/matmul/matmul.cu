// matmul: the product of two matrices of one type. 16-bit floats are added up as f32; out may then
// be f32.
#include "matmul/matmul.cuh"

template <class T>
__device__ __forceinline__ void matmul_of(const MatMulArgs& args) {
  using namespace symm;
  typedef Wide<T> Sum;
  SYMM_EACH(i, args.m * args.n) {
    const Sum sum = sum_of<Sum, T>(args, i / args.n, i % args.n, [](T x) {
      Sum y;
      convert(x, &y);
      return y;
    });
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
