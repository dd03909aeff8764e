// emu_ptx_half.h: the types f16, bf16, f16x2 and bf16x2 of inline PTX on the cpu device.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace emu::ptx {

// Half is a 16-bit float by its bits; N is the type of the headers that computes.
template <class N>
struct Half {
  u16 bits;
  EMU_INLINE operator float() const { return (float)__builtin_bit_cast(N, bits); }
  static EMU_INLINE Half of(N n) { return {__builtin_bit_cast(u16, n)}; }
};
template <class N>
struct Halves {
  Half<N> low, high;
};
using f16 = Half<__half>;
using bf16 = Half<__nv_bfloat16>;
using f16x2 = Halves<__half>;
using bf16x2 = Halves<__nv_bfloat16>;

template <class T> struct Elements { static constexpr int n = 0; };
template <class N> struct Elements<Half<N>> { static constexpr int n = 1; using type = N; };
template <class N> struct Elements<Halves<N>> { static constexpr int n = 2; using type = N; };

// EMU_HALF defines a function of 16-bit floats and of their pairs by one of the headers' types.
#define EMU_HALF(name, expression, ...)                                                                                     \
  template <class T>                                                                                                       \
    requires(Elements<T>::n > 0)                                                                                           \
  EMU_INLINE T name(EMU_HALF_PARAMETERS_##__VA_ARGS__) {                                                                   \
    using N = typename Elements<T>::type;                                                                                  \
    const auto f = [](EMU_HALF_LAMBDA_##__VA_ARGS__) { return Half<N>::of(N(expression)); };                                \
    if constexpr (Elements<T>::n == 1) return f(EMU_HALF_SINGLE_##__VA_ARGS__);                                            \
    else return T{f(EMU_HALF_LOW_##__VA_ARGS__), f(EMU_HALF_HIGH_##__VA_ARGS__)};                                          \
  }
#define EMU_N(x) __builtin_bit_cast(N, (x).bits)
#define EMU_HALF_PARAMETERS_1 T a
#define EMU_HALF_PARAMETERS_2 T a, T b
#define EMU_HALF_PARAMETERS_3 T a, T b, T c
#define EMU_HALF_LAMBDA_1 N a
#define EMU_HALF_LAMBDA_2 N a, N b
#define EMU_HALF_LAMBDA_3 N a, N b, N c
#define EMU_HALF_SINGLE_1 EMU_N(a)
#define EMU_HALF_SINGLE_2 EMU_N(a), EMU_N(b)
#define EMU_HALF_SINGLE_3 EMU_N(a), EMU_N(b), EMU_N(c)
#define EMU_HALF_LOW_1 EMU_N(a.low)
#define EMU_HALF_LOW_2 EMU_N(a.low), EMU_N(b.low)
#define EMU_HALF_LOW_3 EMU_N(a.low), EMU_N(b.low), EMU_N(c.low)
#define EMU_HALF_HIGH_1 EMU_N(a.high)
#define EMU_HALF_HIGH_2 EMU_N(a.high), EMU_N(b.high)
#define EMU_HALF_HIGH_3 EMU_N(a.high), EMU_N(b.high), EMU_N(c.high)
EMU_HALF(add, __hadd(a, b), 2)
EMU_HALF(sub, __hsub(a, b), 2)
EMU_HALF(mul, __hmul(a, b), 2)
EMU_HALF(fma, __hfma(a, b, c), 3)
EMU_HALF(min, __hmin(a, b), 2)
EMU_HALF(max, __hmax(a, b), 2)
EMU_HALF(min_nan, __hmin_nan(a, b), 2)
EMU_HALF(max_nan, __hmax_nan(a, b), 2)
EMU_HALF(abs, __habs(a), 1)
EMU_HALF(neg, -a, 1)
#undef EMU_HALF

// Conversions to and from 16-bit floats, and of two floats to a pair.
template <class To, class From>
  requires(Elements<To>::n == 1)
EMU_INLINE To convert(From a) {
  using N = typename Elements<To>::type;
  if constexpr (Elements<From>::n == 1) return To::of(N((float)a));
  else if constexpr (same<From, float>) return To::of(N(a));
  else return To::of(N((double)a));
}
template <class To, class N>
EMU_INLINE To convert(Half<N> a) {
  if constexpr (Elements<To>::n == 1) return To::of(typename Elements<To>::type((float)a));
  else return convert<To>((float)a);
}
template <class N> EMU_INLINE float whole_rni(Half<N> a) { return ::rint((float)a); }
template <class N> EMU_INLINE float whole_rzi(Half<N> a) { return ::trunc((float)a); }
template <class N> EMU_INLINE float whole_rmi(Half<N> a) { return ::floor((float)a); }
template <class N> EMU_INLINE float whole_rpi(Half<N> a) { return ::ceil((float)a); }
template <class T>
EMU_INLINE T pair(float low, float high) {
  using N = typename Elements<T>::type;
  return {Half<N>::of(N(low)), Half<N>::of(N(high))};
}

}  // namespace emu::ptx

namespace emu {
// Atomic operations compute each element by PTX's functions.
template <class T>
  requires(ptx::Elements<T>::n > 0)
EMU_INLINE T apply(Add, T a, T b) { return ptx::add<T>(a, b); }
template <class T>
  requires(ptx::Elements<T>::n > 0)
EMU_INLINE T apply(Min, T a, T b) { return ptx::min<T>(a, b); }
template <class T>
  requires(ptx::Elements<T>::n > 0)
EMU_INLINE T apply(Max, T a, T b) { return ptx::max<T>(a, b); }
}  // namespace emu
