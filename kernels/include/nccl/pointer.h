// nccl/pointer.h: addresses in a window: of this rank, and of the peers whose memory this rank can
// load from and store to.
#pragma once
#include "nccl/coop.h"

namespace symm {

struct NcclAbsent {};  // makes a session that takes no part

// nccl_refuse reports a call with invalid arguments. It is rarely used, so it is not inlined.
__device__ __noinline__ inline void nccl_refuse(Watch* watch, int rank, u32 what, u32 ordinal, int peer, u64 value, u64 limit) {
  Context c = {};
  c.watch = watch, c.rank = rank, c.ordinal = ordinal;
  refuse(c, what, (u32)peer, 0, value, limit);
}

// nccl_field loads a field of a window. Fields do not change while kernels run.
template <class T> __device__ __forceinline__ T nccl_field(const T* field) {
#ifdef SYMM_CPU
  return *field;
#else
  return __ldg(field);
#endif
}

#ifdef SYMM_CPU
// nccl_at returns the address of an offset in a peer's part of a window. lsa is the peer's number
// in the LSA team, peer its number in the caller's argument, for the report. If the peer or the
// place does not exist, the result is null and the call is refused.
__device__ __forceinline__ void* nccl_at(ncclWindow_t w, size_t offset, int lsa, int peer) {
  if ((unsigned)lsa >= (unsigned)w->lsaSize) {
    nccl_refuse(w->watch, w->rank, kNcclPeer, 0, peer, (u64)(i64)lsa, (u64)w->lsaSize);
    return nullptr;
  }
  if (offset > w->bytes) {
    nccl_refuse(w->watch, w->rank, kNcclBytes, 0, peer, offset, w->bytes);
    return nullptr;
  }
  return w->lsa[lsa] + offset;
}
#else
// nccl_at returns the address of an offset in a window's part of rank lsa of the LSA team, or null
// if this rank does not exist. It takes one independent load and no branch, so that a loop over
// ranks overlaps its loads.
__device__ __forceinline__ void* nccl_at(ncclWindow_t w, size_t offset, int lsa) {
  const unsigned at = (unsigned)lsa < (unsigned)kMaxRanks ? (unsigned)lsa : (unsigned)kMaxRanks;  // w->none
  const u64 part = nccl_field((const unsigned long long*)w->lsa + at);
  return part ? (void*)(part + offset) : nullptr;
}

// The overload with a peer also reports to the host if the rank does not exist. The thread's later
// loads are not moved before that store.
__device__ __forceinline__ void* nccl_at(ncclWindow_t w, size_t offset, int lsa, int peer) {
  void* const p = nccl_at(w, offset, lsa);
  const u64 watch = nccl_field((const unsigned long long*)&w->watch), size = nccl_field((const unsigned*)&w->lsaSize);
  asm volatile("{ .reg .pred absent; setp.eq.u64 absent, %0, 0; @absent st.relaxed.sys.global.u64 [%1], %2; }" ::"l"((u64)p),
               "l"(&((Watch*)watch)->absent), "l"((size + 1) << 32 | (unsigned)peer));
  return p;
}
#endif

}  // namespace symm

// ncclGetLocalPointer returns this rank's address of a place in a window.
//
// Example:
//
//   float* const mine = (float*)ncclGetLocalPointer(window, 0);
//   mine[threadIdx.x] = 1;
NCCL_DEVICE_INLINE void* ncclGetLocalPointer(ncclWindow_t w, size_t offset) {
#ifdef SYMM_CPU
  return symm::nccl_at(w, offset, w->lsaRank, w->rank);
#else
  return (char*)symm::nccl_field((const unsigned long long*)&w->local) + offset;
#endif
}
// ncclGetLsaPointer returns the address of a place in the part of a rank of the LSA team. It
// returns nullptr if the team has no rank of this number.
//
// Cost: a barrier, 4 such loads for every 16 bytes of 4096, their sum, a store and a barrier take
// 1.72 us on one H200 with one rank (docs/benchmarks.md, A kernel of NCCL's device API).
//
// On the cpu device: a call for a rank that the team does not have is refused too, and so is an
// offset beyond the window.
//
// Example:
//
//   x[threadIdx.x] = ((float*)ncclGetLsaPointer(window, 0, peer))[threadIdx.x];
NCCL_DEVICE_INLINE void* ncclGetLsaPointer(ncclWindow_t w, size_t offset, int peer) {
#ifdef SYMM_CPU
  return symm::nccl_at(w, offset, peer, w->rank - w->lsaRank + peer);
#else
  return symm::nccl_at(w, offset, peer);
#endif
}
// ncclGetPeerPointer returns the address of a place in the part of a rank of the group, or of a
// team. It returns nullptr, and the call is refused, for a peer outside the LSA team.
//
// Example:
//
//   float* const theirs = (float*)ncclGetPeerPointer(window, 0, peer);
//   if (theirs) x[threadIdx.x] = theirs[threadIdx.x];
NCCL_DEVICE_INLINE void* ncclGetPeerPointer(ncclWindow_t w, size_t offset, int peer) {
  return symm::nccl_at(w, offset, symm::nccl_field(&w->lsaRank) + peer - symm::nccl_field(&w->rank), peer);
}
NCCL_DEVICE_INLINE void* ncclGetPeerPointer(ncclWindow_t w, size_t offset, ncclTeam t, int peer) {
  const int away = (peer - t.rank) * t.stride;
  return symm::nccl_at(w, offset, symm::nccl_field(&w->lsaRank) + away, symm::nccl_field(&w->rank) + away);
}

// ncclSymPtr points to an element of a window, in the memory of all ranks. Arithmetic counts
// elements.
//
// Example:
//
//   ncclSymPtr<float> p(window, 0);
//   x[0] = (p + 1).lsaPtr(peer)[0];
template <typename T>
struct ncclSymPtr {
  using ElementType = T;
  ncclWindow_t window;
  size_t offset;
  __host__ __device__ constexpr ncclSymPtr(ncclWindow_t window = nullptr, size_t offset = 0) : window(window), offset(offset) {}
  template <typename U> NCCL_DEVICE_INLINE operator ncclSymPtr<U>() const { return {window, offset}; }
  template <typename Int> NCCL_DEVICE_INLINE ncclSymPtr& operator+=(Int d) { offset += (size_t)(long long)d * sizeof(T); return *this; }
  template <typename Int> NCCL_DEVICE_INLINE ncclSymPtr& operator-=(Int d) { offset -= (size_t)(long long)d * sizeof(T); return *this; }
  NCCL_DEVICE_INLINE T* localPtr() const { return (T*)ncclGetLocalPointer(window, offset); }
  NCCL_DEVICE_INLINE T* lsaPtr(int peer) const { return (T*)ncclGetLsaPointer(window, offset, peer); }
  NCCL_DEVICE_INLINE T* peerPtr(int peer) const { return (T*)ncclGetPeerPointer(window, offset, peer); }
  NCCL_DEVICE_INLINE T* multimemPtr(ncclMultimemHandle mm) const;  // see nccl/multimem.h
  NCCL_DEVICE_INLINE T* lsaMultimemPtr(ncclDevComm const& c) const;
  NCCL_DEVICE_INLINE T* peerPtr(ncclTeam t, int peer) const { return (T*)ncclGetPeerPointer(window, offset, t, peer); }
};
template <typename T, typename Int> NCCL_DEVICE_INLINE ncclSymPtr<T> operator+(ncclSymPtr<T> p, Int d) { return p += d; }
template <typename T, typename Int> NCCL_DEVICE_INLINE ncclSymPtr<T> operator-(ncclSymPtr<T> p, Int d) { return p -= d; }
template <typename T> NCCL_DEVICE_INLINE long long operator-(ncclSymPtr<T> a, ncclSymPtr<T> b) { return (long long)(a.offset - b.offset) / (long long)sizeof(T); }
template <typename T> NCCL_DEVICE_INLINE bool operator==(ncclSymPtr<T> a, ncclSymPtr<T> b) { return a.window == b.window && a.offset == b.offset; }
template <typename T> NCCL_DEVICE_INLINE bool operator!=(ncclSymPtr<T> a, ncclSymPtr<T> b) { return !(a == b); }

// Resource buffers: parts of the communicator's own window, by the handles that DeviceComm.Resource
// returns.
NCCL_DEVICE_INLINE size_t ncclGetResourceBufferOffset(ncclDevResourceHandle h) { return (size_t)h * 128; }
NCCL_DEVICE_INLINE ncclSymPtr<char> ncclGetResourceBuffer(ncclDevComm const& c, ncclDevResourceHandle h) { return {c.resourceWindow, ncclGetResourceBufferOffset(h)}; }
NCCL_DEVICE_INLINE void* ncclGetResourceBufferLocalPointer(ncclDevComm const& c, ncclDevResourceHandle h) { return ncclGetResourceBuffer(c, h).localPtr(); }
NCCL_DEVICE_INLINE void* ncclGetResourceBufferLsaPointer(ncclDevComm const& c, ncclDevResourceHandle h, int peer) { return ncclGetResourceBuffer(c, h).lsaPtr(peer); }
NCCL_DEVICE_INLINE void* ncclGetResourceBufferPeerPointer(ncclDevComm const& c, ncclDevResourceHandle h, ncclTeam t, int peer) {
  return ncclGetResourceBuffer(c, h).peerPtr(t, peer);
}
