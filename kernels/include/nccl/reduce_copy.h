// nccl/reduce_copy.h: sums of several sources, copies to several destinations, and both at once, by
// the threads of a coop.
//
// Sources and destinations are pointers by number, returned by a lambda or a functor; the LSA ranks
// of a team; a multimem pointer; or pieces of local memory. Floats of 16 and 8 bits are added as
// float, in the order of the numbers, and rounded once. count is the number of elements. The
// functions do not synchronise: the caller uses a barrier before, so that the data is there, and
// one after, so that it may change.
#pragma once
#include "nccl/multimem.h"

namespace symm {

struct NcclPlus {
  template <class T> __device__ __forceinline__ T operator()(T a, T b) const { return a + b; }
};

// NcclRanks and NcclPieces return pointers by number: to the memory of the ranks of a team, and to
// pieces of memory or to a single piece.
template <class T>
struct NcclRanks {
  ncclWindow_t window;
  size_t offset;
  ncclTeam team;
  __device__ __forceinline__ T* operator()(int i) const { return (T*)ncclGetPeerPointer(window, offset, team, i); }
};
template <class T>
struct NcclPieces {
  T* first;
  size_t pitch;
  __device__ __forceinline__ T* operator()(int i) const { return first + i * pitch; }
};

template <class T> struct NcclTwo { T a, b; };

// A pack is the elements that a thread moves at a time.
template <class T>
struct NcclPack {
  static constexpr int n = sizeof(T) < 16 ? 16 / (int)sizeof(T) : 1;
  union {
    u128 all;
    T each[n];
  };
  __device__ NcclPack() {}
};

template <bool sourceIsMultimem, bool destinationIsMultimem, class T, class Coop, class Source, class Destination, class Op>
__device__ __forceinline__ void nccl_reduce_copy(Coop coop, Source source, int sources, Destination destination, int destinations, Op op, size_t count) {
  typedef typename NcclSum<T>::type Sum;
  typedef NcclPack<T> Pack;
  size_t done = 0;
  if constexpr (!sourceIsMultimem && !destinationIsMultimem && sizeof(T) <= 8) {
    u64 places = 0;
    for (int i = 0; i < sources; i++) places |= (u64)source(i);
    for (int i = 0; i < destinations; i++) places |= (u64)destination(i);
    if (places % 16 == 0) {
      done = count / Pack::n * Pack::n;
      for (size_t at = (size_t)coop.thread_rank() * Pack::n; at < done; at += (size_t)coop.size() * Pack::n) {
        Pack pack;
        pack.all = *(const u128*)(source(0) + at);
        if (sources > 1) {
          Sum sum[Pack::n];
#pragma unroll
          for (int k = 0; k < Pack::n; k++) sum[k] = (Sum)pack.each[k];
          for (int i = 1; i < sources; i++) {
            pack.all = *(const u128*)(source(i) + at);
#pragma unroll
            for (int k = 0; k < Pack::n; k++) sum[k] = op(sum[k], (Sum)pack.each[k]);
          }
#pragma unroll
          for (int k = 0; k < Pack::n; k++) pack.each[k] = T(sum[k]);
        }
        for (int i = 0; i < destinations; i++) *(u128*)(destination(i) + at) = pack.all;
      }
    }
  }
  auto value = [&](size_t at) -> T {
    if constexpr (sourceIsMultimem) {
      return multimem_sum((const T*)source(0) + at);
    } else {
      if (sources == 1) return source(0)[at];
      Sum sum = (Sum)source(0)[at];
      for (int i = 1; i < sources; i++) sum = op(sum, (Sum)source(i)[at]);
      return T(sum);
    }
  };
  if constexpr (destinationIsMultimem && sizeof(T) == 2) {  // two at a time, which is faster
    if ((u64)destination(0) % 4 == 0) {
      done = count / 2 * 2;
      for (size_t at = 2 * (size_t)coop.thread_rank(); at < done; at += 2 * (size_t)coop.size()) {
        NcclWords<NcclTwo<T>> two;
        two.value.a = value(at), two.value.b = value(at + 1);
        multimem_store((u32*)(destination(0) + at), two.w[0]);
      }
    }
  }
  for (size_t at = done + coop.thread_rank(); at < count; at += coop.size()) {
    const T v = value(at);
    if constexpr (destinationIsMultimem) multimem_store(destination(0) + at, v);
    else
      for (int i = 0; i < destinations; i++) destination(i)[at] = v;
  }
}

}  // namespace symm

// A function's name says the source, the operation and the destination. UNROLL comes from NCCL and
// changes nothing here.

#define SYMM_NCCL_1(T, A) \
  template <typename T, typename Coop, typename A, typename IntCount, int UNROLL = 4 * 16 / sizeof(T), typename = decltype((*(A*)nullptr)(0))> NCCL_DEVICE_INLINE void
#define SYMM_NCCL_2(T, A, B) template <typename T, typename Coop, typename A, typename B, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)> NCCL_DEVICE_INLINE void
#define SYMM_NCCL_3(T, A, B, C) \
  template <typename T, typename Coop, typename A, typename B, typename C, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)> NCCL_DEVICE_INLINE void
#define SYMM_NCCL_0(T) template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)> NCCL_DEVICE_INLINE void

// Sources and destinations that are pointers by number.
//
// Order: none: a barrier before makes the sources visible, and one after the results.
//
// Waits: for nothing.
//
// Example:
//
//   const auto src = [=](int i) { return (float*)ncclGetLsaPointer(window, 0, i); };
//   const auto dst = [=](int i) { return x + i * n; };
//   ncclLsaReduceSumLsaCopy<float>(ncclCoopCta(), src, comm.lsaSize, dst, 1, n);
SYMM_NCCL_3(T, Src, Dst, Op) ncclLsaReduceLsaCopy(Coop coop, Src src, int nSrc, Dst dst, int nDst, Op const& op, IntCount count) {
  symm::nccl_reduce_copy<false, false, T>(coop, src, nSrc, dst, nDst, op, count);
}
SYMM_NCCL_3(T, Src, Dst, Op) ncclLsaReduceMultimemCopy(Coop coop, Src src, int nSrc, Dst dst, int nDst, Op const& op, IntCount count) {
  symm::nccl_reduce_copy<false, true, T>(coop, src, nSrc, dst, nDst, op, count);
}
SYMM_NCCL_2(T, Src, Dst) ncclLsaReduceSumLsaCopy(Coop coop, Src src, int nSrc, Dst dst, int nDst, IntCount count) {
  symm::nccl_reduce_copy<false, false, T>(coop, src, nSrc, dst, nDst, symm::NcclPlus(), count);
}
SYMM_NCCL_2(T, Src, Dst) ncclLsaReduceSumMultimemCopy(Coop coop, Src src, int nSrc, Dst dst, int nDst, IntCount count) {
  symm::nccl_reduce_copy<false, true, T>(coop, src, nSrc, dst, nDst, symm::NcclPlus(), count);
}
SYMM_NCCL_2(T, Src, Dst) ncclMultimemReduceSumLsaCopy(Coop coop, Src src, int nSrc, Dst dst, int nDst, IntCount count) {
  symm::nccl_reduce_copy<true, false, T>(coop, src, nSrc, dst, nDst, symm::NcclPlus(), count);
}
SYMM_NCCL_2(T, Src, Dst) ncclMultimemReduceSumMultimemCopy(Coop coop, Src src, int nSrc, Dst dst, int nDst, IntCount count) {
  symm::nccl_reduce_copy<true, true, T>(coop, src, nSrc, dst, nDst, symm::NcclPlus(), count);
}

// Sums into local memory.
//
// Order: none, as above.
//
// Waits: for nothing.
//
// Example:
//
//   ncclLsaReduceSum(ncclCoopCta(), window, 0, x, n, comm);
SYMM_NCCL_1(T, Src) ncclLsaReduceSum(Coop coop, Src src, int nSrc, T* dst, IntCount count) {
  ncclLsaReduceSumLsaCopy<T>(coop, src, nSrc, symm::NcclPieces<T>{dst, 0}, 1, count);
}
SYMM_NCCL_0(T) ncclLsaReduceSum(Coop coop, ncclWindow_t w, size_t offset, T* dst, IntCount count, ncclTeam team) {
  ncclLsaReduceSumLsaCopy<T>(coop, symm::NcclRanks<T>{w, offset, team}, team.nRanks, symm::NcclPieces<T>{dst, 0}, 1, count);
}
SYMM_NCCL_0(T) ncclLsaReduceSum(Coop coop, ncclWindow_t w, size_t offset, T* dst, IntCount count, ncclDevComm_t const& comm) {
  ncclLsaReduceSum(coop, w, offset, dst, count, ncclTeamLsa(comm));
}
SYMM_NCCL_0(T) ncclLsaReduceSum(Coop coop, ncclSymPtr<T> src, T* dst, IntCount count, ncclTeam team) { ncclLsaReduceSum(coop, src.window, src.offset, dst, count, team); }
SYMM_NCCL_0(T) ncclLsaReduceSum(Coop coop, ncclSymPtr<T> src, T* dst, IntCount count, ncclDevComm_t const& comm) { ncclLsaReduceSum(coop, src, dst, count, ncclTeamLsa(comm)); }
SYMM_NCCL_0(T) ncclMultimemReduceSum(Coop coop, T* src, T* dst, IntCount count) {
  ncclMultimemReduceSumLsaCopy<T>(coop, symm::NcclPieces<T>{src, 0}, 1, symm::NcclPieces<T>{dst, 0}, 1, count);
}
SYMM_NCCL_0(T) ncclMultimemReduceSum(Coop coop, ncclWindow_t w, size_t offset, T* dst, IntCount count, ncclMultimemHandle mm) {
  ncclMultimemReduceSum(coop, (T*)ncclGetMultimemPointer(w, offset, mm), dst, count);
}
SYMM_NCCL_0(T) ncclMultimemReduceSum(Coop coop, ncclSymPtr<T> src, T* dst, IntCount count, ncclMultimemHandle mm) { ncclMultimemReduceSum(coop, src.multimemPtr(mm), dst, count); }
SYMM_NCCL_1(T, Src) ncclLocalReduceSum(Coop coop, Src src, int nSrc, T* dst, IntCount count) { ncclLsaReduceSum(coop, src, nSrc, dst, count); }
SYMM_NCCL_0(T) ncclLocalReduceSum(Coop coop, int nSrc, T* base, size_t pitch, T* dst, IntCount count) {
  ncclLsaReduceSum(coop, symm::NcclPieces<T>{base, pitch}, nSrc, dst, count);
}

// Copies from local memory.
//
// Order: none, as above.
//
// Waits: for nothing.
//
// Example:
//
//   ncclLsaCopy(ncclCoopCta(), x, window, 0, n, comm);
SYMM_NCCL_1(T, Dst) ncclLsaCopy(Coop coop, T* src, Dst dst, int nDst, IntCount count) {
  ncclLsaReduceSumLsaCopy<T>(coop, symm::NcclPieces<T>{src, 0}, 1, dst, nDst, count);
}
SYMM_NCCL_0(T) ncclLsaCopy(Coop coop, T* src, ncclWindow_t w, size_t offset, IntCount count, ncclTeam team) {
  ncclLsaCopy(coop, src, symm::NcclRanks<T>{w, offset, team}, team.nRanks, count);
}
SYMM_NCCL_0(T) ncclLsaCopy(Coop coop, T* src, ncclWindow_t w, size_t offset, IntCount count, ncclDevComm_t const& comm) {
  ncclLsaCopy(coop, src, w, offset, count, ncclTeamLsa(comm));
}
SYMM_NCCL_0(T) ncclLsaCopy(Coop coop, T* src, ncclSymPtr<T> dst, IntCount count, ncclTeam team) { ncclLsaCopy(coop, src, dst.window, dst.offset, count, team); }
SYMM_NCCL_0(T) ncclLsaCopy(Coop coop, T* src, ncclSymPtr<T> dst, IntCount count, ncclDevComm_t const& comm) { ncclLsaCopy(coop, src, dst, count, ncclTeamLsa(comm)); }
SYMM_NCCL_0(T) ncclMultimemCopy(Coop coop, T* src, T* dst, IntCount count) {
  ncclLsaReduceSumMultimemCopy<T>(coop, symm::NcclPieces<T>{src, 0}, 1, symm::NcclPieces<T>{dst, 0}, 1, count);
}
SYMM_NCCL_0(T) ncclMultimemCopy(Coop coop, T* src, ncclWindow_t w, size_t offset, IntCount count, ncclMultimemHandle mm) {
  ncclMultimemCopy(coop, src, (T*)ncclGetMultimemPointer(w, offset, mm), count);
}
SYMM_NCCL_0(T) ncclMultimemCopy(Coop coop, T* src, ncclSymPtr<T> dst, IntCount count, ncclMultimemHandle mm) { ncclMultimemCopy(coop, src, dst.multimemPtr(mm), count); }
SYMM_NCCL_1(T, Dst) ncclLocalCopy(Coop coop, T* src, Dst dst, int nDst, IntCount count) { ncclLsaCopy(coop, src, dst, nDst, count); }
SYMM_NCCL_0(T) ncclLocalCopy(Coop coop, T* src, int nDst, T* base, size_t pitch, IntCount count) { ncclLsaCopy(coop, src, symm::NcclPieces<T>{base, pitch}, nDst, count); }

// Sums over all ranks, stored to all ranks.
//
// Order: none, as above.
//
// Waits: for nothing.
//
// Example:
//
//   ncclSymPtr<float> p(window, 0);
//   ncclLsaReduceSumCopy(ncclCoopCta(), p, p, n, ncclTeamLsa(comm));
SYMM_NCCL_0(T) ncclLsaReduceSumCopy(Coop coop, ncclSymPtr<T> src, ncclTeam srcTeam, ncclSymPtr<T> dst, ncclTeam dstTeam, IntCount count) {
  ncclLsaReduceSumLsaCopy<T>(coop, symm::NcclRanks<T>{src.window, src.offset, srcTeam}, srcTeam.nRanks, symm::NcclRanks<T>{dst.window, dst.offset, dstTeam}, dstTeam.nRanks, count);
}
SYMM_NCCL_0(T) ncclLsaReduceSumCopy(Coop coop, ncclSymPtr<T> src, ncclSymPtr<T> dst, IntCount count, ncclTeam team) { ncclLsaReduceSumCopy(coop, src, team, dst, team, count); }
SYMM_NCCL_0(T) ncclLsaReduceSumCopy(Coop coop, ncclSymPtr<T> src, ncclSymPtr<T> dst, IntCount count, ncclDevComm_t const& comm) {
  ncclLsaReduceSumCopy(coop, src, dst, count, ncclTeamLsa(comm));
}
SYMM_NCCL_0(T) ncclLsaReduceSumCopy(Coop coop, ncclWindow_t src, size_t srcOffset, ncclWindow_t dst, size_t dstOffset, IntCount count, ncclTeam team) {
  ncclLsaReduceSumCopy(coop, ncclSymPtr<T>(src, srcOffset), ncclSymPtr<T>(dst, dstOffset), count, team);
}
SYMM_NCCL_0(T) ncclLsaReduceSumCopy(Coop coop, ncclWindow_t src, size_t srcOffset, ncclWindow_t dst, size_t dstOffset, IntCount count, ncclDevComm_t const& comm) {
  ncclLsaReduceSumCopy<T>(coop, src, srcOffset, dst, dstOffset, count, ncclTeamLsa(comm));
}
SYMM_NCCL_0(T) ncclMultimemReduceSumCopy(Coop coop, T* src, T* dst, IntCount count) {
  ncclMultimemReduceSumMultimemCopy<T>(coop, symm::NcclPieces<T>{src, 0}, 1, symm::NcclPieces<T>{dst, 0}, 1, count);
}
SYMM_NCCL_0(T) ncclMultimemReduceSumCopy(Coop coop, ncclSymPtr<T> src, ncclMultimemHandle srcMm, ncclSymPtr<T> dst, ncclMultimemHandle dstMm, IntCount count) {
  ncclMultimemReduceSumCopy(coop, src.multimemPtr(srcMm), dst.multimemPtr(dstMm), count);
}
SYMM_NCCL_0(T) ncclMultimemReduceSumCopy(Coop coop, ncclWindow_t src, size_t srcOffset, ncclMultimemHandle srcMm, ncclWindow_t dst, size_t dstOffset, ncclMultimemHandle dstMm,
                                         IntCount count) {
  ncclMultimemReduceSumCopy(coop, ncclSymPtr<T>(src, srcOffset), srcMm, ncclSymPtr<T>(dst, dstOffset), dstMm, count);
}
SYMM_NCCL_0(T) ncclLsaReduceSumMultimemCopy(Coop coop, ncclSymPtr<T> src, ncclTeam team, T* dst, IntCount count) {
  ncclLsaReduceSumMultimemCopy<T>(coop, symm::NcclRanks<T>{src.window, src.offset, team}, team.nRanks, symm::NcclPieces<T>{dst, 0}, 1, count);
}
SYMM_NCCL_0(T) ncclLsaReduceSumMultimemCopy(Coop coop, ncclSymPtr<T> src, ncclTeam team, ncclSymPtr<T> dst, ncclMultimemHandle mm, IntCount count) {
  ncclLsaReduceSumMultimemCopy(coop, src, team, dst.multimemPtr(mm), count);
}
SYMM_NCCL_0(T) ncclMultimemReduceSumLsaCopy(Coop coop, T* src, ncclSymPtr<T> dst, ncclTeam team, IntCount count) {
  ncclMultimemReduceSumLsaCopy<T>(coop, symm::NcclPieces<T>{src, 0}, 1, symm::NcclRanks<T>{dst.window, dst.offset, team}, team.nRanks, count);
}
SYMM_NCCL_0(T) ncclMultimemReduceSumLsaCopy(Coop coop, ncclSymPtr<T> src, ncclMultimemHandle mm, ncclSymPtr<T> dst, ncclTeam team, IntCount count) {
  ncclMultimemReduceSumLsaCopy(coop, src.multimemPtr(mm), dst, team, count);
}
SYMM_NCCL_0(T) ncclLocalReduceSumCopy(Coop coop, int nSrc, T* src, size_t srcPitch, int nDst, T* dst, size_t dstPitch, IntCount count) {
  ncclLsaReduceSumLsaCopy<T>(coop, symm::NcclPieces<T>{src, srcPitch}, nSrc, symm::NcclPieces<T>{dst, dstPitch}, nDst, count);
}
#undef SYMM_NCCL_0
#undef SYMM_NCCL_1
#undef SYMM_NCCL_2
#undef SYMM_NCCL_3
