// emu_sync.h: barriers, fences, warp operations.
#pragma once
#include "emu_poll.h"
#include "emu_sanitize.h"

namespace emu {

inline unsigned lane() { return worker()->thread->linear & 31; }

// Words passes a value of up to 8 bytes through a warp operation.
template <class T>
inline unsigned long long to_word(T v) {
  static_assert(sizeof(T) <= 8, "warp operations take values of up to 8 bytes");
  unsigned long long w = 0;
  __builtin_memcpy(&w, &v, sizeof v);
  return w;
}
template <class T>
inline T from_word(unsigned long long w) {
  T v;
  __builtin_memcpy(&v, &w, sizeof v);
  return v;
}

// each calls f(lane) for the lanes of a mask.
template <class F>
inline void each(unsigned mask, F f) {
  for (; mask; mask &= mask - 1) f((unsigned)__builtin_ctz(mask));
}

// exchange gives every lane the value of the lane that its argument names, or its own value if that
// lane does not take part.
inline void exchange(Lanes* w) {
  each(w->mask, [w](unsigned l) {
    const unsigned from = w->argument[l] & 31;
    w->result[l] = w->value[w->mask >> from & 1 ? from : l];
  });
}
inline void vote(Lanes* w) {
  unsigned long long yes = 0;
  each(w->mask, [&](unsigned l) { yes |= (w->value[l] != 0 ? 1ull : 0ull) << l; });
  each(w->mask, [&](unsigned l) { w->result[l] = yes | (unsigned long long)w->mask << 32; });
}
inline void match(Lanes* w) {
  each(w->mask, [w](unsigned l) {
    unsigned long long same = 0;
    each(w->mask, [&](unsigned k) { same |= (w->value[k] == w->value[l] ? 1ull : 0ull) << k; });
    w->result[l] = same | (unsigned long long)w->mask << 32;
  });
}

template <class T, class F>
inline void fold(Lanes* w) {
  T sum = from_word<T>(w->value[__builtin_ctz(w->mask)]);
  each(w->mask & (w->mask - 1), [&](unsigned l) { sum = F::apply(sum, from_word<T>(w->value[l])); });
  each(w->mask, [&](unsigned l) { w->result[l] = to_word(sum); });
}

// The lanes that a shuffle of the given width may read: those of the caller's section.
template <class T>
inline T shuffle(unsigned mask, T v, unsigned from) {
  return from_word<T>(run_time().warp(mask, to_word(v), from, exchange));
}

}  // namespace emu

// __syncthreads is a barrier of the block. _count, _or and _and return the number of threads with a
// predicate that is not 0, whether there is one, and whether all have one.
//
// Order: memory accesses of all threads before it are visible to all of them after it.
//
// Waits: for all threads of the block that have not returned.
//
// Example:
//
//   const int all = __syncthreads_and(x[threadIdx.x] > 0);
//   if (threadIdx.x == 0) x[0] = (float)all;
inline void __syncthreads() { ::emu::run_time().barrier(false); }
inline int __syncthreads_count(int p) { return (int)::emu::run_time().barrier(p != 0).yes; }
inline int __syncthreads_or(int p) { return ::emu::run_time().barrier(p != 0).yes != 0; }
inline int __syncthreads_and(int p) {
  const ::emu::Votes v = ::emu::run_time().barrier(p != 0);
  return v.yes == v.all;
}

// __syncwarp is a barrier of the lanes in mask.
//
// Order: as __syncthreads, for these lanes.
//
// Waits: for these lanes.
inline void __syncwarp(unsigned mask = ~0u) { ::emu::run_time().sync_warp(mask); }

// Fences of the device's, the block's and the system's scope. Peers need __threadfence_system or
// symm::fence.
//
// Order: all accesses before it against all accesses after it, for observers in the scope.
//
// Waits: until earlier stores are visible in the scope.
//
// On the cpu device: all three are the same; the sanitizer still distinguishes them.
inline void __threadfence() { symm_cpu_fence(1); }
inline void __threadfence_block() { symm_cpu_fence(0); }
inline void __threadfence_system() { symm_cpu_fence(2); }

// Shuffles: each lane of mask gets the value of another one: of a number, of a lane below or above,
// or of the lane whose number differs in some bits. A lane outside of the section of width lanes
// gets its own value.
//
// Order: none.
//
// Waits: for the lanes of mask.
//
// Example:
//
//   float sum = x[threadIdx.x];
//   for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
//   if (threadIdx.x == 0) x[0] = sum;
template <class T>
inline T __shfl_sync(unsigned mask, T v, int source, int width = 32) {
  const unsigned l = ::emu::lane(), section = l & ~(unsigned)(width - 1);
  return ::emu::shuffle(mask, v, section | ((unsigned)source & (unsigned)(width - 1)));
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32) {
  const unsigned l = ::emu::lane(), section = l & ~(unsigned)(width - 1);
  return ::emu::shuffle(mask, v, l >= section + delta ? l - delta : l);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32) {
  const unsigned l = ::emu::lane(), end = (l & ~(unsigned)(width - 1)) + (unsigned)width;
  return ::emu::shuffle(mask, v, l + delta < end ? l + delta : l);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = 32) {
  const unsigned l = ::emu::lane(), from = l ^ (unsigned)lanes, end = (l & ~(unsigned)(width - 1)) + (unsigned)width;
  return ::emu::shuffle(mask, v, from < end ? from : l);
}

// Votes and matches: which lanes of mask have a predicate, whether one or all have it, and which
// lanes have the same value.
//
// Order: none.
//
// Waits: for the lanes of mask.
//
// Example:
//
//   const unsigned lanes = __ballot_sync(~0u, x[threadIdx.x] > 0);
//   if (threadIdx.x == 0) x[0] = (float)__popc(lanes);
inline unsigned __ballot_sync(unsigned mask, int p) { return (unsigned)::emu::run_time().warp(mask, p != 0, 0, ::emu::vote); }
inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
inline int __all_sync(unsigned mask, int p) {
  const unsigned long long v = ::emu::run_time().warp(mask, p != 0, 0, ::emu::vote);
  return (unsigned)v == (unsigned)(v >> 32);
}
template <class T>
inline unsigned __match_any_sync(unsigned mask, T v) {
  return (unsigned)::emu::run_time().warp(mask, ::emu::to_word(v), 0, ::emu::match);
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T v, int* same) {
  const unsigned long long m = ::emu::run_time().warp(mask, ::emu::to_word(v), 0, ::emu::match);
  *same = (unsigned)m == (unsigned)(m >> 32);
  return *same ? (unsigned)m : 0;
}

// __activemask returns the lanes that run together.
//
// On the cpu device: the caller alone, because the scheduler decides which lanes are together.
inline unsigned __activemask() { return 1u << ::emu::lane(); }

#define EMU_REDUCE(name, T, expression)                                  \
  namespace emu {                                                        \
  struct name##_##T {                                                    \
    static T apply(T a, T b) { return expression; }                      \
  };                                                                     \
  }                                                                      \
  inline T __reduce_##name##_sync(unsigned mask, T v) {                  \
    return ::emu::from_word<T>(::emu::run_time().warp(mask, ::emu::to_word(v), 0, ::emu::fold<T, ::emu::name##_##T>)); \
  }
// Reductions over the lanes of mask, of integers of 32 bits.
//
// Order: none.
//
// Waits: for the lanes of mask.
//
// Example:
//
//   x[threadIdx.x] = (float)__reduce_add_sync(~0u, 1u);
EMU_REDUCE(add, int, (int)((unsigned)a + (unsigned)b))
EMU_REDUCE(add, unsigned, a + b)
EMU_REDUCE(min, int, a < b ? a : b)
EMU_REDUCE(min, unsigned, a < b ? a : b)
EMU_REDUCE(max, int, a > b ? a : b)
EMU_REDUCE(max, unsigned, a > b ? a : b)
EMU_REDUCE(and, unsigned, a & b)
EMU_REDUCE(or, unsigned, a | b)
EMU_REDUCE(xor, unsigned, a ^ b)
#undef EMU_REDUCE

// symm_cpu_yield is a failed poll, unless the load before it was one.
inline void symm_cpu_yield() {
  if (!::emu::gave_way()) ::emu::run_time().yield();
}
// symm_cpu_endless says, after each failed poll, that the thread polls in a loop that nothing but another value of the
// polled words, or the host's abort, ends. symm_cpu_found ends that.
__attribute__((no_sanitize("thread"))) inline void symm_cpu_endless() {
  ::emu::worker()->poll[::emu::worker()->thread->linear].endless = ::emu::kPolledAgain;
}
inline void symm_cpu_found() { ::emu::run_time().found(); }
inline void symm_cpu_report(void* record, const void* with, ::emu::Size bytes) { ::emu::run_time().report(record, with, bytes); }
inline void symm_cpu_leave() { ::emu::run_time().leave(); }
inline unsigned long long symm_cpu_nanos() { return ::emu::run_time().nanos(); }
inline void symm_cpu_ring(int descriptor) { ::emu::run_time().ring(descriptor); }

// __nanosleep lets other threads run for about so many nanoseconds.
//
// On the cpu device: it is one failed poll, whatever the time: other threads run, and the thread
// sleeps if polls keep failing.
inline void __nanosleep(unsigned) { symm_cpu_yield(); }

// clock64 and clock count cycles.
//
// On the cpu device: they read the processor's counter.
inline long long clock64() { return (long long)::emu::cycles(); }
inline int clock() { return (int)::emu::cycles(); }

// __trap and __brkpt end the grid with a fault.
//
// On the cpu device: the fault is reported with its place, and the session goes on. On a GPU __trap
// ends the context: the rank loses its tensors.
inline void __trap() { ::emu::run_time().fail("__trap was called", "", 0); }
inline void __brkpt() { ::emu::run_time().fail("__brkpt was called", "", 0); }
