// emu_math.h: CUDA's math and bit functions. The C library computes; functions that it lacks are
// composed of others.
#pragma once

#define EMU_MATH_1(M)                                                                                                          \
  M(sqrt) M(cbrt) M(exp) M(exp2) M(expm1) M(log) M(log2) M(log10) M(log1p) M(sin) M(cos) M(tan) M(asin) M(acos) M(atan) M(sinh) \
  M(cosh) M(tanh) M(asinh) M(acosh) M(atanh) M(erf) M(erfc) M(tgamma) M(lgamma) M(floor) M(ceil) M(trunc) M(round) M(rint)      \
  M(nearbyint) M(fabs) M(logb)
#define EMU_MATH_2(M) M(pow) M(atan2) M(fmod) M(remainder) M(hypot) M(fmin) M(fmax) M(fdim) M(copysign) M(nextafter)

#define EMU_DECLARE(name) extern "C" double name(double) noexcept; extern "C" float name##f(float) noexcept; inline float name(float x) { return name##f(x); }
// Functions of one number, for double and, with f or by overloading, for float.
//
// On the cpu device: the C library computes; the last bits may differ from a GPU's.
//
// Example:
//
//   x[0] = sqrtf(x[0]) + exp(x[1]);
EMU_MATH_1(EMU_DECLARE)
#undef EMU_DECLARE
#define EMU_DECLARE(name) \
  extern "C" double name(double, double) noexcept; extern "C" float name##f(float, float) noexcept; inline float name(float x, float y) { return name##f(x, y); }
// Functions of two numbers.
//
// On the cpu device: as those of one.
EMU_MATH_2(EMU_DECLARE)
#undef EMU_DECLARE
#undef EMU_MATH_1
#undef EMU_MATH_2

// Other functions of the C library.
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
inline float fma(float a, float b, float c) { return fmaf(a, b, c); }
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
extern "C" double frexp(double, int*) noexcept;
extern "C" float frexpf(float, int*) noexcept;
extern "C" double modf(double, double*) noexcept;
extern "C" float modff(float, float*) noexcept;
extern "C" long lrint(double) noexcept;
extern "C" long lrintf(float) noexcept;
extern "C" void* memcpy(void*, const void*, size_t) noexcept;
extern "C" void* memset(void*, int, size_t) noexcept;
extern "C" void* memmove(void*, const void*, size_t) noexcept;

// Constants.
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define CUDART_INF_F __builtin_inff()
#define CUDART_INF __builtin_inf()
#define CUDART_NAN_F __builtin_nanf("")
#define FLT_MAX __FLT_MAX__
#define DBL_MAX __DBL_MAX__
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (~0u)

#define EMU_CLASSIFY(T)                                          \
  inline bool isnan(T x) { return __builtin_isnan(x); }          \
  inline bool isinf(T x) { return __builtin_isinf(x); }          \
  inline bool isfinite(T x) { return __builtin_isfinite(x); }    \
  inline bool signbit(T x) { return __builtin_signbit(x); }
// What kind of number it is.
EMU_CLASSIFY(float)
EMU_CLASSIFY(double)
#undef EMU_CLASSIFY

#define EMU_MIN_MAX(T)                                            \
  inline constexpr T min(T a, T b) { return b < a ? b : a; }      \
  inline constexpr T max(T a, T b) { return a < b ? b : a; }
// min and max, of all types of numbers.
EMU_MIN_MAX(int)
EMU_MIN_MAX(unsigned)
EMU_MIN_MAX(long)
EMU_MIN_MAX(unsigned long)
EMU_MIN_MAX(long long)
EMU_MIN_MAX(unsigned long long)
#undef EMU_MIN_MAX
// Signed and unsigned operands compare as unsigned, as in CUDA.
inline constexpr unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
inline constexpr unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
inline constexpr unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
inline constexpr unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

// Absolute values.
inline constexpr int abs(int x) { return x < 0 ? -x : x; }
inline constexpr long abs(long x) { return x < 0 ? -x : x; }
inline constexpr long long abs(long long x) { return x < 0 ? -x : x; }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }
inline constexpr long long llabs(long long x) { return x < 0 ? -x : x; }

// Functions that CUDA has and the C library lacks.
//
// On the cpu device: they are composed of others, so the last bits may differ from a GPU's.
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float exp10f(float x) { return powf(10, x); }
inline double exp10(double x) { return pow(10, x); }
inline void sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
inline void sincos(double x, double* s, double* c) { *s = sin(x), *c = cos(x); }
inline float sinpif(float x) { return sinf(x * 3.14159265358979f); }
inline float cospif(float x) { return cosf(x * 3.14159265358979f); }
inline float normcdff(float x) { return 0.5f * erfcf(x * -0.70710678118655f); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.f) : 0.f; }

// Fast functions, and arithmetic with a rounding that its name says.
//
// On the cpu device: the fast functions are as exact as the others. A GPU computes them with few
// instructions and larger errors.
//
// Example:
//
//   x[0] = __fdividef(__expf(x[0]), __fadd_rn(1, x[1]));
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1 / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }

#define EMU_REINTERPRET(name, To, From)    \
  inline To name(From v) {                 \
    To r;                                  \
    __builtin_memcpy(&r, &v, sizeof r);    \
    return r;                              \
  }
// The bits of a float as an integer, and back.
EMU_REINTERPRET(__float_as_int, int, float)
EMU_REINTERPRET(__float_as_uint, unsigned, float)
EMU_REINTERPRET(__int_as_float, float, int)
EMU_REINTERPRET(__uint_as_float, float, unsigned)
EMU_REINTERPRET(__double_as_longlong, long long, double)
EMU_REINTERPRET(__longlong_as_double, double, long long)
#undef EMU_REINTERPRET

// Conversions. rn rounds to nearest even, rz toward zero, rd down, ru up.
//
// On the cpu device: a float that no integer of the type is near ends the kernel with a fault; a
// GPU returns the nearest one.
inline int __float2int_rn(float x) { return (int)rintf(x); }
inline int __float2int_rz(float x) { return (int)x; }
inline int __float2int_rd(float x) { return (int)floorf(x); }
inline int __float2int_ru(float x) { return (int)ceilf(x); }
inline unsigned __float2uint_rn(float x) { return (unsigned)rintf(x); }
inline unsigned __float2uint_rz(float x) { return (unsigned)x; }
inline float __int2float_rn(int x) { return (float)x; }
inline float __uint2float_rn(unsigned x) { return (float)x; }
inline float __double2float_rn(double x) { return (float)x; }

// Bits and integers.
//
// Example:
//
//   x[0] = (float)(__popc(7) + __clz(1) + __ffs(8));
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) { return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32)); }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long both = (unsigned long long)b << 32 | a;
  unsigned r = 0;
  for (int i = 0; i < 4; i++) {
    const unsigned s = selector >> 4 * i & 15, byte = (unsigned)(both >> 8 * (s & 7)) & 255;
    r |= (s & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
  }
  return r;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) { return (unsigned)((((unsigned long long)high << 32 | low) << (n & 31)) >> 32); }
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) { return (unsigned)(((unsigned long long)high << 32 | low) >> (n & 31)); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
inline int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
inline unsigned __vcmpeq4(unsigned a, unsigned b) {
  unsigned r = 0;
  for (int i = 0; i < 32; i += 8) r |= ((a >> i & 255) == (b >> i & 255) ? 255u : 0u) << i;
  return r;
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += (int)(signed char)(a >> i) * (int)(signed char)(b >> i);
  return c;
}

namespace emu {
template <class T> T load_volatile(const T* p);  // in emu_ordered.h
}

// Loads and stores with a hint for the caches. They order nothing.
//
// On the cpu device: the hints say nothing.
template <class T>
inline T __ldg(const T* p) { return *p; }
template <class T>
inline T __ldcg(const T* p) { return *p; }
template <class T>
inline T __ldcs(const T* p) { return *p; }
template <class T>
inline T __ldcv(const T* p) { return ::emu::load_volatile(p); }
template <class T>
inline void __stcg(T* p, T v) { *p = v; }
template <class T>
inline void __stcs(T* p, T v) { *p = v; }
template <class T>
inline void __stwt(T* p, T v) { *p = v; }
