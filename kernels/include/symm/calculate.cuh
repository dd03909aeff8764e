// calculate.cuh: the parts of the kernels of Map and Reduce, whose texts package
// symmem/internal/core/calculate makes from formulas. symm.cuh does not include this header.
//
// Values are calculated in bool, the integers, float, double, and pairs of floats or doubles, which
// are complex numbers; a 16- or 8-bit float becomes a float when it is loaded and is rounded when it
// is stored. Every operation rounds once: products
// and sums are never contracted, so that both devices and numpy compute the same bits. Functions of
// the C library differ between devices in their last bits.
#pragma once
#include "symm/float16.cuh"
#include "symm/kernel.cuh"

// A kernel's loops are vectorised for the host.
#if defined(SYMM_CPU) && !defined(__clang__)
#define SYMM_UNCHECKED __attribute__((no_sanitize("undefined")))
#else
#define SYMM_UNCHECKED
#endif
#define SYMM_CALC __device__ __forceinline__ SYMM_UNCHECKED

namespace symm {
namespace calculate {

struct f8e4m3 { u8 bits; };
struct f8e5m2 { u8 bits; };

template <class To, class From> SYMM_CALC To bits_as(From from) {
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

SYMM_CALC double constant(u64 bits) { return bits_as<double>(bits); }

// Complex is a complex number, in memory too.
template <class R> struct alignas(2 * sizeof(R)) Complex { R re, im; };
typedef Complex<float> c64;
typedef Complex<double> c128;

// Of describes the types of values: its kind, for integers the unsigned type, and for complex
// numbers the type of the parts.
enum Kind { kTruth, kInteger, kFloat, kComplex };
template <class T> struct Of;
template <> struct Of<bool> { static constexpr Kind kind = kTruth; typedef u8 U; };
template <> struct Of<i8> { static constexpr Kind kind = kInteger; typedef u8 U; static constexpr i8 least = -128, most = 127; };
template <> struct Of<u8> { static constexpr Kind kind = kInteger; typedef u8 U; static constexpr u8 least = 0, most = 255; };
template <> struct Of<i16> { static constexpr Kind kind = kInteger; typedef u16 U; static constexpr i16 least = -32768, most = 32767; };
template <> struct Of<u16> { static constexpr Kind kind = kInteger; typedef u16 U; static constexpr u16 least = 0, most = 65535; };
template <> struct Of<i32> { static constexpr Kind kind = kInteger; typedef u32 U; static constexpr i32 least = -2147483647 - 1, most = 2147483647; };
template <> struct Of<u32> { static constexpr Kind kind = kInteger; typedef u32 U; static constexpr u32 least = 0, most = ~0u; };
template <> struct Of<i64> { static constexpr Kind kind = kInteger; typedef u64 U; static constexpr i64 least = -9223372036854775807ll - 1, most = 9223372036854775807ll; };
template <> struct Of<u64> { static constexpr Kind kind = kInteger; typedef u64 U; static constexpr u64 least = 0, most = ~0ull; };
template <> struct Of<float> { static constexpr Kind kind = kFloat; };
template <> struct Of<double> { static constexpr Kind kind = kFloat; };
template <class R> struct Of<Complex<R>> { static constexpr Kind kind = kComplex; typedef R Part; };

// to converts a value. A float becomes the nearest integer towards zero that the type can hold, and
// NaN becomes 0. Integers wrap around. To a bool, every value except 0 is true. A complex number
// becomes a bool or another complex number only.
template <class To, class From> SYMM_CALC To to(From x) {
  if constexpr (Of<To>::kind == kComplex && Of<From>::kind == kComplex) {
    typedef typename Of<To>::Part R;
    return To{(R)x.re, (R)x.im};
  } else if constexpr (Of<To>::kind == kComplex) {
    return To{to<typename Of<To>::Part>(x), 0};
  } else if constexpr (Of<From>::kind == kComplex) {
    static_assert(Of<To>::kind == kTruth, "a complex number has no value of this type");
    return x.re != 0 || x.im != 0;
  } else if constexpr (Of<To>::kind == kTruth) {
    return x != (From)0;
  } else if constexpr (Of<To>::kind == kInteger && Of<From>::kind == kFloat) {
    // The type's range as values of From, without the upper end.
    constexpr From low = (From)Of<To>::least, end = 2 * (From)(Of<To>::most / 2 + 1);
    const bool over = x >= end, under = x < low;
    const From within = over || under || x != x ? (From)0 : x;
    return over ? Of<To>::most : under ? Of<To>::least : (To)within;
  } else {
    return (To)x;
  }
}

// load returns the value of an element in memory.
template <class T> SYMM_CALC T load(T x) { return x; }
SYMM_CALC float load(bf16 x) { return to_float(x); }
#ifdef SYMM_CPU  // without branches, so that the compiler makes vectors
SYMM_CALC float load(f16 x) {
  const u32 magnitude = (u32)(x.bits & 0x7fff) << 13;
  const float f = bits_as<float>(magnitude) * 0x1p112f;
  const u32 bits = magnitude >= 0x7c00u << 13 ? magnitude + 0x70000000u : bits_as<u32>(f);
  return bits_as<float>(bits | (u32)(x.bits & 0x8000) << 16);
}
SYMM_CALC f16 round16(float f, f16) {
  const u32 u = bits_as<u32>(f), a = u & 0x7fffffffu;
  const u32 small = bits_as<u32>(bits_as<float>(a) + 0.5f) - 0x3f000000u;  // counts units of 2^-24
  const u32 normal = (a + 0xfffu + ((a >> 13) & 1) - 0x38000000u) >> 13;
  u32 r = a < 0x38800000u ? small : normal;
  r = a >= 0x477ff000u ? 0x7c00u : r;
  r |= u >> 16 & 0x8000u;
  return f16{(u16)(a > 0x7f800000u ? 0x7fffu : r)};
}
SYMM_CALC bf16 round16(float f, bf16) {
  const u32 u = bits_as<u32>(f);
  return bf16{(u16)((u & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : (u + 0x7fffu + ((u >> 16) & 1)) >> 16)};
}
#else
SYMM_CALC float load(f16 x) { return to_float(x); }
SYMM_CALC f16 round16(float f, f16) { return to_f16(f); }
SYMM_CALC bf16 round16(float f, bf16) { return to_bf16(f); }
#endif
template <int kMantissa> SYMM_CALC float load8(u32 bits) {
  constexpr int kBias = kMantissa == 3 ? 7 : 15, kTop = kMantissa == 3 ? 0x7f : 0x7c;
  const u32 sign = (bits & 0x80) << 24, magnitude = bits & 0x7f;
  // below the least exponent
  const float small = (float)(i32)magnitude * (kMantissa == 3 ? 0x1p-9f : 0x1p-16f);
  const u32 normal = (magnitude << (23 - kMantissa)) + ((127u - kBias) << 23);
  u32 r = magnitude < (1u << kMantissa) ? bits_as<u32>(small) : normal;
  if (magnitude >= kTop) r = kMantissa == 2 && magnitude == kTop ? 0x7f800000u : 0x7fc00000u;
  return bits_as<float>(r | sign);
}
SYMM_CALC float load(f8e4m3 x) { return load8<3>(x.bits); }
SYMM_CALC float load(f8e5m2 x) { return load8<2>(x.bits); }

// odd rounds a double to a float, to odd, for a second rounding.
SYMM_CALC float odd(double d) {
  const float f = (float)d;
  const u32 bits = bits_as<u32>(f);
  if ((double)f == d || d != d || (bits & 1)) return f;
  return bits_as<float>((f < 0 ? -(double)f : (double)f) > (d < 0 ? -d : d) ? bits - 1 : bits + 1);
}

SYMM_CALC float add_of(float a, float b);
template <int kMantissa> SYMM_CALC u8 round8(float f) {
  constexpr int kBias = kMantissa == 3 ? 7 : 15;
  constexpr u32 top = kMantissa == 3 ? 0x7e : 0x7b;  // the largest number; the next is NaN or infinity
  const u32 bits = bits_as<u32>(f), sign = bits >> 24 & 0x80;
  const float magnitude = bits_as<float>(bits & 0x7fffffffu);
  const float within = magnitude > 65536 ? 65536.f : magnitude;
  i32 exponent = (i32)(bits_as<u32>(within) >> 23) - 127;
  exponent = exponent < 1 - kBias ? 1 - kBias : exponent;
  const float scaled = within * bits_as<float>((u32)(127 + kMantissa - exponent) << 23);
  const u32 q = bits_as<u32>(add_of(scaled, 0x1p23f)) & 0xff;  // rounded to a whole number
  const u32 r = ((u32)(exponent + kBias - 1) << kMantissa) + q;
  return (u8)(f != f ? 0x7f : sign | (r > top ? top + 1 : r));
}

// round returns the element in memory that stands for a value.
template <class T> struct Round {
  template <class From> static SYMM_CALC T of(From x) { return to<T>(x); }
};
template <> struct Round<f16> {
  static SYMM_CALC f16 of(float x) { return round16(x, f16()); }
  static SYMM_CALC f16 of(double x) { return of(odd(x)); }
  template <class I> static SYMM_CALC f16 of(I x) { return of((double)x); }
};
template <> struct Round<bf16> {
  static SYMM_CALC bf16 of(float x) { return round16(x, bf16()); }
  static SYMM_CALC bf16 of(double x) { return of(odd(x)); }
  template <class I> static SYMM_CALC bf16 of(I x) { return of((double)x); }
};
template <> struct Round<f8e4m3> {
  static SYMM_CALC f8e4m3 of(float x) { return f8e4m3{round8<3>(x)}; }
  static SYMM_CALC f8e4m3 of(double x) { return of(odd(x)); }
  template <class I> static SYMM_CALC f8e4m3 of(I x) { return of((double)x); }
};
template <> struct Round<f8e5m2> {
  static SYMM_CALC f8e5m2 of(float x) { return f8e5m2{round8<2>(x)}; }
  static SYMM_CALC f8e5m2 of(double x) { return of(odd(x)); }
  template <class I> static SYMM_CALC f8e5m2 of(I x) { return of((double)x); }
};
template <class T, class From> SYMM_CALC T round(From x) { return Round<T>::of(x); }

// The operators. Integers wrap around.
#ifdef SYMM_CPU
#define SYMM_CALC_FLOAT(name, op, f32, f64)            \
  SYMM_CALC float name##_of(float a, float b) { return a op b; } \
  SYMM_CALC double name##_of(double a, double b) { return a op b; }
#else
#define SYMM_CALC_FLOAT(name, op, f32, f64)            \
  SYMM_CALC float name##_of(float a, float b) { return f32(a, b); } \
  SYMM_CALC double name##_of(double a, double b) { return f64(a, b); }
#endif
#define SYMM_CALC_ARITHMETIC(name, op, f32, f64)                                          \
  SYMM_CALC_FLOAT(name, op, f32, f64)                                                     \
  template <class T> SYMM_CALC T name##_of(T a, T b) {                                    \
    typedef typename Of<T>::U U;                                                          \
    return (T)(U)((u64)(U)a op (u64)(U)b);                                                \
  }                                                                                       \
  template <class T> SYMM_CALC T name(T a, T b) { return name##_of(a, b); }
SYMM_CALC_ARITHMETIC(add, +, __fadd_rn, __dadd_rn)
SYMM_CALC_ARITHMETIC(sub, -, __fsub_rn, __dsub_rn)
SYMM_CALC_ARITHMETIC(mul, *, __fmul_rn, __dmul_rn)
SYMM_CALC_FLOAT(div, /, __fdiv_rn, __ddiv_rn)
// A division by zero is 0, and the least number by -1 wraps around.
template <class T> SYMM_CALC T div_of(T a, T b) { return b == 0 ? (T)0 : b == (T)-1 && (T)-1 < (T)0 ? (T)(0 - (typename Of<T>::U)a) : (T)(a / b); }
template <class T> SYMM_CALC T div(T a, T b) { return div_of(a, b); }
SYMM_CALC float mod_of(float a, float b) { return ::fmodf(a, b); }
SYMM_CALC double mod_of(double a, double b) { return ::fmod(a, b); }
template <class T> SYMM_CALC T mod_of(T a, T b) { return b == 0 || (b == (T)-1 && (T)-1 < (T)0) ? (T)0 : (T)(a % b); }
template <class T> SYMM_CALC T mod(T a, T b) { return mod_of(a, b); }
template <class T> SYMM_CALC T neg(T a) {
  if constexpr (Of<T>::kind == kFloat) return -a;
  else if constexpr (Of<T>::kind == kComplex) return T{-a.re, -a.im};
  else return (T)(0 - (typename Of<T>::U)a);
}
template <class T> SYMM_CALC T bits_and(T a, T b) { return (T)(a & b); }
template <class T> SYMM_CALC T bits_or(T a, T b) { return (T)(a | b); }
template <class T> SYMM_CALC T bits_xor(T a, T b) { return (T)(a ^ b); }
template <class T> SYMM_CALC T bits_not(T a) {
  if constexpr (Of<T>::kind == kTruth) return !a;
  else return (T)~a;
}
// A shift whose count is negative, or at least the width of the type, returns 0, or -1 if a
// negative value is shifted right.
template <class T> SYMM_CALC T left(T a, T b) {
  constexpr T bits = 8 * sizeof(T);
  return b < 0 || b >= bits ? (T)0 : (T)((u64)a << (b & (bits - 1)));
}
template <class T> SYMM_CALC T right(T a, T b) {
  constexpr T bits = 8 * sizeof(T);
  return (T)(a >> (b < 0 || b >= bits ? bits - 1 : b)) >> (b < 0 || b >= bits ? 1 : 0);
}

// The operators of complex numbers. A quotient is calculated as by Smith (1962), without overflow
// on the way.
template <class R> SYMM_CALC Complex<R> add_of(Complex<R> a, Complex<R> b) { return {add<R>(a.re, b.re), add<R>(a.im, b.im)}; }
template <class R> SYMM_CALC Complex<R> sub_of(Complex<R> a, Complex<R> b) { return {sub<R>(a.re, b.re), sub<R>(a.im, b.im)}; }
template <class R> SYMM_CALC Complex<R> mul_of(Complex<R> a, Complex<R> b) {
  return {sub<R>(mul<R>(a.re, b.re), mul<R>(a.im, b.im)), add<R>(mul<R>(a.re, b.im), mul<R>(a.im, b.re))};
}
template <class R> SYMM_CALC Complex<R> div_of(Complex<R> a, Complex<R> b) {
  const bool wide = (b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im);
  const R most = wide ? b.re : b.im, least = wide ? b.im : b.re;
  if (most == 0 && least == 0) return {div<R>(a.re, most < 0 ? -most : most), div<R>(a.im, most < 0 ? -most : most)};
  const R ratio = div<R>(least, most), scale = div<R>((R)1, add<R>(most, mul<R>(least, ratio)));
  const R x = wide ? a.re : a.im, y = wide ? a.im : a.re;
  const R re = add<R>(x, mul<R>(y, ratio)), im = sub<R>(y, mul<R>(x, ratio));
  return {mul<R>(re, scale), mul<R>(wide ? im : -im, scale)};
}
template <class R> SYMM_CALC bool operator==(Complex<R> a, Complex<R> b) { return a.re == b.re && a.im == b.im; }
template <class R> SYMM_CALC bool operator!=(Complex<R> a, Complex<R> b) { return !(a == b); }
template <class T> SYMM_CALC T real_of(T x) { return x; }
template <class R> SYMM_CALC R real_of(Complex<R> x) { return x.re; }
template <class T> SYMM_CALC T imag_of(T) { return (T)0; }
template <class R> SYMM_CALC R imag_of(Complex<R> x) { return x.im; }
template <class T> SYMM_CALC T conj(T x) {
  if constexpr (Of<T>::kind == kComplex) return T{x.re, -x.im};
  else return x;
}
template <class T> SYMM_CALC bool eq(T a, T b) { return a == b; }
template <class T> SYMM_CALC bool ne(T a, T b) { return a != b; }
template <class T> SYMM_CALC bool lt(T a, T b) { return a < b; }
template <class T> SYMM_CALC bool le(T a, T b) { return a <= b; }
template <class T> SYMM_CALC bool gt(T a, T b) { return a > b; }
template <class T> SYMM_CALC bool ge(T a, T b) { return a >= b; }

// Functions. Functions of the C library have a form for each type.
#define SYMM_CALC_1(name)                                        \
  SYMM_CALC float name##_of(float x) { return ::name##f(x); }    \
  SYMM_CALC double name##_of(double x) { return ::name(x); }     \
  template <class T> SYMM_CALC T name(T x) { return name##_of(x); }
#define SYMM_CALC_2(name)                                                      \
  SYMM_CALC float name##_of(float x, float y) { return ::name##f(x, y); }      \
  SYMM_CALC double name##_of(double x, double y) { return ::name(x, y); }      \
  template <class T> SYMM_CALC T name(T x, T y) { return name##_of(x, y); }
SYMM_CALC_1(exp) SYMM_CALC_1(exp2) SYMM_CALC_1(expm1) SYMM_CALC_1(log) SYMM_CALC_1(log2) SYMM_CALC_1(log10) SYMM_CALC_1(log1p)
SYMM_CALC_1(sqrt) SYMM_CALC_1(sin) SYMM_CALC_1(cos) SYMM_CALC_1(tan) SYMM_CALC_1(tanh) SYMM_CALC_1(atan) SYMM_CALC_1(erf)
SYMM_CALC_2(atan2) SYMM_CALC_2(hypot)
template <class T> SYMM_CALC T rsqrt(T x) { return div<T>((T)1, sqrt<T>(x)); }
template <class T> SYMM_CALC T fma(T a, T b, T c) {
  if constexpr (sizeof(T) == 4) return ::fmaf(a, b, c);
  else return ::fma(a, b, c);
}

#define SYMM_CALC_ROUND(name)                                   \
  SYMM_CALC float name##_of(float x) { return ::name##f(x); }   \
  SYMM_CALC double name##_of(double x) { return ::name(x); }    \
  template <class T> SYMM_CALC T name##_of(T x) { return x; }   \
  template <class T> SYMM_CALC T name(T x) { return name##_of(x); }
SYMM_CALC_ROUND(floor) SYMM_CALC_ROUND(ceil) SYMM_CALC_ROUND(trunc) SYMM_CALC_ROUND(rint)

SYMM_CALC float abs_of(float x) { return bits_as<float>(bits_as<u32>(x) & 0x7fffffffu); }
SYMM_CALC double abs_of(double x) { return bits_as<double>(bits_as<u64>(x) & ~0ull >> 1); }
template <class T> SYMM_CALC T abs_of(T x) { return x < (T)0 ? neg<T>(x) : x; }
template <class R> SYMM_CALC R abs_of(Complex<R> x) { return hypot<R>(x.re, x.im); }
template <class T> SYMM_CALC T sign(T x) { return x > 0 ? (T)1 : x < (T)0 ? (T)-1 : x != x ? x : (T)0; }

// min and max return NaN if an argument is NaN.
template <class T> SYMM_CALC T min(T a, T b) { return ((a < b) | (a != a)) ? a : b; }
template <class T> SYMM_CALC T max(T a, T b) { return ((a > b) | (a != a)) ? a : b; }

SYMM_CALC float pow_of(float a, float b) { return ::powf(a, b); }
SYMM_CALC double pow_of(double a, double b) { return ::pow(a, b); }
// The power of integers is the product of |b| factors a; if b is negative, the inverse of the
// product, rounded towards zero.
template <class T> SYMM_CALC T pow_of(T a, T b) {
  if (b < 0) return a == (T)1 ? (T)1 : a == (T)-1 ? (b & 1 ? a : (T)1) : (T)0;
  typedef typename Of<T>::U U;
  U r = 1, f = (U)a;
  for (U e = (U)b; e; e >>= 1, f = (U)((u64)f * f))
    if (e & 1) r = (U)((u64)r * f);
  return (T)r;
}
template <class T> SYMM_CALC T pow(T a, T b) { return pow_of(a, b); }

template <class T> SYMM_CALC bool isnan(T x) { return x != x; }
template <class T> SYMM_CALC bool isfinite(T x) { return x - x == 0; }
template <class T> SYMM_CALC bool isinf(T x) { return x == x && x - x != 0; }

// random and normal depend on the seed and the index alone. The generator is SplitMix64 (Steele,
// Lea and Flood, 2014), used as a hash of the index; normal is the transform of Box and Muller
// (1958).
SYMM_CALC u64 mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
SYMM_CALC double random(i64 seed, i64 i) { return (double)(mix((u64)seed + ((u64)i + 1) * 0x9e3779b97f4a7c15ull) >> 11) * 0x1p-53; }
SYMM_CALC double normal(i64 seed, i64 i) {
  const u64 a = mix((u64)seed + ((u64)i + 1) * 0x9e3779b97f4a7c15ull), b = mix(a ^ 0xd1b54a32d192ed03ull);
  const double u = ((double)(a >> 11) + 1) * 0x1p-53, v = (double)(b >> 11) * 0x1p-53;
  return ::sqrt(-2 * ::log(u)) * ::cos(6.283185307179586476925 * v);
}

// Some holds W neighbouring elements, which a GPU loads and stores by one instruction. Their
// address is a multiple of their size.
template <class T, int W> struct alignas(W * sizeof(T)) Some {
  T v[W];
};
template <int W, class T> SYMM_CALC Some<T, W> load_some(const T* p) {
  return *(const Some<T, W>*)p;
}
template <int W, class T> SYMM_CALC void store_some(T* p, const Some<T, W>& s) {
  *(Some<T, W>*)p = s;
}
template <int W, class T> SYMM_CALC Some<T, W> splat(T x) {
  Some<T, W> s;
#pragma unroll
  for (int k = 0; k < W; k++) s.v[k] = x;
  return s;
}

// The reductions. Each is a partial result, which takes values and joins other partial results. Of
// equal values ArgMin and ArgMax keep the first.
template <class T> struct Sum {
  T a;
  SYMM_CALC void clear() { a = to<T>(0); }
  SYMM_CALC void take(T x, i64) { a = add<T>(a, x); }
  SYMM_CALC void join(const Sum& o) { a = add<T>(a, o.a); }
  SYMM_CALC T value() const { return a; }
};
template <class T> struct Prod {
  T a;
  SYMM_CALC void clear() { a = to<T>(1); }
  SYMM_CALC void take(T x, i64) { a = mul<T>(a, x); }
  SYMM_CALC void join(const Prod& o) { a = mul<T>(a, o.a); }
  SYMM_CALC T value() const { return a; }
};
template <class T> SYMM_CALC T least_of() {
  if constexpr (Of<T>::kind == kFloat) return (T)constant(0xfff0000000000000ull);
  else if constexpr (Of<T>::kind == kTruth) return false;
  else return Of<T>::least;
}
template <class T> SYMM_CALC T most_of() {
  if constexpr (Of<T>::kind == kFloat) return (T)constant(0x7ff0000000000000ull);
  else if constexpr (Of<T>::kind == kTruth) return true;
  else return Of<T>::most;
}
template <class T> struct Min {
  T a;
  SYMM_CALC void clear() { a = most_of<T>(); }
  SYMM_CALC void take(T x, i64) { a = min<T>(a, x); }
  SYMM_CALC void join(const Min& o) { a = min<T>(a, o.a); }
  SYMM_CALC T value() const { return a; }
};
template <class T> struct Max {
  T a;
  SYMM_CALC void clear() { a = least_of<T>(); }
  SYMM_CALC void take(T x, i64) { a = max<T>(a, x); }
  SYMM_CALC void join(const Max& o) { a = max<T>(a, o.a); }
  SYMM_CALC T value() const { return a; }
};
// before reports whether ArgMin or, with kMost, ArgMax prefers a to b. NaN comes before all
// numbers.
template <class T, bool kMost> SYMM_CALC bool before(T a, T b) {
  if constexpr (Of<T>::kind == kFloat) return !(kMost ? a <= b : a >= b) & (b == b);
  else return kMost ? a > b : a < b;
}
template <class T, bool kMost> struct Arg {
  T a;
  i64 at;  // negative before the first value
  SYMM_CALC void clear() { a = 0, at = -1; }
  SYMM_CALC void take(T x, i64 i) {
    if (at < 0 || before<T, kMost>(x, a)) a = x, at = i;
  }
  SYMM_CALC void join(const Arg& o) {
    if (o.at < 0) return;
    if (at < 0 || before<T, kMost>(o.a, a) || (!before<T, kMost>(a, o.a) && o.at < at)) *this = o;
  }
  SYMM_CALC i64 value() const { return at; }
};
template <class T> using ArgMin = Arg<T, false>;
template <class T> using ArgMax = Arg<T, true>;
template <class T> struct Any {
  T a;
  SYMM_CALC void clear() { a = false; }
  SYMM_CALC void take(T x, i64) { a = a | x; }
  SYMM_CALC void join(const Any& o) { a = a | o.a; }
  SYMM_CALC T value() const { return a; }
};
template <class T> struct All {
  T a;
  SYMM_CALC void clear() { a = true; }
  SYMM_CALC void take(T x, i64) { a = a & x; }
  SYMM_CALC void join(const All& o) { a = a & o.a; }
  SYMM_CALC T value() const { return a; }
};

// Row takes W values at once. Most reductions keep W partial results, independent of each other.
// ArgMin and ArgMax keep one, which they compare with the best of the W values.
template <class R, int W> struct Row {
  R a[W];
  SYMM_CALC void clear() {
    for (int k = 0; k < W; k++) a[k].clear();
  }
  template <class T> SYMM_CALC void take(const T* v, i64 first) {
#pragma unroll
    for (int k = 0; k < W; k++) a[k].take(v[k], first + k);
  }
  template <class T> SYMM_CALC void one(T v, i64 i) { a[0].take(v, i); }
  SYMM_CALC void join_to(R* r) const {
    for (int k = 0; k < W; k++) r->join(a[k]);
  }
};
template <class T, bool kMost, int W> struct Row<Arg<T, kMost>, W> {
  Arg<T, kMost> a;
  SYMM_CALC void clear() { a.clear(); }
  SYMM_CALC void take(const T* v, i64 first) {
    T best = v[0];
    int at = 0;
#pragma unroll
    for (int k = 1; k < W; k++)
      if (before<T, kMost>(v[k], best)) best = v[k], at = k;
    a.take(best, first + at);
  }
  SYMM_CALC void one(T v, i64 i) { a.take(v, i); }
  SYMM_CALC void join_to(Arg<T, kMost>* r) const { r->join(a); }
};

// kThreads are the threads of a block of a reduction or a transpose on a GPU.
constexpr int kThreads = 256;

// below returns the partial result of the thread that is k lanes further on in the warp.
template <class R> SYMM_CALC R below(const R& mine, int k) {
  u32 words[(sizeof(R) + 3) / 4] = {};
  memcpy(words, &mine, sizeof(R));
#pragma unroll
  for (u32 i = 0; i < (sizeof(R) + 3) / 4; i++) words[i] = __shfl_down_sync(0xffffffffu, words[i], k);
  R r;
  memcpy(&r, words, sizeof(R));
  return r;
}

// next lets the next kernel of the stream start early if its launch may overlap. That kernel waits
// in symm::begin for the end of this one.
SYMM_CALC void next() {
#if !defined(SYMM_CPU) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// gather joins the partial results of `lanes` threads, a power of two, which work on one result, in
// the first of these threads. All threads of the block call it.
template <class R> SYMM_CALC void gather(R* mine, int lanes) {
  for (int k = (lanes < 32 ? lanes : 32) / 2; k > 0; k /= 2) mine->join(below(*mine, k));
  if (lanes <= 32) return;
  __shared__ R warps[kThreads / 32];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = *mine;
  __syncthreads();
  if (threadIdx.x % lanes == 0)
    for (int k = 1; k < lanes / 32; k++) mine->join(warps[threadIdx.x / 32 + k]);
}

// gather_columns does the same for W results per thread. The threads that work on the same results
// are kThreads / lanes apart.
template <int W, class R> SYMM_CALC void gather_columns(R* mine, int lanes) {
  if (lanes == 1) return;
  constexpr int kRoom = 16384 / (kThreads * (int)sizeof(R)), kOnce = W < kRoom ? W : kRoom;  // 16 KiB
  static_assert(W % kOnce == 0, "");
  __shared__ R all[kOnce][kThreads];
  const int t = (int)threadIdx.x, each = kThreads / lanes;
#pragma unroll
  for (int first = 0; first < W; first += kOnce) {
#pragma unroll
    for (int k = 0; k < kOnce; k++) all[k][t] = mine[first + k];
    __syncthreads();
    for (int l = lanes / 2; l > 0; l /= 2) {
      if (t < l * each) {
#pragma unroll
        for (int k = 0; k < kOnce; k++) all[k][t].join(all[k][t + l * each]);
      }
      __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < kOnce; k++) mine[first + k] = all[k][t];
    __syncthreads();
  }
}

// transpose_tile copies a tile of at most kTile rows and columns. Element (r, c) of the tile is at
// r * out_row + c in the result, and at c * in_col + r in the operand.
template <int kTile, class T>
SYMM_CALC void transpose_tile(T* out, const T* in, i64 rows, i64 cols, i64 out_row, i64 in_col) {
  if (rows > kTile) rows = kTile;
  if (cols > kTile) cols = kTile;
  __shared__ T tile[kTile][kTile + 4 / sizeof(T) + (sizeof(T) > 4)];  // rows begin in different banks
  constexpr int step = kThreads / kTile;
  const int x = threadIdx.x % kTile, y = threadIdx.x / kTile;
  for (int c = y; c < cols; c += step)
    if (x < rows) tile[c][x] = in[c * in_col + x];
  __syncthreads();
  for (int r = y; r < rows; r += step)
    if (x < cols) out[r * out_row + x] = tile[x][r];
  __syncthreads();
}

// transpose_tile_wide does the same with accesses of 16 bytes, E elements: rows and cols, all
// strides and both addresses are multiples of E. A thread loads its part before it stores any.
//
// The tile lies in shared memory row by row of the result, in words of P elements. A thread loads E
// elements of P neighbouring columns and stores E words. Row r permutes its pieces of 16 bytes by r
// / E. Thus the 32 threads of a warp, which store 4 words of each of 8 pieces, use every bank once,
// and so do the threads that load the pieces of a row.
struct alignas(16) Piece { u32 w[4]; };
template <class T, int kRows, int kCols>
SYMM_CALC void transpose_tile_wide(T* out, const T* in, i64 rows, i64 cols, i64 out_row, i64 in_col) {
  constexpr int S = sizeof(T), E = 16 / S, P = S < 4 ? 4 / S : 1, kAcross = kRows / E, kPieces = kCols / E;
  // of a thread
  constexpr int kLoads = kAcross * (kCols / P) / kThreads, kStores = kRows * kPieces / kThreads;
  static_assert(kAcross % 8 == 0 && kPieces % 8 == 0 && kLoads > 0 && kStores > 0, "");
  __shared__ Piece tile[kRows][kPieces];
  Piece v[kLoads][P];
  const int t = (int)threadIdx.x;
  // Of 8 * E rows and 4 * P columns, a thread of a warp has rows t % 8 * E and columns t / 8 % 4 *
  // P.
#define SYMM_CALC_PLACE(k)                                  \
  const int warp = t / 32 + (k) * (kThreads / 32);          \
  const int r = (warp % (kAcross / 8) * 8 + t % 8) * E;     \
  const int c = (warp / (kAcross / 8) * 4 + t / 8 % 4) * P
#pragma unroll
  for (int k = 0; k < kLoads; k++) {
    SYMM_CALC_PLACE(k);
    if (r < rows && c < cols) {
#pragma unroll
      for (int p = 0; p < P; p++) v[k][p] = *(const Piece*)(in + (c + p) * in_col + r);
    }
  }
#pragma unroll
  for (int k = 0; k < kLoads; k++) {
    SYMM_CALC_PLACE(k);
    Piece* const piece = &tile[r][(c / E) ^ (r / E % 8)];
#pragma unroll
    for (int j = 0; j < E; j++) {
      if constexpr (S == 8) {
        ((u64*)(piece + j * kPieces))[c % E] = v[k][0].w[2 * j] | (u64)v[k][0].w[2 * j + 1] << 32;
      } else {
        u32 w = 0;
#pragma unroll
        for (int p = 0; p < P; p++) w |= (v[k][p].w[j * S / 4] >> (j * S % 4 * 8) & (~0u >> (32 - 8 * S))) << (p * S * 8);
        piece[j * kPieces].w[c % E / P] = w;
      }
    }
  }
#undef SYMM_CALC_PLACE
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kStores; k++) {
    const int i = t + k * kThreads, r = i / kPieces, q = i % kPieces;
    if (r < rows && q * E < cols) *(Piece*)(out + r * out_row + q * E) = tile[r][q ^ (r / E % 8)];
  }
  __syncthreads();
}

#ifdef SYMM_CPU
// The cpu device: a thread works alone on neighbouring elements, block by block. Loops over a block
// are vectorised in two forms: one for every processor, and one for processors with AVX2 and F16C,
// which wide detects. Neither contracts products and sums, so both compute the same bits.
constexpr int kBlock = 256;
#ifdef __x86_64__
#define SYMM_CALC_WIDE __attribute__((noinline, target("avx2,f16c"))) SYMM_UNCHECKED
inline bool wide() {
  static int known = 0;  // 1: no, 2: yes; any thread may be the first
  if (__atomic_load_n(&known, __ATOMIC_RELAXED) == 0) {
    u32 most = 0, a = 1, b, c = 0, d, b7, c7 = 0, state = 0;
    asm volatile("cpuid" : "+a"(most), "=b"(b), "+c"(c), "=d"(d));
    c = 0;
    asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    a = 7;
    asm volatile("cpuid" : "+a"(a), "=b"(b7), "+c"(c7), "=d"(d));
    if (c >> 27 & 1) asm volatile("xgetbv" : "=a"(state), "=d"(d) : "c"(0));  // what the system saves
    const bool has = most >= 7 && (c >> 28 & 1) && (c >> 29 & 1) && (b7 >> 5 & 1) && (state & 6) == 6;
    __atomic_store_n(&known, has ? 2 : 1, __ATOMIC_RELAXED);
  }
  return __atomic_load_n(&known, __ATOMIC_RELAXED) == 2;
}

typedef float Floats __attribute__((vector_size(32)));
typedef int Ints __attribute__((vector_size(32)));
typedef short Halves __attribute__((vector_size(16)));
// clang++ 22 lacks this function and has the conversion of vectors instead. g++ has the function
// only inside of functions with F16C, so __has_builtin does not report it there.
#if defined(__clang__) && !__has_builtin(__builtin_ia32_vcvtph2ps256)
#define SYMM_CALC_CONVERTS
typedef _Float16 Float16s __attribute__((vector_size(16)));
#endif

// The instructions of F16C keep other bits of a NaN than load and round16 do. load_vectors converts
// kVectors vectors before it looks for NaNs, because that takes as long as the conversion of one
// vector.
template <int kVectors> __attribute__((always_inline, target("avx2,f16c"))) inline SYMM_UNCHECKED void load_vectors(float* v, const f16* x) {
  Ints nan = {};
#pragma GCC unroll 4
  for (int k = 0; k < 8 * kVectors; k += 8) {
    Halves h;
    __builtin_memcpy(&h, x + k, sizeof h);
#ifdef SYMM_CALC_CONVERTS
    const Floats f = __builtin_convertvector((Float16s)h, Floats);
#else
    const Floats f = __builtin_ia32_vcvtph2ps256(h);
#endif
    __builtin_memcpy(v + k, &f, sizeof f);
    nan |= f != f;
  }
  if (__builtin_expect(__builtin_ia32_movmskps256((Floats)nan), 0))
    for (int k = 0; k < 8 * kVectors; k++) v[k] = load(x[k]);
}
SYMM_CALC_WIDE static void load_f16(float* v, const f16* x, int n) {
  int k = 0;
  for (; k + 32 <= n; k += 32) load_vectors<4>(v + k, x + k);
  for (; k + 8 <= n; k += 8) load_vectors<1>(v + k, x + k);
  for (; k < n; k++) v[k] = load(x[k]);
}
SYMM_CALC_WIDE static void store_f16(f16* x, const float* v, int n) {
  int k = 0;
  for (; k + 8 <= n; k += 8) {
    Floats f;
    __builtin_memcpy(&f, v + k, sizeof f);
    const Ints nan = f != f;
    if (__builtin_expect(__builtin_ia32_movmskps256((Floats)nan), 0)) {
      for (int j = k; j < k + 8; j++) x[j] = round16(v[j], f16());
      continue;
    }
    const Halves h = (Halves)__builtin_ia32_vcvtps2ph256(f, 0);
    __builtin_memcpy(x + k, &h, sizeof h);
  }
  for (; k < n; k++) x[k] = round16(v[k], f16());
}
#else
#define SYMM_CALC_WIDE __attribute__((noinline)) SYMM_UNCHECKED
inline bool wide() { return false; }
#endif

// load_block and store_block convert n elements.
template <bool kWide, class T, class V> SYMM_CALC void load_block(V* __restrict__ v, const T* __restrict__ x, int n) {
#pragma omp simd
  for (int k = 0; k < n; k++) v[k] = load(x[k]);
}
template <bool kWide, class T, class V> SYMM_CALC void store_block(T* __restrict__ x, const V* __restrict__ v, int n) {
#pragma omp simd
  for (int k = 0; k < n; k++) x[k] = round<T>(v[k]);
}
#ifdef __x86_64__
template <> SYMM_CALC void load_block<true, f16, float>(float* __restrict__ v, const f16* __restrict__ x, int n) { load_f16(v, x, n); }
template <> SYMM_CALC void store_block<true, f16, float>(f16* __restrict__ x, const float* __restrict__ v, int n) { store_f16(x, v, n); }
#endif

// Joins has the join of a reduction's values as an operation on vectors, where it has one.
template <class R> struct Joins { static constexpr bool known = false; };
template <class T> struct Joined { static constexpr bool known = Of<T>::kind != kTruth && Of<T>::kind != kComplex; };
template <class T> struct Joins<Sum<T>> : Joined<T> {
  template <class V> static SYMM_CALC V of(V a, V b) { return a + b; }
};
template <class T> struct Joins<Prod<T>> : Joined<T> {
  template <class V> static SYMM_CALC V of(V a, V b) { return a * b; }
};
template <class T> struct Joins<Min<T>> : Joined<T> {
  template <class V> static SYMM_CALC V of(V a, V b) { return ((a < b) | (a != a)) ? a : b; }
};
template <class T> struct Joins<Max<T>> : Joined<T> {
  template <class V> static SYMM_CALC V of(V a, V b) { return ((a > b) | (a != a)) ? a : b; }
};
template <class T, bool kMost> struct Joins<Arg<T, kMost>> : Joined<T> {
  template <class V> static SYMM_CALC V of(V a, V b) { return (~(kMost ? a >= b : a <= b) & (a == a)) ? b : a; }
};

// join_block joins value k of n values to element k % kMine of mine. The elements of mine are in
// eight vectors, as many as the processor adds to while it waits for a sum. With kTogether,
// join_block then joins all elements of mine in the first kVector elements.
template <class T> constexpr int kVector = 16 / sizeof(T);
template <class T> constexpr int kMine = 8 * kVector<T>;
template <class R, bool kTogether, class T> SYMM_CALC void join_block(T* __restrict__ mine, const T* __restrict__ v, int n) {
  typedef T V __attribute__((vector_size(16)));
  V m0, m1, m2, m3, m4, m5, m6, m7, x;
#define SYMM_CALC_ALL(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)
#define SYMM_CALC_GET(j) memcpy(&m##j, mine + j * kVector<T>, 16);
#define SYMM_CALC_JOIN(j) memcpy(&x, v + j * kVector<T>, 16), m##j = Joins<R>::of(m##j, x);
#define SYMM_CALC_PUT(j) memcpy(mine + j * kVector<T>, &m##j, 16);
  SYMM_CALC_ALL(SYMM_CALC_GET)
  for (; n >= kMine<T>; n -= kMine<T>, v += kMine<T>) { SYMM_CALC_ALL(SYMM_CALC_JOIN) }
  if constexpr (kTogether) {
    m0 = Joins<R>::of(m0, m1), m2 = Joins<R>::of(m2, m3), m4 = Joins<R>::of(m4, m5), m6 = Joins<R>::of(m6, m7);
    m0 = Joins<R>::of(m0, m2), m4 = Joins<R>::of(m4, m6), m0 = Joins<R>::of(m0, m4);
    SYMM_CALC_PUT(0)
  } else {
    SYMM_CALC_ALL(SYMM_CALC_PUT)
  }
#undef SYMM_CALC_ALL
#undef SYMM_CALC_GET
#undef SYMM_CALC_JOIN
#undef SYMM_CALC_PUT
}

// Lanes is the partial result of a reduction that takes blocks of values. Values that do not fill
// the vectors of join_block go to single. An arg reduction looks for the best value of a block
// first; it looks for the place of that value only if the value comes before the best one so far.
template <class R, bool kKnown = Joins<R>::known> struct Lanes {
  R single;
  SYMM_CALC void clear() { single.clear(); }
  template <class T> SYMM_CALC void take(const T* v, i64 first, int n) {
    for (int k = 0; k < n; k++) single.take(v[k], first + k);
  }
  SYMM_CALC void join_to(R* r) const { r->join(single); }
};
template <template <class> class R, class T> struct Lanes<R<T>, true> {
  R<T> a[kMine<T>], single;
  SYMM_CALC void clear() {
    for (int k = 0; k < kMine<T>; k++) a[k].clear();
    single.clear();
  }
  SYMM_CALC void take(const T* v, i64, int n) {
    join_block<R<T>, false>(&a[0].a, v, n);
    for (int k = n / kMine<T> * kMine<T>; k < n; k++) single.take(v[k], 0);
  }
  SYMM_CALC void join_to(R<T>* r) const {
    for (int k = 0; k < kMine<T>; k++) r->join(a[k]);
    r->join(single);
  }
};
template <class T, bool kMost> struct Lanes<Arg<T, kMost>, true> {
  typedef Arg<T, kMost> R;
  R a;
  SYMM_CALC void clear() { a.clear(); }
  SYMM_CALC void take(const T* v, i64 first, int n) {
    T most = v[0], best[kMine<T>];
    if (n >= 2 * kMine<T>) {
      memcpy(best, v, sizeof best);
      join_block<R, true>(best, v + kMine<T>, n - kMine<T>);
      for (int k = 0; k < kVector<T>; k++) most = before<T, kMost>(best[k], most) ? best[k] : most;
    }
    for (int k = n < 2 * kMine<T> ? 0 : n / kMine<T> * kMine<T>; k < n; k++) most = before<T, kMost>(v[k], most) ? v[k] : most;
    if (a.at >= 0 && !before<T, kMost>(most, a.a)) return;
    int k = 0;
    while (before<T, kMost>(most, v[k])) k++;
    a.a = most, a.at = first + k;
  }
  SYMM_CALC void join_to(R* r) const { r->join(a); }
};

// Strip has the partial results of up to kStrip neighbouring columns, as many as leave room in the
// nearest cache.
template <class R> constexpr int kStrip = 16384 / sizeof(R);
template <class R> struct Strip {
  R a[kStrip<R>];
  SYMM_CALC void clear(int n) {
    for (int k = 0; k < n; k++) a[k].clear();
  }
  template <class T> SYMM_CALC void take(const T* __restrict__ v, int first, int n, i64 row) {
    R* __restrict__ const mine = a + first;
#pragma omp simd
    for (int k = 0; k < n; k++) mine[k].take(v[k], row);
  }
  SYMM_CALC R of(int k) const { return a[k]; }
};
template <class T, bool kMost> struct Strip<Arg<T, kMost>> {
  T a[kStrip<Arg<T, kMost>>];
  i64 at[kStrip<Arg<T, kMost>>];
  SYMM_CALC void clear(int n) {
    for (int k = 0; k < n; k++) a[k] = 0, at[k] = -1;
  }
  SYMM_CALC void take(const T* __restrict__ v, int first, int n, i64 row) {
    T* __restrict__ const mine = a + first;
    i64* __restrict__ const rows = at + first;
#pragma omp simd
    for (int k = 0; k < n; k++) {
      const bool better = (rows[k] < 0) | before<T, kMost>(v[k], mine[k]);
      mine[k] = better ? v[k] : mine[k];
      rows[k] = better ? row : rows[k];
    }
  }
  SYMM_CALC Arg<T, kMost> of(int k) const { return Arg<T, kMost>{a[k], at[k]}; }
};

// expect tells the processor that n elements will be read soon: processors do not foresee the next
// row of a strip.
template <class T> SYMM_CALC void expect(const T* x, int n) {
  for (int k = 0; k < n; k += 64 / (int)sizeof(T)) __builtin_prefetch(x + k);
}

// turn copies a block of kTurn rows and columns: element (r, c) to r * to_row + c from c * from_col
// + r. Each step interleaves the first half of the vectors with the second.
#if __has_builtin(__builtin_shufflevector)
template <class T> constexpr int kTurn = kVector<T>;
template <class T> SYMM_CALC void turn(T* to, int to_row, const T* from, i64 from_col) {
#define SYMM_CALC_LOAD(j) V a##j; memcpy(&a##j, from + j * from_col, 16);
#define SYMM_CALC_ZIP(x, y, lo, hi) const V lo = SYMM_CALC_LOW(x, y), hi = SYMM_CALC_HIGH(x, y);
#define SYMM_CALC_STORE(v, j) memcpy(to + j * to_row, &v, 16);
  if constexpr (sizeof(T) == 2) {
    typedef u16 V __attribute__((vector_size(16)));
#define SYMM_CALC_LOW(x, y) __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11)
#define SYMM_CALC_HIGH(x, y) __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15)
    SYMM_CALC_LOAD(0) SYMM_CALC_LOAD(1) SYMM_CALC_LOAD(2) SYMM_CALC_LOAD(3) SYMM_CALC_LOAD(4) SYMM_CALC_LOAD(5) SYMM_CALC_LOAD(6) SYMM_CALC_LOAD(7)
    SYMM_CALC_ZIP(a0, a4, b0, b1) SYMM_CALC_ZIP(a1, a5, b2, b3) SYMM_CALC_ZIP(a2, a6, b4, b5) SYMM_CALC_ZIP(a3, a7, b6, b7)
    SYMM_CALC_ZIP(b0, b4, c0, c1) SYMM_CALC_ZIP(b1, b5, c2, c3) SYMM_CALC_ZIP(b2, b6, c4, c5) SYMM_CALC_ZIP(b3, b7, c6, c7)
    SYMM_CALC_ZIP(c0, c4, d0, d1) SYMM_CALC_ZIP(c1, c5, d2, d3) SYMM_CALC_ZIP(c2, c6, d4, d5) SYMM_CALC_ZIP(c3, c7, d6, d7)
    SYMM_CALC_STORE(d0, 0) SYMM_CALC_STORE(d1, 1) SYMM_CALC_STORE(d2, 2) SYMM_CALC_STORE(d3, 3)
    SYMM_CALC_STORE(d4, 4) SYMM_CALC_STORE(d5, 5) SYMM_CALC_STORE(d6, 6) SYMM_CALC_STORE(d7, 7)
#undef SYMM_CALC_LOW
#undef SYMM_CALC_HIGH
  } else if constexpr (sizeof(T) == 4) {
    typedef u32 V __attribute__((vector_size(16)));
#define SYMM_CALC_LOW(x, y) __builtin_shufflevector(x, y, 0, 4, 1, 5)
#define SYMM_CALC_HIGH(x, y) __builtin_shufflevector(x, y, 2, 6, 3, 7)
    SYMM_CALC_LOAD(0) SYMM_CALC_LOAD(1) SYMM_CALC_LOAD(2) SYMM_CALC_LOAD(3)
    SYMM_CALC_ZIP(a0, a2, b0, b1) SYMM_CALC_ZIP(a1, a3, b2, b3)
    SYMM_CALC_ZIP(b0, b2, c0, c1) SYMM_CALC_ZIP(b1, b3, c2, c3)
    SYMM_CALC_STORE(c0, 0) SYMM_CALC_STORE(c1, 1) SYMM_CALC_STORE(c2, 2) SYMM_CALC_STORE(c3, 3)
#undef SYMM_CALC_LOW
#undef SYMM_CALC_HIGH
  } else if constexpr (sizeof(T) == 8) {
    typedef u64 V __attribute__((vector_size(16)));
#define SYMM_CALC_LOW(x, y) __builtin_shufflevector(x, y, 0, 2)
#define SYMM_CALC_HIGH(x, y) __builtin_shufflevector(x, y, 1, 3)
    SYMM_CALC_LOAD(0) SYMM_CALC_LOAD(1)
    SYMM_CALC_ZIP(a0, a1, b0, b1)
    SYMM_CALC_STORE(b0, 0) SYMM_CALC_STORE(b1, 1)
#undef SYMM_CALC_LOW
#undef SYMM_CALC_HIGH
  } else {
    typedef u8 V __attribute__((vector_size(16)));
    V a[16], b[16];
    for (int j = 0; j < 16; j++) memcpy(&a[j], from + j * from_col, 16);
    for (int step = 0; step < 4; step++) {
#pragma GCC unroll 8
      for (int j = 0; j < 8; j++) {
        b[2 * j] = __builtin_shufflevector(a[j], a[j + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        b[2 * j + 1] = __builtin_shufflevector(a[j], a[j + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      }
      memcpy(a, b, sizeof a);
    }
    for (int j = 0; j < 16; j++) memcpy(to + j * to_row, &a[j], 16);
  }
#undef SYMM_CALC_LOAD
#undef SYMM_CALC_ZIP
#undef SYMM_CALC_STORE
}
#else
template <class T> constexpr int kTurn = 1;
template <class T> SYMM_CALC void turn(T* to, int, const T* from, i64) { *to = *from; }
#endif

// kAround reports whether put_row can store around the caches. The sanitizer watches ordinary stores
// only.
#if defined(__x86_64__) && !defined(SYMM_SANITIZE)
constexpr bool kAround = true;
SYMM_CALC void store_around(u32 (*to)[4], const u32 (*from)[4]) {
  typedef u32 V __attribute__((vector_size(16)));
  V v;
  memcpy(&v, from, sizeof v);
  asm volatile("movntdq %1, %0" : "=m"(*to) : "x"(v));
}
// stored makes stores around the caches visible before all later ones.
SYMM_CALC void stored() { asm volatile("sfence" ::: "memory"); }
#else
constexpr bool kAround = false;
SYMM_CALC void store_around(u32 (*)[4], const u32 (*)[4]) {}
SYMM_CALC void stored() {}
#endif

// beyond reports whether transpose_block should store a result of the given bytes around the
// caches, because it is larger than the caches of a processor. A store through the caches would
// first read the rows from memory.
template <class T> SYMM_CALC bool beyond(i64 out_row, u64 bytes) {
  return kAround && bytes >= 4 << 20 && out_row * sizeof(T) % 16 == 0;
}

// transpose_block does the same as transpose_tile. The tile is turned in the nearest cache: it has
// room for few lines of a tensor whose rows have a power of two of bytes, so each line is read and
// written once. If `around` is set, rows are a multiple of 16 bytes apart, and stored follows the
// last tile.
template <int kTile, class T>
SYMM_CALC void transpose_block(T* __restrict__ out, const T* __restrict__ in, i64 rows, i64 cols, i64 out_row, i64 in_col, bool around) {
  alignas(16) T tile[kTile * kTile];
  if (rows >= kTile && cols >= kTile) {
    for (int c = 0; c < kTile; c += kTurn<T>)
      for (int r = 0; r < kTile; r += kTurn<T>) turn(tile + r * kTile + c, kTile, in + c * in_col + r, in_col);
    constexpr int bytes = sizeof(T) * kTile;
    around = around && (u64)out % 16 == 0;
    for (int r = 0; r < kTile; r++) {
      char *const to = (char*)(out + r * out_row), *const from = (char*)(tile + r * kTile);
      if (around)
        for (int k = 0; k < bytes; k += 16) store_around((u32(*)[4])(to + k), (const u32(*)[4])(from + k));
      else
        memcpy(to, from, bytes);
    }
    return;
  }
  for (i64 r = 0; r < rows && r < kTile; r++)
    for (i64 c = 0; c < cols && c < kTile; c++) out[r * out_row + c] = in[c * in_col + r];
}
#endif

}  // namespace calculate
}  // namespace symm
