// emu_ordered.h: loads, stores and atomic operations with a memory order and a scope, of words of 1,
// 2, 4 and 8 bytes. Inline PTX, __nv_atomic_* and cuda::atomic are made of them.
//
// An order and a scope mean to the sanitizer what they mean on a GPU. The processor itself orders
// more, and its atomic operations reach other processes, so there every scope is the widest one.
//
// A load that is no weak one may be a poll: see emu_poll.h. So may an operation that changed nothing.
#pragma once
#include "emu_poll.h"
#include "emu_sanitize.h"

namespace emu {

enum Order { kWeak, kVolatile, kRelaxed, kAcquire, kRelease, kAcqRel };

constexpr bool acquires(int o) { return o == kAcquire || o == kAcqRel; }
constexpr bool releases(int o) { return o == kRelease || o == kAcqRel; }
constexpr int builtin_order(int o) {
  return o == kAcquire ? __ATOMIC_ACQUIRE : o == kRelease ? __ATOMIC_RELEASE : o == kAcqRel ? __ATOMIC_ACQ_REL : __ATOMIC_RELAXED;
}

// WordOf is the unsigned integer of a size.
template <Size n> struct WordOf;
template <> struct WordOf<1> { using type = unsigned char; };
template <> struct WordOf<2> { using type = unsigned short; };
template <> struct WordOf<4> { using type = unsigned; };
template <> struct WordOf<8> { using type = unsigned long; };
template <> struct WordOf<16> { using type = unsigned __int128; };
template <class T> using Word = typename WordOf<sizeof(T)>::type;

// Given is T, for a parameter from which no type is deduced.
template <class T> struct GivenAs { using type = T; };
template <class T> using Given = typename GivenAs<T>::type;

#define EMU_INLINE __attribute__((always_inline)) inline

// tell announces the order and the scope of the next atomic operation to the sanitizer.
template <int order, int scope>
EMU_INLINE void tell() {
  if constexpr (acquires(order) || releases(order)) symm_cpu_ordered(scope);
  else symm_cpu_scope(scope);
}

template <int order, int scope, class T>
EMU_INLINE T load(const T* p) {
  if constexpr (order == kWeak) {
    return *p;
  } else {
    using W = Word<T>;
    W v;
    if constexpr (order == kVolatile) {
      v = *(const volatile W*)p;
    } else {
      tell<order, scope>();
      v = __atomic_load_n((const W*)p, builtin_order(order));
    }
    loaded(p, (unsigned long long)v);
    return __builtin_bit_cast(T, v);
  }
}

// load_volatile loads a word, or a larger value, that may be polled.
template <class T>
inline T load_volatile(const T* p) {
  if constexpr (requires { typename Word<T>; } && sizeof(T) <= 8) return load<kVolatile, 2>(p);
  else return *(const volatile T*)p;
}

template <int order, int scope, class T>
EMU_INLINE void store(T* p, T v) {
  using W = Word<T>;
  if constexpr (order == kWeak) {
    *p = v;
  } else if constexpr (order == kVolatile) {
    *(volatile W*)p = __builtin_bit_cast(W, v);
  } else {
    tell<order, scope>();
    __atomic_store_n((W*)p, __builtin_bit_cast(W, v), builtin_order(order));
  }
}

// swap stores v if *p equals want. It returns the old value.
template <int order, int scope, class T>
EMU_INLINE T swap(T* p, T want, T v) {
  using W = Word<T>;
  W old = __builtin_bit_cast(W, want);
  tell<order, scope>();
  if (!__atomic_compare_exchange_n((W*)p, &old, __builtin_bit_cast(W, v), false, builtin_order(order), acquires(order) ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED)) polled(p, (unsigned long long)old);
  return __builtin_bit_cast(T, old);
}

// change replaces *p by f(*p). It returns the old value.
template <int order, int scope, class T, class F>
EMU_INLINE T change(T* p, F f) {
  using W = Word<T>;
  tell<kRelaxed, scope>();
  W old = __atomic_load_n((const W*)p, __ATOMIC_RELAXED);
  do tell<order, scope>();
  while (!__atomic_compare_exchange_n((W*)p, &old, __builtin_bit_cast(W, f(__builtin_bit_cast(T, old))), true, builtin_order(order), __ATOMIC_RELAXED));
  if (__builtin_bit_cast(W, f(__builtin_bit_cast(T, old))) == old) loaded(p, (unsigned long long)old);
  return __builtin_bit_cast(T, old);
}

template <class T> constexpr bool is_real = false;
template <> inline constexpr bool is_real<float> = true;
template <> inline constexpr bool is_real<double> = true;
template <class T> constexpr bool is_whole = __is_enum(T) || ((T)1 / (T)2 == (T)0 && !is_real<T>);

// The operations of atomic. f is the function of the old value and the operand.
struct Add { template <class T> static T f(T a, T b) { return (T)(a + b); } };
struct Sub { template <class T> static T f(T a, T b) { return (T)(a - b); } };
struct Min { template <class T> static T f(T a, T b) { return b < a ? b : a; } };
struct Max { template <class T> static T f(T a, T b) { return a < b ? b : a; } };
struct Inc { template <class T> static T f(T a, T b) { return a >= b ? T(0) : (T)(a + 1); } };
struct Dec { template <class T> static T f(T a, T b) { return a == 0 || a > b ? b : (T)(a - 1); } };
struct And { template <class T> static T f(T a, T b) { return (T)(a & b); } };
struct Or { template <class T> static T f(T a, T b) { return (T)(a | b); } };
struct Xor { template <class T> static T f(T a, T b) { return (T)(a ^ b); } };
struct Exch { template <class T> static T f(T, T b) { return b; } };

template <class A, class B> constexpr bool same = false;
template <class A> constexpr bool same<A, A> = true;

// atomic replaces *p by Op of it and v, as one access. It returns the old value.
template <class Op, int order, int scope, class T>
EMU_INLINE T atomic(T* p, T v) {
  using W = Word<T>;
  constexpr int o = builtin_order(order);
  if constexpr (same<Op, Exch>) {
    tell<order, scope>();
    const W old = __atomic_exchange_n((W*)p, __builtin_bit_cast(W, v), o);
    if (old == __builtin_bit_cast(W, v)) polled(p, (unsigned long long)old);
    return __builtin_bit_cast(T, old);
  } else if constexpr (same<Op, Add> && !is_real<T> && requires { v ^ v; }) {
    tell<order, scope>();
    const W old = __atomic_fetch_add((W*)p, (W)v, o);
    if (v == 0) polled(p, (unsigned long long)old);
    return (T)old;
  } else if constexpr (same<Op, Or> || same<Op, And> || same<Op, Xor>) {
    tell<order, scope>();
    W old;
    if constexpr (same<Op, Or>) old = __atomic_fetch_or((W*)p, (W)v, o);
    else if constexpr (same<Op, And>) old = __atomic_fetch_and((W*)p, (W)v, o);
    else old = __atomic_fetch_xor((W*)p, (W)v, o);
    if ((W)Op::f(old, (W)v) == old) loaded(p, (unsigned long long)old);
    return (T)old;
  } else {
    return change<order, scope>(p, [=](T old) {
      if constexpr (requires { apply(Op{}, old, v); }) return apply(Op{}, old, v);
      else return Op::f(old, v);
    });
  }
}

}  // namespace emu
