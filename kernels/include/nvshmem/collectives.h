// nvshmem/collectives.h: collectives of a team of PEs. All PEs of the team call them, with the same
// arguments, by one thread or, with _warp and _block, by one warp or one block; one at a time.
#pragma once
#include "nvshmem/sync.h"

namespace symm {

template <class Team> __device__ __forceinline__ int shmem_broadcast(ShmemSite s, nvshmem_team_t team, void* dest, const void* source, u64 bytes, u64 align, int root) {
  shmem_has_team(s, team);
  const int n = shmem_size(s.w, team);
  if ((u32)root >= (u32)n) shmem_refuse(s, kShmemPe, root, (u64)(i64)root, (u64)n);
  if (shmem_rank(s.w, team) == root)
    for (int i = 0; i < n; i++) {
      const int pe = shmem_pe(s.w, team, (root + 1 + i) % n);
      if (pe != s.w->context.rank || dest != source) shmem_put<Team>(s, dest, source, bytes, align, pe, false);
    }
  shmem_sync<Team>(s, team, true);
  return 0;
}

template <class Team> __device__ __forceinline__ int shmem_fcollect(ShmemSite s, nvshmem_team_t team, void* dest, const void* source, u64 bytes, u64 align) {
  shmem_has_team(s, team);
  const int n = shmem_size(s.w, team), me = shmem_rank(s.w, team);
  for (int i = 1; i <= n; i++) shmem_put<Team>(s, (char*)dest + (u64)me * bytes, source, bytes, align, shmem_pe(s.w, team, (me + i) % n), false);
  shmem_sync<Team>(s, team, true);
  return 0;
}

template <class Team> __device__ __forceinline__ int shmem_alltoall(ShmemSite s, nvshmem_team_t team, void* dest, const void* source, u64 bytes, u64 align) {
  shmem_has_team(s, team);
  const int n = shmem_size(s.w, team), me = shmem_rank(s.w, team);
  for (int i = 1; i <= n; i++) {
    const int to = (me + i) % n;
    shmem_put<Team>(s, (char*)dest + (u64)me * bytes, (const char*)source + (u64)to * bytes, bytes, align, shmem_pe(s.w, team, to), false);
  }
  shmem_sync<Team>(s, team, true);
  return 0;
}

struct ShmemSum { template <class T> __device__ static __forceinline__ T of(T a, T b) { return (T)(a + b); } };
struct ShmemProd { template <class T> __device__ static __forceinline__ T of(T a, T b) { return (T)(a * b); } };
struct ShmemMin { template <class T> __device__ static __forceinline__ T of(T a, T b) { return b < a ? b : a; } };
struct ShmemMax { template <class T> __device__ static __forceinline__ T of(T a, T b) { return a < b ? b : a; } };
struct ShmemAnd { template <class T> __device__ static __forceinline__ T of(T a, T b) { return (T)(a & b); } };
struct ShmemOr { template <class T> __device__ static __forceinline__ T of(T a, T b) { return (T)(a | b); } };
struct ShmemXor { template <class T> __device__ static __forceinline__ T of(T a, T b) { return (T)(a ^ b); } };

// shmem_reduce reduces elements [first, first + n) of source in the order of the PEs and stores
// them at `to` of this PE or, if it shares, of all PEs of the team. Sources on other hosts are
// fetched piece by piece.
template <class Team, class T, class Op> __device__ SYMM_INLINE_TEMPLATE void shmem_reduce_part(ShmemSite s, nvshmem_team_t team, T* to, const T* source, u64 first, u64 n, bool shares) {
  const int size = shmem_size(s.w, team);
  const bool far = s.w->net && !shmem_is_near(team);
  const u64 piece = far ? kShmemChunk / sizeof(T) : n;
  T* const sum = (T*)s.w->chunks;
  for (u64 at = 0; at < n; at += piece) {
    const u64 here = n - at < piece ? n - at : piece;
    if (!far) {
      for (u64 i = Team::rank(); i < here; i += Team::size()) {
        T value = *(const T*)shmem_place(s, source + first + at + i, sizeof(T), sizeof(T), shmem_pe(s.w, team, 0)).near;
        for (int p = 1; p < size; p++) value = Op::of(value, *(const T*)shmem_place(s, source + first + at + i, sizeof(T), sizeof(T), shmem_pe(s.w, team, p)).near);
        if (!shares) to[at + i] = value;
        else for (int p = 0; p < size; p++) *(T*)shmem_place(s, to + at + i, sizeof(T), sizeof(T), shmem_pe(s.w, team, p)).near = value;
      }
      continue;
    }
    for (int p = 0; p < size; p++) {
      T* const in = p == 0 ? sum : (T*)(s.w->chunks + kShmemChunk);
      shmem_get<Team>(s, in, source + first + at, here * sizeof(T), sizeof(T), shmem_pe(s.w, team, p), true);
      if (p)
        for (u64 i = Team::rank(); i < here; i += Team::size()) sum[i] = Op::of(sum[i], in[i]);
      Team::sync();
    }
    if (!shares) shmem_copy<Team>(to + at, sum, here * sizeof(T));
    else for (int p = 0; p < size; p++) shmem_put<Team>(s, to + at, sum, here * sizeof(T), sizeof(T), shmem_pe(s.w, team, p), true);
    Team::sync();
  }
}

// shmem_reduce: every PE reduces a part of the elements and stores it at all PEs.
template <class Team, class T, class Op> __device__ SYMM_INLINE_TEMPLATE int shmem_reduce(ShmemSite s, nvshmem_team_t team, T* dest, const T* source, u64 n) {
  shmem_sync<Team>(s, team, false);
  const u64 size = (u64)shmem_size(s.w, team), me = (u64)shmem_rank(s.w, team), part = (n + size - 1) / size;
  const u64 first = me * part < n ? me * part : n, count = n - first < part ? n - first : part;
  shmem_reduce_part<Team, T, Op>(s, team, dest + first, source, first, count, true);
  shmem_sync<Team>(s, team, true);
  return 0;
}

template <class Team, class T, class Op> __device__ SYMM_INLINE_TEMPLATE int shmem_reducescatter(ShmemSite s, nvshmem_team_t team, T* dest, const T* source, u64 n) {
  shmem_sync<Team>(s, team, false);
  shmem_reduce_part<Team, T, Op>(s, team, dest, source, (u64)shmem_rank(s.w, team) * n, n, false);
  shmem_sync<Team>(s, team, true);
  return 0;
}

}  // namespace symm

// nvshmem_TYPE_broadcast copies nelems elements from source on PE root of the team to dest on all
// its PEs. nvshmem_TYPE_fcollect copies the nelems elements of every PE's source to dest on all
// PEs, in the order of the PEs. nvshmem_TYPE_alltoall copies part j of source on PE i, of nelems
// elements, to part i of dest on PE j. nvshmem_broadcastmem, nvshmem_fcollectmem and
// nvshmem_alltoallmem count bytes. All of them return 0.
//
// Order: on return the elements are in dest, and source may be overwritten. dest of all PEs must be
// ready before any PE calls.
//
// Waits: for all PEs of the team.
//
// Example:
//
//   nvshmemx_float_broadcast_block(NVSHMEM_TEAM_WORLD, data, data, n, 0);
#define SYMM_SHMEM_EXCHANGE(PREFIX, SUFFIX, TEAM, MEM, TYPE, SIZE)                                                                                              \
  SYMM_SHMEM int PREFIX##broadcast##MEM##SUFFIX(nvshmem_team_t team, TYPE* dest, const TYPE* source, size_t nelems, int root, SYMM_SHMEM_LINE) {                \
    return symm::shmem_broadcast<symm::TEAM>(symm::ShmemSite(symm::kShmemBroadcast, line), team, dest, source, nelems * SIZE, SIZE, root);                      \
  }                                                                                                                                                             \
  SYMM_SHMEM int PREFIX##fcollect##MEM##SUFFIX(nvshmem_team_t team, TYPE* dest, const TYPE* source, size_t nelems, SYMM_SHMEM_LINE) {                           \
    return symm::shmem_fcollect<symm::TEAM>(symm::ShmemSite(symm::kShmemFcollect, line), team, dest, source, nelems * SIZE, SIZE);                              \
  }                                                                                                                                                             \
  SYMM_SHMEM int PREFIX##alltoall##MEM##SUFFIX(nvshmem_team_t team, TYPE* dest, const TYPE* source, size_t nelems, SYMM_SHMEM_LINE) {                           \
    return symm::shmem_alltoall<symm::TEAM>(symm::ShmemSite(symm::kShmemAlltoall, line), team, dest, source, nelems * SIZE, SIZE);                              \
  }
#define SYMM_SHMEM_EXCHANGES(NAME, TYPE)                                        \
  SYMM_SHMEM_EXCHANGE(nvshmem_##NAME##_, , Thread, , TYPE, sizeof(TYPE))        \
  SYMM_SHMEM_EXCHANGE(nvshmemx_##NAME##_, _warp, Warp, , TYPE, sizeof(TYPE))    \
  SYMM_SHMEM_EXCHANGE(nvshmemx_##NAME##_, _block, Block, , TYPE, sizeof(TYPE))
SYMM_SHMEM_TYPES(SYMM_SHMEM_EXCHANGES)
SYMM_SHMEM_EXCHANGE(nvshmem_, , Thread, mem, void, 1)
SYMM_SHMEM_EXCHANGE(nvshmemx_, _warp, Warp, mem, void, 1)
SYMM_SHMEM_EXCHANGE(nvshmemx_, _block, Block, mem, void, 1)
#undef SYMM_SHMEM_EXCHANGES
#undef SYMM_SHMEM_EXCHANGE

// nvshmem_TYPE_OP_reduce combines the nreduce elements of source on all PEs of the team, and stores
// the result in dest on all of them. OP is sum, prod, min or max, and for integers also and, or or
// xor. dest may be source. nvshmem_TYPE_OP_reducescatter combines parts of nreduce elements: PE i
// gets part i. All PEs combine in the same order, so all get the same bits. Both return 0.
//
// Order: on return the elements are in dest, and source may be overwritten. dest of all PEs must be
// ready before any PE calls.
//
// Waits: for all PEs of the team.
//
// Example:
//
//   nvshmemx_float_sum_reduce_block(NVSHMEM_TEAM_WORLD, data, data, n);
#define SYMM_SHMEM_REDUCE(PREFIX, SUFFIX, TEAM, TYPE, LOWER, UPPER)                                                                                       \
  SYMM_SHMEM int PREFIX##LOWER##_reduce##SUFFIX(nvshmem_team_t team, TYPE* dest, const TYPE* source, size_t nreduce, SYMM_SHMEM_LINE) {                   \
    return symm::shmem_reduce<symm::TEAM, TYPE, symm::Shmem##UPPER>(symm::ShmemSite(symm::kShmemReduce, line), team, dest, source, nreduce);              \
  }                                                                                                                                                       \
  SYMM_SHMEM int PREFIX##LOWER##_reducescatter##SUFFIX(nvshmem_team_t team, TYPE* dest, const TYPE* source, size_t nreduce, SYMM_SHMEM_LINE) {            \
    return symm::shmem_reducescatter<symm::TEAM, TYPE, symm::Shmem##UPPER>(symm::ShmemSite(symm::kShmemReduceScatter, line), team, dest, source, nreduce); \
  }
#define SYMM_SHMEM_REDUCES(NAME, TYPE, LOWER, UPPER)                                   \
  SYMM_SHMEM_REDUCE(nvshmem_##NAME##_, , Thread, TYPE, LOWER, UPPER)                   \
  SYMM_SHMEM_REDUCE(nvshmemx_##NAME##_, _warp, Warp, TYPE, LOWER, UPPER)               \
  SYMM_SHMEM_REDUCE(nvshmemx_##NAME##_, _block, Block, TYPE, LOWER, UPPER)
#define SYMM_SHMEM_ARITHMETIC(NAME, TYPE)                                                                           \
  SYMM_SHMEM_REDUCES(NAME, TYPE, sum, Sum) SYMM_SHMEM_REDUCES(NAME, TYPE, prod, Prod)                               \
  SYMM_SHMEM_REDUCES(NAME, TYPE, min, Min) SYMM_SHMEM_REDUCES(NAME, TYPE, max, Max)
#define SYMM_SHMEM_LOGIC(NAME, TYPE)                                                                                \
  SYMM_SHMEM_REDUCES(NAME, TYPE, and, And) SYMM_SHMEM_REDUCES(NAME, TYPE, or, Or) SYMM_SHMEM_REDUCES(NAME, TYPE, xor, Xor)
SYMM_SHMEM_TYPES(SYMM_SHMEM_ARITHMETIC)
SYMM_SHMEM_BITWISE(SYMM_SHMEM_LOGIC)
#undef SYMM_SHMEM_LOGIC
#undef SYMM_SHMEM_ARITHMETIC
#undef SYMM_SHMEM_REDUCES
#undef SYMM_SHMEM_REDUCE
