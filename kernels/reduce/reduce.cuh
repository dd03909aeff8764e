// reduce.cuh: the reductions combine elements.
//
// Values are combined in rank order and every step rounds to the element type, as in PyTorch's
// one-shot and two-shot kernels, so that all ranks and all algorithms produce the same bits. avg
// divides the sum once at the end. Integers wrap around; their avg truncates toward zero. max and
// min of a NaN are NaN. With kWide 16-bit floats are summed as float and rounded once at the end.
#pragma once
#include "symm.cuh"

namespace symm {

enum ReduceOp : u32 { kSum = 0, kAvg = 1, kMax = 2, kMin = 3, kWide = 256 };
SYMM_VALUES(ReduceOp, kSum, kAvg, kMax, kMin, kWide)

// WideOf<T>::type is the type of a sum of values of type T with kWide.
template <class T> struct WideOf { typedef T type; };
template <> struct WideOf<f16> { typedef float type; };
template <> struct WideOf<bf16> { typedef float type; };
template <class T> using Wide = typename WideOf<T>::type;

// StepOf<T>::type is the type of a sum without kWide: T, but for 8-bit floats (float8.cuh).
template <class T> struct StepOf { typedef T type; };
template <class T> using Step = typename StepOf<T>::type;

__device__ __forceinline__ float add(float a, float b) { return a + b; }
__device__ __forceinline__ double add(double a, double b) { return a + b; }
__device__ __forceinline__ f16 add(f16 a, f16 b) { return to_f16(to_float(a) + to_float(b)); }
__device__ __forceinline__ bf16 add(bf16 a, bf16 b) { return to_bf16(to_float(a) + to_float(b)); }
template <class T> __device__ __forceinline__ T add(T a, T b) { return (T)((u64)a + (u64)b); }

__device__ __forceinline__ f16 divide(f16 a, int n) { return to_f16(to_float(a) / (float)n); }
__device__ __forceinline__ bf16 divide(bf16 a, int n) { return to_bf16(to_float(a) / (float)n); }
template <class T> __device__ __forceinline__ T divide(T a, int n) { return (T)(a / (T)n); }

// key returns the value by which max and min compare an element.
__device__ __forceinline__ float key(f16 a) { return to_float(a); }
__device__ __forceinline__ float key(bf16 a) { return to_float(a); }
template <class T> __device__ __forceinline__ T key(T a) { return a; }

template <class T> __device__ __forceinline__ T larger(T a, T b) { return key(a) >= key(b) || key(a) != key(a) ? a : b; }
template <class T> __device__ __forceinline__ T smaller(T a, T b) { return key(a) <= key(b) || key(a) != key(a) ? a : b; }

// Elements is N elements that travel together.
template <class T, int N> struct alignas(sizeof(T) * N) Elements { T v[N]; };

__device__ __forceinline__ void convert(float x, f16* y) { *y = to_f16(x); }
__device__ __forceinline__ void convert(float x, bf16* y) { *y = to_bf16(x); }
__device__ __forceinline__ void convert(f16 x, float* y) { *y = to_float(x); }
__device__ __forceinline__ void convert(bf16 x, float* y) { *y = to_float(x); }
template <class T> __device__ __forceinline__ void convert(T x, T* y) { *y = x; }

// as converts elements to another type.
template <class B, class A, int N> __device__ __forceinline__ Elements<B, N> as(const Elements<A, N>& a) {
  Elements<B, N> b;
#pragma unroll
  for (int k = 0; k < N; k++) convert(a.v[k], &b.v[k]);
  return b;
}

// kTogether is the number of ranks that a thread reads from at once, so that the loads overlap.
// With more ranks it reads in turns.
constexpr int kTogether = 4;

// accumulate adds the next rank's elements to the sum so far. GPUs add two 16-bit floats by one
// instruction, which gives the same bits as add: a float has at least 2p+2 bits of precision for
// their p, so rounding twice equals rounding once.
template <class T, int N> __device__ __forceinline__ void accumulate(Elements<T, N>& so_far, const Elements<T, N>& next) {
#pragma unroll
  for (int k = 0; k < N; k++) so_far.v[k] = add(so_far.v[k], next.v[k]);
}
#if !defined(SYMM_CPU) && __CUDA_ARCH__ >= 900
template <class T, int N> union Pairs {
  Elements<T, N> elements;
  u32 pair[N / 2];
};
#define SYMM_ACCUMULATE_PAIRS(T, type)                                                                                         \
  template <int N> __device__ __forceinline__ void accumulate(Elements<T, N>& so_far, const Elements<T, N>& next) {            \
    if constexpr (N % 2 == 0) {                                                                                                \
      Pairs<T, N> a = {so_far}, b = {next};                                                                                    \
      _Pragma("unroll") for (int k = 0; k < N / 2; k++) asm("add.rn." type " %0, %0, %1;" : "+r"(a.pair[k]) : "r"(b.pair[k])); \
      so_far = a.elements;                                                                                                     \
    } else {                                                                                                                   \
      static_assert(N == 1, "pairs or one");                                                                                   \
      so_far.v[0] = add(so_far.v[0], next.v[0]);                                                                               \
    }                                                                                                                          \
  }
SYMM_ACCUMULATE_PAIRS(f16, "f16x2")
SYMM_ACCUMULATE_PAIRS(bf16, "bf16x2")
#endif

// combine combines the next rank's elements with the result so far.
template <class T, int N> __device__ __forceinline__ void combine(Elements<T, N>& so_far, const Elements<T, N>& next, u32 op) {
  if (op == kMax) {
#pragma unroll
    for (int k = 0; k < N; k++) so_far.v[k] = larger(so_far.v[k], next.v[k]);
  } else if (op == kMin) {
#pragma unroll
    for (int k = 0; k < N; k++) so_far.v[k] = smaller(so_far.v[k], next.v[k]);
  } else {
    accumulate(so_far, next);
  }
}

// finish divides the sum if the reduction is avg.
template <class T, int N> __device__ __forceinline__ void finish(Elements<T, N>& sum, int world, u32 op) {
  if (op != kAvg) return;
#pragma unroll
  for (int k = 0; k < N; k++) sum.v[k] = divide(sum.v[k], world);
}

// load reads N elements from index i*N on, with zeros beyond n; by one access if whole is set,
// which promises that `in` is aligned for it.
template <class T, int N> __device__ __forceinline__ Elements<T, N> load(const T* in, u64 i, u64 n, bool whole) {
  if (whole && i * N + N <= n) return *(const Elements<T, N>*)(in + i * N);
  Elements<T, N> e = {};
#pragma unroll
  for (int k = 0; k < N; k++)
    if (i * N + k < n) e.v[k] = in[i * N + k];
  return e;
}

// store writes N elements from index i*N on, and none beyond n.
template <class T, int N> __device__ __forceinline__ void store(T* out, u64 i, u64 n, bool whole, Elements<T, N> e) {
  if (whole && i * N + N <= n) {
    *(Elements<T, N>*)(out + i * N) = e;
    return;
  }
#pragma unroll
  for (int k = 0; k < N; k++)
    if (i * N + k < n) out[i * N + k] = e.v[k];
}

// reduce_ranks reduces the N elements at index `from` of every rank's tensor, in rank order, and
// rounds the result to T. The addresses of these groups are multiples of their size.
template <class T, class A, int N>
__device__ __forceinline__ Elements<T, N> reduce_ranks(const void* const (&in)[kMaxRanks], u64 from, int world, u32 op) {
  Elements<A, N> sum;
#pragma unroll 1
  for (int first = 0; first < world; first += kTogether) {
    Elements<T, N> all[kTogether];
#pragma unroll
    for (int j = 0; j < kTogether; j++)
      if (first + j < world) all[j] = *(const Elements<T, N>*)((const T*)in[first + j] + from);
#pragma unroll
    for (int j = 0; j < kTogether; j++) {
      if (first + j >= world) break;
      if (first + j == 0) sum = as<A>(all[j]);
      else combine(sum, as<A>(all[j]), op);
    }
  }
  finish(sum, world, op);
  return as<T>(sum);
}

}  // namespace symm
