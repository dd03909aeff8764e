// emu_atomics.h: atomic operations. They are atomic between processes, too, so block, device and
// system scope are the same.
//
// A compare-and-swap that failed, an exchange for the same value and an addition of zero count as
// failed polls: other threads run before they return. Other operations that changed nothing may be
// polls, as loads may: see emu_poll.h.
#pragma once
#include "emu_sync.h"

namespace emu {

template <class T>
struct Bits;
template <>
struct Bits<float> { using type = unsigned; };
template <>
struct Bits<double> { using type = unsigned long long; };

// update replaces *p by f(*p) and returns the old value.
constexpr int scope_block = 0, scope = 1, scope_system = 2;

template <class T, class F>
inline T update(int scope, T* p, F f) {
  symm_cpu_scope(scope);
  T old = __atomic_load_n(p, __ATOMIC_RELAXED);
  do symm_cpu_scope(scope);
  while (!__atomic_compare_exchange_n(p, &old, f(old), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  if (f(old) == old) loaded(p, old);
  return old;
}
template <class T, class F>
inline T update(T* p, F f) { return update(scope, p, f); }
template <class T, class F>
inline T update_float(int scope, T* p, F f) {
  using U = typename Bits<T>::type;
  return from_word<T>(update(scope, (U*)p, [&](U u) { return (U)to_word(f(from_word<T>(u))); }));
}

}  // namespace emu

// Atomic operations, which return the previous value. Those with _block have the block's scope,
// those with _system the system's, and those without a suffix the device's.
//
// Order: relaxed. Fences around them order other accesses.
//
// Waits: for nothing.
//
// On the cpu device: all scopes are the same, and every operation is sequentially consistent; the
// sanitizer still treats them as relaxed operations of their scope.
//
// Example:
//
//   atomicAdd(x, 1.f);
//   if (atomicCAS((unsigned*)x + 1, 0u, 1u) == 0) x[2] = 1;
#define EMU_ATOMICS(suffix)                                                                                                                        \
  EMU_ATOMIC_INTEGER(int, suffix)                                                                                       \
  EMU_ATOMIC_INTEGER(unsigned, suffix)                                                                                  \
  EMU_ATOMIC_INTEGER(long, suffix)                                                                                      \
  EMU_ATOMIC_INTEGER(unsigned long, suffix)                                                                             \
  EMU_ATOMIC_INTEGER(long long, suffix)                                                                                 \
  EMU_ATOMIC_INTEGER(unsigned long long, suffix)                                                                        \
  EMU_ATOMIC_FLOAT(float, suffix)                                                                                       \
  EMU_ATOMIC_FLOAT(double, suffix)                                                                                      \
  inline unsigned short atomicCAS##suffix(unsigned short* p, unsigned short want, unsigned short v) {                   \
    symm_cpu_scope(::emu::scope##suffix);                                                                               \
    if (!__atomic_compare_exchange_n(p, &want, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) ::emu::polled(p, want);         \
    return want;                                                                                                        \
  }                                                                                                                     \
  inline unsigned atomicInc##suffix(unsigned* p, unsigned limit) {                                                      \
    return ::emu::update(::emu::scope##suffix, p, [=](unsigned v) { return v >= limit ? 0 : v + 1; });                  \
  }                                                                                                                     \
  inline unsigned atomicDec##suffix(unsigned* p, unsigned limit) {                                                      \
    return ::emu::update(::emu::scope##suffix, p, [=](unsigned v) { return v == 0 || v > limit ? limit : v - 1; });     \
  }

// EMU_ATOMIC_CHANGE defines an operation, which may be a poll if it has changed nothing.
#define EMU_ATOMIC_CHANGE(name, T, suffix, builtin, nothing) \
  inline T name(T* p, T v) {                                 \
    symm_cpu_scope(::emu::scope##suffix);                    \
    const T old = builtin(p, v, __ATOMIC_SEQ_CST);           \
    if (nothing) ::emu::loaded(p, (unsigned long long)old);  \
    return old;                                              \
  }

#define EMU_ATOMIC_INTEGER(T, suffix)                                                                                   \
  inline T atomicAdd##suffix(T* p, T v) {                                                                               \
    symm_cpu_scope(::emu::scope##suffix);                                                                               \
    const T old = __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                                           \
    if (v == 0) ::emu::polled(p, (unsigned long long)old);                                                                                        \
    return old;                                                                                                         \
  }                                                                                                                     \
  EMU_ATOMIC_CHANGE(atomicSub##suffix, T, suffix, __atomic_fetch_sub, v == 0) \
  EMU_ATOMIC_CHANGE(atomicAnd##suffix, T, suffix, __atomic_fetch_and, (old & v) == old) \
  EMU_ATOMIC_CHANGE(atomicOr##suffix, T, suffix, __atomic_fetch_or, (old | v) == old) \
  EMU_ATOMIC_CHANGE(atomicXor##suffix, T, suffix, __atomic_fetch_xor, v == 0) \
  inline T atomicMin##suffix(T* p, T v) { return ::emu::update(::emu::scope##suffix, p, [=](T o) { return o < v ? o : v; }); } \
  inline T atomicMax##suffix(T* p, T v) { return ::emu::update(::emu::scope##suffix, p, [=](T o) { return o > v ? o : v; }); } \
  inline T atomicExch##suffix(T* p, T v) {                                                                              \
    symm_cpu_scope(::emu::scope##suffix);                                                                               \
    const T old = __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                                          \
    if (old == v) ::emu::polled(p, (unsigned long long)old);                                                                                      \
    return old;                                                                                                         \
  }                                                                                                                     \
  inline T atomicCAS##suffix(T* p, T want, T v) {                                                                       \
    symm_cpu_scope(::emu::scope##suffix);                                                                               \
    if (!__atomic_compare_exchange_n(p, &want, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) ::emu::polled(p, want);         \
    return want;                                                                                                        \
  }

#define EMU_ATOMIC_FLOAT(T, suffix)                                                                                     \
  inline T atomicAdd##suffix(T* p, T v) { return ::emu::update_float(::emu::scope##suffix, p, [=](T o) { return o + v; }); } \
  inline T atomicExch##suffix(T* p, T v) {                                                                              \
    using U = ::emu::Bits<T>::type;                                                                                     \
    symm_cpu_scope(::emu::scope##suffix);                                                                               \
    return ::emu::from_word<T>(__atomic_exchange_n((U*)p, (U)::emu::to_word(v), __ATOMIC_SEQ_CST));                     \
  }

EMU_ATOMICS()
EMU_ATOMICS(_block)
EMU_ATOMICS(_system)
#undef EMU_ATOMICS
#undef EMU_ATOMIC_INTEGER
#undef EMU_ATOMIC_CHANGE
#undef EMU_ATOMIC_FLOAT
