// matmul: the product of two row-major matrices, out[m][n] = a[m][k] b[k][n], with one thread for
// each element. It is used where no library does a product, and is correct but not fast. 16- and
// 8-bit floats are added up as f32; out may then be f32. A product of 8-bit floats is multiplied by
// the scales of its row and its column as f32 and rounded once.
#include "reduce/reduce.cuh"
#include "symm/calculate.cuh"

struct MatMulArgs {
  void* out;
  const void* a;
  const void* b;
  symm::u64 m, n, k;
  symm::u64 wide;           // not 0: out has the type of the sums
  symm::u64 flipped;        // not 0: b is b[n][k]
  const float* scale_a;     // null for 1
  const float* scale_b;
  symm::u64 scales;         // not 0: of each row of a and column of b; 0: one of each
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

#define MATMUL(type, suffix)                                                                \
  extern "C" __global__ void matmul_##suffix(const __grid_constant__ MatMulArgs a) { \
    matmul_of<type>(a);                                                                     \
  }                                                                                         \
  SYMM_KERNEL(matmul_##suffix)
SYMM_FOR_DTYPES(MATMUL)

#define MATMUL_F8(type, suffix)                                                                    \
  extern "C" __global__ void matmul_f8e4m3_##suffix(const __grid_constant__ MatMulArgs a) { \
    matmul_f8_of<type>(a);                                                                         \
  }                                                                                                \
  SYMM_KERNEL(matmul_f8e4m3_##suffix)
MATMUL_F8(float, f32)
MATMUL_F8(symm::f16, f16)
MATMUL_F8(symm::bf16, bf16)
