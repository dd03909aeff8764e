// half.cuh: the common part of cuda_fp16.h and cuda_bf16.h: a 16-bit floating-point type, its pair,
// and their functions.
//
// Every operation rounds once, to nearest even unless its name says otherwise, and returns NaN as
// 0x7fff. So both devices compute the same results, except for functions that the C library and the
// GPU compute differently in float: exponentials, logarithms, sines. A product and a sum are never
// contracted into one operation; only __hfma is one operation. symm.cuh does not include this
// header.
#pragma once
#include "symm/float16.cuh"

namespace symm {

// to_odd rounds a double to a float, to odd, for a second rounding: if the float is inexact, its
// last bit is 1, so it is no tie.
__device__ __forceinline__ float to_odd(double d) {
  const float f = (float)d;
  const u32 bits = __float_as_uint(f);
  if ((double)f == d || d != d || bits & 1) return f;
  return __uint_as_float((f < 0 ? -(double)f : (double)f) > (d < 0 ? -d : d) ? bits - 1 : bits + 1);
}

// whole converts an integer in a float to type I, to the nearest value that I can hold; NaN becomes
// 0.
template <class I>
__device__ __forceinline__ I whole(float f) {
  constexpr bool is_signed = (I)-1 < (I)0;
  constexpr u64 top = ~0ull >> (64 - 8 * (int)sizeof(I) + (is_signed ? 1 : 0));
  constexpr float end = 2 * (float)(top / 2 + 1);
  if (f != f) return 0;
  if (f >= end) return (I)top;
  if (f < (is_signed ? -end : 0.f)) return is_signed ? (I)(~(i64)top) : (I)0;
  return (I)f;
}

template <class F> struct FromFloat;  // each specialisation has of(), and the bits of infinity
template <> struct FromFloat<f16> { static constexpr u16 infinity = 0x7c00; static __device__ __forceinline__ f16 of(float f) { return to_f16(f); } };
template <> struct FromFloat<bf16> { static constexpr u16 infinity = 0x7f80; static __device__ __forceinline__ bf16 of(float f) { return to_bf16(f); } };

// rounded converts a float to F. The overload with toward rounds in a direction: -1 down, 1 up, 0
// toward zero.
template <class F>
__device__ __forceinline__ F rounded(float f, int toward) {
  F r = FromFloat<F>::of(f);
  const float back = to_float(r);
  if (f != f || back == f) return r;
  const bool negative = r.bits >> 15, over = toward < 0 ? back > f : toward > 0 ? back < f : negative ? back < f : back > f;
  if (!over) return r;
  if (!(r.bits & 0x7fff)) r.bits = toward < 0 ? 0x8001 : 1;  // from zero across it
  else r.bits = (u16)(r.bits + (toward != 0 && negative == (toward < 0) ? 1 : -1));
  return r;
}

#ifdef SYMM_CPU
// odd_fma returns a * b + c of 16-bit floats, rounded to odd, so that a second rounding is exact.
inline float odd_fma(float a, float b, float c) {
  const double product = (double)a * (double)b, add = (double)c, sum = product + add, part = sum - product;
  const double error = (product - (sum - part)) + (add - part);
  if (error == 0 || error != error) return to_odd(sum);
  union { double d; u64 u; } odd;
  odd.d = sum;
  if (!(odd.u & 1)) odd.u += (error > 0) == (sum > 0) ? 1 : -1ull;
  return to_odd(odd.d);
}
#define SYMM_HALF_OPERATIONS(F)                                                                                                 \
  inline F half_add(F a, F b) { return FromFloat<F>::of(to_float(a) + to_float(b)); }                                           \
  inline F half_sub(F a, F b) { return FromFloat<F>::of(to_float(a) - to_float(b)); }                                           \
  inline F half_mul(F a, F b) { return FromFloat<F>::of(to_float(a) * to_float(b)); }                                           \
  inline F half_fma(F a, F b, F c) { return FromFloat<F>::of(odd_fma(to_float(a), to_float(b), to_float(c))); }                 \
  inline F atomic_add(F* p, F v) {                                                                                              \
    return F{::emu::update(&p->bits, [=](u16 old) { return half_add(F{old}, v).bits; })};                                       \
  }
SYMM_HALF_OPERATIONS(f16)
SYMM_HALF_OPERATIONS(bf16)
#undef SYMM_HALF_OPERATIONS
#else
__device__ __forceinline__ f16 half_add(f16 a, f16 b) { asm("add.rn.f16 %0, %0, %1;" : "+h"(a.bits) : "h"(b.bits)); return a; }
__device__ __forceinline__ f16 half_sub(f16 a, f16 b) { asm("sub.rn.f16 %0, %0, %1;" : "+h"(a.bits) : "h"(b.bits)); return a; }
__device__ __forceinline__ f16 half_mul(f16 a, f16 b) { asm("mul.rn.f16 %0, %0, %1;" : "+h"(a.bits) : "h"(b.bits)); return a; }
__device__ __forceinline__ f16 half_fma(f16 a, f16 b, f16 c) { asm("fma.rn.f16 %0, %0, %1, %2;" : "+h"(a.bits) : "h"(b.bits), "h"(c.bits)); return a; }
__device__ __forceinline__ f16 atomic_add(f16* p, f16 v) {
  f16 old;
  asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old.bits) : "l"(p), "h"(v.bits) : "memory");
  return old;
}
__device__ __forceinline__ bf16 half_add(bf16 a, bf16 b) { return to_bf16(__fadd_rn(to_float(a), to_float(b))); }
__device__ __forceinline__ bf16 half_sub(bf16 a, bf16 b) { return to_bf16(__fsub_rn(to_float(a), to_float(b))); }
__device__ __forceinline__ bf16 half_mul(bf16 a, bf16 b) { return to_bf16(__fmul_rn(to_float(a), to_float(b))); }
__device__ __forceinline__ bf16 half_fma(bf16 a, bf16 b, bf16 c) {
  asm("fma.rn.bf16 %0, %0, %1, %2;" : "+h"(a.bits) : "h"(b.bits), "h"(c.bits));
  return a;
}
__device__ __forceinline__ bf16 atomic_add(bf16* p, bf16 v) {
  u16 old = *(volatile u16*)&p->bits;
  for (u16 was = (u16)(old + 1); was != old;) {
    was = old;
    old = atomicCAS(&p->bits, was, half_add(bf16{was}, v).bits);
  }
  return bf16{old};
}
#endif

}  // namespace symm

#define SYMM_HALF_FN __device__ __forceinline__

// SYMM_HALF declares a type, its pair, and the functions of both headers. name is the name of the
// type in conversion functions. Its comments become the comments of the declared names.
#define SYMM_HALF(T, T2, Raw, Raw2, F, name)                                                                                    \
  /* The bits of a number, and of a pair. */                                                                                    \
  struct Raw { unsigned short x; };                                                                                             \
  struct Raw2 { unsigned short x, y; };                                                                                         \
  /* A number. It converts to float, and from every type of numbers. */                                                         \
  struct __align__(2) T {                                                                                                       \
    unsigned short __x;                                                                                                         \
    T() = default;                                                                                                              \
    SYMM_HALF_FN T(F f) : __x(f.bits) {}                                                                                        \
    SYMM_HALF_FN constexpr T(Raw r) : __x(r.x) {}                                                                               \
    SYMM_HALF_FN T(float f) : __x(symm::FromFloat<F>::of(f).bits) {}                                                            \
    SYMM_HALF_FN T(double d) : T(symm::to_odd(d)) {}                                                                            \
    SYMM_HALF_FN T(short i) : T((float)i) {}                                                                                    \
    SYMM_HALF_FN T(unsigned short i) : T((float)i) {}                                                                           \
    SYMM_HALF_FN T(int i) : T((double)i) {}                                                                                     \
    SYMM_HALF_FN T(unsigned i) : T((double)i) {}                                                                                \
    SYMM_HALF_FN T(long i) : T((double)i) {}                                                                                    \
    SYMM_HALF_FN T(unsigned long i) : T((double)i) {}                                                                           \
    SYMM_HALF_FN T(long long i) : T((double)i) {}                                                                               \
    SYMM_HALF_FN T(unsigned long long i) : T((double)i) {}                                                                      \
    SYMM_HALF_FN operator float() const { return symm::to_float(F{__x}); }                                                      \
    SYMM_HALF_FN operator Raw() const { return Raw{__x}; }                                                                      \
    SYMM_HALF_FN F value() const { return F{__x}; }                                                                             \
    SYMM_HALF_FN T& operator+=(T o) { return *this = T(symm::half_add(value(), o.value())); }                                   \
    SYMM_HALF_FN T& operator-=(T o) { return *this = T(symm::half_sub(value(), o.value())); }                                   \
    SYMM_HALF_FN T& operator*=(T o) { return *this = T(symm::half_mul(value(), o.value())); }                                   \
    SYMM_HALF_FN T& operator/=(T o) { return *this = T((float)*this / (float)o); }                                              \
    SYMM_HALF_FN T& operator++() { return *this += T(1.f); }                                                                    \
    SYMM_HALF_FN T& operator--() { return *this -= T(1.f); }                                                                    \
    SYMM_HALF_FN T operator++(int) { const T old = *this; ++*this; return old; }                                                \
    SYMM_HALF_FN T operator--(int) { const T old = *this; --*this; return old; }                                                \
  };                                                                                                                            \
  /* A pair of numbers, which are x and y. */                                                                                   \
  struct __align__(4) T2 {                                                                                                      \
    T x, y;                                                                                                                     \
    T2() = default;                                                                                                             \
    SYMM_HALF_FN T2(T x, T y) : x(x), y(y) {}                                                                                   \
    SYMM_HALF_FN T2(Raw2 r) : x(Raw{r.x}), y(Raw{r.y}) {}                                                                       \
  };                                                                                                                            \
  SYMM_HALF_FN T operator+(T a, T b) { return a += b; }                                                                         \
  SYMM_HALF_FN T operator-(T a, T b) { return a -= b; }                                                                         \
  SYMM_HALF_FN T operator*(T a, T b) { return a *= b; }                                                                         \
  SYMM_HALF_FN T operator/(T a, T b) { return a /= b; }                                                                         \
  SYMM_HALF_FN T operator+(T a) { return a; }                                                                                   \
  SYMM_HALF_FN T operator-(T a) { return T(F{(unsigned short)(a.__x ^ 0x8000)}); }                                              \
  SYMM_HALF_FN bool operator==(T a, T b) { return (float)a == (float)b; }                                                       \
  SYMM_HALF_FN bool operator!=(T a, T b) { return (float)a != (float)b; }                                                       \
  SYMM_HALF_FN bool operator<(T a, T b) { return (float)a < (float)b; }                                                         \
  SYMM_HALF_FN bool operator>(T a, T b) { return (float)a > (float)b; }                                                         \
  SYMM_HALF_FN bool operator<=(T a, T b) { return (float)a <= (float)b; }                                                       \
  SYMM_HALF_FN bool operator>=(T a, T b) { return (float)a >= (float)b; }                                                       \
  /* Kinds of numbers, and signs. */                                                                                            \
  SYMM_HALF_FN bool __hisnan(T a) { return (a.__x & 0x7fff) > symm::FromFloat<F>::infinity; }                                   \
  SYMM_HALF_FN int __hisinf(T a) { return (a.__x & 0x7fff) != symm::FromFloat<F>::infinity ? 0 : a.__x >> 15 ? -1 : 1; }        \
  SYMM_HALF_FN T __hneg(T a) { return -a; }                                                                                     \
  SYMM_HALF_FN T __habs(T a) { return T(F{(unsigned short)(a.__x & 0x7fff)}); }                                                 \
  /* Arithmetic, rounded once to nearest even. */                                                                               \
  SYMM_HALF_FN T __hadd(T a, T b) { return a + b; }                                                                             \
  SYMM_HALF_FN T __hsub(T a, T b) { return a - b; }                                                                             \
  SYMM_HALF_FN T __hmul(T a, T b) { return a * b; }                                                                             \
  SYMM_HALF_FN T __hadd_rn(T a, T b) { return a + b; }                                                                          \
  SYMM_HALF_FN T __hsub_rn(T a, T b) { return a - b; }                                                                          \
  SYMM_HALF_FN T __hmul_rn(T a, T b) { return a * b; }                                                                          \
  SYMM_HALF_FN T __hdiv(T a, T b) { return a / b; }                                                                             \
  SYMM_HALF_FN T __hfma(T a, T b, T c) { return T(symm::half_fma(a.value(), b.value(), c.value())); }                           \
  SYMM_HALF_FN T symm_plain(T a) { return __hisnan(a) ? T(F{0x7fff}) : a; }                                                     \
  /* The larger and the smaller; NaN only if both are, or with _nan if one is. */                                               \
  SYMM_HALF_FN T __hmax(T a, T b) { return a > b || (a == b && !(a.__x >> 15)) || __hisnan(b) ? symm_plain(a) : symm_plain(b); } \
  SYMM_HALF_FN T __hmin(T a, T b) { return a < b || (a == b && a.__x >> 15) || __hisnan(b) ? symm_plain(a) : symm_plain(b); }   \
  SYMM_HALF_FN T __hmax_nan(T a, T b) { return __hisnan(a) || __hisnan(b) ? T(F{0x7fff}) : __hmax(a, b); }                      \
  SYMM_HALF_FN T __hmin_nan(T a, T b) { return __hisnan(a) || __hisnan(b) ? T(F{0x7fff}) : __hmin(a, b); }                      \
  /* between 0 and 1, which is 0 for NaN */                                                                                     \
  SYMM_HALF_FN T symm_saturated(T a) { return (float)a > 0 ? __hmin(a, T(1.f)) : T(0.f); }                                      \
  /* Arithmetic with a result between 0 and 1, and __hfma_relu with one of at least 0. */                                       \
  SYMM_HALF_FN T __hadd_sat(T a, T b) { return symm_saturated(a + b); }                                                         \
  SYMM_HALF_FN T __hsub_sat(T a, T b) { return symm_saturated(a - b); }                                                         \
  SYMM_HALF_FN T __hmul_sat(T a, T b) { return symm_saturated(a * b); }                                                         \
  SYMM_HALF_FN T __hfma_sat(T a, T b, T c) { return symm_saturated(__hfma(a, b, c)); }                                          \
  SYMM_HALF_FN T __hfma_relu(T a, T b, T c) { return __hmax_nan(__hfma(a, b, c), T(0.f)); }                                     \
  /* Comparisons. Those with u are true if an operand is NaN; those of pairs return 1 or 0 for each, or with b whether both are true. */ \
  SYMM_HALF_COMPARE(T, T2, eq, ==)                                                                                              \
  SYMM_HALF_COMPARE(T, T2, lt, <)                                                                                               \
  SYMM_HALF_COMPARE(T, T2, le, <=)                                                                                              \
  SYMM_HALF_COMPARE(T, T2, gt, >)                                                                                               \
  SYMM_HALF_COMPARE(T, T2, ge, >=)                                                                                              \
  SYMM_HALF_FN bool __hne(T a, T b) { return (float)a < (float)b || (float)a > (float)b; }                                      \
  SYMM_HALF_FN bool __hneu(T a, T b) { return a != b; }                                                                         \
  SYMM_HALF_FN T2 __hne2(T2 a, T2 b) { return {T(__hne(a.x, b.x) ? 1.f : 0.f), T(__hne(a.y, b.y) ? 1.f : 0.f)}; }               \
  SYMM_HALF_FN bool __hbne2(T2 a, T2 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }                                          \
  SYMM_HALF_FN T2 __hisnan2(T2 a) { return {T(__hisnan(a.x) ? 1.f : 0.f), T(__hisnan(a.y) ? 1.f : 0.f)}; }                      \
  /* The same functions of pairs. */                                                                                            \
  SYMM_HALF_PAIR_1(T2, __hneg)                                                                                                  \
  SYMM_HALF_PAIR_1(T2, __habs)                                                                                                  \
  SYMM_HALF_PAIR_2(T2, __hadd)                                                                                                  \
  SYMM_HALF_PAIR_2(T2, __hsub)                                                                                                  \
  SYMM_HALF_PAIR_2(T2, __hmul)                                                                                                  \
  SYMM_HALF_FN T2 __h2div(T2 a, T2 b) { return {a.x / b.x, a.y / b.y}; }                                                        \
  SYMM_HALF_FN T2 __hadd2_rn(T2 a, T2 b) { return __hadd2(a, b); }                                                              \
  SYMM_HALF_FN T2 __hsub2_rn(T2 a, T2 b) { return __hsub2(a, b); }                                                              \
  SYMM_HALF_FN T2 __hmul2_rn(T2 a, T2 b) { return __hmul2(a, b); }                                                              \
  SYMM_HALF_FN T2 __hadd2_sat(T2 a, T2 b) { return {__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)}; }                              \
  SYMM_HALF_FN T2 __hsub2_sat(T2 a, T2 b) { return {__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)}; }                              \
  SYMM_HALF_FN T2 __hmul2_sat(T2 a, T2 b) { return {__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)}; }                              \
  SYMM_HALF_PAIR_2(T2, __hmax)                                                                                                  \
  SYMM_HALF_PAIR_2(T2, __hmin)                                                                                                  \
  SYMM_HALF_FN T2 __hmax2_nan(T2 a, T2 b) { return {__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)}; }                              \
  SYMM_HALF_FN T2 __hmin2_nan(T2 a, T2 b) { return {__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)}; }                              \
  SYMM_HALF_FN T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }                          \
  SYMM_HALF_FN T2 __hfma2_sat(T2 a, T2 b, T2 c) { return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)}; }              \
  SYMM_HALF_FN T2 __hfma2_relu(T2 a, T2 b, T2 c) { return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)}; }           \
  SYMM_HALF_FN T2 operator+(T2 a, T2 b) { return __hadd2(a, b); }                                                               \
  SYMM_HALF_FN T2 operator-(T2 a, T2 b) { return __hsub2(a, b); }                                                               \
  SYMM_HALF_FN T2 operator*(T2 a, T2 b) { return __hmul2(a, b); }                                                               \
  SYMM_HALF_FN T2 operator/(T2 a, T2 b) { return __h2div(a, b); }                                                               \
  SYMM_HALF_FN T2 operator-(T2 a) { return __hneg2(a); }                                                                        \
  SYMM_HALF_FN T2& operator+=(T2& a, T2 b) { return a = a + b; }                                                                \
  SYMM_HALF_FN T2& operator-=(T2& a, T2 b) { return a = a - b; }                                                                \
  SYMM_HALF_FN T2& operator*=(T2& a, T2 b) { return a = a * b; }                                                                \
  SYMM_HALF_FN T2& operator/=(T2& a, T2 b) { return a = a / b; }                                                                \
  SYMM_HALF_FN bool operator==(T2 a, T2 b) { return a.x == b.x && a.y == b.y; }                                                 \
  SYMM_HALF_FN bool operator!=(T2 a, T2 b) { return !(a == b); }                                                                \
  /* Functions, computed as float and rounded once. */                                                                          \
  SYMM_HALF_MATH(T, T2, sqrt, sqrtf(x))                                                                                         \
  SYMM_HALF_MATH(T, T2, rsqrt, rsqrtf(x))                                                                                       \
  SYMM_HALF_MATH(T, T2, rcp, 1 / x)                                                                                             \
  SYMM_HALF_MATH(T, T2, exp, expf(x))                                                                                           \
  SYMM_HALF_MATH(T, T2, exp2, exp2f(x))                                                                                         \
  SYMM_HALF_MATH(T, T2, exp10, exp10f(x))                                                                                       \
  SYMM_HALF_MATH(T, T2, log, logf(x))                                                                                           \
  SYMM_HALF_MATH(T, T2, log2, log2f(x))                                                                                         \
  SYMM_HALF_MATH(T, T2, log10, log10f(x))                                                                                       \
  SYMM_HALF_MATH(T, T2, sin, sinf(x))                                                                                           \
  SYMM_HALF_MATH(T, T2, cos, cosf(x))                                                                                           \
  SYMM_HALF_MATH(T, T2, tanh, tanhf(x))                                                                                         \
  SYMM_HALF_MATH(T, T2, ceil, ceilf(x))                                                                                         \
  SYMM_HALF_MATH(T, T2, floor, floorf(x))                                                                                       \
  SYMM_HALF_MATH(T, T2, trunc, truncf(x))                                                                                       \
  SYMM_HALF_MATH(T, T2, rint, rintf(x))                                                                                         \
  /* Conversions. rn rounds to nearest even, rz toward zero, rd down, ru up. */                                                 \
  SYMM_HALF_FN T __float2##name(float f) { return T(f); }                                                                       \
  SYMM_HALF_FN T __float2##name##_rn(float f) { return T(f); }                                                                  \
  SYMM_HALF_FN T __float2##name##_rz(float f) { return T(symm::rounded<F>(f, 0)); }                                             \
  SYMM_HALF_FN T __float2##name##_rd(float f) { return T(symm::rounded<F>(f, -1)); }                                            \
  SYMM_HALF_FN T __float2##name##_ru(float f) { return T(symm::rounded<F>(f, 1)); }                                             \
  SYMM_HALF_FN T __double2##name(double d) { return T(d); }                                                                     \
  SYMM_HALF_FN float __##name##2float(T a) { return a; }                                                                        \
  SYMM_HALF_INTEGER(T, name, int, int)                                                                                          \
  SYMM_HALF_INTEGER(T, name, uint, unsigned)                                                                                    \
  SYMM_HALF_INTEGER(T, name, short, short)                                                                                      \
  SYMM_HALF_INTEGER(T, name, ushort, unsigned short)                                                                            \
  SYMM_HALF_INTEGER(T, name, ll, long long)                                                                                     \
  SYMM_HALF_INTEGER(T, name, ull, unsigned long long)                                                                           \
  /* The bits of a number as an integer. */                                                                                     \
  SYMM_HALF_FN unsigned short __##name##_as_ushort(T a) { return a.__x; }                                                       \
  SYMM_HALF_FN short __##name##_as_short(T a) { return (short)a.__x; }                                                          \
  SYMM_HALF_FN T __ushort_as_##name(unsigned short u) { return T(F{u}); }                                                       \
  SYMM_HALF_FN T __short_as_##name(short i) { return T(F{(unsigned short)i}); }                                                 \
  /* Making pairs and taking them apart. */                                                                                     \
  SYMM_HALF_FN T2 __halves2##name##2(T x, T y) { return {x, y}; }                                                               \
  SYMM_HALF_FN T2 __##name##2##name##2(T x) { return {x, x}; }                                                                  \
  SYMM_HALF_FN T2 __float2##name##2_rn(float f) { return {T(f), T(f)}; }                                                        \
  SYMM_HALF_FN T2 __floats2##name##2_rn(float x, float y) { return {T(x), T(y)}; }                                              \
  SYMM_HALF_FN T2 __float22##name##2_rn(float2 f) { return {T(f.x), T(f.y)}; }                                                  \
  SYMM_HALF_FN float2 __##name##22float2(T2 a) { return make_float2(a.x, a.y); }                                                \
  SYMM_HALF_FN float __low2float(T2 a) { return a.x; }                                                                          \
  SYMM_HALF_FN float __high2float(T2 a) { return a.y; }                                                                         \
  SYMM_HALF_FN T __low2##name(T2 a) { return a.x; }                                                                             \
  SYMM_HALF_FN T __high2##name(T2 a) { return a.y; }                                                                            \
  SYMM_HALF_FN T2 __low2##name##2(T2 a) { return {a.x, a.x}; }                                                                  \
  SYMM_HALF_FN T2 __high2##name##2(T2 a) { return {a.y, a.y}; }                                                                 \
  SYMM_HALF_FN T2 __lows2##name##2(T2 a, T2 b) { return {a.x, b.x}; }                                                           \
  SYMM_HALF_FN T2 __highs2##name##2(T2 a, T2 b) { return {a.y, b.y}; }                                                          \
  SYMM_HALF_FN T2 __lowhigh2highlow(T2 a) { return {a.y, a.x}; }                                                                \
  /* Atomic addition, which returns the previous value. */                                                                      \
  SYMM_HALF_FN T atomicAdd(T* p, T v) { return T(symm::atomic_add((F*)p, v.value())); }                                         \
  SYMM_HALF_FN T2 atomicAdd(T2* p, T2 v) { return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)}; }                             \
  /* Warp functions and loads that only move values. */                                                                         \
  SYMM_HALF_MOVES(T, unsigned short)                                                                                            \
  SYMM_HALF_MOVES(T2, unsigned)

#define SYMM_HALF_COMPARE(T, T2, f, op)                                                                                         \
  SYMM_HALF_FN bool __h##f(T a, T b) { return a op b; }                                                                         \
  SYMM_HALF_FN bool __h##f##u(T a, T b) { return a op b || __hisnan(a) || __hisnan(b); }                                        \
  SYMM_HALF_FN bool __hb##f##2(T2 a, T2 b) { return a.x op b.x && a.y op b.y; }                                                 \
  SYMM_HALF_FN T2 __h##f##2(T2 a, T2 b) { return {T(a.x op b.x ? 1.f : 0.f), T(a.y op b.y ? 1.f : 0.f)}; }
#define SYMM_HALF_PAIR_1(T2, f) SYMM_HALF_FN T2 f##2(T2 a) { return {f(a.x), f(a.y)}; }
#define SYMM_HALF_PAIR_2(T2, f) SYMM_HALF_FN T2 f##2(T2 a, T2 b) { return {f(a.x, b.x), f(a.y, b.y)}; }
#define SYMM_HALF_MATH(T, T2, f, expression)                                                                                    \
  SYMM_HALF_FN T h##f(T a) { const float x = a; return T((float)(expression)); }                                                \
  SYMM_HALF_FN T2 h2##f(T2 a) { return {h##f(a.x), h##f(a.y)}; }
#define SYMM_HALF_INTEGER(T, name, integer, I)                                                                                  \
  SYMM_HALF_FN T __##integer##2##name##_rn(I i) { return T(i); }                                                                \
  SYMM_HALF_FN I __##name##2##integer##_rn(T a) { return symm::whole<I>(rintf(a)); }                                            \
  SYMM_HALF_FN I __##name##2##integer##_rz(T a) { return symm::whole<I>(truncf(a)); }                                           \
  SYMM_HALF_FN I __##name##2##integer##_rd(T a) { return symm::whole<I>(floorf(a)); }                                           \
  SYMM_HALF_FN I __##name##2##integer##_ru(T a) { return symm::whole<I>(ceilf(a)); }

// Warp functions that only move values move them as words. The cpu device's functions take any
// type.
#ifdef SYMM_CPU
#define SYMM_HALF_MOVES(T, U)
#else
#define SYMM_HALF_MOVES(T, U)                                                                                                   \
  SYMM_HALF_FN unsigned symm_word(T v) { U u; memcpy(&u, &v, sizeof u); return u; }                                             \
  SYMM_HALF_FN void symm_word(unsigned w, T* v) { const U u = (U)w; memcpy(v, &u, sizeof u); }                                  \
  SYMM_HALF_FN T __shfl_sync(unsigned m, T v, int from, int width = 32) { symm_word(__shfl_sync(m, symm_word(v), from, width), &v); return v; } \
  SYMM_HALF_FN T __shfl_up_sync(unsigned m, T v, unsigned d, int width = 32) { symm_word(__shfl_up_sync(m, symm_word(v), d, width), &v); return v; } \
  SYMM_HALF_FN T __shfl_down_sync(unsigned m, T v, unsigned d, int width = 32) { symm_word(__shfl_down_sync(m, symm_word(v), d, width), &v); return v; } \
  SYMM_HALF_FN T __shfl_xor_sync(unsigned m, T v, int lanes, int width = 32) { symm_word(__shfl_xor_sync(m, symm_word(v), lanes, width), &v); return v; } \
  SYMM_HALF_FN T __ldg(const T* p) { T v; symm_word(__ldg((const U*)p), &v); return v; }                                        \
  SYMM_HALF_FN T __ldcg(const T* p) { T v; symm_word(__ldcg((const U*)p), &v); return v; }                                      \
  SYMM_HALF_FN T __ldcs(const T* p) { T v; symm_word(__ldcs((const U*)p), &v); return v; }                                      \
  SYMM_HALF_FN void __stcg(T* p, T v) { __stcg((U*)p, (U)symm_word(v)); }                                                       \
  SYMM_HALF_FN void __stcs(T* p, T v) { __stcs((U*)p, (U)symm_word(v)); }
#endif
