// matmul_f8e4m3: the product of two matrices of 8-bit floats, by the type of the result. A sum is
// f32; it is multiplied by the scales of its row and of its column, and rounded once.
#include "matmul/matmul.cuh"
#include "symm/calculate.cuh"

template <class Out>
__device__ __forceinline__ void matmul_f8_of(const MatMulArgs& args) {
  using namespace symm;
  typedef calculate::f8e4m3 T;
  SYMM_EACH(i, args.m * args.n) {
    const u64 row = i / args.n, col = i % args.n;
    float sum = sum_of<float, T>(args, row, col, [](T x) { return calculate::load(x); });
    if (args.scale_a) sum *= args.scale_a[args.scales ? row : 0];
    if (args.scale_b) sum *= args.scale_b[args.scales ? col : 0];
    convert(sum, (Out*)args.out + i);
  }
}

#define MATMUL_F8(type, suffix)                                                                    \
  extern "C" __global__ void matmul_f8e4m3_##suffix(const __grid_constant__ MatMulArgs a) { \
    matmul_f8_of<type>(a);                                                                         \
  }                                                                                                \
  SYMM_KERNEL(matmul_f8e4m3_##suffix)
MATMUL_F8(float, f32)
MATMUL_F8(symm::f16, f16)
MATMUL_F8(symm::bf16, bf16)
