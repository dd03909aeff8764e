// emu_nv_atomic.h: __nv_atomic_*, the compiler's own atomic functions in CUDA 12.8 and later, of 1,
// 2, 4 and 8 bytes.
#pragma once
#include "emu_ordered.h"

enum { __NV_ATOMIC_RELAXED, __NV_ATOMIC_CONSUME, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_SEQ_CST };
enum { __NV_THREAD_SCOPE_THREAD, __NV_THREAD_SCOPE_BLOCK, __NV_THREAD_SCOPE_CLUSTER, __NV_THREAD_SCOPE_DEVICE, __NV_THREAD_SCOPE_SYSTEM };

namespace emu::nv {

template <int v> struct Constant { static constexpr int value = v; };

// by calls f with the order and the scope as template arguments; `both` is the order of one that
// acquires and releases. Orders and scopes are constants, so one call remains.
template <int order, class F>
EMU_INLINE auto in_scope(int scope, F f) {
  if (scope >= __NV_THREAD_SCOPE_SYSTEM) return f(Constant<order>{}, Constant<2>{});
  if (scope == __NV_THREAD_SCOPE_DEVICE) return f(Constant<order>{}, Constant<1>{});
  return f(Constant<order>{}, Constant<0>{});
}
EMU_INLINE int reach(int scope) { return scope >= __NV_THREAD_SCOPE_SYSTEM ? 2 : scope == __NV_THREAD_SCOPE_DEVICE ? 1 : 0; }
template <int both, class F>
EMU_INLINE auto by(int order, int scope, F f) {
  if (order == __NV_ATOMIC_SEQ_CST) symm_cpu_fence(reach(scope));
  if (order == __NV_ATOMIC_RELAXED) return in_scope<kRelaxed>(scope, f);
  if (both == kAcqRel && order <= __NV_ATOMIC_ACQUIRE) return in_scope<kAcquire>(scope, f);
  if (both == kAcqRel && order == __NV_ATOMIC_RELEASE) return in_scope<kRelease>(scope, f);
  return in_scope<both>(scope, f);
}

}  // namespace emu::nv

inline __attribute__((always_inline)) void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order != __NV_ATOMIC_RELAXED) symm_cpu_fence(::emu::nv::reach(scope));
}
template <class T>
EMU_INLINE T __nv_atomic_load_n(const T* p, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return ::emu::nv::by<::emu::kAcquire>(order, scope, [=](auto o, auto s) { return ::emu::load<o.value, s.value>(p); });
}
template <class T>
EMU_INLINE void __nv_atomic_load(const T* p, T* result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { *result = __nv_atomic_load_n(p, order, scope); }
template <class T>
EMU_INLINE void __nv_atomic_store_n(T* p, ::emu::Given<T> v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  ::emu::nv::by<::emu::kRelease>(order, scope, [=](auto o, auto s) { ::emu::store<o.value, s.value>(p, v); return 0; });
}
template <class T>
EMU_INLINE void __nv_atomic_store(T* p, const T* v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { __nv_atomic_store_n(p, *v, order, scope); }
template <class T>
EMU_INLINE bool __nv_atomic_compare_exchange_n(T* p, T* expected, ::emu::Given<T> v, bool, int success, int, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  const T want = *expected;
  const T old = ::emu::nv::by<::emu::kAcqRel>(success, scope, [=](auto o, auto s) { return ::emu::swap<o.value, s.value>(p, want, v); });
  const bool done = __builtin_bit_cast(::emu::Word<T>, old) == __builtin_bit_cast(::emu::Word<T>, want);
  if (!done) *expected = old;
  return done;
}
template <class T>
EMU_INLINE bool __nv_atomic_compare_exchange(T* p, T* expected, const T* v, bool weak, int success, int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange_n(p, expected, *v, weak, success, failure, scope);
}

#define EMU_NV_ATOMIC(name, Op)                                                                                     \
  template <class T>                                                                                                \
  EMU_INLINE T __nv_atomic_##name(T* p, ::emu::Given<T> v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {       \
    return ::emu::nv::by<::emu::kAcqRel>(order, scope, [=](auto o, auto s) { return ::emu::atomic<::emu::Op, o.value, s.value>(p, (T)v); }); \
  }
EMU_NV_ATOMIC(exchange_n, Exch)
EMU_NV_ATOMIC(fetch_add, Add)
EMU_NV_ATOMIC(fetch_sub, Sub)
EMU_NV_ATOMIC(fetch_and, And)
EMU_NV_ATOMIC(fetch_or, Or)
EMU_NV_ATOMIC(fetch_xor, Xor)
EMU_NV_ATOMIC(fetch_min, Min)
EMU_NV_ATOMIC(fetch_max, Max)
EMU_NV_ATOMIC(add, Add)
EMU_NV_ATOMIC(sub, Sub)
EMU_NV_ATOMIC(and, And)
EMU_NV_ATOMIC(or, Or)
EMU_NV_ATOMIC(xor, Xor)
EMU_NV_ATOMIC(min, Min)
EMU_NV_ATOMIC(max, Max)
#undef EMU_NV_ATOMIC
template <class T>
EMU_INLINE void __nv_atomic_exchange(T* p, const T* v, T* result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) { *result = __nv_atomic_exchange_n(p, *v, order, scope); }
