// emu_ptx.h: the functions of which inline PTX is made on the cpu device. Package ptx translates an
// asm statement to a specialization of Asm, which calls them. Names are in namespace emu::ptx.
//
// A register is a variable of u16, u32, u64, u128, float, double or bool. get reads it as a type
// and set writes it, both by its bits: PTX's registers have no types of their own.
#pragma once

#include "emu_ordered.h"

namespace emu::ptx {

using u8 = unsigned char;
using s8 = signed char;
using u16 = unsigned short;
using s16 = short;
using u32 = unsigned;
using s32 = int;
using u64 = unsigned long;
using s64 = long;
using u128 = unsigned __int128;

// Text is a string as a template argument.
template <Size n>
struct Text {
  char text[n];
  constexpr Text(const char (&t)[n]) {
    for (Size i = 0; i < n; i++) text[i] = t[i];
  }
};

// Asm is an asm statement: its template and its constraints, separated by "\v".
template <Text statement> struct Asm;

// EMU_REFUSED declares a function whose calls are errors with a reason, unless no kernel reaches
// them. EMU_REFUSES stands before a function that calls it. g++ names the line into which the call
// was inlined. clang++ does not: there the function has no definition and the reason is its symbol,
// so the linker names the line that refers to it, which is the snippet's because the caller has no
// debugging information.
#ifdef __clang__
#define EMU_REFUSED(name, reason) void name() __asm__(reason)
#define EMU_REFUSES __attribute__((always_inline, nodebug)) inline
#else
#define EMU_REFUSED(name, reason) __attribute__((noinline, error(reason))) void name()
#define EMU_REFUSES EMU_INLINE
#endif

template <class To, class From>
EMU_INLINE constexpr To bits(From v) { return __builtin_bit_cast(To, v); }

template <class T> constexpr bool is_signed = (T)-1 < (T)0;
template <> inline constexpr bool is_signed<bool> = false;

// get reads a register of the same size or a wider one as a T.
template <class T, class R>
EMU_INLINE constexpr T get(R r) {
  static_assert(sizeof(R) >= sizeof(T), "inline PTX: a register is narrower than the instruction's type");
  if constexpr (sizeof(R) == sizeof(T)) return bits<T>(r);
  else return bits<T>((Word<T>)bits<Word<R>>(r));
}

// Sink is the register _, to which nothing is written.
struct Sink {};
template <class T> EMU_INLINE void set(Sink, T) {}

// set writes a T to a register of the same size or, extended by zeros or the sign, to a wider one.
template <class R, class T>
EMU_INLINE void set(R& r, T v) {
  static_assert(sizeof(R) >= sizeof(T), "inline PTX: a register is narrower than the instruction's type");
  if constexpr (sizeof(R) == sizeof(T)) {
    r = bits<R>(v);
  } else if constexpr (requires { v ^ v; } && !same<T, bool>) {
    if constexpr (is_signed<T>) r = bits<R>((Word<R>)(s64)v);
    else r = bits<R>((Word<R>)v);
  } else {
    r = bits<R>((Word<R>)bits<Word<T>>(v));
  }
}

// in returns an operand's value as a register, and out stores a register in an operand. A value
// narrower than int becomes an int before.
template <class R, class A>
EMU_INLINE R in(A a) {
  if constexpr (sizeof(A) == sizeof(R)) {
    return bits<R>(a);
  } else {
    static_assert(sizeof(R) == 4 && sizeof(A) < 4 && !same<R, float>, "inline PTX: an operand's size is not that of its constraint: h 2, r and f 4, l and d 8, q 16 bytes");
    return (R)+a;
  }
}
template <class A, class R>
EMU_INLINE void out(A& a, R r) {
  static_assert(sizeof(A) == sizeof(R), "inline PTX: an operand's size is not that of its constraint: h 2, r and f 4, l and d 8, q 16 bytes");
  a = bits<A>(r);
}
// constant is an operand with constraint n.
template <class T, class A>
EMU_INLINE constexpr T constant(A a) { return (T)a; }

// pack makes one value of parts, the first of which is the lowest; unpack does the reverse.
template <class T, class... P>
EMU_INLINE T pack(P... parts) {
  Word<T> w = 0;
  unsigned at = 0;
  ((w = (Word<T>)(w | (Word<T>)((Word<T>)parts << at)), at += 8 * sizeof(T) / sizeof...(P)), ...);
  return bits<T>(w);
}
template <class T, class... P>
EMU_INLINE void unpack(T v, P&&... parts) {
  constexpr Size size = sizeof(T) / sizeof...(P);
  Word<T> w = bits<Word<T>>(v);
  ((set(parts, (typename WordOf<size>::type)w), w = size < sizeof(T) ? (Word<T>)(w >> (8 * size)) : (Word<T>)0), ...);
}

// Addresses. Those of shared memory are offsets in it.
EMU_INLINE u64 generic(u64 p) { return p; }
EMU_INLINE u64 shared(u64 p) { return (u64)worker()->shared + (u32)p; }
EMU_INLINE u64 shared_offset(u64 p) { return p - (u64)worker()->shared; }
template <class T>
EMU_INLINE T* at(u64 p) { return (T*)p; }

// access reports an access of whole vectors to the sanitizer. how is 1 for a write, plus 2 if the
// access is volatile or has an order.
EMU_INLINE void access([[maybe_unused]] const void* p, [[maybe_unused]] unsigned size, [[maybe_unused]] unsigned how) {
#ifdef SYMM_SANITIZE
  if (const auto* s = run_time().sanitize) s->access(p, size, how, symm_cpu_here());
#endif
}

template <class T, int n>
struct Vector {
  T at[n];
};

// load_vector loads n elements. Like a GPU, it accesses 16 aligned bytes at once, if that is all:
// packets that carry their own flag rely on that.
template <class T, int n, int order, int scope>
EMU_INLINE Vector<T, n> load_vector(const T* p) {
  using V = Vector<T, n>;
  V v;
  if constexpr (order == kWeak) {
    for (int i = 0; i < n; i++) v.at[i] = p[i];
  } else if constexpr (sizeof(V) == 16) {
    access(p, 16, 2);
    const Wide w = load_wide((const Wide*)p);
    v = bits<V>(w);
    loaded(p, w.part[0] ^ w.part[1]);
    if constexpr (order == kAcquire) ::emu::acquire(), symm_cpu_fenced(scope);
  } else if constexpr (sizeof(V) <= 8) {
    v = bits<V>(load<order, scope>((const Word<V>*)p));
  } else {
    for (int i = 0; i < n; i++) v.at[i] = load<order, scope>(p + i);
  }
  return v;
}
template <class T, int n, int order, int scope>
EMU_INLINE void store_vector(T* p, Vector<T, n> v) {
  using V = Vector<T, n>;
  if constexpr (order == kWeak) {
    for (int i = 0; i < n; i++) p[i] = v.at[i];
  } else if constexpr (sizeof(V) == 16) {
    if constexpr (order == kRelease) ::emu::release(), symm_cpu_fenced(scope);
    access(p, 16, 3);
    store_wide((Wide*)p, bits<Wide>(v));
  } else if constexpr (sizeof(V) <= 8) {
    store<order, scope>((Word<V>*)p, bits<Word<V>>(v));
  } else {
    for (int i = 0; i < n; i++) store<order, scope>(p + i, v.at[i]);
  }
}
template <class T, int n, class... R>
EMU_INLINE void spread(const Vector<T, n>& v, R&&... registers) {
  int i = 0;
  (set(registers, v.at[i++]), ...);
}

// copy_async copies `part` bytes and fills the rest of `size` with zeros.
EMU_INLINE void copy_async(u8* to, const u8* from, u32 size, u32 part) {
  for (u32 i = 0; i < size; i += 4) *(u32*)(to + i) = i < part ? *(const u32*)(from + i) : 0;
}

// Barriers with a number. Number 0 without a count is __syncthreads.
EMU_INLINE u32 block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
EMU_INLINE u32 warps() { return (block_threads() + 31) / 32; }
EMU_INLINE void named_barrier(u32 id, u32 threads) {
  if (id >= kSpans) return run_time().fail("a barrier's number is from 0 to 15", "", 0);
  if (id == 0 && threads == block_threads()) return (void)run_time().barrier(false);
  run_time().span_barrier((id + kSpans - 1) % kSpans, threads);
}
EMU_INLINE void named_barrier(u32 id) { named_barrier(id, block_threads()); }
EMU_INLINE void only_barrier_0(u32 id) {
  if (id != 0) run_time().fail("bar.red is only supported with barrier 0", "", 0);
}

// Warp operations.
EMU_INLINE bool uniform(u32 mask, bool p) { return __all_sync(mask, p) || !__any_sync(mask, p); }
struct Found {
  u32 value;
  bool valid;
};
enum Shuffle { kIdx, kUp, kDown, kBfly };
// shuffle_lanes: clamp has the last lane of a section, and the mask that makes sections in bits 8 to
// 12.
template <Shuffle how>
EMU_INLINE Found shuffle_lanes(u32 v, u32 b, u32 clamp, u32 mask) {
  const u32 l = lane(), section = clamp >> 8 & 31, c = clamp & 31;
  const u32 last = (l & section) | (c & ~section), first = l & section;
  b &= 31;
  u32 from;
  bool valid;
  if (how == kUp) from = l - b, valid = (s32)from >= (s32)last;
  else if (how == kDown) from = l + b, valid = from <= last;
  else if (how == kBfly) from = l ^ b, valid = from <= last;
  else from = first | (b & ~section), valid = from <= last;
  if (!valid) from = l;
  return {::emu::shuffle(mask, v, from), valid};
}
template <class T>
EMU_INLINE Found match_all(T v, u32 mask) {
  int all = 0;
  const u32 m = __match_all_sync(mask, v, &all);
  return {m, all != 0};
}
EMU_INLINE Found elected(u32 mask) {
  __syncwarp(mask);
  const u32 first = (u32)__builtin_ctz(mask);
  return {first, lane() == first};
}

// Comparisons. Those that end in u hold if an operand is NaN.
template <class T> EMU_INLINE bool unordered(T a, T b) { return a != a || b != b; }
#define EMU_COMPARE(name, expression) \
  template <class T>                  \
  EMU_INLINE bool compare_##name([[maybe_unused]] T a, [[maybe_unused]] T b) { return expression; }
EMU_COMPARE(eq, a == b)
EMU_COMPARE(ne, a != b && !(is_real<T> && unordered(a, b)))
EMU_COMPARE(lt, a < b)
EMU_COMPARE(le, a <= b)
EMU_COMPARE(gt, a > b)
EMU_COMPARE(ge, a >= b)
EMU_COMPARE(lo, a < b)
EMU_COMPARE(ls, a <= b)
EMU_COMPARE(hi, a > b)
EMU_COMPARE(hs, a >= b)
EMU_COMPARE(equ, a == b || unordered(a, b))
EMU_COMPARE(neu, a != b || unordered(a, b))
EMU_COMPARE(ltu, a < b || unordered(a, b))
EMU_COMPARE(leu, a <= b || unordered(a, b))
EMU_COMPARE(gtu, a > b || unordered(a, b))
EMU_COMPARE(geu, a >= b || unordered(a, b))
EMU_COMPARE(num, !unordered(a, b))
EMU_COMPARE(nan, unordered(a, b))
#undef EMU_COMPARE

// Integers wrap around.
template <class T> EMU_INLINE T add(T a, T b) { return (T)(a + b); }
template <class T> EMU_INLINE T sub(T a, T b) { return (T)(a - b); }
template <class T> EMU_INLINE T mul(T a, T b) {
  if constexpr (sizeof(T) == 2) return (T)((u32)a * (u32)b);
  else return (T)(a * b);
}
template <class T> EMU_INLINE T fma(T a, T b, T c) {
  if constexpr (same<T, float>) return fmaf(a, b, c);
  else return ::fma(a, b, c);
}
// A GPU does not trap on a division by zero, whose result is unspecified there: here all bits are 1.
template <class T> EMU_INLINE T div(T a, T b) {
  if constexpr (!is_real<T>) {
    if (b == 0) return (T)~(T)0;
    if (is_signed<T> && b == (T)-1) return (T)(0 - a);
  }
  return (T)(a / b);
}
template <class T> EMU_INLINE T remainder(T a, T b) { return b == 0 ? a : is_signed<T> && b == (T)-1 ? (T)0 : (T)(a % b); }
template <class T> EMU_INLINE T min(T a, T b) {
  if constexpr (is_real<T>) return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
  else return b < a ? b : a;
}
template <class T> EMU_INLINE T max(T a, T b) {
  if constexpr (is_real<T>) return a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a < b ? b : a;
  else return a < b ? b : a;
}
template <class T> EMU_INLINE T min_nan(T a, T b) { return a != a ? a : b != b ? b : min<T>(a, b); }
template <class T> EMU_INLINE T max_nan(T a, T b) { return a != a ? a : b != b ? b : max<T>(a, b); }
template <class T> EMU_INLINE T abs(T a) {
  if constexpr (is_real<T>) return ::fabs(a);
  else return a < 0 ? (T)(0 - a) : a;
}
template <class T> EMU_INLINE T neg(T a) {
  if constexpr (is_real<T>) return -a;
  else return (T)(0 - a);
}
template <class T> EMU_INLINE T mul_high(T a, T b) {
  if constexpr (is_signed<T>) return (T)((__int128)a * b >> (8 * sizeof(T)));
  else return (T)((u128)a * b >> (8 * sizeof(T)));
}

template <class T> EMU_INLINE T copy_sign(T a, T b) { return (T)::copysign(b, a); }
template <class T> EMU_INLINE T sqrt(T a) { return ::sqrt(a); }
template <class T> EMU_INLINE T rsqrt(T a) { return ::rsqrt(a); }
template <class T> EMU_INLINE T rcp(T a) { return 1 / a; }
template <class T> EMU_INLINE T ex2(T a) { return ::exp2(a); }
template <class T> EMU_INLINE T lg2(T a) { return ::log2(a); }
template <class T> EMU_INLINE T sin(T a) { return ::sin(a); }
template <class T> EMU_INLINE T cos(T a) { return ::cos(a); }
template <class T> EMU_INLINE T tanh(T a) { return ::tanh(a); }
// flush replaces a subnormal number by 0 with its sign; saturate limits one to [0, 1].
template <class T> EMU_INLINE T flush(T a) {
  if constexpr (same<T, float>) return (bits<u32>(a) & 0x7f800000u) ? a : bits<float>(bits<u32>(a) & 0x80000000u);
  else return a;
}
EMU_INLINE float saturate(float a) { return __saturatef(a); }

// Bits.
template <class T> EMU_INLINE T shift_left(T a, u32 n) { return n >= 8 * sizeof(T) ? (T)0 : (T)((Word<T>)a << n); }
template <class T> EMU_INLINE T shift_right(T a, u32 n) { return n < 8 * sizeof(T) ? (T)(a >> n) : is_signed<T> && a < 0 ? (T)-1 : (T)0; }
EMU_INLINE u64 joined(u32 low, u32 high) { return (u64)high << 32 | low; }
EMU_INLINE u32 funnel_l_wrap(u32 a, u32 b, u32 n) { return (u32)(joined(a, b) << (n & 31) >> 32); }
EMU_INLINE u32 funnel_r_wrap(u32 a, u32 b, u32 n) { return (u32)(joined(a, b) >> (n & 31)); }
EMU_INLINE u32 funnel_l_clamp(u32 a, u32 b, u32 n) { return n >= 32 ? a : funnel_l_wrap(a, b, n); }
EMU_INLINE u32 funnel_r_clamp(u32 a, u32 b, u32 n) { return n >= 32 ? b : funnel_r_wrap(a, b, n); }
EMU_INLINE u32 lop3(u32 a, u32 b, u32 c, u32 table) {
  u32 r = 0;
  for (u32 i = 0; i < 8; i++)
    if (table >> i & 1) r |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return r;
}
EMU_INLINE u32 popc(u32 a) { return (u32)__popc(a); }
EMU_INLINE u32 popc(u64 a) { return (u32)__popcll(a); }
EMU_INLINE u32 clz(u32 a) { return (u32)__clz((int)a); }
EMU_INLINE u32 clz(u64 a) { return (u32)__clzll((s64)a); }
template <class T> EMU_INLINE T reverse(T a) {
  if constexpr (sizeof(T) == 8) return __brevll(a);
  else return __brev(a);
}
template <class T> EMU_INLINE T is_zero(T a) { return a == 0; }
template <class T> EMU_INLINE u32 find(T a) {
  const Word<T> w = (Word<T>)(is_signed<T> && a < 0 ? ~a : a);
  return w ? (u32)(8 * sizeof(T) - 1) - clz(w) : ~0u;
}
template <class T> EMU_INLINE u32 find_shift(T a) {
  const u32 at = find<T>(a);
  return at == ~0u ? at : (u32)(8 * sizeof(T) - 1) - at;
}
template <class T> EMU_INLINE T extract(T a, u32 from, u32 n) {
  constexpr u32 top = 8 * sizeof(T) - 1;
  from &= 255, n &= 255;
  if (n == 0) return 0;
  const u32 last = from + n - 1 < top ? from + n - 1 : top;
  const bool fill = is_signed<T> && ((Word<T>)a >> last & 1);
  Word<T> r = from > top ? (Word<T>)0 : (Word<T>)((Word<T>)a >> from);
  const u32 width = from > top ? 0 : last - from + 1;
  if (width > top) return (T)r;
  const Word<T> low = (Word<T>)(((Word<T>)1 << width) - 1);
  return (T)(fill ? r | (Word<T>)~low : r & low);
}
template <class T> EMU_INLINE T insert(T a, T b, u32 from, u32 n) {
  constexpr u32 size = 8 * sizeof(T);
  from &= 255, n &= 255;
  if (n == 0 || from >= size) return b;
  const T low = n >= size ? (T)~(T)0 : (T)(((T)1 << n) - 1), field = (T)(low << from);
  return (T)((b & (T)~field) | (T)(a << from & field));
}
template <class T> EMU_INLINE T dot4(T a, T b, T c) {
  for (int i = 0; i < 32; i += 8) {
    if constexpr (is_signed<T>) c += (T)(s8)(a >> i) * (T)(s8)(b >> i);
    else c += (T)(u8)(a >> i) * (T)(u8)(b >> i);
  }
  return c;
}

// Conversions. From floating point, they go toward zero unless whole_* has rounded before; what does
// not fit becomes the nearest number that does, and NaN becomes 0.
template <class T> EMU_INLINE T whole_rni(T a) { return ::rint(a); }
template <class T> EMU_INLINE T whole_rzi(T a) { return ::trunc(a); }
template <class T> EMU_INLINE T whole_rmi(T a) { return ::floor(a); }
template <class T> EMU_INLINE T whole_rpi(T a) { return ::ceil(a); }
template <class To> constexpr To greatest = (To)((Word<To>)~(Word<To>)0 >> (is_signed<To> ? 1 : 0));
template <class To> constexpr To least = is_signed<To> ? (To)(-greatest<To> - 1) : (To)0;
template <class To, class From>
EMU_INLINE To convert(From a) {
  if constexpr (is_real<From> && !is_real<To>) {
    const double limit = (double)(greatest<To> / 2 + 1) * 2;
    if (a != a) return sizeof(To) == 8 ? (To)((Word<To>)1 << 63) : (To)0;
    if ((double)a >= limit) return greatest<To>;
    if ((double)a <= (double)least<To>) return least<To>;
    return (To)a;
  } else {
    return (To)a;
  }
}
template <class To, class From>
EMU_INLINE To convert_saturated(From a) {
  if constexpr (is_real<To>) {
    return (To)(a != a ? 0 : a < 0 ? 0 : a > 1 ? 1 : a);
  } else if constexpr (is_real<From>) {
    return convert<To>(a);
  } else {
    const __int128 v = a;
    return v > (__int128)greatest<To> ? greatest<To> : v < (__int128)least<To> ? least<To> : (To)a;
  }
}

}  // namespace emu::ptx
