// emu_sanitize.h: reports of watched kernels in addition to those that the compiler inserts at
// every access. Kernels that are not watched report nothing.
#pragma once
#include "emu_abi.h"
#include "emu_apart.h"

// A scope is 0 for the block, 1 for the device, 2 for the system.
#ifdef SYMM_SANITIZE
// symm_cpu_scope: the next atomic operation has that scope, and is relaxed.
inline void symm_cpu_scope(int scope) { if (const auto* s = ::emu::run_time().sanitize) s->scope(scope); }
// symm_cpu_ordered: the next atomic operation has that scope, and its own order.
inline void symm_cpu_ordered(int scope) { symm_cpu_scope(scope | 4); }
// symm_cpu_fenced: there is a fence here on a GPU; on the processor, the surrounding code implies
// one.
inline void symm_cpu_fenced(int scope) { if (const auto* s = ::emu::run_time().sanitize) s->fence(scope); }
inline void symm_cpu_fence(int scope) {
  ::emu::fence();
  symm_cpu_fenced(scope);
}
// symm_cpu_wants: the thread waits until a word equals a value.
__attribute__((noinline)) inline const void* symm_cpu_here() {
  return ::emu::call_of({__start_emu_apart, __stop_emu_apart}, __builtin_return_address(0), __builtin_frame_address(0));
}
inline __attribute__((always_inline)) void symm_cpu_wants(const void* p, unsigned long long value) {
  if (const auto* s = ::emu::run_time().sanitize) s->wants(p, value, symm_cpu_here());
}
// symm_cpu_first: the thread reads a word next as the first value of a count. symm_cpu_counts: this
// precedes or follows a wait until the word has been increased by so much.
inline __attribute__((always_inline)) void symm_cpu_first(const void* p) {
  if (const auto* s = ::emu::run_time().sanitize) s->first(p, symm_cpu_here());
}
inline void symm_cpu_counts(const void* p) { if (const auto* s = ::emu::run_time().sanitize) s->counts(p); }
#else
inline void symm_cpu_wants(const void*, unsigned long long) {}
inline void symm_cpu_scope(int) {}
inline void symm_cpu_ordered(int) {}
inline void symm_cpu_fenced(int) {}
inline void symm_cpu_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#endif
