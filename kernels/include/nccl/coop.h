// nccl/coop.h: the threads that call a function together. A coop has thread_rank(), size(),
// num_threads() and sync().
#pragma once
#include "nccl/types.h"

namespace symm {

__device__ __forceinline__ u32 lane_of_warp() {
#ifdef SYMM_CPU
  return ::emu::lane();
#else
  u32 l;
  asm("mov.u32 %0, %%laneid;" : "=r"(l));
  return l;
#endif
}

__device__ __forceinline__ int thread_of_block() { return (int)((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x); }

// nccl_span_sync is a barrier of the given number of threads of a block. Several spans may use it
// at the same time with different ids.
__device__ __forceinline__ void nccl_span_sync(u32 id, u32 threads) {
#ifdef SYMM_CPU
  ::emu::run_time().span_barrier(id, threads);
#else
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
#endif
}

}  // namespace symm

// ncclCoopTile is the caller's tile: nThreads lanes of a warp, an aligned power of two.
template <int nThreads>
struct ncclCoopTile {
  static_assert(nThreads >= 1 && nThreads <= 32 && (nThreads & (nThreads - 1)) == 0, "a tile has a power of two of threads, at most a warp's");
  NCCL_DEVICE_INLINE int thread_rank() const { return (int)(symm::lane_of_warp() % nThreads); }
  NCCL_DEVICE_INLINE constexpr int size() const { return nThreads; }
  NCCL_DEVICE_INLINE constexpr int num_threads() const { return nThreads; }
  NCCL_DEVICE_INLINE unsigned int laneMask() const { return ~0u >> (32 - nThreads) << (symm::lane_of_warp() & ~(nThreads - 1u)); }
  NCCL_DEVICE_INLINE void sync() {
    if (nThreads > 1) __syncwarp(laneMask());
  }
};
typedef ncclCoopTile<1> ncclCoopThread;
typedef ncclCoopTile<32> ncclCoopWarp;

// ncclCoopLanes is some lanes of the caller's warp.
struct ncclCoopLanes {
  unsigned int lmask;
  NCCL_DEVICE_INLINE constexpr ncclCoopLanes(unsigned int lmask = ~0u) : lmask(lmask) {}
  NCCL_DEVICE_INLINE int thread_rank() const { return __popc(lmask & ((1u << symm::lane_of_warp()) - 1)); }
  NCCL_DEVICE_INLINE int size() const { return __popc(lmask); }
  NCCL_DEVICE_INLINE int num_threads() const { return __popc(lmask); }
  NCCL_DEVICE_INLINE void sync() { __syncwarp(lmask); }
};

// ncclCoopWarpSpan is nWarps warps from warp0 on. Spans that meet at the same time have different
// ids, from 0 to 14.
struct ncclCoopWarpSpan {
  unsigned int warp0 : 8, nWarps : 8, id : 8;
  NCCL_DEVICE_INLINE constexpr ncclCoopWarpSpan(int warp0, int nWarps, int id) : warp0(warp0), nWarps(nWarps), id(id) {}
  NCCL_DEVICE_INLINE int thread_rank() const { return symm::thread_of_block() - 32 * (int)warp0; }
  NCCL_DEVICE_INLINE int size() const { return 32 * (int)nWarps; }
  NCCL_DEVICE_INLINE int num_threads() const { return 32 * (int)nWarps; }
  NCCL_DEVICE_INLINE void sync() { symm::nccl_span_sync(1 + id, 32 * nWarps); }
};

// ncclCoopCta is the block.
//
// Example:
//
//   ncclCoopCta block;
//   if (block.thread_rank() == 0) x[0] = (float)block.size();
//   block.sync();
struct ncclCoopCta {
  NCCL_DEVICE_INLINE int thread_rank() const { return symm::thread_of_block(); }
  NCCL_DEVICE_INLINE int size() const { return (int)(blockDim.x * blockDim.y * blockDim.z); }
  NCCL_DEVICE_INLINE int num_threads() const { return size(); }
  NCCL_DEVICE_INLINE void sync() { __syncthreads(); }
};

// ncclCoopAny holds any coop.
struct ncclCoopAny {
  struct Storage { alignas(alignof(void*)) char space[16]; };
  struct VTable {
    int (*thread_rank)(void const*);
    int (*size)(void const*);
    void (*sync)(void*);
  };
  template <typename Impl> __device__ static int thread_rank(void const* o) { return static_cast<Impl const*>(o)->thread_rank(); }
  template <typename Impl> __device__ static int size(void const* o) { return static_cast<Impl const*>(o)->size(); }
  template <typename Impl> __device__ static void sync(void* o) { static_cast<Impl*>(o)->sync(); }
  template <typename Impl> __device__ static VTable const* get_vtable() {
    static_assert(sizeof(Impl) <= sizeof(Storage) && alignof(Impl) <= alignof(Storage), "the coop is too large for ncclCoopAny");
    static constexpr VTable v = {&thread_rank<Impl>, &size<Impl>, &sync<Impl>};
    return &v;
  }
  Storage storage;
  VTable const* vtable;
  ncclCoopAny() = default;
  ncclCoopAny(ncclCoopAny const&) = default;
  template <typename Impl> __device__ ncclCoopAny(Impl impl) : vtable(get_vtable<Impl>()) { *reinterpret_cast<Impl*>(&storage) = impl; }
  __device__ int thread_rank() const { return vtable->thread_rank(&storage); }
  __device__ int size() const { return vtable->size(&storage); }
  __device__ int num_threads() const { return vtable->size(&storage); }
  __device__ void sync() { vtable->sync(&storage); }
};

// ncclCoopGetLaneMask is the caller's lanes of its warp.
template <int n> NCCL_DEVICE_INLINE unsigned int ncclCoopGetLaneMask(ncclCoopTile<n> c) { return c.laneMask(); }
NCCL_DEVICE_INLINE unsigned int ncclCoopGetLaneMask(ncclCoopLanes c) { return c.lmask; }
NCCL_DEVICE_INLINE unsigned int ncclCoopGetLaneMask(ncclCoopWarpSpan) { return ~0u; }
NCCL_DEVICE_INLINE unsigned int ncclCoopGetLaneMask(ncclCoopCta) { return ~0u; }

// ncclCoopIsThread reports whether a coop is one thread.
template <int n> NCCL_DEVICE_INLINE constexpr bool ncclCoopIsThread(ncclCoopTile<n>) { return n == 1; }
NCCL_DEVICE_INLINE constexpr bool ncclCoopIsThread(ncclCoopLanes) { return false; }
NCCL_DEVICE_INLINE constexpr bool ncclCoopIsThread(ncclCoopWarpSpan) { return false; }
NCCL_DEVICE_INLINE constexpr bool ncclCoopIsThread(ncclCoopCta) { return false; }

// ncclCoopWithinWarp reports whether a coop lies in one warp.
template <int n> NCCL_DEVICE_INLINE constexpr bool ncclCoopWithinWarp(ncclCoopTile<n>) { return true; }
NCCL_DEVICE_INLINE constexpr bool ncclCoopWithinWarp(ncclCoopLanes) { return true; }
NCCL_DEVICE_INLINE constexpr bool ncclCoopWithinWarp(ncclCoopWarpSpan) { return false; }
NCCL_DEVICE_INLINE constexpr bool ncclCoopWithinWarp(ncclCoopCta) { return false; }

// ncclCoopCoalesced returns threads of the caller's warp that run this call together: all threads
// of a coop, or the threads that the hardware runs together.
//
// On the cpu device: without a coop, the calling thread alone, because threads run by themselves.
NCCL_DEVICE_INLINE ncclCoopLanes ncclCoopCoalesced() { return ncclCoopLanes{__activemask()}; }
template <typename Coop> NCCL_DEVICE_INLINE ncclCoopTile<32> ncclCoopCoalesced(Coop) { return {}; }
NCCL_DEVICE_INLINE ncclCoopLanes ncclCoopCoalesced(ncclCoopLanes c) { return c; }
template <int n> NCCL_DEVICE_INLINE ncclCoopTile<n> ncclCoopCoalesced(ncclCoopTile<n> c) { return c; }

namespace symm {

// NcclWords holds a value as words of 4 bytes, for shuffles and packets.
template <typename T>
union NcclWords {
  static constexpr int n = (int)((sizeof(T) + 3) / 4);
  u32 w[n];
  T value;
  __device__ NcclWords() {}
};

template <typename T>
__device__ __forceinline__ T nccl_shuffle(u32 mask, T value, int lane, int width) {
  NcclWords<T> words;
  words.value = value;
#pragma unroll
  for (int i = 0; i < NcclWords<T>::n; i++) words.w[i] = __shfl_sync(mask, words.w[i], lane, width);
  return words.value;
}

struct alignas(16) NcclStash { char bytes[16]; };
__device__ __forceinline__ NcclStash* nccl_stash() {  // of the block, for each span and, last, for itself
  __shared__ NcclStash stash[16];
  return stash;
}

template <typename Coop, typename T>
__device__ __forceinline__ T nccl_bcast(Coop coop, NcclStash* stash, T value, int root, bool entrySync) {
  static_assert(sizeof(T) <= sizeof(NcclStash), "a value that a block broadcasts has at most 16 bytes");
  if (entrySync) coop.sync();
  if (coop.thread_rank() == root) *(T*)stash = value;
  coop.sync();
  return *(T*)stash;
}

__device__ __forceinline__ bool nccl_all_lanes(u32 mask, bool ok) {
  ok = __all_sync(mask, ok);
  __syncwarp(mask);  // a vote orders no memory
  return ok;
}

// nccl_all synchronises a coop's threads and returns whether all of them pass true. For coops of
// several warps that are not the whole block, it returns the caller's own value.
template <typename Coop> __device__ __forceinline__ bool nccl_all(Coop& c, bool ok) { c.sync(); return ok; }
template <int n> __device__ __forceinline__ bool nccl_all(ncclCoopTile<n>& c, bool ok) { return n == 1 ? ok : nccl_all_lanes(c.laneMask(), ok); }
__device__ __forceinline__ bool nccl_all(ncclCoopLanes& c, bool ok) { return nccl_all_lanes(c.lmask, ok); }
__device__ __forceinline__ bool nccl_all(ncclCoopCta&, bool ok) { return __syncthreads_and(ok) != 0; }

}  // namespace symm

// ncclCoopBcast gives all threads of a coop the value of its thread number root. entrySync may be
// false if the threads have synchronised since the previous broadcast.
//
// Waits: for the threads of the coop.
//
// Example:
//
//   x[threadIdx.x] = ncclCoopBcast(ncclCoopCta(), x[threadIdx.x], 0);
template <int n, typename T>
NCCL_DEVICE_INLINE T ncclCoopBcast(ncclCoopTile<n> c, T value, int root, bool entrySync = true) {
  return n == 1 ? value : symm::nccl_shuffle(c.laneMask(), value, root, n);
}
template <typename T>
NCCL_DEVICE_INLINE T ncclCoopBcast(ncclCoopLanes c, T value, int root, bool entrySync = true) {
  unsigned int left = c.lmask;
  for (int i = 0; i < root; i++) left &= left - 1;
  return symm::nccl_shuffle(c.lmask, value, __ffs((int)left) - 1, 32);
}
template <typename T>
NCCL_DEVICE_INLINE T ncclCoopBcast(ncclCoopWarpSpan c, T value, int root, bool entrySync = true) {
  return symm::nccl_bcast(c, symm::nccl_stash() + c.id, value, root, entrySync);
}
template <typename T>
NCCL_DEVICE_INLINE T ncclCoopBcast(ncclCoopCta c, T value, int root, bool entrySync = true) {
  return symm::nccl_bcast(c, symm::nccl_stash() + 15, value, root, entrySync);
}
