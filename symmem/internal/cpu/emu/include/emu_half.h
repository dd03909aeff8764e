// emu_half.h: the 16-bit floating-point types. Arithmetic is done in float and rounded once, which is what the hardware's comes to.
#pragma once

namespace emu {

inline unsigned short float_to_half(float f) {
  const unsigned bits = __float_as_uint(f), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);  // 65520 and more
  if (magnitude < 0x38800000u)                                            // subnormal: in units of 2^-24
    return (unsigned short)(sign | (unsigned)__builtin_rintf(__uint_as_float(magnitude) * 0x1p24f));
  return (unsigned short)(sign | (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1)) >> 13);
}
inline float half_to_float(unsigned short h) {
  const unsigned sign = (h & 0x8000u) << 16, magnitude = h & 0x7fffu;
  if (magnitude >= 0x7c00u) return __uint_as_float(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude < 0x400u) return __uint_as_float(sign | __float_as_uint((float)magnitude * 0x1p-24f));
  return __uint_as_float(sign | ((magnitude << 13) + 0x38000000u));
}
inline unsigned short float_to_bfloat16(float f) {
  const unsigned bits = __float_as_uint(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}
inline float bfloat16_to_float(unsigned short h) { return __uint_as_float((unsigned)h << 16); }

}  // namespace emu

// EMU_HALF declares a type, its pair, and the functions that both headers have in common.
#define EMU_HALF(T, T2, from_float, to_float)                                                                                   \
  struct __align__(2) T {                                                                                                       \
    unsigned short bits;                                                                                                        \
    T() = default;                                                                                                              \
    T(float f) : bits(from_float(f)) {}                                                                                         \
    T(double d) : T((float)d) {}                                                                                                \
    T(int i) : T((float)i) {}                                                                                                   \
    T(unsigned i) : T((float)i) {}                                                                                              \
    operator float() const { return to_float(bits); }                                                                           \
    T& operator+=(T o) { return *this = T((float)*this + (float)o); }                                                           \
    T& operator-=(T o) { return *this = T((float)*this - (float)o); }                                                           \
    T& operator*=(T o) { return *this = T((float)*this * (float)o); }                                                           \
    T& operator/=(T o) { return *this = T((float)*this / (float)o); }                                                           \
  };                                                                                                                            \
  struct __align__(4) T2 { T x, y; };                                                                                           \
  inline T operator+(T a, T b) { return T((float)a + (float)b); }                                                               \
  inline T operator-(T a, T b) { return T((float)a - (float)b); }                                                               \
  inline T operator*(T a, T b) { return T((float)a * (float)b); }                                                               \
  inline T operator/(T a, T b) { return T((float)a / (float)b); }                                                               \
  inline T operator-(T a) { return T(-(float)a); }                                                                              \
  inline bool operator==(T a, T b) { return (float)a == (float)b; }                                                             \
  inline bool operator!=(T a, T b) { return (float)a != (float)b; }                                                             \
  inline bool operator<(T a, T b) { return (float)a < (float)b; }                                                               \
  inline bool operator>(T a, T b) { return (float)a > (float)b; }                                                               \
  inline bool operator<=(T a, T b) { return (float)a <= (float)b; }                                                             \
  inline bool operator>=(T a, T b) { return (float)a >= (float)b; }                                                             \
  inline T2 operator+(T2 a, T2 b) { return {a.x + b.x, a.y + b.y}; }                                                            \
  inline T2 operator-(T2 a, T2 b) { return {a.x - b.x, a.y - b.y}; }                                                            \
  inline T2 operator*(T2 a, T2 b) { return {a.x * b.x, a.y * b.y}; }                                                            \
  inline T2 operator/(T2 a, T2 b) { return {a.x / b.x, a.y / b.y}; }                                                            \
  inline T __hadd(T a, T b) { return a + b; }                                                                                   \
  inline T __hsub(T a, T b) { return a - b; }                                                                                   \
  inline T __hmul(T a, T b) { return a * b; }                                                                                   \
  inline T __hdiv(T a, T b) { return a / b; }                                                                                   \
  inline T __hneg(T a) { return -a; }                                                                                           \
  inline T __habs(T a) { return T(fabsf((float)a)); }                                                                           \
  inline T __hfma(T a, T b, T c) { return T((double)(float)a * (double)(float)b + (double)(float)c); }                          \
  inline T __hmax(T a, T b) { return T(fmaxf((float)a, (float)b)); }                                                            \
  inline T __hmin(T a, T b) { return T(fminf((float)a, (float)b)); }                                                            \
  inline bool __heq(T a, T b) { return a == b; }                                                                                \
  inline bool __hne(T a, T b) { return a != b; }                                                                                \
  inline bool __hlt(T a, T b) { return a < b; }                                                                                 \
  inline bool __hle(T a, T b) { return a <= b; }                                                                                \
  inline bool __hgt(T a, T b) { return a > b; }                                                                                 \
  inline bool __hge(T a, T b) { return a >= b; }                                                                                \
  inline bool __hisnan(T a) { return isnan((float)a); }                                                                         \
  inline T2 __hadd2(T2 a, T2 b) { return a + b; }                                                                               \
  inline T2 __hsub2(T2 a, T2 b) { return a - b; }                                                                               \
  inline T2 __hmul2(T2 a, T2 b) { return a * b; }                                                                               \
  inline T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }                                \
  inline T2 __hmax2(T2 a, T2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                                                \
  inline T2 __hmin2(T2 a, T2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                                                \
  inline T hsqrt(T a) { return T(sqrtf((float)a)); }                                                                            \
  inline T hexp(T a) { return T(expf((float)a)); }                                                                              \
  inline T hlog(T a) { return T(logf((float)a)); }                                                                              \
  inline T hrsqrt(T a) { return T(rsqrtf((float)a)); }                                                                          \
  inline T atomicAdd(T* p, T v) {                                                                                               \
    T old;                                                                                                                      \
    old.bits = ::emu::update((unsigned short*)p, [=](unsigned short o) { return from_float(to_float(o) + (float)v); });         \
    return old;                                                                                                                 \
  }                                                                                                                             \
  inline T2 atomicAdd(T2* p, T2 v) { return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)}; }
