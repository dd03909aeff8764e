// nvshmem/world.h: the PEs, their teams, and how a call finds the peer's copy of an address.
#pragma once
#include "nvshmem/table.h"

// The version of NVSHMEM whose names these headers have.
#define NVSHMEM_VENDOR_MAJOR_VERSION 3
#define NVSHMEM_VENDOR_MINOR_VERSION 4
#define NVSHMEM_MAJOR_VERSION 1
#define NVSHMEM_MINOR_VERSION 3

extern "C" {
#ifdef SYMM_CPU
__attribute__((visibility("default")))
#endif
__device__ symm::ShmemWorld* symm_shmem;  // set by the host when it loads the module
}

#define SYMM_SHMEM __device__ __forceinline__
// SYMM_SHMEM_LOOKUP marks the search for an address. The compiler of the cpu device takes long to
// inline it.
#ifdef SYMM_CPU
#define SYMM_SHMEM_LOOKUP __device__ __noinline__ inline
#else
#define SYMM_SHMEM_LOOKUP __device__ __forceinline__
#endif
// SYMM_SHMEM_LINE is the last parameter of every function: the line of the call, for messages.
#define SYMM_SHMEM_LINE symm::u32 line = __builtin_LINE()

// nvshmem_team_t is a set of PEs: all PEs, or the PEs of this host.
typedef int nvshmem_team_t;
enum : nvshmem_team_t {
  NVSHMEM_TEAM_INVALID = -1, NVSHMEM_TEAM_WORLD = 0, NVSHMEM_TEAM_SHARED = 1, NVSHMEMX_TEAM_NODE = 2, NVSHMEMX_TEAM_SAME_MYPE_NODE = 3
};

namespace symm {

// ShmemSite is a call: the world, a ShmemCall, and the line of the text.
struct ShmemSite {
  ShmemWorld* w;
  u32 call, line;
  __device__ __forceinline__ ShmemSite(u32 call, u32 line) : w(symm_shmem), call(call), line(line) {}
  __device__ __forceinline__ Context context() const {
    Context c = w->context;
    c.timeout_ns = (u64)w->patience << 20;
    c.ordinal = w->ordinal;
    return c;
  }
};

// shmem_refuse reports a call with invalid arguments and ends the kernel for the calling thread.
__device__ SYMM_APART void shmem_refuse(ShmemSite s, ShmemRefusal what, int pe, u64 value, u64 limit) {
  refuse(s.context(), what | s.call << 16, (u32)pe, s.line, value, limit);
  leave();
}

__device__ __forceinline__ void shmem_has_pe(ShmemSite s, int pe) {
  if ((u32)pe >= (u32)s.w->context.world_size) shmem_refuse(s, kShmemPe, pe, (u64)(i64)pe, (u64)s.w->context.world_size);
}

// shmem_find returns the entry of the tensor in which an address is, or null.
__device__ __forceinline__ const ShmemWindow* shmem_find(ShmemWorld* w, const void* p) {
  const u32 count = load_relaxed(&w->count);
  for (const ShmemWindow* at = w->windows; at < w->windows + count; at++)
    if ((u64)p - (u64)at->local < at->bytes) return at;
  return nullptr;
}

// ShmemPlace is a PE's copy of an address.
struct ShmemPlace {
  char* near;   // null if the PE is on another host
  u64 offset;   // in its window
  u32 window;
};

// shmem_place returns a PE's copy of n > 0 bytes at an address, which has to be symmetric and a
// multiple of align.
SYMM_SHMEM_LOOKUP ShmemPlace shmem_place(ShmemSite s, const void* p, u64 n, u64 align, int pe) {
  shmem_has_pe(s, pe);
  const ShmemWindow* const of = shmem_find(s.w, p);
  if (!of) shmem_refuse(s, kShmemAddress, pe, (u64)p, n);
  const u64 offset = (u64)p - (u64)of->local;
  if (n > of->bytes - offset) shmem_refuse(s, kShmemBytes, pe, (u64)p, n);
  if ((u64)p % align) shmem_refuse(s, kShmemAligned, pe, (u64)p, align);
  char* const copy = of->peers[pe];
  return ShmemPlace{copy ? copy + offset : nullptr, offset, of->net_window};
}

// Teams.
__device__ __forceinline__ bool shmem_is_near(nvshmem_team_t t) { return t == NVSHMEM_TEAM_SHARED || t == NVSHMEMX_TEAM_NODE; }
__device__ __forceinline__ void shmem_has_team(ShmemSite s, nvshmem_team_t t) {
  if (t != NVSHMEM_TEAM_WORLD && !shmem_is_near(t)) shmem_refuse(s, kShmemTeam, s.w->context.rank, (u64)(i64)t, 0);
}
__device__ __forceinline__ int shmem_size(ShmemWorld* w, nvshmem_team_t t) { return shmem_is_near(t) ? w->near_count : w->context.world_size; }
__device__ __forceinline__ int shmem_rank(ShmemWorld* w, nvshmem_team_t t) { return shmem_is_near(t) ? w->near_rank : w->context.rank; }
__device__ __forceinline__ int shmem_pe(ShmemWorld* w, nvshmem_team_t t, int i) { return shmem_is_near(t) ? w->near[i] : i; }

// shmem_number returns the number of a PE in a team, or -1.
__device__ __forceinline__ int shmem_number(ShmemWorld* w, nvshmem_team_t t, int pe) {
  for (int i = 0; i < shmem_size(w, t); i++)
    if (shmem_pe(w, t, i) == pe) return i;
  return -1;
}

}  // namespace symm

// nvshmem_my_pe returns the number of this PE, and nvshmem_n_pes the number of PEs.
//
// Waits: for nothing.
//
// Example:
//
//   const int right = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
//   nvshmem_float_p(data, (float)n, right);
SYMM_SHMEM int nvshmem_my_pe() { return symm_shmem->context.rank; }
SYMM_SHMEM int nvshmem_n_pes() { return symm_shmem->context.world_size; }

// nvshmem_team_my_pe returns the number of this PE in a team, nvshmem_team_n_pes the number of PEs
// in the team, and nvshmem_team_translate_pe the number in dest_team of PE src_pe of src_team, or
// -1 if dest_team does not have it.
//
// Waits: for nothing.
//
// Example:
//
//   if (nvshmem_team_my_pe(NVSHMEM_TEAM_SHARED) == 0)
//     data[0] = (float)nvshmem_team_n_pes(NVSHMEM_TEAM_SHARED);
SYMM_SHMEM int nvshmem_team_my_pe(nvshmem_team_t team, SYMM_SHMEM_LINE) {
  if (team == NVSHMEM_TEAM_INVALID) return -1;
  const symm::ShmemSite s(symm::kShmemTeamCall, line);
  symm::shmem_has_team(s, team);
  return symm::shmem_rank(s.w, team);
}
SYMM_SHMEM int nvshmem_team_n_pes(nvshmem_team_t team, SYMM_SHMEM_LINE) {
  if (team == NVSHMEM_TEAM_INVALID) return -1;
  const symm::ShmemSite s(symm::kShmemTeamCall, line);
  symm::shmem_has_team(s, team);
  return symm::shmem_size(s.w, team);
}
SYMM_SHMEM int nvshmem_team_translate_pe(nvshmem_team_t src_team, int src_pe, nvshmem_team_t dest_team, SYMM_SHMEM_LINE) {
  if (src_team == NVSHMEM_TEAM_INVALID || dest_team == NVSHMEM_TEAM_INVALID) return -1;
  const symm::ShmemSite s(symm::kShmemTeamCall, line);
  symm::shmem_has_team(s, src_team);
  symm::shmem_has_team(s, dest_team);
  if ((symm::u32)src_pe >= (symm::u32)symm::shmem_size(s.w, src_team)) return -1;
  return symm::shmem_number(s.w, dest_team, symm::shmem_pe(s.w, src_team, src_pe));
}

// nvshmem_ptr returns the address of a PE's copy of a symmetric address, for loads and stores. It
// returns nullptr if the PE is on another host or does not exist, or if the address is not
// symmetric.
//
// Waits: for nothing.
//
// Example:
//
//   float* const theirs = (float*)nvshmem_ptr(data, peer);
//   if (theirs) x[threadIdx.x] = theirs[threadIdx.x];
SYMM_SHMEM void* nvshmem_ptr(const void* dest, int pe) {
  symm::ShmemWorld* const w = symm_shmem;
  if ((symm::u32)pe >= (symm::u32)w->context.world_size) return nullptr;
  const symm::ShmemWindow* const of = symm::shmem_find(w, dest);
  return of && of->peers[pe] ? of->peers[pe] + ((const char*)dest - of->local) : nullptr;
}
