// order.cuh: loads and stores with a memory order, of aligned 32-bit and 64-bit words.
//
// The scope is the system: the order holds between GPUs, and between processes on the cpu device. A
// store_release publishes the thread's earlier writes to every thread that reads the word by
// load_acquire. The relaxed forms do not order other accesses; a fence beside them does.
#pragma once
#include "symm/types.cuh"

namespace symm {

// load_acquire loads a word.
//
// Order: acquire. If another thread stored the value by store_release, this thread then sees that
// thread's earlier writes.
//
// Waits: for nothing. A loop around it is a wait without a deadline: use wait_until or Patience.
//
// Example:
//
//   symm::u32* const word = h.pad(h.rank);
//   if (symm::load_acquire(word) == 1) x[0] = h.buffer<float>(h.rank)[0];
__device__ __forceinline__ u32 load_acquire(const u32* p) {
#ifdef SYMM_CPU
  const u32 v = __atomic_load_n(p, __ATOMIC_ACQUIRE);
  ::emu::loaded(p, v);
  return v;
#else
  u32 v;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
#endif
}
__device__ __forceinline__ u64 load_acquire(const u64* p) {
#ifdef SYMM_CPU
  const u64 v = __atomic_load_n(p, __ATOMIC_ACQUIRE);
  ::emu::loaded(p, v);
  return v;
#else
  u64 v;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
#endif
}

// load_relaxed loads a word from memory, not from a copy in a register or a cache.
//
// Order: none. Later loads may see older data than this one.
__device__ __forceinline__ u32 load_relaxed(const u32* p) {
#ifdef SYMM_CPU
  const u32 v = __atomic_load_n(p, __ATOMIC_RELAXED);
  ::emu::loaded(p, v);
  return v;
#else
  u32 v;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
#endif
}
__device__ __forceinline__ u64 load_relaxed(const u64* p) {
#ifdef SYMM_CPU
  const u64 v = __atomic_load_n(p, __ATOMIC_RELAXED);
  ::emu::loaded(p, v);
  return v;
#else
  u64 v;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
#endif
}

// store_release stores a word.
//
// Order: release. A thread that reads the value by load_acquire sees this thread's earlier writes,
// and writes of other threads that this thread has synchronised with, by __syncthreads for example.
//
// Cost: half a microsecond, for the fence (docs/notes/tuning.md, Signals and barriers).
//
// Example:
//
//   h.buffer<float>(peer)[h.rank] = x[0];
//   symm::store_release(h.pad(peer) + h.rank, 1);
__device__ __forceinline__ void store_release(u32* p, u32 v) {
#ifdef SYMM_CPU
  __atomic_store_n(p, v, __ATOMIC_RELEASE);
#else
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
#endif
}
__device__ __forceinline__ void store_release(u64* p, u64 v) {
#ifdef SYMM_CPU
  __atomic_store_n(p, v, __ATOMIC_RELEASE);
#else
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
#endif
}

// store_relaxed stores a word.
//
// Order: none. A fence before the store makes it a release.
__device__ __forceinline__ void store_relaxed(u32* p, u32 v) {
#ifdef SYMM_CPU
  __atomic_store_n(p, v, __ATOMIC_RELAXED);
#else
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
#endif
}
__device__ __forceinline__ void store_relaxed(u64* p, u64 v) {
#ifdef SYMM_CPU
  __atomic_store_n(p, v, __ATOMIC_RELAXED);
#else
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
#endif
}

// swap_relaxed stores `to` if *p is `from`, as one access, and returns the previous value of *p.
//
// Order: none.
__device__ __forceinline__ u32 swap_relaxed(u32* p, u32 from, u32 to) {
#ifdef SYMM_CPU
  __atomic_compare_exchange_n(p, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return from;
#else
  u32 was;
  asm volatile("atom.relaxed.sys.global.cas.b32 %0, [%1], %2, %3;" : "=r"(was) : "l"(p), "r"(from), "r"(to) : "memory");
  return was;
#endif
}

// fence orders all accesses before it against all accesses after it, at system scope.
//
// Order: acquire and release, for the memory of all ranks.
//
// Waits: until the thread's earlier stores are visible to all GPUs, but for no other rank.
//
// Cost: half a microsecond on an H200, even if no store is outstanding (docs/notes/tuning.md,
// Signals and barriers).
//
// Example:
//
//   h.buffer<float>(peer)[0] = x[0];
//   symm::fence();
//   symm::store_relaxed(h.pad(peer), 1);
__device__ __forceinline__ void fence() {
#ifdef SYMM_CPU
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#else
  asm volatile("fence.acq_rel.sys;" ::: "memory");
#endif
}

}  // namespace symm
