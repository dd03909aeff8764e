// nccl/pointer.h: where a window's memory is, of this rank and of the peers whose memory it loads from and stores to.
#pragma once
#include "nccl/coop.h"

namespace symm {

struct NcclAbsent {};  // makes a session that is not there

// nccl_refuse reports a function that cannot be what it was asked for. It runs once, and costs a call.
__device__ __noinline__ inline void nccl_refuse(Watch* watch, int rank, u32 what, u32 ordinal, int peer, u64 value, u64 limit) {
  Context c = {};
  c.watch = watch, c.rank = rank, c.ordinal = ordinal;
  refuse(c, what, (u32)peer, 0, value, limit);
}

// nccl_field is a field of a window, which does not change while kernels run.
template <class T> __device__ __forceinline__ T nccl_field(const T* field) {
#ifdef SYMM_CPU
  return *field;
#else
  return __ldg(field);
#endif
}

// nccl_at is the address in a peer's part of a window, the number lsa in its LSA team, whom the caller calls peer.
//
// On GPUs it has no branch and no call, so that a loop over peers loads from several of them at once.
__device__ __forceinline__ void* nccl_at(ncclWindow_t w, size_t offset, int lsa, int peer) {
#ifdef SYMM_CPU
  if ((unsigned)lsa >= (unsigned)w->lsaSize) {
    nccl_refuse(w->watch, w->rank, kNcclPeer, 0, peer, (u64)(i64)lsa, (u64)w->lsaSize);
    return nullptr;
  }
  if (offset > w->bytes) {
    nccl_refuse(w->watch, w->rank, kNcclBytes, 0, peer, offset, w->bytes);
    return nullptr;
  }
  return w->lsa[lsa] + offset;
#else
  const unsigned size = nccl_field((const unsigned*)&w->lsaSize);
  const bool there = (unsigned)lsa < size;
  const u64 base = nccl_field((const unsigned long long*)&w->lsa[there ? lsa : 0]), watch = nccl_field((const unsigned long long*)&w->watch);
  asm volatile("{ .reg .pred absent; setp.eq.u32 absent, %0, 0; @absent st.relaxed.sys.global.u64 [%1], %2; }" ::"r"((unsigned)there),
               "l"(&((Watch*)watch)->absent), "l"((u64)(size + 1) << 32 | (unsigned)peer));
  return there ? (void*)(base + offset) : nullptr;
#endif
}

}  // namespace symm

NCCL_DEVICE_INLINE void* ncclGetLocalPointer(ncclWindow_t w, size_t offset) {
#ifdef SYMM_CPU
  return symm::nccl_at(w, offset, w->lsaRank, w->rank);
#else
  return (char*)symm::nccl_field((const unsigned long long*)&w->local) + offset;
#endif
}
NCCL_DEVICE_INLINE void* ncclGetLsaPointer(ncclWindow_t w, size_t offset, int peer) {
  return symm::nccl_at(w, offset, peer, symm::nccl_field(&w->rank) - symm::nccl_field(&w->lsaRank) + peer);
}
// ncclGetPeerPointer is nullptr, and refused, for a peer outside the LSA team.
NCCL_DEVICE_INLINE void* ncclGetPeerPointer(ncclWindow_t w, size_t offset, int peer) {
  return symm::nccl_at(w, offset, symm::nccl_field(&w->lsaRank) + peer - symm::nccl_field(&w->rank), peer);
}
NCCL_DEVICE_INLINE void* ncclGetPeerPointer(ncclWindow_t w, size_t offset, ncclTeam t, int peer) {
  const int away = (peer - t.rank) * t.stride;
  return symm::nccl_at(w, offset, symm::nccl_field(&w->lsaRank) + away, symm::nccl_field(&w->rank) + away);
}

// ncclSymPtr is an element of a window, of all ranks.
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

// Resource buffers: parts of the communicator's own window, by the handles that DeviceComm.Resource gives.
NCCL_DEVICE_INLINE size_t ncclGetResourceBufferOffset(ncclDevResourceHandle h) { return (size_t)h * 128; }
NCCL_DEVICE_INLINE ncclSymPtr<char> ncclGetResourceBuffer(ncclDevComm const& c, ncclDevResourceHandle h) { return {c.resourceWindow, ncclGetResourceBufferOffset(h)}; }
NCCL_DEVICE_INLINE void* ncclGetResourceBufferLocalPointer(ncclDevComm const& c, ncclDevResourceHandle h) { return ncclGetResourceBuffer(c, h).localPtr(); }
NCCL_DEVICE_INLINE void* ncclGetResourceBufferLsaPointer(ncclDevComm const& c, ncclDevResourceHandle h, int peer) { return ncclGetResourceBuffer(c, h).lsaPtr(peer); }
NCCL_DEVICE_INLINE void* ncclGetResourceBufferPeerPointer(ncclDevComm const& c, ncclDevResourceHandle h, ncclTeam t, int peer) {
  return ncclGetResourceBuffer(c, h).peerPtr(t, peer);
}
